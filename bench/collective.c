/* mpirun collective COLLECTIVE COUNTS REPETITIONS [OPTION...] FILE.qs:WINDOW[:BLOCK_SIZE]...: times schedules
 * beside the MPI library's own collective.
 *
 * COLLECTIVE is alltoall, alltoallv, persistent, allgather, allgatherv, reduce-scatterv, or another that tools/run
 * knows. The root is rank 0. COUNTS is the bytes of a block. For allgatherv and reduce-scatterv it has the bytes of
 * each rank: 8x16384,7x0,131072 means 16384 for eight ranks, nothing for seven, and 131072 for the last. For
 * alltoallv it is a distribution over all pairs of ranks: uniform:MOST, normal:MEAN:DEVIATION, or
 * power:EXPONENT:MOST, where x bytes have probability x to the minus EXPONENT. `persistent` initializes a persistent
 * alltoallv before the clock starts, and compares it with MPI_Alltoallv. A WINDOW of 0 is what the schedule asks for,
 * or the default. With --first-group N, the first N ranks are one group and the others the second; allgatherv's
 * counts then cover the ranks of both. SimGrid has no intercommunicators, so its build uses quadrille_bind_groups.
 *
 * Each repetition runs the schedules in turn. Next to each schedule's call runs one of the library's own, which comes
 * first in every other repetition. All ranks start a call at the same instant, and the slowest rank gives its time.
 * Received bytes are compared with the sent ones, and reduced bytes with those of the library's call. Under SimGrid
 * (SIMULATED) nothing warms up, since the second call takes as long as the first.
 *
 * Rank 0 prints what bench/sampling.py reads: `schedule INDEX ALGORITHM HASH WINDOW` for each schedule,
 * `sample INDEX NATIVE OURS` in seconds for each pair, and `end`. Exit code 2: bad input, or wrong bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/collective_job.h"

enum { MAX_SCHEDULES = 128, MAX_TRIES = 100 };

/* Seconds before a call begins, so that every rank learns its start in time. If a rank is late, the lead grows. */
#ifdef SIMULATED
#define LEAD 1e-2
#else
#define LEAD 2e-3
#endif
#define MOST_LEAD 0.5
#define LATE (-1.0)

const char usage[] =
    "usage: collective alltoall|alltoallv|persistent|allgather|allgatherv|... COUNTS REPETITIONS "
    "[OPTION...] FILE.qs:WINDOW[:BLOCK_SIZE]...; options: --layout trusted, --without-native, "
    "--unchecked, --first-group RANKS";

struct scheduled {
  quadrille_schedule schedule;
  int window;
  MPI_Comm comm;
  quadrille_request request; /* of the persistent call */
};

static void prepare(const struct job* job, struct scheduled* s, char* word) {
  char* colon = strstr(word, ".qs:");
  const char* block_size = colon ? strchr(colon + 4, ':') : NULL;
  s->window = colon ? atoi(colon + 4) : -1;
  if (s->window < 0) fail("a schedule is given as FILE.qs:WINDOW[:BLOCK_SIZE]");
  colon[3] = '\0';
  quadrille_load_file(word, &s->schedule);
  MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
#ifndef SIMULATED
  if (job->first_group > 0) s->comm = call_split(s->comm, job->first_group);
#endif
  MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
  const quadrille_bind_options options = {sizeof options, job->layout, s->window, 0,
                                          block_size ? atoi(block_size + 1) : 0};
#ifdef SIMULATED
  int code = job->first_group > 0
                 ? quadrille_bind_groups(s->schedule, s->comm, job->first_group, &options)
                 : quadrille_bind(s->schedule, s->comm, &options);
#else
  int code = quadrille_bind(s->schedule, s->comm, &options);
#endif
  if (code == MPI_SUCCESS && job->collective == PERSISTENT)
    code = quadrille_alltoallv_init(
        s->schedule, job->send, job->send_counts, job->send_displacements, MPI_BYTE, job->receive,
        job->counts, job->displacements, MPI_BYTE, s->comm, MPI_INFO_NULL, &s->request);
  if (code == MPI_SUCCESS) return;
  char text[256];
  quadrille_last_error(text, sizeof text);
  fail(text);
}

static int call_ours(const struct job* job, const struct scheduled* s) {
  if (job->collective != PERSISTENT) return call_job(job, s->schedule, s->comm, 0);
  const int code = quadrille_start(s->request);
  return code == MPI_SUCCESS ? quadrille_wait(s->request) : code;
}

/* Returns seconds on a clock that all ranks share. All are on one machine, even on the emulated cluster. */
static double now(void) {
#ifdef SIMULATED
  return MPI_Wtime();
#else
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
#endif
}

