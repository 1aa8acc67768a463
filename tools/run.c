/* mpirun -n RANKS run FILE.qs [options]: runs a schedule, compares every byte with the result of the MPI library's own
 * collective, and prints the times of both.
 *
 * It calls both in turn, with a barrier before each call. The slowest rank gives the time of a call. Exit codes: 0
 * all bytes right, 1 a byte was wrong, 2 bad input. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quantity.h"
#include "tools/launcher.h"
#include "tools/run_call.h"

struct arguments {
  const char* file;
  int64_t bytes, repetitions, window, block_size, root, first_group;
  int synchronous, trusted, in_place;
};

static const char usage[] =
    "usage: mpirun -n RANKS quadrille run FILE.qs [options]\n"
    "Runs a schedule, compares every byte with MPI's own collective, and prints both times.\n"
    "  --bytes SIZE      length of a block, or of a rank's contribution: 4096 or 4KiB (default "
    "1024)\n"
    "  --block-size SIZE a pipelined schedule cuts contributions into parts of this length\n"
    "  --repetitions N   timed calls of each (default 20)\n"
    "  --window N        steps in flight (default: the schedule's, or 16)\n"
    "  --synchronous     every send is an MPI_Issend\n"
    "  --in-place        call with MPI_IN_PLACE\n"
    "  --root N          root of a collective that has one, in the first of two groups (default "
    "0)\n"
    "  --first-group N   between groups: ranks of the first group (default: as the schedule says, "
    "or half)\n"
    "  --layout trusted  ranks lie node by node as in the schedule, whatever memory they share\n";

/* An option with a number in low .. high, of bytes if `is_size`. */
struct option {
  const char* name;
  int is_size;
  int64_t low, high, *value;
};

/* Reads the number. Prints an error and returns 0 if the text is something else. */
static int read_number(const struct option* o, const char* text) {
  if (text &&
      (o->is_size ? quantity_bytes : quantity_whole)(text, strlen(text), o->low, o->high, o->value))
    return 1;
  fprintf(stderr, "run: %s wants a number %sfrom %lld to %lld%s\n", o->name,
          o->is_size ? "of bytes " : "", (long long)o->low, (long long)o->high,
          o->is_size ? ", such as 4096 or 4KiB" : "");
  return 0;
}

static int parse(int count, char** words, struct arguments* a) {
  *a = (struct arguments){.bytes = 1024, .repetitions = 20, .root = -1};
  const struct option options[] = {
      {"--bytes", 1, 0, 1 << 30, &a->bytes}, {"--repetitions", 0, 1, 1000000, &a->repetitions},
      {"--window", 0, 1, 65536, &a->window}, {"--block-size", 1, 1, INT_MAX, &a->block_size},
      {"--root", 0, 0, INT_MAX, &a->root},   {"--first-group", 0, 1, INT_MAX, &a->first_group}};
  enum { OPTIONS = sizeof options / sizeof *options };
  for (int i = 1; i < count; i++) {
    const char *const word = words[i], *const value = i + 1 < count ? words[i + 1] : NULL;
    int o = 0, ok = 1;
    while (o < OPTIONS && strcmp(word, options[o].name) != 0) o++;
    const int is_layout = strcmp(word, "--layout") == 0;
    i += o < OPTIONS || is_layout;
    if (o < OPTIONS) {
      ok = read_number(&options[o], value);
    } else if (is_layout) {
      ok = a->trusted = value && strcmp(value, "trusted") == 0;
      if (!ok) fprintf(stderr, "run: --layout knows 'trusted' only\n");
    } else if (strcmp(word, "--synchronous") == 0) {
      a->synchronous = 1;
    } else if (strcmp(word, "--in-place") == 0) {
      a->in_place = 1;
    } else if (word[0] == '-' || a->file) {
      ok = fprintf(stderr, "run: '%s' is not known\n%s", word, usage) < 0;
    } else {
      a->file = word;
    }
    if (!ok) return 0;
  }
  if (!a->file) fprintf(stderr, "%s", usage);
  return a->file != NULL;
}

