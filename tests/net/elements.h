// What reductions combine: elements of datatypes with gaps and without, by operators that commute and that do not.
#ifndef QUADRILLE_TESTS_NET_ELEMENTS_H_
#define QUADRILLE_TESTS_NET_ELEMENTS_H_

#include "tests/mpi/exchange.h"

namespace quadrille::net {

struct Element {
  mpi::Shape shape;
  MPI_Op operation;
  bool commutes;
  // Both packed, one element: writes left op right to `right`.
  void (*combine)(const uint8_t* left, uint8_t* right);

  int64_t bytes() const { return static_cast<int64_t>(shape.offsets.size()); }
};

// Made at the first call; they belong to the process.
const std::vector<Element>& elements();

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_ELEMENTS_H_
