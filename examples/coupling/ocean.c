/* mpirun -n 3 ocean atmosphere 4: a model of an ocean on 3 ranks, which starts a model of the atmosphere on 4 ranks.
 * In each step they exchange temperatures by schedules for two groups. Each model cuts the common grid its own way.
 *
 * An MPI library that cannot start programs runs both as one job: mpiexec -n 3 ocean : -n 4 atmosphere. */
#include "examples/coupling/coupling.h"

int main(int argc, char** argv) {
  static struct field sea, air, whole_sea, whole_air;
  MPI_Init(&argc, &argv);
  is_ocean = 1;
  couple(argv);
  start_ocean(&sea, mine);
  start_ocean(&whole_sea, all_rows);
  for (int step = 0; step < STEPS; step++) {
    exchange(&sea, &air);
    compare_received(&air, &whole_air);
    step_ocean(&sea, &air, mine);
    step_both(&whole_sea, &whole_air);
  }
  return finish("ocean");
}
