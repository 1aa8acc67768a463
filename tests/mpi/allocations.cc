#include "tests/mpi/allocations.h"

#include <sys/mman.h>

#include <cstddef>

using std::size_t;

namespace quadrille::mpi {

Allocations allocations;

namespace {

bool fails(size_t size) {
  allocations.bytes += static_cast<long>(size);
  return ++allocations.count == allocations.failing;
}

}  // namespace
}  // namespace quadrille::mpi

// The linker chooses these names.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* old, size_t size);
void* __real_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_malloc(size_t size) {
  return quadrille::mpi::fails(size) ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(size_t count, size_t size) {
  return quadrille::mpi::fails(count * size) ? nullptr : __real_calloc(count, size);
}
void* __wrap_realloc(void* old, size_t size) {
  return quadrille::mpi::fails(size) ? nullptr : __real_realloc(old, size);
}
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  return quadrille::mpi::fails(size) ? MAP_FAILED
                                     : __real_mmap(at, size, protection, flags, file, offset);
}
// NOLINTEND(bugprone-reserved-identifier)
}
