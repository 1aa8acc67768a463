/* tune: learns rules for the preload library without an application. Users start it like the programs to be served:
 *
 *   mpirun -n 64 quadrille tune rules.txt [SIZE...] [--communicators world,rows=8,columns=8] [--counts uniform|skewed]
 *
 * This is a plain MPI program that is linked with the preload library. It calls each collective with blocks of these
 * sizes, as often as the library needs to learn. The library writes the rules when MPI ends (docs/choosing.md). Exit
 * codes: 0 done, 1 no rules were written, 2 bad usage or files. Tested by tests/preload/tune_test.sh. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quantity.h"
#include "preload/interpose.h"
#include "preload/rules.h"
#include "tools/all_ranks.h"
#include "tools/launcher.h"

enum {
  CALLS = 600,    /* twice what the collective with the most schedules usually needs */
  MOST = 1 << 28, /* bytes of a buffer, at most */
  MOST_SIZES = 64,
  MOST_PATTERNS = 16
};

/* ---- The command line */

static const char usage[] =
    "usage: mpirun -n RANKS quadrille tune RULES.txt [SIZE...] [--communicators LIST]\n"
    "                                      [--counts KIND]\n\n"
    "Learns with which schedules collectives of these sizes are faster than MPI's own, on as\n"
    "many ranks a node as this is started with, and adds the rules to RULES.txt: for the\n"
    "preload library, by QUADRILLE_RULES=RULES.txt. A size is a number of bytes, or 4KiB.\n"
    "Without sizes it takes 8, 32, 128 .. 128KiB: one size of each class from 4 bytes to\n"
    "256KiB. Exit codes: 0 done, 1 no rules were written, 2 bad usage or files.\n\n"
    "  --communicators LIST  of world, rows=N (rows of N ranks each: N*i to N*i+N-1) and "
    "columns=N\n"
    "                        (N columns: every N-th rank), such as world,rows=8,columns=8;\n"
    "                        default world\n"
    "  --counts KIND         lengths of the blocks of alltoallv and alltoallw: uniform, or "
    "skewed,\n"
    "                        where every eighth is nine times as long as the others; default\n"
    "                        uniform\n";

enum kind { WORLD, ROWS, COLUMNS };
static const char* const kinds[] = {"world", "rows", "columns"};
enum counts { UNIFORM, SKEWED };
static const char* const distributions[] = {"uniform", "skewed"};

/* One size in bytes for each class of sizes that rules tell apart, from 4 to 262143 bytes. */
static const int usual[] = {8, 32, 128, 512, 2048, 8192, 32768, 131072};

struct request {
  const char* rules;
  int sizes[MOST_SIZES], size_count;
  struct pattern {
    enum kind kind;
    int number; /* ranks in a row (ROWS), or number of columns (COLUMNS) */
  } patterns[MOST_PATTERNS];
  int pattern_count;
  enum counts counts;
};

static int rank, ranks;

/* Prints an error on rank 0, since all ranks find the same one. Returns 0. */
__attribute__((format(printf, 1, 2))) static int refuse(const char* format, ...) {
  va_list values;
  if (rank != 0) return 0;
  va_start(values, format);
  fprintf(stderr, "tune: ");
  vfprintf(stderr, format, values);
  fprintf(stderr, "\n");
  va_end(values);
  return 0;
}

static int read_size(struct request* request, const char* word) {
  int64_t bytes = 0;
  if (!quantity_bytes(word, strlen(word), 1, MOST / ranks, &bytes))
    return refuse("'%s' is no number of bytes from 1 to %d, such as 4096 or 4KiB", word,
                  MOST / ranks);
  if (request->size_count == MOST_SIZES) return refuse("it takes %d sizes at the most", MOST_SIZES);
  request->sizes[request->size_count++] = (int)bytes;
  return 1;
}

