/* The collectives that are served, and the rules that choose a schedule for each call. Nothing here knows a communicator. */
#ifndef QUADRILLE_PRELOAD_RULES_H_
#define QUADRILLE_PRELOAD_RULES_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All that the library knows about the collectives. The columns are MPI's name, the runtime's name, the collective of
 * the schedules, the family of the arguments (quadrille.h), the direction of the data, and the size that rules compare. */
#define PRELOAD_COLLECTIVES(ROW)     \
  PRELOAD_COLLECTIVES_WITH_DATA(ROW) \
  ROW(Barrier, barrier, "barrier", NOTHING, ALL_RANKS, BLOCK)
#define PRELOAD_COLLECTIVES_WITH_DATA(ROW)                                                       \
  ROW(Allgather, allgather, "allgather", EQUAL_BLOCKS, ALL_RANKS, BLOCK)                         \
  ROW(Allgatherv, allgatherv, "allgather", GATHERED_BLOCKS, ALL_RANKS, MEAN_BLOCK)               \
  ROW(Allreduce, allreduce, "allreduce", ELEMENTS, ALL_RANKS, VECTOR)                            \
  ROW(Alltoall, alltoall, "alltoall", EQUAL_BLOCKS, ALL_RANKS, BLOCK)                            \
  ROW(Alltoallv, alltoallv, "alltoall", COUNTED_BLOCKS, ALL_RANKS, AGREED_MEAN)                  \
  ROW(Alltoallw, alltoallw, "alltoall", TYPED_BLOCKS, ALL_RANKS, AGREED_MEAN)                    \
  ROW(Bcast, bcast, "broadcast", BUFFER_OF_ROOT, FROM_ROOT, BLOCK)                               \
  ROW(Exscan, exscan, "exscan", ELEMENTS, ALL_RANKS, VECTOR)                                     \
  ROW(Gather, gather, "gather", EQUAL_BLOCKS_OF_ROOT, TO_ROOT, BLOCK)                            \
  ROW(Gatherv, gatherv, "gather", GATHERED_BLOCKS_OF_ROOT, TO_ROOT, UNKNOWN)                     \
  ROW(Reduce, reduce, "reduce", ELEMENTS_OF_ROOT, TO_ROOT, VECTOR)                               \
  ROW(Reduce_scatter, reduce_scatter, "reduce-scatter", COUNTED_ELEMENTS, ALL_RANKS, VECTOR)     \
  ROW(Reduce_scatter_block, reduce_scatter_block, "reduce-scatter", ELEMENTS, ALL_RANKS, VECTOR) \
  ROW(Scan, scan, "scan", ELEMENTS, ALL_RANKS, VECTOR)                                           \
  ROW(Scatter, scatter, "scatter", EQUAL_BLOCKS_OF_ROOT, FROM_ROOT, BLOCK)                       \
  ROW(Scatterv, scatterv, "scatter", SCATTERED_BLOCKS_OF_ROOT, FROM_ROOT, UNKNOWN)

enum preload_collective {
#define PRELOAD_NUMBER(Name, name, scheduled, family, direction, size) PRELOAD_##Name,
  PRELOAD_COLLECTIVES(PRELOAD_NUMBER)
#undef PRELOAD_NUMBER
      PRELOAD_COLLECTIVE_COUNT
};

enum preload_direction { PRELOAD_ALL_RANKS, PRELOAD_FROM_ROOT, PRELOAD_TO_ROOT };

enum preload_size {
  PRELOAD_BLOCK,       /* one block, or one rank's contribution */
  PRELOAD_MEAN_BLOCK,  /* the mean block; every rank knows all lengths */
  PRELOAD_AGREED_MEAN, /* the mean block; the ranks agree on it in some calls */
  PRELOAD_VECTOR,      /* the whole vector; the size of all reductions, and of nothing else */
  PRELOAD_UNKNOWN      /* ranks do not know the same size */
};

struct preload_facts {
  const char *name, *scheduled; /* "bcast", "broadcast" */
  enum preload_direction direction;
  enum preload_size size;
};
extern const struct preload_facts preload_collectives[];

enum {
  PRELOAD_NATIVE = -1,
  PRELOAD_NAME = 256,          /* bytes of an algorithm */
  PRELOAD_TEXT = 1024,         /* of an error */
  PRELOAD_MOST_RULES = 1 << 24 /* of a rules file */
};

