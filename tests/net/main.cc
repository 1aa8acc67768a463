// Makes the datatypes of the tests before any simulation, because a simulation checks that it leaves no type behind.
#include <gtest/gtest.h>
#include <malloc.h>

#include "tests/mpi/buffer.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // A simulation frees what it takes, and the next one takes as much. Without the kernel, this is quick.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  quadrille::mpi::integer_shapes();
  quadrille::mpi::mixed_shapes();
  quadrille::mpi::elements();
  return RUN_ALL_TESTS();
}
