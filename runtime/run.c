/* mpirun -n RANKS run FILE.qs [options]: executes a schedule, checks every byte, and prints its
 * time beside the MPI library's own collective.
 *
 * Both are called in turn, a barrier before each; a call takes as long as its slowest rank. Exit
 * codes: 0 all bytes right, 1 a byte was wrong, 2 bad input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/quadrille.h"

struct arguments {
  const char* file;
  long bytes, repetitions, window;
  int synchronous, trusted, in_place;
};

static const char usage[] =
    "usage: mpirun -n RANKS run FILE.qs [options]\n"
    "  --bytes N         bytes of a block (default 1024)\n"
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
  *a = (struct arguments){NULL, 1024, 20, 0, 0, 0, 0};
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

/* The byte at an offset of the block from one rank to another. */
static unsigned char pattern(int source, int target, long offset) {
  const unsigned long x = (unsigned long)source * 2654435761u + (unsigned long)target * 40503u +
                          (unsigned long)offset * 97u;
  return (unsigned char)(x ^ x >> 7 ^ x >> 16);
}

static void fill(unsigned char* buffer, int rank, int ranks, long bytes) {
  for (int target = 0; target < ranks; target++)
    for (long i = 0; i < bytes; i++) buffer[target * bytes + i] = pattern(rank, target, i);
}

/* The number of wrong bytes; the first one is named. */
static long wrong_bytes(const unsigned char* buffer, int rank, int ranks, long bytes,
                        const char* who) {
  long wrong = 0;
  for (int source = 0; source < ranks; source++)
    for (long i = 0; i < bytes; i++) {
      if (buffer[source * bytes + i] == pattern(source, rank, i)) continue;
      if (wrong++ == 0)
        fprintf(stderr, "run: %s: rank %d has a wrong byte %ld from rank %d\n", who, rank, i,
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

struct buffers {
  unsigned char *send, *receive;
  int rank, ranks;
};

static void call(quadrille_schedule schedule, const struct arguments* a, const struct buffers* b,
                 int native) {
  const void* send = a->in_place ? MPI_IN_PLACE : b->send;
  if (a->in_place) memcpy(b->receive, b->send, (size_t)(a->bytes * b->ranks));
  const int bytes = (int)a->bytes;
  if (native)
    MPI_Alltoall(send, bytes, MPI_BYTE, b->receive, bytes, MPI_BYTE, MPI_COMM_WORLD);
  else
    quadrille_alltoall(schedule, send, bytes, MPI_BYTE, b->receive, bytes, MPI_BYTE,
                       MPI_COMM_WORLD);
}

/* One call: its time, on rank 0, in microseconds. */
static double timed_call(quadrille_schedule schedule, const struct arguments* a,
                         const struct buffers* b, int native) {
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = MPI_Wtime(), slowest = 0;
  call(schedule, a, b, native);
  mine = MPI_Wtime() - mine;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest * 1e6;
}

static long checked_call(quadrille_schedule schedule, const struct arguments* a,
                         const struct buffers* b, int native) {
  memset(b->receive, 0xee, (size_t)(a->bytes * b->ranks + 1));
  call(schedule, a, b, native);
  long wrong = wrong_bytes(b->receive, b->rank, b->ranks, a->bytes,
                           native ? "MPI_Alltoall" : "quadrille_alltoall"),
       all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void report(const char* what, double* times, long count) {
  const double middle = median(times, count);
  printf("  %-20s %10.1f us  (%.1f to %.1f)\n", what, middle, times[0], times[count - 1]);
}

static void compare(quadrille_schedule schedule, const struct arguments* a,
                    const struct buffers* b) {
  const size_t size = (size_t)a->repetitions * sizeof(double);
  double *ours = malloc(size), *native = malloc(size), *ratios = malloc(size);
  for (long i = 0; i < a->repetitions && ours && native && ratios; i++) {
    ours[i] = timed_call(schedule, a, b, 0);
    native[i] = timed_call(schedule, a, b, 1);
    ratios[i] = ours[i] > 0 ? native[i] / ours[i] : 0;
  }
  if (b->rank == 0 && ours && native && ratios) {
    printf("median of %ld calls of each, in turn (least to most):\n", a->repetitions);
    report("quadrille_alltoall", ours, a->repetitions);
    report("MPI_Alltoall", native, a->repetitions);
    printf("  MPI_Alltoall / quadrille_alltoall, pair by pair: %.2f\n",
           median(ratios, a->repetitions));
  }
  free(ours);
  free(native);
  free(ratios);
}

static int run(const struct arguments* a) {
  struct buffers b = {NULL, NULL, 0, 0};
  quadrille_schedule schedule;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  quadrille_load_file(a->file, &schedule);
  const quadrille_bind_options options = {
      sizeof options, a->trusted ? QUADRILLE_LAYOUT_TRUSTED : QUADRILLE_LAYOUT_SHARED,
      (int)a->window, a->synchronous, 0};
  const int code = quadrille_bind(schedule, MPI_COMM_WORLD, &options);
  if (code != MPI_SUCCESS) {
    MPI_Error_string(code, text, &length);
    if (b.rank == 0) fprintf(stderr, "run: %s\n", text);
    quadrille_free(&schedule);
    return 2;
  }
  quadrille_schedule_info info = {.size = sizeof info};
  quadrille_info(schedule, &info);
  b.send = malloc((size_t)(a->bytes * b.ranks) + 1);
  b.receive = malloc((size_t)(a->bytes * b.ranks) + 1);
  if (!b.send || !b.receive) {
    fprintf(stderr, "run: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  fill(b.send, b.rank, b.ranks, a->bytes);
  const long wrong = checked_call(schedule, a, &b, 0) + checked_call(schedule, a, &b, 1);
  if (b.rank == 0) {
    printf("%s %s, %d ranks, blocks of %ld bytes%s%s: ", info.collective, info.algorithm, b.ranks,
           a->bytes, a->synchronous ? ", synchronous sends" : "", a->in_place ? ", in place" : "");
    printf(wrong == 0 ? "every byte is right\n" : "%ld bytes are wrong\n", wrong);
  }
  if (wrong == 0) compare(schedule, a, &b);
  free(b.send);
  free(b.receive);
  quadrille_free(&schedule);
  return wrong != 0;
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
