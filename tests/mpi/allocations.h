// The runtime's allocations, counted, and one of them failing: for programs linked with
// --wrap=malloc,--wrap=calloc,--wrap=realloc. MPI's are its own.
#ifndef QUADRILLE_TESTS_MPI_ALLOCATIONS_H_
#define QUADRILLE_TESTS_MPI_ALLOCATIONS_H_

namespace quadrille::mpi {

struct Allocations {
  long count = 0;
  long failing = 0;  // the one that fails, from 1; 0: none
  long bytes = 0;    // of all
};
extern Allocations allocations;

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_ALLOCATIONS_H_
