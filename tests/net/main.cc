// The datatypes of the tests are made before any simulation, which checks that it leaves none behind.
#include <gtest/gtest.h>

#include "tests/mpi/exchange.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  quadrille::mpi::integer_shapes();
  quadrille::mpi::mixed_shapes();
  return RUN_ALL_TESTS();
}
