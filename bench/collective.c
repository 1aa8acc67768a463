/* mpirun collective COLLECTIVE COUNTS REPETITIONS [OPTION...] FILE.qs:WINDOW[:BLOCK_SIZE]...: a
 * collective by schedules, beside the MPI library's own.
 *
 * COLLECTIVE is alltoall, alltoallv, persistent, allgather or allgatherv. COUNTS are bytes: of a
 * block; for allgatherv, of each rank, as 8x16384,7x0,131072: eight ranks have 16384, seven have
 * nothing; for alltoallv, how they are distributed over all pairs of ranks: uniform:MOST, from 0 up;
 * normal:MEAN:DEVIATION; power:EXPONENT:MOST, where x bytes are as likely as x to the minus EXPONENT.
 * A persistent alltoallv is made before any time is taken; the library's own stays MPI_Alltoallv.
 * Each repetition calls the library's collective and each schedule with its window in turn, each
 * schedule next to a call of the library's of its own, which comes first in every other repetition. A call takes as long as its slowest rank. Received bytes
 * are compared with those that were sent.
 *
 * Rank 0 prints what bench/sampling.py reads: `schedule INDEX ALGORITHM HASH WINDOW` for each,
 * `sample INDEX NATIVE OURS` in seconds for each pair, and `end`. Exit code 2: bad input, or wrong
 * bytes.
 *
 * Ranks start a call at the same instant. Compiled for SimGrid (SIMULATED), there is no call to warm
 * up: the second costs what the first did. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/quadrille.h"

enum { MAX_SCHEDULES = 128, POISON = 0xee, MAX_TRIES = 100 };

/* Seconds until a call begins, in which every rank hears of it. */
#ifdef SIMULATED
#define LEAD 1e-2
#else
#define LEAD 2e-3
#endif
#define LATE (-1.0)

enum collective { ALLTOALL, ALLTOALLV, PERSISTENT, ALLGATHER, ALLGATHERV, COLLECTIVES };
static const char* const names[COLLECTIVES] = {"alltoall", "alltoallv", "persistent", "allgather",
                                               "allgatherv"};

struct scheduled {
  quadrille_schedule schedule;
  int window;
  MPI_Comm comm;
  quadrille_request request; /* persistent */
};

struct job {
  enum collective collective;
  int rank, ranks, repetitions, layout;
  int with_native, checked;
  int *counts, *displacements;           /* of what is received, by source */
  int *send_counts, *send_displacements; /* by target, where blocks differ from pair to pair */
  size_t received, sent;
  char *send, *receive, *expected;
};

static const char usage[] =
    "usage: collective alltoall|alltoallv|persistent|allgather|allgatherv COUNTS REPETITIONS "
    "[OPTION...] "
    "FILE.qs:WINDOW[:BLOCK_SIZE]...; options: --layout trusted, --without-native, --unchecked";