static unsigned char pattern(int source, int target, long offset) {
  const unsigned long x = (unsigned long)source * 2654435761u + (unsigned long)target * 40503u +
                          (unsigned long)offset * 97u;
  return (unsigned char)(x ^ x >> 7 ^ x >> 16);
}

/* Fills a buffer with small 64-bit integers, so that sums do not overflow. */
static void fill(unsigned char* bytes, long size, int seed) {
  for (long i = 0; i < size; i++) bytes[i] = i % 8 < 4 ? pattern(seed, 0, i) : 0;
}

/* Returns in how many bytes the result differs from the expected one. Prints the place of the first. */
static long wrong_bytes(const struct call* c, const unsigned char* expected) {
  long wrong = 0;
  for (long i = 0; i < c->receive_size; i++) {
    if (c->receive[i] == expected[i]) continue;
    if (wrong++ == 0)
      fprintf(stderr, "run: %s and %s differ at rank %d%s, byte %ld\n", c->ours, c->native, c->rank,
              c->groups == 1 ? ""
              : c->is_second ? " of the second group"
                             : " of the first group",
              i);
  }
  return wrong;
}

/* Ends all ranks if a call has failed on this one, since the others may wait for it. */
static void end_unless_well(int code) {
  char text[MPI_MAX_ERROR_STRING];
  if (code == MPI_SUCCESS) return;
  quadrille_last_error(text, sizeof text);
  fprintf(stderr, "run: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Makes one call. Returns its microseconds at the slowest rank, on rank 0 only. */
static double timed_call(quadrille_schedule schedule, const struct call* c, int native) {
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = MPI_Wtime(), slowest = 0;
  end_unless_well(call_once(c, schedule, native));
  mine = MPI_Wtime() - mine;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest * 1e6;
}

/* Makes the call both ways with the same bytes. Returns how many bytes differ, summed over all ranks. */
static long compare_bytes(quadrille_schedule schedule, struct call* c) {
  unsigned char *ours = c->receive, *native = allocate("run", (size_t)c->receive_size + 1, 1);
  int world = 0;
  long wrong, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  fill(c->send, c->send_size, world);
  fill(ours, c->receive_size, world + 1000);
  memcpy(native, ours, (size_t)c->receive_size);
  end_unless_well(call_once(c, schedule, 0));
  c->receive = native;
  end_unless_well(call_once(c, schedule, 1));
  c->receive = ours;
  wrong = wrong_bytes(c, native);
  free(native);
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void report(const char* what, double* times, long count) {
  const double middle = median(times, count);
  printf("  %-20s %10.1f us  (%.1f to %.1f)\n", what, middle, times[0], times[count - 1]);
}

static void compare_times(quadrille_schedule schedule, const struct arguments* a,
                          const struct call* c, int is_first) {
  const size_t count = (size_t)a->repetitions;
  double* const ours = allocate("run", 3 * count, sizeof *ours);
  double *const native = ours + count, *const ratios = native + count;
  for (long i = 0; i < a->repetitions; i++) {
    ours[i] = timed_call(schedule, c, 0);
    native[i] = timed_call(schedule, c, 1);
    ratios[i] = ours[i] > 0 ? native[i] / ours[i] : 0;
  }
  if (is_first) {
    printf("median of %lld calls of each, in turn (least to most):\n", (long long)a->repetitions);
    report(c->ours, ours, a->repetitions);
    report(c->native, native, a->repetitions);
    printf("  %s / %s, pair by pair: %.2f\n", c->native, c->ours, median(ratios, a->repetitions));
  }
  free(ours);
}

/* Splits the ranks into two groups. The first has as many as --first-group or the schedule says, or half of them.
 * Returns 0 if there are too few ranks. */
static int split(const struct arguments* a, const quadrille_schedule_info* info, struct call* c) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int first = a->first_group > 0 ? (int)a->first_group
                    : info->ranks > 0  ? (int)info->ranks
                                       : (ranks + 1) / 2;
  if (first >= ranks) {
    if (rank == 0)
      fprintf(stderr,
              "run: the first group has %d of %d ranks; start more, or give --first-group\n", first,
              ranks);
    return 0;
  }
  MPI_Comm all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  c->is_second = rank >= first;
  c->comm = call_split(all, first);
  MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
  return 1;
}

/* Loads and binds the schedule. Returns 0 or an exit code. */
static int bind(const struct arguments* a, struct call* c, quadrille_schedule* schedule,
                quadrille_schedule_info* info) {
  char text[MPI_MAX_ERROR_STRING];
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  quadrille_load_file(a->file, schedule);
  *info = (quadrille_schedule_info){.size = sizeof *info, .groups = 1};
  quadrille_info(*schedule, info);
  c->comm = MPI_COMM_WORLD;
  c->groups = info->groups;
  if (info->groups == 2 && !split(a, info, c)) return 2;
  const quadrille_bind_options options = {
      sizeof options, a->trusted ? QUADRILLE_LAYOUT_TRUSTED : QUADRILLE_LAYOUT_SHARED,
      (int)a->window, a->synchronous, a->block_size};
  const int code = quadrille_bind(*schedule, c->comm, &options);
  if (code != MPI_SUCCESS) {
    quadrille_last_error(text, sizeof text);
    if (world == 0) fprintf(stderr, "run: %s\n", text);
    return 2;
  }
  MPI_Comm_rank(c->comm, &c->rank);
  MPI_Comm_size(c->comm, &c->ranks);
  c->peers = c->ranks;
  if (c->groups == 2) MPI_Comm_remote_size(c->comm, &c->peers);
  c->bytes = a->bytes;
  c->in_place = a->in_place;
  const int root = a->root > 0 ? (int)a->root : 0;
  const char* const option = c->groups == 1 && a->first_group > 0        ? "--first-group"
                             : !call_describe(c, info->collective, root) ? "--in-place"
                             : a->root >= 0 && !call_has_root(c)         ? "--root"
                                                                         : NULL;
  const int roots = c->is_second ? c->peers : c->ranks;
  if (!option && a->root < roots) return 0;
  if (world == 0 && option)
    fprintf(stderr, "run: %s means nothing to %s%s; leave it out\n", option, info->collective,
            c->groups == 2 ? " between groups" : "");
  else if (world == 0)
    fprintf(stderr, "run: --root: the ranks are 0 to %d\n", roots - 1);
  return 2;
}

static int measure(const struct arguments* a, struct call* c, quadrille_schedule schedule,
                   const quadrille_schedule_info* info) {
  int world = 0, ranks = 0;
  const long wrong = compare_bytes(schedule, c);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (world == 0) {
    printf("%s %s, ", info->collective, info->algorithm);
    if (c->groups == 2)
      printf("%d + %d ranks", c->ranks, c->peers);
    else
      printf("%d ranks", ranks);
    printf(", %s of %ld bytes%s%s: ", c->unit, c->bytes,
           a->synchronous ? ", synchronous sends" : "", a->in_place ? ", in place" : "");
    printf(wrong == 0 ? "every byte is right\n" : "%ld bytes are wrong\n", wrong);
  }
  if (wrong == 0) compare_times(schedule, a, c, world == 0);
  return wrong != 0;
}

static int run(const struct arguments* a) {
  struct call c = {0};
  quadrille_schedule schedule;
  quadrille_schedule_info info;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = bind(a, &c, &schedule, &info);
  if (code == 0) {
    c.send = allocate("run", (size_t)c.send_size + 1, 1);
    c.receive = allocate("run", (size_t)c.receive_size + 1, 1);
    code = measure(a, &c, schedule, &info);
    free(c.send);
    free(c.receive);
  }
  if (c.comm != MPI_COMM_WORLD) MPI_Comm_free(&c.comm);
  quadrille_free(&schedule);
  return code;
}

int main(int argc, char** argv) {
  struct arguments a;
  if (wants_help(argc, argv, usage)) return 0;
  if (!parse(argc, argv, &a)) return 2;
  MPI_Init(&argc, &argv);
  const int code = started_by_another("run") ? 2 : run(&a);
  MPI_Finalize();
  return code;
}
