/* mpirun -n RANKS run FILE.qs [options]: executes a schedule, checks every byte, and prints its
 * time beside the MPI library's own collective.
 *
 * Both are called in turn, a barrier before each; a call takes as long as its slowest rank. Exit
 * codes: 0 all bytes right, 1 a byte was wrong, 2 bad input. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/quadrille.h"

struct arguments {
  const char* file;
  long bytes, repetitions, window, block_size;
  int synchronous, trusted, in_place;
};

static const char usage[] =
    "usage: mpirun -n RANKS run FILE.qs [options]\n"
    "  --bytes N         bytes of a block, or of a rank's contribution (default 1024)\n"
    "  --block-size N    bytes into which a schedule that pipelines cuts contributions\n"
    "  --repetitions N   timed calls of each (default 20)\n"
    "  --window N        steps in flight (default: the library's)\n"
    "  --synchronous     every send is an MPI_Issend\n"
    "  --in-place        call with MPI_IN_PLACE\n"
    "  --layout trusted  ranks lie node by node as in the schedule, whatever memory they share\n";

/* A whole number in low .. high; the program's exit code and a sentence otherwise. */
static int number(const char* flag, const char* text, long low, long high, long* value) {
  char* end = NULL;
  *value = text ? strtol(text, &end, 10) : 0;
  if (text && *text && !*end && *value >= low && *value <= high) return 1;
  fprintf(stderr, "run: %s wants a number from %ld to %ld\n", flag, low, high);
  return 0;
}

static int parse(int count, char** words, struct arguments* a) {
  *a = (struct arguments){.bytes = 1024, .repetitions = 20};
  for (int i = 1; i < count; i++) {
    const char* word = words[i];
    const char* value = i + 1 < count ? words[i + 1] : NULL;
    int ok = 1, taken = 1;
    if (strcmp(word, "--bytes") == 0) {
      ok = number(word, value, 0, 1L << 30, &a->bytes);
    } else if (strcmp(word, "--repetitions") == 0) {
      ok = number(word, value, 1, 1000000, &a->repetitions);
    } else if (strcmp(word, "--window") == 0) {
      ok = number(word, value, 1, 65536, &a->window);
    } else if (strcmp(word, "--block-size") == 0) {
      ok = number(word, value, 1, INT_MAX, &a->block_size);
    } else if (strcmp(word, "--layout") == 0) {
      ok = a->trusted = value && strcmp(value, "trusted") == 0;
      if (!ok) fprintf(stderr, "run: --layout knows 'trusted' only\n");
    } else {
      taken = 0;
      if (strcmp(word, "--synchronous") == 0)
        a->synchronous = 1;
      else if (strcmp(word, "--in-place") == 0)
        a->in_place = 1;
      else if (word[0] == '-' || a->file)
        ok = fprintf(stderr, "run: '%s' is not known\n%s", word, usage) < 0;
      else
        a->file = word;
    }
    if (!ok) return 0;
    i += taken;
  }
  if (!a->file) fprintf(stderr, "%s", usage);
  return a->file != NULL;
}

/* The byte at an offset of the block from one rank to another; target 0 where it goes to all. */
static unsigned char pattern(int source, int target, long offset) {
  const unsigned long x = (unsigned long)source * 2654435761u + (unsigned long)target * 40503u +
                          (unsigned long)offset * 97u;
  return (unsigned char)(x ^ x >> 7 ^ x >> 16);
}

struct job {
  unsigned char *send, *receive;
  int rank, ranks, gathers; /* gathers: an allgather, else an all-to-all */
  const char *ours, *native;
};

static void fill(const struct job* j, long bytes) {
  for (int target = 0; target < (j->gathers ? 1 : j->ranks); target++)
    for (long i = 0; i < bytes; i++) j->send[target * bytes + i] = pattern(j->rank, target, i);
}

/* The number of wrong bytes; the first one is named. */
static long wrong_bytes(const struct job* j, long bytes, const char* who) {
  long wrong = 0;
  for (int source = 0; source < j->ranks; source++)
    for (long i = 0; i < bytes; i++) {
      if (j->receive[source * bytes + i] == pattern(source, j->gathers ? 0 : j->rank, i)) continue;
      if (wrong++ == 0)
        fprintf(stderr, "run: %s: rank %d has a wrong byte %ld from rank %d\n", who, j->rank, i,
                source);
    }
  return wrong;
}

static int by_value(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return a < b ? -1 : a > b;
}