/* The facts that the ranks of a communicator have agreed on. Nodes, and the ranks of the smallest and the largest
 * node, are 0 if they are unknown, and between groups. */
struct preload_shape {
  int groups, ranks, remote_ranks;
  int nodes, least, most;
};

struct preload_range {
  int64_t least, most;
};

/* On a communicator of such a shape, calls of that many bytes follow a schedule. */
struct preload_rule {
  int collective, groups;
  struct preload_range nodes, ranks_a_node, ranks, bytes;
  int even;                 /* 1: all nodes have one size; 0: they do not; -1: either */
  int universal;            /* the number of a schedule, or PRELOAD_NATIVE */
  int window, block_size;   /* options of the binding; 0: its defaults */
  double time, native_time; /* measured seconds; 0: not measured */
  int64_t calls;            /* in which they were measured; 0: unknown */
};

enum preload_mode { PRELOAD_OFF, PRELOAD_ON, PRELOAD_ADAPT, PRELOAD_VERIFY, PRELOAD_LEARN };

/* What serves reductions whose bits depend on the order of operands: MPI, any schedule, or one with canonical sums. */
enum preload_sums { PRELOAD_NATIVE_SUMS, PRELOAD_ANY_SUMS, PRELOAD_CANONICAL_SUMS };

/* The settings in the environment of this process. */
struct preload_settings {
  enum preload_mode mode;
  enum preload_sums sums;
  struct preload_rule* rules;
  int rule_count, first_of_file; /* rules of variables come before those of the file */
  const char* rules_file;        /* or NULL */
  const char* report;            /* QUADRILLE_REPORT, or NULL */
  const char* verifier;          /* QUADRILLE_VERIFIER, or NULL */
  uint64_t hash;                 /* of all settings that decide */
  char ignored[64];              /* the first QUADRILLE_ variable of other software, or "" */
  char error[PRELOAD_TEXT];      /* the error in the settings, or "" */
};

#define PRELOAD_HASH 0xcbf29ce484222325 /* of no bytes */
/* The hash (FNV-1a) of these bytes after those of another hash. */
static inline uint64_t preload_hash(uint64_t hash, const void* bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ ((const unsigned char*)bytes)[i]) * 0x100000001b3;
  return hash;
}

/* Whether calls without a rule are compared, so that rules are found. */
static inline int preload_finds_rules(enum preload_mode mode) {
  return mode == PRELOAD_ADAPT || mode == PRELOAD_LEARN;
}

/* ---- settings.c */

/* Reads the environment at the first call, but no rules file. */
const struct preload_settings* preload_settings(void);
/* Reads the rules file into the settings at the first call. Returns its text, which the caller frees, or NULL. */
char* preload_read_own_rules(size_t* length);
/* Adds the rules of that text, which another rank has read, to the settings. */
void preload_take_rules(const char* text, size_t length);
/* Names of files keep to this folder, or else to that in which this library was loaded. */
void preload_keep_to(const char* folder);
/* Such a name. `full` has QD_MAX_PATH characters. Returns `full`, or `name` if it is too long. */
const char* preload_full_name(const char* name, char* full);
/* Before that call: `each` gets every error in the settings. */
void preload_tell_errors(void (*each)(const char* error));
/* Reads a plain file of at most so many bytes into memory that the caller frees. NULL if that fails. */
unsigned char* preload_read(const char* path, size_t most, size_t* length);
/* Why it failed, by errno. */
const char* preload_unread_reason(void);
/* The value of QUADRILLE. */
const char* preload_mode_name(enum preload_mode mode);
/* Whether the file that would be written cannot be, and the sentence that says so. */
int preload_loses_rules(char text[PRELOAD_TEXT]);
int preload_loses_report(char text[PRELOAD_TEXT]);

/* ---- schedules.c */

#define PRELOAD_FILE "file:" /* begins the name of a schedule that is in a file */
enum { PRELOAD_MOST_FILES = 64 };

struct quadrille_universal;

int preload_schedule_count(void);
const struct quadrille_universal* preload_schedule(int number);
/* "native", or the schedule's name. */
const char* preload_schedule_name(int number);
/* Whether calls may choose the block size of the schedule. */
int preload_takes_block_size(int number);
/* Whether the schedule is for the collective on that many groups. */
int preload_is_scheduled(int number, int collective, int groups);
/* Reads the schedule of that name, which begins with PRELOAD_FILE, if it was not read before. Returns its number, or PRELOAD_NATIVE
 * and a reason. Not for several threads at once; others may use what was read before. */