/* Reads "world", "rows=4" or "columns=4". */
static int read_pattern(struct request* request, const char* word, size_t length) {
  static const char form[] = "world, rows=N for rows of N ranks each, and columns=N for N columns";
  const char* equals = memchr(word, '=', length);
  const size_t name = equals ? (size_t)(equals - word) : length;
  int64_t number = 0;
  int kind = WORLD;
  while (kind <= COLUMNS && (strlen(kinds[kind]) != name || strncmp(word, kinds[kind], name) != 0))
    kind++;
  if (kind > COLUMNS || (kind == WORLD) != !equals)
    return refuse("--communicators: '%.*s' is none of %s", (int)length, word, form);
  /* These bounds give each communicator two ranks or more. */
  const int least = kind == ROWS ? 2 : 1, most = kind == ROWS ? ranks : ranks / 2;
  if (kind != WORLD && !quantity_whole(equals + 1, length - name - 1, least, most, &number))
    return refuse("--communicators: '%.*s': on %d ranks, N is a whole number from %d to %d",
                  (int)length, word, ranks, least, most);
  if (request->pattern_count == MOST_PATTERNS)
    return refuse("--communicators takes %d at the most", MOST_PATTERNS);
  request->patterns[request->pattern_count++] = (struct pattern){(enum kind)kind, (int)number};
  return 1;
}

static int read_patterns(struct request* request, const char* words) {
  for (;;) {
    const size_t length = strcspn(words, ",");
    if (!read_pattern(request, words, length)) return 0;
    if (words[length] == '\0') return 1;
    words += length + 1;
  }
}

static int read_counts(struct request* request, const char* word) {
  for (int i = UNIFORM; i <= SKEWED; i++)
    if (strcmp(word, distributions[i]) == 0) {
      request->counts = (enum counts)i;
      return 1;
    }
  return refuse("--counts: '%s' is neither uniform nor skewed", word);
}

/* Reads `--name value` or `--name=value` at words[*at] into *value. Returns 0 if it is not that option. */
static int is_option(char** words, int count, int* at, const char* name, const char** value) {
  const size_t length = strlen(name);
  if (strncmp(words[*at], name, length) != 0) return 0;
  if (words[*at][length] == '=')
    *value = words[*at] + length + 1;
  else if (words[*at][length] == '\0')
    *value = *at + 1 < count ? words[++*at] : "";
  else
    return 0;
  return 1;
}

static int read_words(struct request* request, char** words, int count) {
  for (int i = 1; i < count; i++) {
    const char* value = NULL;
    int is_read = 0;
    if (is_option(words, count, &i, "--communicators", &value))
      is_read = read_patterns(request, value);
    else if (is_option(words, count, &i, "--counts", &value))
      is_read = read_counts(request, value);
    else if (words[i][0] == '-')
      is_read = refuse("'%s' is no option; there are --communicators and --counts", words[i]);
    else if (!request->rules)
      is_read = (request->rules = words[i]) != NULL;
    else
      is_read = read_size(request, words[i]);
    if (!is_read) return 0;
  }
  if (!request->rules) {
    refuse("it wants the name of a rules file, such as rules.txt");
    return 0;
  }
  if (ranks == 1)
    return refuse(
        "one rank sends nothing; start it with two or more: mpirun -n RANKS quadrille tune");
  if (request->size_count == 0) {
    request->size_count = (int)(sizeof usual / sizeof *usual);
    memcpy(request->sizes, usual, sizeof usual);
    while (request->sizes[request->size_count - 1] > MOST / ranks) request->size_count--;
  }
  if (request->pattern_count == 0) request->pattern_count = 1; /* world */
  return 1;
}

/* ---- The files. The library reads its settings here, so errors in them are reported before anything is measured. */

/* Returns whether all ranks can use the files, and the library would serve calls. Collective. */
static int may_learn(const char* rules) {
  char lost[PRELOAD_TEXT] = "";
  setenv("QUADRILLE", "learn", 1);
  setenv("QUADRILLE_RULES", rules, 1);
  unsetenv("QUADRILLE_SITE_RULES"); /* their calls are measured, too */
  const struct preload_settings* settings = preload_settings();
  const char* wrong = settings->error;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int unused = 0;
  size_t length = 0;
  MPI_Get_library_version(version, &unused);
  preload_know_library(version, 1);
  free(preload_read_own_rules(&length));
  if (!wrong[0] && !settings->rules_file && preload_has_other_origin(0, lost)) wrong = lost;
  if (!wrong[0] && rank == 0 && (preload_loses_rules(lost) || preload_loses_report(lost)))
    wrong = lost;
  const int first = (int)combine((uint64_t)(wrong[0] ? rank : ranks), MPI_MIN);
  if (first == rank) fprintf(stderr, "tune: %s\n", wrong);
  if (first < ranks) return 0;
  if (combine(settings->hash, MPI_MIN) != combine(settings->hash, MPI_MAX))
    return refuse(
        "ranks have different QUADRILLE variables, or %s differs between them: give all ranks the "
        "same, by mpirun -x NAME or srun --export=ALL, and name a file that they share",
        rules);
  const char* driver = find_driver();
  if (driver) return refuse("%s", driver);
  preload_know_world();
  return 1;
}