static double median(double* values, long count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void prepare_in_place(const struct arguments* a, const struct job* j) {
  if (j->gathers)
    memcpy(j->receive + a->bytes * j->rank, j->send, (size_t)a->bytes);
  else
    memcpy(j->receive, j->send, (size_t)(a->bytes * j->ranks));
}

/* Where one rank's call fails, the others may be waiting for it. */
static void end_unless_well(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "run: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void call(quadrille_schedule schedule, const struct arguments* a, const struct job* j,
                 int native) {
  const void* send = a->in_place ? MPI_IN_PLACE : j->send;
  unsigned char* receive = j->receive;
  const int n = (int)a->bytes;
  const MPI_Comm comm = MPI_COMM_WORLD;
  if (a->in_place) prepare_in_place(a, j);
  if (native)
    (j->gathers ? MPI_Allgather : MPI_Alltoall)(send, n, MPI_BYTE, receive, n, MPI_BYTE, comm);
  else
    end_unless_well((j->gathers ? quadrille_allgather : quadrille_alltoall)(
        schedule, send, n, MPI_BYTE, receive, n, MPI_BYTE, comm));
}

/* One call: its time, on rank 0, in microseconds. */
static double timed_call(quadrille_schedule schedule, const struct arguments* a,
                         const struct job* j, int native) {
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = MPI_Wtime(), slowest = 0;
  call(schedule, a, j, native);
  mine = MPI_Wtime() - mine;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest * 1e6;
}

static long checked_call(quadrille_schedule schedule, const struct arguments* a,
                         const struct job* j, int native) {
  memset(j->receive, 0xee, (size_t)(a->bytes * j->ranks + 1));
  call(schedule, a, j, native);
  long wrong = wrong_bytes(j, a->bytes, native ? j->native : j->ours), all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void report(const char* what, double* times, long count) {
  const double middle = median(times, count);
  printf("  %-20s %10.1f us  (%.1f to %.1f)\n", what, middle, times[0], times[count - 1]);
}

static void compare(quadrille_schedule schedule, const struct arguments* a, const struct job* j) {
  const size_t size = (size_t)a->repetitions * sizeof(double);
  double *ours = malloc(size), *native = malloc(size), *ratios = malloc(size);
  for (long i = 0; i < a->repetitions && ours && native && ratios; i++) {
    ours[i] = timed_call(schedule, a, j, 0);
    native[i] = timed_call(schedule, a, j, 1);
    ratios[i] = ours[i] > 0 ? native[i] / ours[i] : 0;
  }
  if (j->rank == 0 && ours && native && ratios) {
    printf("median of %ld calls of each, in turn (least to most):\n", a->repetitions);
    report(j->ours, ours, a->repetitions);
    report(j->native, native, a->repetitions);
    printf("  %s / %s, pair by pair: %.2f\n", j->native, j->ours, median(ratios, a->repetitions));
  }
  free(ours);
  free(native);
  free(ratios);
}

/* Loads and binds; the exit code of what cannot be. */
static int bind(const struct arguments* a, struct job* j, quadrille_schedule* schedule,
                quadrille_schedule_info* info) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  quadrille_load_file(a->file, schedule);
  const quadrille_bind_options options = {
      sizeof options, a->trusted ? QUADRILLE_LAYOUT_TRUSTED : QUADRILLE_LAYOUT_SHARED,
      (int)a->window, a->synchronous, a->block_size};
  const int code = quadrille_bind(*schedule, MPI_COMM_WORLD, &options);
  if (code != MPI_SUCCESS) {
    MPI_Error_string(code, text, &length);
    if (j->rank == 0) fprintf(stderr, "run: %s\n", text);
    return 2;
  }
  info->size = sizeof *info;
  quadrille_info(*schedule, info);
  j->gathers = strcmp(info->collective, "allgather") == 0;
  j->ours = j->gathers ? "quadrille_allgather" : "quadrille_alltoall";
  j->native = j->gathers ? "MPI_Allgather" : "MPI_Alltoall";
  return 0;
}

static int measure(const struct arguments* a, struct job* j, quadrille_schedule schedule,
                   const quadrille_schedule_info* info) {
  fill(j, a->bytes);
  const long wrong = checked_call(schedule, a, j, 0) + checked_call(schedule, a, j, 1);
  if (j->rank == 0) {
    printf("%s %s, %d ranks, %s of %ld bytes%s%s: ", info->collective, info->algorithm, j->ranks,
           j->gathers ? "contributions" : "blocks", a->bytes,
           a->synchronous ? ", synchronous sends" : "", a->in_place ? ", in place" : "");
    printf(wrong == 0 ? "every byte is right\n" : "%ld bytes are wrong\n", wrong);
  }
  if (wrong == 0) compare(schedule, a, j);
  return wrong != 0;
}

static int run(const struct arguments* a) {
  struct job j = {0};
  quadrille_schedule schedule;
  quadrille_schedule_info info;
  MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = bind(a, &j, &schedule, &info);
  if (code == 0) {
    j.send = malloc((size_t)(a->bytes * j.ranks) + 1);
    j.receive = malloc((size_t)(a->bytes * j.ranks) + 1);
    if (!j.send || !j.receive) {
      fprintf(stderr, "run: out of memory\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
      exit(2);
    }
    code = measure(a, &j, schedule, &info);
    free(j.send);
    free(j.receive);
  }
  quadrille_free(&schedule);
  return code;
}

int main(int argc, char** argv) {
  struct arguments a;
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    printf("%s", usage);
    return 0;
  }
  if (!parse(argc, argv, &a)) return 2;
  MPI_Init(&argc, &argv);
  const int code = run(&a);
  MPI_Finalize();
  return code;
}
