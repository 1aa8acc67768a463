/* Stands in for the driver of a GPU: CUDA's or, with AS_ROCM, ROCm's of version HIP_VERSION. It has a mebibyte of
 * memory that is not host memory. The CPU may access it only inside MPI, by tool.c, and in device_copy. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 1 << 20 };

static char* memory;

char* device_memory(void) {
  void (*const tell)(char*, size_t) =
      (void (*)(char*, size_t))dlsym(RTLD_DEFAULT, "tool_has_device");
  if (!memory) memory = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tell) tell(memory, SIZE);
  return memory;
}

void device_copy(void* to, const void* from, size_t bytes) {
  mprotect(memory, SIZE, PROT_READ | PROT_WRITE);
  memcpy(to, from, bytes);
  mprotect(memory, SIZE, PROT_NONE);
}

static int is_ours(const char* at) { return memory && at >= memory && at < memory + SIZE; }

#ifdef AS_ROCM

struct attributes {
  int type, device;
  void *on_device, *on_host;
  int is_managed;
  unsigned flags;
};

static int error;

int hipRuntimeGetVersion(int* version) {
  *version = atoi(getenv("HIP_VERSION"));
  return 0;
}
int hipPeekAtLastError(void) { return error; }
int hipGetLastError(void) {
  const int last = error;
  error = 0;
  return last;
}
int hipPointerGetAttributes(struct attributes* result, const void* address) {
  const int is_old = atoi(getenv("HIP_VERSION")) < 60000000;
  if (!is_ours(address) && is_old) return error = 1;
  *result = (struct attributes){.type = !is_ours(address) ? 0 : is_old ? 1 : 2};
  return 0;
}

#else

int cuPointerGetAttribute(void* result, int attribute, unsigned long long address) {
  enum { MEMORY_TYPE = 2, DEVICE_MEMORY = 2 };
  if (!is_ours((const char*)address)) return 1;
  *(unsigned*)result = attribute == MEMORY_TYPE ? DEVICE_MEMORY : 0;
  return 0;
}

#endif