static void fail(const char* text) {
  fprintf(stderr, "collective: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

/* Contents are not looked at: SimGrid may give all ranks the same memory here, and spare the
 * machine's. */
static char* buffer_to_send(size_t size) { return malloc(size + 1); }
static char* buffer_to_receive(size_t size) { return malloc(size + 1); }

static void* must(void* memory) {
  if (!memory) fail("out of memory");
  return memory;
}

/* "8x16384,7x0,131072": how many ranks have how many bytes. One number stands for all ranks. */
static void read_counts(struct job* job, const char* text) {
  int known = 0;
  job->counts = must(malloc((size_t)job->ranks * sizeof(int)));
  job->displacements = must(malloc((size_t)job->ranks * sizeof(int)));
  for (int only = 1;; only = 0) {
    char* end;
    long bytes = strtol(text, &end, 10), times = only && *end == '\0' ? job->ranks : 1;
    if (end > text && *end == 'x') {
      times = bytes;
      text = end + 1;
      bytes = strtol(text, &end, 10);
    }
    if (end == text || bytes < 0 || bytes > 1L << 30) fail("a count is no number of bytes");
    if (times < 0 || times > job->ranks - known) fail("there are more counts than ranks");
    while (times-- > 0) job->counts[known++] = (int)bytes;
    if (*end == '\0') break;
    if (*end != ',') fail("counts are given as RANKSxBYTES,BYTES,...");
    text = end + 1;
  }
  if (known != job->ranks) fail("there are fewer counts than ranks");
  for (int r = 0; r < job->ranks; r++) {
    if (job->collective != ALLGATHERV && job->counts[r] != job->counts[0])
      fail("counts that differ are for allgatherv alone");
    job->displacements[r] = (int)job->received;
    job->received += (size_t)job->counts[r];
    if (job->received > 0x7fffffff) fail("more than 2 GiB in all");
  }
}

/* In [0, 1), by the pair of ranks and a salt. */
static double random_of(int source, int target, uint64_t salt) {
  uint64_t x = (uint64_t)source << 40 ^ (uint64_t)target << 16 ^ salt;
  for (int i = 0; i < 3; i++) x = (x ^ x >> 31) * 0x7fb5d329728ea185u + 0x9e3779b97f4a7c15u;
  return (double)(x >> 11) / 9007199254740992.0;
}

/* "uniform:MOST", "normal:MEAN:DEVIATION" or "power:EXPONENT:MOST", read once. */
struct distribution {
  char kind;
  double first, second;
};

static struct distribution read_distribution(const char* text) {
  struct distribution d = {text[0], 0, 0};
  const int uniform = sscanf(text, "uniform:%lf", &d.first) == 1;
  const int other = sscanf(text, "normal:%lf:%lf", &d.first, &d.second) == 2 ||
                    sscanf(text, "power:%lf:%lf", &d.first, &d.second) == 2;
  if (!(uniform || other) || d.first < 0 || d.second < 0 || d.first > 1 << 30 || d.second > 1 << 30)
    fail("sizes are given as uniform:MOST, normal:MEAN:DEVIATION or power:EXPONENT:MOST");
  if (d.kind == 'p' && (d.first == 1 || d.second < 1))
    fail(
        "sizes are given as uniform:MOST, ...; a power law has an exponent other than 1 and a "
        "largest size of 1 or more");
  return d;
}

/* How many bytes travel from one rank to another. */
static int size_of(const struct distribution* d, int source, int target) {
  const double u = random_of(source, target, 1), v = random_of(source, target, 2);
  if (d->kind == 'u') return (int)(u * (d->first + 1));
  if (d->kind == 'p') {
    const double rest = 1 - d->first; /* of the exponent, integrated */
    return (int)pow(1 + u * (pow(d->second, rest) - 1), 1 / rest);
  }
  const double x = d->first + d->second * sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
  return x < 0 ? 0 : (int)x;
}

/* Blocks that differ from pair to pair. */
static void read_sizes(struct job* job, const char* text) {
  const struct distribution d = read_distribution(text);
  int* all = must(malloc(4 * (size_t)job->ranks * sizeof(int)));
  job->counts = all;
  job->displacements = all + job->ranks;
  job->send_counts = all + 2 * job->ranks;
  job->send_displacements = all + 3 * job->ranks;
  for (int r = 0; r < job->ranks; r++) {
    job->counts[r] = size_of(&d, r, job->rank);
    job->send_counts[r] = size_of(&d, job->rank, r);
    job->displacements[r] = (int)job->received;
    job->send_displacements[r] = (int)job->sent;
    job->received += (size_t)job->counts[r];
    job->sent += (size_t)job->send_counts[r];
    if (job->received > 0x7fffffff || job->sent > 0x7fffffff) fail("more than 2 GiB in all");
  }
}

/* What a rank sends to another; in an allgather the same to all: target 0. */
static void fill(char* block, int bytes, int source, int target) {
  unsigned x = (unsigned)source * 2654435761u + (unsigned)target * 40503u + 1;
  for (int i = 0; i < bytes; i++) {
    x = x * 1664525u + 1013904223u;
    block[i] = (char)(x >> 24);
  }
}

static void make_buffers(struct job* job) {
  const int all = job->collective <= PERSISTENT; /* all-to-all */
  const int own = job->counts[job->rank];
  if (!job->send_counts) job->sent = (size_t)own * (size_t)(all ? job->ranks : 1);
  job->send = must(buffer_to_send(job->sent));
  job->receive = must(buffer_to_receive(job->received));
  if (!job->checked) return;
  job->expected = must(malloc(job->received + 1));
  for (int r = 0; r < (all ? job->ranks : 1); r++) {
    const size_t place =
        job->send_counts ? (size_t)job->send_displacements[r] : (size_t)r * (size_t)own;
    fill(job->send + place, job->send_counts ? job->send_counts[r] : own, job->rank, r);
  }
  for (int r = 0; r < job->ranks; r++)
    fill(job->expected + job->displacements[r], job->counts[r], r, all ? job->rank : 0);
}

static void prepare(const struct job* job, struct scheduled* s, char* word) {
  char* colon = strstr(word, ".qs:");
  const char* block_size = colon ? strchr(colon + 4, ':') : NULL;
  s->window = colon ? atoi(colon + 4) : 0;
  if (s->window < 1) fail("a schedule is given as FILE.qs:WINDOW[:BLOCK_SIZE]");
  colon[3] = '\0';
  quadrille_load_file(word, &s->schedule);
  MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
  MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
  const quadrille_bind_options options = {sizeof options, job->layout, s->window, 0,
                                          block_size ? atoi(block_size + 1) : 0};
  int code = quadrille_bind(s->schedule, s->comm, &options);
  if (code == MPI_SUCCESS && job->collective == PERSISTENT)
    code = quadrille_alltoallv_init(
        s->schedule, job->send, job->send_counts, job->send_displacements, MPI_BYTE, job->receive,
        job->counts, job->displacements, MPI_BYTE, s->comm, MPI_INFO_NULL, &s->request);
  if (code == MPI_SUCCESS) return;
  char text[256];
  quadrille_last_error(text, sizeof text);
  fail(text);
}

static int call_native(const struct job* job, MPI_Comm comm) {
  const int own = job->counts[job->rank];
  switch (job->collective) {
    case ALLTOALLV:
    case PERSISTENT:
      return MPI_Alltoallv(job->send, job->send_counts, job->send_displacements, MPI_BYTE,
                           job->receive, job->counts, job->displacements, MPI_BYTE, comm);
    case ALLTOALL: return MPI_Alltoall(job->send, own, MPI_BYTE, job->receive, own, MPI_BYTE, comm);
    case ALLGATHER:
      return MPI_Allgather(job->send, own, MPI_BYTE, job->receive, own, MPI_BYTE, comm);
    default:
      return MPI_Allgatherv(job->send, own, MPI_BYTE, job->receive, job->counts, job->displacements,
                            MPI_BYTE, comm);
  }
}

static int call_ours(const struct job* job, const struct scheduled* s) {
  const int own = job->counts[job->rank];
  switch (job->collective) {
    case ALLTOALLV:
      return quadrille_alltoallv(s->schedule, job->send, job->send_counts, job->send_displacements,
                                 MPI_BYTE, job->receive, job->counts, job->displacements, MPI_BYTE,
                                 s->comm);
    case PERSISTENT: {
      const int code = quadrille_start(s->request);
      return code == MPI_SUCCESS ? quadrille_wait(s->request) : code;
    }
    case ALLTOALL:
      return quadrille_alltoall(s->schedule, job->send, own, MPI_BYTE, job->receive, own, MPI_BYTE,
                                s->comm);
    case ALLGATHER:
      return quadrille_allgather(s->schedule, job->send, own, MPI_BYTE, job->receive, own, MPI_BYTE,
                                 s->comm);
    default:
      return quadrille_allgatherv(s->schedule, job->send, own, MPI_BYTE, job->receive, job->counts,
                                  job->displacements, MPI_BYTE, s->comm);
  }
}

/* Seconds on a clock that all ranks share: they are on one machine, the emulated cluster's included. */
static double now(void) {
#ifdef SIMULATED
  return MPI_Wtime();
#else
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
#endif
}

/* Sleeps until the moment when the call begins, the same at all ranks: after a barrier they would go
 * one by one, and the last be away for as long as a short call takes. */
static double start(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  double common = now();
  MPI_Allreduce(MPI_IN_PLACE, &common, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  common += LEAD;
  const double rest = common - now();
  const struct timespec nap = {0, (long)(rest * 1e9)};
  if (rest > 0) nanosleep(&nap, NULL);
  return rest > 0 ? common : LATE;
}

/* One call's time, in seconds, of the slowest rank; LATE where a rank heard too late that it began. */
static double timed_once(const struct job* job, const struct scheduled* s, int native) {
  if (job->checked) memset(job->receive, POISON, job->received);
  const double begin = start();
  const int code = native ? call_native(job, s->comm) : call_ours(job, s);
  double slowest = begin == LATE ? INFINITY : now() - begin;
  if (code != MPI_SUCCESS) {
    char text[256];
    quadrille_last_error(text, sizeof text);
    fail(native ? "the library's collective failed" : text);
  }
  MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (job->checked && memcmp(job->receive, job->expected, job->received) != 0)
    fail(native ? "the library's collective received other bytes than were sent"
                : "the schedule received other bytes than were sent");
  return isinf(slowest) ? LATE : slowest;
}

static double timed(const struct job* job, const struct scheduled* s, int native) {
  for (int tries = 0; tries < MAX_TRIES; tries++) {
    const double seconds = timed_once(job, s, native);
    if (seconds != LATE) return seconds;
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

/* Takes options off the words; returns where the schedules begin. */
static int read_options(struct job* job, int count, char** words, int at) {
  for (; at < count && strncmp(words[at], "--", 2) == 0; at++) {
    if (strcmp(words[at], "--without-native") == 0)
      job->with_native = 0;
    else if (strcmp(words[at], "--unchecked") == 0)
      job->checked = 0;
    else if (strcmp(words[at], "--layout") == 0 && at + 1 < count &&
             strcmp(words[at + 1], "trusted") == 0)
      job->layout = QUADRILLE_LAYOUT_TRUSTED, at++;
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
  while (job.collective < COLLECTIVES && strcmp(words[1], names[job.collective]) != 0)
    job.collective++;
  if (job.collective == COLLECTIVES) fail(usage);
  const int first = read_options(&job, count, words, 4), given = count - first;
  if (given < 1 || given > MAX_SCHEDULES) fail(usage);
  if (job.collective == ALLTOALLV || job.collective == PERSISTENT)
    read_sizes(&job, words[2]);
  else
    read_counts(&job, words[2]);
  make_buffers(&job);
  for (int i = 0; i < given; i++) {
    prepare(&job, &schedules[i], words[first + i]);
    if (job.rank == 0) describe(&schedules[i], i);
  }
#ifndef SIMULATED
  for (int i = 0; i < given; i++) repeat(&job, &schedules[i], i, 0, 0); /* connections are made */
#endif
  for (int r = 0; r < job.repetitions; r++)
    for (int i = 0; i < given; i++) repeat(&job, &schedules[i], i, r, 1);
  if (job.rank == 0) printf("end\n");
  fflush(stdout);
  free(job.expected);
  MPI_Finalize();
  return 0;
}
