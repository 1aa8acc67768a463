/* mpirun preloaded ROW HOW COLLECTIVE=COUNTS[/COUNTS...]...: makes calls as a program that does not know Quadrille.
 *
 * If ROW is 0, the calls are on all ranks. Otherwise, ranks with equal remainders by ROW share a communicator.
 * COLLECTIVE and COUNTS are those of collective.c. Several COUNTS take turns. HOW is
 *   CALLS                 this many calls of each collective
 *   pairs=PAIRS           calls in turn with the MPI library's own
 *   blocks=CALLS,SECONDS  stretches of calls in turn: up to CALLS of each kind, or about SECONDS of the library's own
 *   marks=CALLS           calls without a barrier between them; checked=CALLS also compares received bytes
 * Rank 0 prints what bench/sampling.py reads. With marks it instead prints `race CALLS SECONDS` after each tenth of
 * the calls: the time until the slowest rank had made that many calls. Exit code 2: bad input, or wrong bytes. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collective_job.h"
#include "bench/own_calls.h"

enum { WARM_UP = 3, BLOCK = 25, LEAST_BLOCKS = 4, MOST_SIZES = 8, MARKS = 10 };

const char usage[] =
    "usage: mpirun preloaded ROW CALLS|pairs=PAIRS|blocks=CALLS,SECONDS|marks=CALLS|checked=CALLS "
    "COLLECTIVE=COUNTS[/COUNTS...]...";

int calls_are_own;

/* What HOW says. Numbers that it does not give are 0. */
static struct {
  int calls, pairs, blocks, marks;
  double seconds;
  int checked;
} how;
static int world; /* this rank in MPI_COMM_WORLD */

void* own_function(const char* name) {
  Dl_info found;
  void* library = dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"), &found)
                      ? dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                      : NULL;
  void* const function = library ? dlsym(library, name) : NULL;
  if (!function) fail("the MPI library's own functions are not found");
  return function;
}

static void call(const struct job* job, int is_own) {
  calls_are_own = is_own;
  if (call_native(job, job->call.comm) != MPI_SUCCESS) fail("a collective failed");
  calls_are_own = 0;
}

/* Makes `calls` calls in a row, after a barrier. Returns their seconds at the slowest rank. */
static double timed(const struct job* job, int is_own, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime();
  for (int i = 0; i < calls; i++) call(job, is_own);
  seconds = MPI_Wtime() - seconds;
  calls_are_own = 1;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  calls_are_own = 0;
  return seconds;
}

/* Returns the number of pairs of stretches: as many as the calls and the seconds allow. */
static int count_blocks(const struct job* jobs, int count) {
  double once = 0;
  for (int i = 0; i < count; i++) {
    timed(&jobs[i], 1, 2); /* to connect the ranks */
    once += timed(&jobs[i], 1, WARM_UP) / WARM_UP / count;
  }
  const int calls = how.seconds / once < how.blocks ? (int)(how.seconds / once) : how.blocks;
  return calls / BLOCK > LEAST_BLOCKS ? calls / BLOCK : LEAST_BLOCKS;
}

static void take_turns(const struct job* jobs, int count, int index) {
  const int pairs = how.blocks > 0 ? count_blocks(jobs, count) : how.pairs;
  for (int n = 0; n < how.calls; n++) timed(jobs, 0, 1);
  for (int n = 0; n < pairs; n++) {
    double seconds[2];
    for (int turn = 0; turn < 2; turn++) {
      const int is_own = (turn + n) % 2 == 0;
      seconds[is_own] = timed(&jobs[n / 2 % count], is_own, how.blocks > 0 ? BLOCK : 1);
    }
    if (world == 0) printf("sample %d %.9f %.9f\n", index, seconds[1], seconds[0]);
  }
}

static void mark_calls(struct job* job) {
  double own[MARKS], all[MARKS];
  calls_are_own = 1;
  expect_native(job, job->call.comm);
  MPI_Barrier(job->call.comm);
  const double start = MPI_Wtime();
  for (int i = 0, mark = 0; i < how.marks; i++) {
    spoil_received(job);
    call(job, 0);
    if (!is_received(job)) fail("other bytes were received than were sent");
    for (; (i + 1) * MARKS >= (mark + 1) * how.marks; mark++) own[mark] = MPI_Wtime() - start;
  }
  calls_are_own = 1;
  MPI_Reduce(own, all, MARKS, MPI_DOUBLE, MPI_MAX, 0, job->call.comm);
  calls_are_own = 0;
  for (int mark = 0; mark < MARKS && job->rank == 0; mark++)
    printf("race %d %.12e\n", (mark + 1) * how.marks / MARKS, all[mark]);
}

static void measure(char* word, MPI_Comm all, int index) {
  struct job jobs[MOST_SIZES] = {0};
  int count = 0;
  char* counts = strchr(word, '=');
  if (!counts) fail(usage);
  *counts++ = '\0';
  if (world == 0 && how.marks == 0) printf("schedule %d %s %s 0\n", index, word, counts);
  /* Each collective gets its own communicator, since the mean block of alltoallvs is kept for each communicator. */
  MPI_Comm comm = MPI_COMM_WORLD;
  if (how.marks == 0) MPI_Comm_dup(all, &comm);
  for (counts = strtok(counts, "/"); counts && count < MOST_SIZES; counts = strtok(NULL, "/")) {
    struct job* const job = &jobs[count++];
    MPI_Comm_rank(comm, &job->rank);
    MPI_Comm_size(comm, &job->ranks);
    job->checked = how.checked;
    read_job(job, word, counts);
    make_buffers(job);
    job->call.comm = comm;
  }
  if (count == 0) fail(usage);
  if (how.marks > 0)
    mark_calls(jobs);
  else
    take_turns(jobs, count, index);
  for (int i = 0; i < count; i++) free(jobs[i].send), free(jobs[i].receive);
  if (how.marks == 0) MPI_Comm_free(&comm);
}

static int read_how(const char* text) {
  if (sscanf(text, "pairs=%d", &how.pairs) == 1) how.calls = WARM_UP;
  how.checked = sscanf(text, "checked=%d", &how.marks) == 1;
  return how.calls > 0 || how.checked || sscanf(text, "marks=%d", &how.marks) == 1 ||
         sscanf(text, "blocks=%d,%lf", &how.blocks, &how.seconds) == 2 ||
         sscanf(text, "%d", &how.calls) == 1;
}

int main(int count, char** words) {
  MPI_Comm all;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  if (count < 4 || !read_how(words[2])) fail(usage);
  const int row = atoi(words[1]);
  MPI_Comm_split(MPI_COMM_WORLD, row > 0 ? world % row : 0, world, &all);
  for (int i = 3; i < count; i++) measure(words[i], all, i - 3);
  MPI_Comm_free(&all);
  if (world == 0) printf("end\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
