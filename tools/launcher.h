/* What the programs here share. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints the usage and returns true if the user asks for it. */
static inline bool wants_help(int count, char** words, const char* usage) {
  const bool wants = count == 2 && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0);
  if (wants) printf("%s", usage);
  return wants;
}

/* Finds out whether the wrong launcher started this program: that of another MPI library, or of another version.
 * Returns whether MPI knows fewer ranks than the launcher started: often each process is alone. Launchers pass the
 * number of ranks, and a rank, in variables. The process with rank 0 prints what is wrong. Call it after MPI_Init. */
static inline bool started_by_another(const char* tool) {
  static const char* const variables[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                             {"PMI_SIZE", "PMI_RANK"},
                                             {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
#ifdef OPEN_MPI
  const char *built_for = "Open MPI", *launcher = "mpirun.openmpi";
#else
  const char *built_for = "MPICH", *launcher = "mpiexec.hydra";
#endif
  const char *ranks = NULL, *rank = NULL;
  char joined[64];
  int here;
  MPI_Comm_size(MPI_COMM_WORLD, &here);
  for (size_t i = 0; !ranks && i < sizeof variables / sizeof *variables; i++) {
    ranks = getenv(variables[i][0]);
    rank = getenv(variables[i][1]);
  }
  if (!ranks || atoi(ranks) <= here) return false;
  if (here == 1)
    snprintf(joined, sizeof joined, "each of its %d ranks is alone", atoi(ranks));
  else
    snprintf(joined, sizeof joined, "MPI knows only %d of its %d ranks", here, atoi(ranks));
  if (rank && strcmp(rank, "0") == 0)
    fprintf(stderr,
            "%s: it is built for %s, but another MPI library's or version's launcher started it, "
            "and %s; start it with %s\n",
            tool, built_for, joined, launcher);
  else
    usleep(500000); /* a launcher may end rank 0 as soon as another rank fails */
  return true;
}

/* Returns memory of zeros, or ends the job with exit code 2. */
static inline void* allocate(const char* tool, size_t count, size_t size) {
  void* const memory = calloc(count, size);
  if (memory) return memory;
  fprintf(stderr, "%s: out of memory\n", tool);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

static inline int by_value(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return a < b ? -1 : a > b;
}

/* Returns the median, and sorts the values. */
static inline double median(double* values, long count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
