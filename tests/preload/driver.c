/* A stand-in for CUDA's driver: a mebibyte of memory that is not host memory. The CPU may not access it, except in
 * MPI, as tool.c arranges, and in device_copy. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 1 << 20, MEMORY_TYPE = 2, DEVICE_MEMORY = 2 };

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

int cuPointerGetAttribute(void* result, int attribute, unsigned long long address) {
  const char* const at = (const char*)address;
  if (!memory || at < memory || at >= memory + SIZE) return 1;
  *(unsigned*)result = attribute == MEMORY_TYPE ? DEVICE_MEMORY : 0;
  return 0;
}
