/* Finds out whether a buffer is device memory. A program may load the driver of a GPU long after MPI_Init. So each
 * call checks whether libraries were loaded since the last call. It asks the drivers that it has found. Tested by
 * tests/preload/device_test.sh. */
#include "preload/device.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The type of CUDA's cuPointerGetAttribute. */
typedef int (*cuda_attribute_function)(void*, int, unsigned long long);

/* Functions of the drivers of GPUs. NULL: not loaded. */
static struct drivers {
  unsigned long long libraries; /* how many were loaded at the last search */
  cuda_attribute_function cuda_attribute;
  int (*hip_attributes)(void*, const void*);
  int (*hip_peek_error)(void);
  int (*hip_take_error)(void);
  int hip_device_memory; /* its number for memory on a device */
} drivers;

/* For each enum preload_driver, how the name of the driver's library begins. */
static const char* const libraries[] = {
    [PRELOAD_CUDA] = "libcuda.so", [PRELOAD_ROCM] = "libamdhip64.so"};

/* Counts the libraries that the process has loaded so far, also those that it has closed. */
static int count_libraries(struct dl_phdr_info* info, size_t size, void* count) {
  (void)size;
  *(unsigned long long*)count = info->dlpi_adds;
  return 1;
}

struct search {
  const char* name;
  char path[4096];
};

static int copy_path(struct dl_phdr_info* info, size_t size, void* searches) {
  struct search* one = searches;
  const char* slash = strrchr(info->dlpi_name, '/');
  (void)size;
  if (strncmp(slash ? slash + 1 : info->dlpi_name, one->name, strlen(one->name)) != 0) return 0;
  snprintf(one->path, sizeof one->path, "%s", info->dlpi_name);
  return 1;
}

/* Returns the library, which then stays loaded, or NULL if it is not loaded. */
static void* find_library(const char* name) {
  struct search one = {name, ""};
  dl_iterate_phdr(copy_path, &one);
  return one.path[0] ? dlopen(one.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Sets the pointer at `function` to the library's function of that name, or to NULL. */
static void find(void* library, const char* name, void* function) {
  void* const found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
}

/* Other threads read `drivers` meanwhile. So the function that they look for is stored last. */
static void find_drivers(void) {
  void* const cuda = drivers.cuda_attribute ? NULL : find_library(libraries[PRELOAD_CUDA]);
  void* const hip = drivers.hip_attributes ? NULL : find_library(libraries[PRELOAD_ROCM]);
  cuda_attribute_function cuda_attribute = NULL;
  __typeof__(drivers.hip_attributes) hip_attributes = NULL;
  int (*version)(int*) = NULL;
  int number = 0;
  if (cuda) find(cuda, "cuPointerGetAttribute", &cuda_attribute);
  if (cuda) __atomic_store_n(&drivers.cuda_attribute, cuda_attribute, __ATOMIC_RELEASE);
  if (!hip) return;
  find(hip, "hipPointerGetAttributes", &hip_attributes);
  find(hip, "hipPeekAtLastError", &drivers.hip_peek_error);
  find(hip, "hipGetLastError", &drivers.hip_take_error);
  find(hip, "hipRuntimeGetVersion", &version);
  /* The number of hipMemoryTypeDevice changed in version 6. */
  drivers.hip_device_memory = version && version(&number) == 0 && number < 60000000 ? 1 : 2;
  __atomic_store_n(&drivers.hip_attributes, hip_attributes, __ATOMIC_RELEASE);
}

/* Finds the drivers that were loaded since the last call. */
static void find_loaded(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  unsigned long long count = 0;
  dl_iterate_phdr(count_libraries, &count);
  if (__atomic_load_n(&drivers.libraries, __ATOMIC_ACQUIRE) == count) return;
  pthread_mutex_lock(&lock);
  find_drivers();
  __atomic_store_n(&drivers.libraries, count, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
}

enum preload_driver preload_loaded_driver(void) {
  find_loaded();
  if (__atomic_load_n(&drivers.hip_attributes, __ATOMIC_ACQUIRE)) return PRELOAD_ROCM;
  return __atomic_load_n(&drivers.cuda_attribute, __ATOMIC_ACQUIRE) ? PRELOAD_CUDA
                                                                    : PRELOAD_NO_DRIVER;
}

static int is_in_cuda(const void* buffer) {
  enum { MEMORY_TYPE = 2, IS_MANAGED = 8 }; /* CUpointer_attribute */
  enum { DEVICE_MEMORY = 2 };               /* CUmemorytype */
  const cuda_attribute_function ask = __atomic_load_n(&drivers.cuda_attribute, __ATOMIC_ACQUIRE);
  const unsigned long long address = (unsigned long long)(uintptr_t)buffer;
  unsigned memory = 0, managed = 0;
  if (!ask || ask(&memory, MEMORY_TYPE, address) != 0 || memory != DEVICE_MEMORY) return 0;
  return ask(&managed, IS_MANAGED, address) != 0 || !managed;
}

static int is_in_hip(const void* buffer) {
  struct { /* hipPointerAttribute_t, with room for later members */
    int type, device;
    void *on_device, *on_host;
    int is_managed;
    char more[128];
  } found = {.type = 0};
  if (!__atomic_load_n(&drivers.hip_attributes, __ATOMIC_ACQUIRE)) return 0;
  const int has_error = !drivers.hip_peek_error || drivers.hip_peek_error() != 0;
  const int code = drivers.hip_attributes(&found, buffer);
  /* Before version 6, host memory is an error. Clears it, so that the program does not find it. */
  if (code != 0 && !has_error && drivers.hip_take_error) drivers.hip_take_error();
  return code == 0 && found.type == drivers.hip_device_memory && !found.is_managed;
}

int preload_is_device_memory(const void* buffer) {
  find_loaded();
  return buffer && (is_in_cuda(buffer) || is_in_hip(buffer));
}
