/* smpirun race CALLS COLLECTIVE COUNTS [--unchecked]: calls of a program that does not know Quadrille, over SimGrid's MPI.
 *
 * The preload library is linked into this program, so that MPI's functions enter it. QUADRILLE and its kin say what becomes of
 * the calls. The calls follow one another without a barrier. Rank 0 prints `race CALLS SECONDS` for each tenth of them: the
 * simulated time from the first call until the slowest rank had made that many. COLLECTIVE and COUNTS are those of
 * collective.c. Exit code 2: bad input, or wrong bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collective_job.h"
#include "preload/interpose.h"

enum { MARKS = 10 };

const char usage[] = "usage: smpirun race CALLS COLLECTIVE COUNTS [--unchecked]";

/* Makes the calls. Writes the seconds of each tenth of them at this rank. */
static void make_calls(const struct job* job, double seconds[MARKS]) {
  const double start = PMPI_Wtime();
  for (int i = 0, mark = 0; i < job->repetitions; i++) {
    spoil_received(job);
    if (call_native(job, MPI_COMM_WORLD) != MPI_SUCCESS) fail("a collective failed");
    if (!is_received(job)) fail("other bytes were received than were sent");
    for (; (i + 1) * MARKS >= (mark + 1) * job->repetitions; mark++)
      seconds[mark] = PMPI_Wtime() - start;
  }
}

int main(int count, char** words) {
  struct job job = {.checked = count == 4};
  double own[MARKS], all[MARKS];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  if (count < 4 || count > 5 || (job.repetitions = atoi(words[1])) < 1) fail(usage);
  if (count == 5 && strcmp(words[4], "--unchecked") != 0) fail(usage);
  read_job(&job, words[2], words[3]);
  make_buffers(&job);
  preload_is_inside = 1; /* these calls are not the program's */
  expect_native(&job, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  preload_is_inside = 0;
  make_calls(&job, own);
  preload_is_inside = 1;
  MPI_Reduce(own, all, MARKS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  preload_is_inside = 0;
  for (int mark = 0; mark < MARKS && job.rank == 0; mark++)
    printf("race %d %.12e\n", (mark + 1) * job.repetitions / MARKS, all[mark]);
  if (job.rank == 0) printf("end\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
