// Makes the datatypes of the tests before any simulation, because a simulation checks that it leaves no type behind.
#include <gtest/gtest.h>

#include "tests/mpi/buffer.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  quadrille::mpi::integer_shapes();
  quadrille::mpi::mixed_shapes();
  quadrille::mpi::elements();
  return RUN_ALL_TESTS();
}
