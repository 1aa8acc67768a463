#include "tests/mpi/allocations.h"

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
void* __wrap_malloc(size_t size) {
  return quadrille::mpi::fails(size) ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(size_t count, size_t size) {
  return quadrille::mpi::fails(count * size) ? nullptr : __real_calloc(count, size);
}
void* __wrap_realloc(void* old, size_t size) {
  return quadrille::mpi::fails(size) ? nullptr : __real_realloc(old, size);
}
// NOLINTEND(bugprone-reserved-identifier)
}
