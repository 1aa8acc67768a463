/* Finds out whether a buffer is device memory. A program may load CUDA's driver long after MPI_Init. So each call
 * checks whether libraries were loaded since the last call, and asks the driver once it is there. Tested by
 * tests/preload/corners_test.sh. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "runtime/execute/datatypes.h"
#include "runtime/execute/state.h"

/* Counts the libraries that the process has loaded so far, also those that it has closed. */
static int count_libraries(struct dl_phdr_info* info, size_t size, void* count) {
  (void)size;
  *(unsigned long long*)count = info->dlpi_adds;
  return 1;
}

static int copy_driver_path(struct dl_phdr_info* info, size_t size, void* path) {
  const char* slash = strrchr(info->dlpi_name, '/');
  (void)size;
  if (strncmp(slash ? slash + 1 : info->dlpi_name, "libcuda.so", 10) != 0) return 0;
  snprintf(path, QD_TEXT, "%s", info->dlpi_name);
  return 1;
}

/* NULL if the driver is not loaded. A loaded driver stays loaded. */
static qd_pointer_attribute find_driver(void) {
  char path[QD_TEXT] = "";
  qd_pointer_attribute asks = NULL;
  dl_iterate_phdr(copy_driver_path, path);
  void* const library = path[0] ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  void* const found = library ? dlsym(library, "cuPointerGetAttribute") : NULL;
  if (found) memcpy(&asks, &found, sizeof asks);
  return asks;
}

static qd_pointer_attribute driver(void) {
  struct qd_global* g = &qd_global;
  unsigned long long count = 0;
  dl_iterate_phdr(count_libraries, &count);
  if (__atomic_load_n(&g->libraries, __ATOMIC_ACQUIRE) == count) return g->driver;
  pthread_mutex_lock(&g->lock);
  if (!g->driver) g->driver = find_driver();
  __atomic_store_n(&g->libraries, count, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&g->lock);
  return g->driver;
}

int qd_is_device_memory(const void* buffer) {
  enum { MEMORY_TYPE = 2, IS_MANAGED = 8 }; /* CUpointer_attribute */
  enum { DEVICE_MEMORY = 2 };               /* CUmemorytype */
  const qd_pointer_attribute ask = driver();
  const unsigned long long address = (unsigned long long)(uintptr_t)buffer;
  unsigned memory = 0, managed = 0;
  if (!ask || !buffer || ask(&memory, MEMORY_TYPE, address) != 0 || memory != DEVICE_MEMORY)
    return 0;
  return ask(&managed, IS_MANAGED, address) != 0 || !managed;
}
