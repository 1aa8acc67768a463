/* The model of the atmosphere that ocean.c starts. */
#include "examples/coupling/coupling.h"

int main(int argc, char** argv) {
  static struct field sea, air, whole_sea, whole_air;
  MPI_Init(&argc, &argv);
  couple(argv);
  start_ocean(&whole_sea, all_rows);
  for (int step = 0; step < STEPS; step++) {
    exchange(&air, &sea);
    compare_received(&sea, &whole_sea);
    step_atmosphere(&air, &sea, mine);
    step_both(&whole_sea, &whole_air);
  }
  return finish("atmosphere");
}