/* ---- Calls */

/* A communicator, and the arguments of calls on it. */
struct call {
  MPI_Comm comm;
  int rank, ranks, bytes;
  char *sent, *received;
  int* parts;                     /* counts of a vector of `bytes` */
  int *equal, *places;            /* counts and displacements of blocks of `bytes` */
  int *send_counts, *send_places; /* the same for blocks of different lengths */
  int *receive_counts, *receive_places;
  MPI_Datatype* types;
};

#define COLLECTIVE(name, Name, ...) \
  static void name(const struct call* c) { MPI_##Name(__VA_ARGS__, c->comm); }
#define SENT c->sent, c->bytes, MPI_BYTE
#define RECEIVED c->received, c->bytes, MPI_BYTE
#define OPERANDS c->sent, c->received, c->bytes, MPI_BYTE, MPI_BOR
COLLECTIVE(alltoall, Alltoall, SENT, RECEIVED)
COLLECTIVE(alltoallv, Alltoallv, c->sent, c->send_counts, c->send_places, MPI_BYTE, c->received,
           c->receive_counts, c->receive_places, MPI_BYTE)
COLLECTIVE(alltoallw, Alltoallw, c->sent, c->send_counts, c->send_places, c->types, c->received,
           c->receive_counts, c->receive_places, c->types)
COLLECTIVE(allgather, Allgather, SENT, RECEIVED)
COLLECTIVE(allgatherv, Allgatherv, SENT, c->received, c->equal, c->places, MPI_BYTE)
COLLECTIVE(allreduce, Allreduce, OPERANDS)
COLLECTIVE(reduce, Reduce, OPERANDS, 0)
/* All ranks get equally many bytes, so the vector may have a few more than `bytes`. */
COLLECTIVE(reduce_scatter_block, Reduce_scatter_block, c->sent, c->received,
           (c->bytes + c->ranks - 1) / c->ranks, MPI_BYTE, MPI_BOR)
/* The vector has exactly `bytes`, even if there are more ranks. */
COLLECTIVE(reduce_scatter, Reduce_scatter, c->sent, c->received, c->parts, MPI_BYTE, MPI_BOR)
COLLECTIVE(scan, Scan, OPERANDS)
COLLECTIVE(exscan, Exscan, OPERANDS)
COLLECTIVE(bcast, Bcast, RECEIVED, 0)
COLLECTIVE(gather, Gather, SENT, RECEIVED, 0)
COLLECTIVE(gatherv, Gatherv, SENT, c->received, c->equal, c->places, MPI_BYTE, 0)
COLLECTIVE(scatter, Scatter, SENT, RECEIVED, 0)
COLLECTIVE(scatterv, Scatterv, c->sent, c->equal, c->places, MPI_BYTE, RECEIVED, 0)

static void (*const collectives[])(const struct call*) = {
    alltoall,   alltoallv, alltoallw, allgather,
    allgatherv, allreduce, reduce,    reduce_scatter_block,
    scan,       exscan,    bcast,     gather,
    gatherv,    scatter,   scatterv,  reduce_scatter};

/* Returns the length of the block to the rank `distance` ranks further on. Blocks have `bytes` bytes on average. If
 * they are skewed, every eighth is nine times as long as the others. */
static int length_of(const struct call* c, enum counts counts, int distance) {
  if (counts == UNIFORM) return c->bytes;
  const int long_ones = (c->ranks + 6) / 8; /* at distances 1, 9, 17 and so on */
  const long all = (long)c->bytes * c->ranks, parts = c->ranks + 8 * long_ones;
  if (distance % 8 != 1) return (int)(all / parts);
  return (int)(9 * (all / parts) + (distance == 1 ? all % parts : 0));
}

/* Sets the counts and displacements of all blocks. */
static void lay_out(struct call* c, enum counts counts) {
  int sent = 0, received = 0;
  for (int i = 0; i < c->ranks; i++) {
    c->parts[i] = c->bytes / c->ranks + (i < c->bytes % c->ranks);
    c->equal[i] = c->bytes;
    c->places[i] = i * c->bytes;
    c->types[i] = MPI_BYTE;
    c->send_counts[i] = length_of(c, counts, (i - c->rank + c->ranks) % c->ranks);
    c->receive_counts[i] = length_of(c, counts, (c->rank - i + c->ranks) % c->ranks);
    c->send_places[i] = sent;
    c->receive_places[i] = received;
    sent += c->send_counts[i];
    received += c->receive_counts[i];
  }
}

static struct call make_call(MPI_Comm comm, int bytes) {
  struct call c = {.comm = comm, .bytes = bytes};
  MPI_Comm_rank(comm, &c.rank);
  MPI_Comm_size(comm, &c.ranks);
  const size_t count = (size_t)c.ranks;
  int** const arrays[] = {&c.parts,       &c.equal,          &c.places,        &c.send_counts,
                          &c.send_places, &c.receive_counts, &c.receive_places};
  int* next = allocate("tune", count, sizeof arrays / sizeof *arrays * sizeof *next);
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++, next += count) *arrays[i] = next;
  c.sent = allocate("tune", count, (size_t)bytes);
  c.received = allocate("tune", count, (size_t)bytes);
  c.types = allocate("tune", count, sizeof(MPI_Datatype));
  return c;
}

