// Counts the runtime's allocations, and lets one of them fail, in programs linked with
// --wrap=malloc,--wrap=calloc,--wrap=realloc. MPI's allocations are not affected.
#ifndef QUADRILLE_TESTS_MPI_ALLOCATIONS_H_
#define QUADRILLE_TESTS_MPI_ALLOCATIONS_H_

namespace quadrille::mpi {

struct Allocations {
  long count = 0;
  long failing = 0;  // the number of the one that fails, from 1; 0: none
  long bytes = 0;    // in total
};
extern Allocations allocations;

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_ALLOCATIONS_H_