/* Sleeps until the call begins, at the same moment on all ranks. Returns this moment, or LATE if it has passed. A
 * barrier would not do: ranks leave it one by one, and the last may be late by the time of a short call. */
static double start(double lead) {
  MPI_Barrier(MPI_COMM_WORLD);
  double common = now();
  MPI_Allreduce(MPI_IN_PLACE, &common, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  common += lead;
  const double rest = common - now();
  const struct timespec nap = {0, (long)(rest * 1e9)};
  if (rest > 0) nanosleep(&nap, NULL);
  return rest > 0 ? common : LATE;
}

/* Makes one call. Returns its seconds at the slowest rank, or LATE if a rank missed the start. */
static double timed_once(const struct job* job, const struct scheduled* s, int native,
                         double lead) {
  spoil_received(job);
  const double begin = start(lead);
  const int code = native ? call_native(job, s->comm) : call_ours(job, s);
  double slowest = begin == LATE ? INFINITY : now() - begin;
  if (code != MPI_SUCCESS) {
    char text[256];
    quadrille_last_error(text, sizeof text);
    fail(native ? "the library's collective failed" : text);
  }
  MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (!is_received(job))
    fail(native ? "the library's collective received other bytes than were sent"
                : "the schedule received other bytes than were sent");
  return isinf(slowest) ? LATE : slowest;
}

static double timed(const struct job* job, const struct scheduled* s, int native) {
  double lead = LEAD;
  for (int tries = 0; tries < MAX_TRIES; tries++) {
    const double seconds = timed_once(job, s, native, lead);
    if (seconds != LATE) return seconds;
    lead = fmin(1.1 * lead, MOST_LEAD);
  }
  fail("a rank was late for every start; the machine is busy with other work");
  return 0;
}

static void repeat(const struct job* job, const struct scheduled* s, int index, int repetition,
                   int told) {
  double times[2] = {0, 0};
  for (int turn = 0; turn < 2; turn++) {
    const int native = (turn + repetition) % 2 == 0;
    if (native && !job->with_native) continue;
    times[native] = timed(job, s, native);
  }
  if (!told || job->rank != 0) return;
  printf("sample %d %.12e %.12e\n", index, times[1], times[0]);
  fflush(stdout);
}

static void describe(const struct scheduled* s, int index) {
  quadrille_schedule_info info = {.size = sizeof info};
  quadrille_info(s->schedule, &info);
  printf("schedule %d %s %s %d\n", index, info.algorithm, info.hash, s->window);
}

/* Reads the options. Returns the index of the first schedule. */
static int read_options(struct job* job, int count, char** words, int at) {
  for (; at < count && strncmp(words[at], "--", 2) == 0; at++) {
    if (strcmp(words[at], "--without-native") == 0)
      job->with_native = 0;
    else if (strcmp(words[at], "--unchecked") == 0)
      job->checked = 0;
    else if (strcmp(words[at], "--layout") == 0 && at + 1 < count &&
             strcmp(words[at + 1], "trusted") == 0)
      job->layout = QUADRILLE_LAYOUT_TRUSTED, at++;
    else if (strcmp(words[at], "--first-group") == 0 && at + 1 < count &&
             (job->first_group = atoi(words[at + 1])) > 0)
      at++;
    else
      fail(usage);
  }
  return at;
}

int main(int count, char** words) {
  static struct scheduled schedules[MAX_SCHEDULES];
  struct job job = {.layout = QUADRILLE_LAYOUT_SHARED, .with_native = 1, .checked = 1};
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  if (count < 5 || (job.repetitions = atoi(words[3])) < 1) fail(usage);
  const int first = read_options(&job, count, words, 4), given = count - first;
  if (given < 1 || given > MAX_SCHEDULES) fail(usage);
  read_job(&job, words[1], words[2]);
  make_buffers(&job);
  for (int i = 0; i < given; i++) {
    prepare(&job, &schedules[i], words[first + i]);
    if (job.rank == 0) describe(&schedules[i], i);
  }
  expect_native(&job, schedules[0].comm);
#ifndef SIMULATED
  for (int i = 0; i < given; i++) repeat(&job, &schedules[i], i, 0, 0); /* to connect the ranks */
#endif
  for (int r = 0; r < job.repetitions; r++)
    for (int i = 0; i < given; i++) repeat(&job, &schedules[i], i, r, 1);
  if (job.rank == 0) printf("end\n");
  fflush(stdout);
  free(job.expected);
  MPI_Finalize();
  return 0;
}