int preload_read_schedule(const char* name, char error[PRELOAD_TEXT]);
/* Checks the schedules of files that the settings name, those for given nodes up to 64 ranks. Returns "", or a sentence on the first that
 * is not right. Later calls return the same. */
const char* preload_unfollowed_file(void);

/* ---- rules.c */

/* The number of a collective, in any case of letters; -1 if there is none. */
int preload_collective_of(const char* name);
int preload_reduces(int collective);
/* Reads the schedule, window and block size from `text`, such as "tuna:radix=8:window=4" or "native". The rule has its
 * collective and groups already. Returns 0 and a reason in `error` if it fails. */
int preload_parse_algorithm(const char* text, struct preload_rule* rule, char error[PRELOAD_TEXT]);
/* Writes the text that preload_parse_algorithm reads. */
void preload_print_algorithm(const struct preload_rule* rule, char* text, size_t size);
/* A rule for any communicator and any bytes. */
struct preload_rule preload_any_rule(int collective, int groups);
/* Adds a rule; returns 0 if memory ran out. */
int preload_add_rule(struct preload_settings* to, const struct preload_rule* rule);
/* The rule that is there for the same calls, or NULL. */
struct preload_rule* preload_rule_for_same(const struct preload_settings* of,
                                           const struct preload_rule* rule);
/* Adds a rule. Of two for the same calls the one stays that has saved more time. Returns 0 if memory ran out. */
int preload_merge_rule(struct preload_settings* to, const struct preload_rule* rule);
int preload_asks_for_nodes(const struct preload_rule* rule);
int preload_asks_for_bytes(const struct preload_rule* rule);
/* Conditions on nodes count once the nodes are known. */
int preload_shape_fits(const struct preload_rule* rule, const struct preload_shape* shape);
/* `bytes` is -1 if they are unknown. */
int preload_bytes_fit(const struct preload_rule* rule, int64_t bytes);
/* The class of a size by powers of four: 0, 1 to 3, 4 to 15, and so on; -1 if the bytes are unknown. */
int preload_size_class(int64_t bytes);
struct preload_range preload_class_range(int size_class);

/* ---- predict.c */

enum { PRELOAD_PREDICTED = 4 };
struct preload_predicted {
  struct preload_rule rule;
  double ratio; /* of its time and that of MPI's own */
};
/* The schedules that are worth a race on communicators of this shape, whose nodes are known. Returns their number; -1 if
 * the table is wrong. `bytes` is -1 if they are unknown. */
int preload_predict(int collective, const struct preload_shape* shape, int64_t bytes,
                    int is_openmpi, struct preload_predicted predicted[PRELOAD_PREDICTED]);

/* For calls that need canonical sums and have no other rule; NULL if no such schedule serves the collective. */
const struct preload_rule* preload_canonical_rule(int collective, const struct preload_shape* shape,
                                                  int64_t bytes);

/* ---- rules_file.c */

/* Reads one line of a rules file. Returns 1; 0 if it has no rule; or -1 and the error. */
int preload_read_rule(const char* line, size_t length, struct preload_rule* rule,
                      char error[PRELOAD_TEXT]);
/* Adds the rules of a file to the settings. If it is wrong, their error says "FILE:LINE: ..." and the result is 0. */
int preload_read_rules(const char* path, const char* text, size_t length,
                       struct preload_settings* settings);
/* Writes a line that preload_read_rule reads. */
void preload_print_rule(FILE* file, const struct preload_rule* rule);
/* Adds the rules that this job has found to the file of the settings, in which they replace those for the same calls. All other lines
 * stay. For one thread at a time. */
void preload_write_rules(const struct preload_rule* found, int count, int job_ends);
/* How many rules the last call wrote; 0 if there was none, -1 if it failed. */
int preload_written_rules(void);
/* Opens a file that takes its name when it is complete, so no reader sees half of it. NULL if that fails. When the job ends, it waits
 * up to two seconds while another job writes the file. Before, it waits for nothing: errno is EAGAIN if another job writes, and for
 * pipes and devices. */
FILE* preload_open(const char* path, int job_ends);
/* Closes the file, which takes its name if it is complete. Otherwise reports that the `what` could not be written, and returns 0. `file`
 * may be NULL. */
int preload_close(FILE* file, const char* path, const char* what, int is_complete);
/* Whether preload_open could open the file, without opening it. If not, errno says why. */
int preload_may_write(const char* path);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_PRELOAD_RULES_H_ */