static void free_call(struct call* c) {
  free(c->parts); /* and the arrays behind it */
  free(c->sent);
  free(c->received);
  free(c->types);
  MPI_Comm_free(&c->comm);
}

/* ---- Learning */

/* Makes a communicator for the calls of one size. */
static MPI_Comm communicator_of(const struct pattern* pattern) {
  MPI_Comm comm;
  const int color = pattern->kind == WORLD  ? 0
                    : pattern->kind == ROWS ? rank / pattern->number
                                            : rank % pattern->number;
  MPI_Comm_split(MPI_COMM_WORLD, color, rank, &comm);
  return comm;
}

static void learn(const struct request* request, const struct pattern* pattern) {
  for (int i = 0; i < request->size_count; i++) {
    struct call c = make_call(communicator_of(pattern), request->sizes[i]);
    if (rank == 0)
      fprintf(stderr, "tune: %s of %d ranks, %d bytes (%d of %d), %s counts\n",
              kinds[pattern->kind], c.ranks, c.bytes, i + 1, request->size_count,
              distributions[request->counts]);
    lay_out(&c, request->counts);
    for (size_t k = 0; k < sizeof collectives / sizeof *collectives; k++)
      for (int call = 0; call < CALLS; call++) {
        MPI_Barrier(c.comm);
        collectives[k](&c);
      }
    free_call(&c);
  }
}

/* Prints whether rules were written, after MPI_Finalize. Returns the exit code. */
static int conclude(const char* path) {
  const int written = preload_written_rules();
  if (written < 0) return 1; /* the library has reported the error */
  if (written == 0) {
    fprintf(stderr,
            "tune: no rules were written to %s; the report says what served the calls, and why\n",
            path);
    return 1;
  }
  fprintf(stderr, "tune: %s has the rules\n", path);
  return 0;
}

int main(int count, char** words) {
  struct request request = {.counts = UNIFORM};
  if (wants_help(count, words, usage)) return 0;
  if (count < 2) {
    fprintf(stderr, "%s", usage);
    return 2;
  }
  preload_is_inside = 1; /* the library reads its settings later, in may_learn */
  MPI_Init(&count, &words);
  preload_is_inside = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int may =
      !started_by_another("tune") && read_words(&request, words, count) && may_learn(request.rules);
  for (int i = 0; may && i < request.pattern_count; i++) learn(&request, &request.patterns[i]);
  MPI_Finalize();
  if (!may) return 2;
  return rank == 0 ? conclude(request.rules) : 0;
}
