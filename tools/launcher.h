/* Whether the launcher of another MPI library started this program. */
#ifndef QUADRILLE_TOOLS_LAUNCHER_H_
#define QUADRILLE_TOOLS_LAUNCHER_H_

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In that case each rank is alone in an MPI_COMM_WORLD of its own; one of them says so. Call it after MPI_Init. */
static inline bool started_by_another(const char* tool) {
#ifdef OPEN_MPI
  const char *built_for = "Open MPI", *launcher = "mpirun.openmpi";
  const char *ranks = getenv("PMI_SIZE"), *rank = getenv("PMI_RANK");
#else
  const char *built_for = "MPICH", *launcher = "mpiexec.hydra";
  const char *ranks = getenv("OMPI_COMM_WORLD_SIZE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
#endif
  int here;
  MPI_Comm_size(MPI_COMM_WORLD, &here);
  if (here > 1 || !ranks || !rank || atoi(ranks) < 2) return false;
  if (strcmp(rank, "0") == 0)
    fprintf(
        stderr,
        "%s: it is built for %s, but another MPI library's launcher started it, and each of its %s "
        "ranks is alone; start it with %s\n",
        tool, built_for, ranks, launcher);
  return true;
}

#endif /* QUADRILLE_TOOLS_LAUNCHER_H_ */
