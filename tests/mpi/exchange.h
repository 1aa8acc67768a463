// All-to-all calls whose outcome is known byte by byte, apart from MPI: shapes say where each
// packed byte of a datatype lies, and buffers are compared as a whole, so that a byte beside a block
// counts as well.
#ifndef QUADRILLE_TESTS_MPI_EXCHANGE_H_
#define QUADRILLE_TESTS_MPI_EXCHANGE_H_

#include <functional>
#include <string>
#include <vector>

#include "tests/mpi/world.h"

namespace quadrille::mpi {

struct Shape {
  std::string name;
  MPI_Datatype type;
  int per_unit;                    // elements in a unit; units of a family have one signature
  std::vector<ptrdiff_t> offsets;  // of each packed byte, from the element's origin
  ptrdiff_t extent;
};

// Two families: within one, any shape sends what any other receives.
const std::vector<Shape>& integer_shapes();  // a unit is two ints
const std::vector<Shape>& mixed_shapes();    // a unit is a char, a double and an int

// Units from one rank to another.
struct Counts {
  std::string name;
  std::function<int(int source, int target)> units;
};

// quadrille_alltoallv, quadrille_alltoallv_c, or quadrille_alltoallv_init, started three times; so of alltoall and
// alltoallw.
enum class Entry { kInt, kLarge, kPersistent };

// The calls. Everything may differ from rank to rank where MPI allows it, and all of it depends on
// `seed`. `comm` is bound already, or binds by itself.
struct Exchange {
  quadrille_schedule schedule;
  MPI_Comm comm;
  unsigned seed = 0;
  Entry entry = Entry::kInt;
};
void expect_alltoall(const Exchange& exchange, const Shape& send, const Shape& receive, int units);
// Blocks in any order, with gaps between them.
void expect_alltoallv(const Exchange& exchange, const Shape& send, const Shape& receive,
                      const Counts& counts);
void expect_alltoall_in_place(const Exchange& exchange, const Shape& shape, int units);
// `counts` are symmetric.
void expect_alltoallv_in_place(const Exchange& exchange, const Shape& shape, const Counts& counts);

// Every block of a shape of its own, within the family of `shapes`.
void expect_alltoallw(const Exchange& exchange, const std::vector<Shape>& shapes,
                      const Counts& counts);
// `counts` are symmetric.
void expect_alltoallw_in_place(const Exchange& exchange, const std::vector<Shape>& shapes,
                               const Counts& counts);

// A quick one, where types do not matter.
void expect_works(quadrille_schedule schedule, MPI_Comm comm, unsigned seed = 0);

// The reference itself: whether it notices one byte that differs.
bool notices_a_wrong_byte(bool beside_blocks);

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_EXCHANGE_H_
