// Allgather calls whose outcome is known byte by byte, as in exchange.h.
#ifndef QUADRILLE_TESTS_MPI_GATHER_H_
#define QUADRILLE_TESTS_MPI_GATHER_H_

#include <functional>

#include "tests/mpi/exchange.h"

namespace quadrille::mpi {

// Units that each rank contributes.
struct Contributions {
  std::string name;
  std::function<int(int rank)> units;
};

void expect_allgather(const Exchange& exchange, const Shape& send, const Shape& receive, int units);
void expect_allgather_in_place(const Exchange& exchange, const Shape& shape, int units);
// Blocks in any order, another one at each rank, with gaps between them.
void expect_allgatherv(const Exchange& exchange, const Shape& send, const Shape& receive,
                       const Contributions& contributions);
void expect_allgatherv_in_place(const Exchange& exchange, const Shape& shape,
                                const Contributions& contributions);

// A quick one, where types do not matter.
void expect_gathers(quadrille_schedule schedule, MPI_Comm comm, unsigned seed = 0);

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_GATHER_H_
