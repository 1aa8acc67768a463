/* The collectives that the library serves, and the rules that choose a schedule for each call. Uses no MPI. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All that the library knows about the collectives. The columns: MPI's name, the runtime's name, the schedules' name,
 * the family of the arguments (quadrille.h), the direction of the data, and the size that rules compare. */
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
  PRELOAD_VECTOR,      /* the whole vector: the size of all reductions, and of nothing else */
  PRELOAD_UNKNOWN      /* no size, since some ranks do not know it */
};

struct preload_facts {
  const char *name, *scheduled; /* "bcast", "broadcast" */
  enum preload_direction direction;
  enum preload_size size;
};
extern const struct preload_facts preload_collectives[];

enum {
  PRELOAD_NATIVE = -1,
  PRELOAD_NAME = 256,          /* bytes of an algorithm's name with options */
  PRELOAD_TEXT = 1024,         /* bytes of an error message */
  PRELOAD_MOST_RULES = 1 << 24 /* bytes of a rules file, at most */
};

/* The shape of a communicator, which its ranks agree on. `nodes`, and the ranks of the smallest (`least`) and the
 * largest node (`most`), are 0 if they are unknown, and between groups. */
struct preload_shape {
  int groups, ranks, remote_ranks;
  int nodes, least, most;
};

struct preload_range {
  int64_t least, most;
};

/* A rule says which schedule calls follow whose communicator and bytes are in its ranges. */
struct preload_rule {
  int collective, groups;
  struct preload_range nodes, ranks_a_node, ranks, bytes;
  int even;                 /* 1: all nodes have one size; 0: they do not; -1: either */
  int universal;            /* the number of a schedule, or PRELOAD_NATIVE */
  int window, block_size;   /* options of the binding; 0: its defaults */
  double time, native_time; /* measured seconds; 0: not measured */
  int64_t calls;            /* so far in the run that measured; 0: unknown */
};

enum preload_mode { PRELOAD_OFF, PRELOAD_ON, PRELOAD_ADAPT, PRELOAD_VERIFY, PRELOAD_LEARN };

/* What serves reductions whose bits depend on the order of operands: MPI, any schedule, or one with canonical sums. */
enum preload_sums { PRELOAD_NATIVE_SUMS, PRELOAD_ANY_SUMS, PRELOAD_CANONICAL_SUMS };

/* What rules were measured with. Words have no blanks, and "" or 0 stands for what is unknown. */
struct preload_origin {
  char library[64], version[32],
      machine[64]; /* "Open-MPI", "4.1.4", the cluster or the host without its number */
  int nodes;
};

/* The settings in the environment of this process. */
struct preload_settings {
  enum preload_mode mode;
  enum preload_sums sums;
  struct preload_rule* rules;
  int rule_count, first_of_file; /* rules of variables come before those of the file */
  const char* rules_file;        /* or NULL */
  const char* site_rules;        /* a second one, which is only read, or NULL */
  const char* report;            /* QUADRILLE_REPORT, or NULL */
  const char* verifier;          /* QUADRILLE_VERIFIER, or NULL */
  struct preload_origin here;    /* this job */
  struct preload_origin of_file; /* the job that wrote the rules file that was read last */
  uint64_t hash;                 /* of all settings that affect a choice */
  char ignored[64];              /* the first QUADRILLE_ variable of other software, or "" */
  char error[PRELOAD_TEXT];      /* the error in the settings, or "" */
};

#define PRELOAD_HASH 0xcbf29ce484222325 /* the hash of no bytes */
/* Returns the hash (FNV-1a) of the bytes so far, whose hash is `hash`, followed by these bytes. */
static inline uint64_t preload_hash(uint64_t hash, const void* bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ ((const unsigned char*)bytes)[i]) * 0x100000001b3;
  return hash;
}

/* Returns whether the mode races calls without a rule, and so finds rules. */
static inline int preload_finds_rules(enum preload_mode mode) {
  return mode == PRELOAD_ADAPT || mode == PRELOAD_LEARN;
}

/* ---- settings.c */

/* Returns the settings. The first call reads the environment, but no rules file. */
const struct preload_settings* preload_settings(void);
/* Takes what MPI_Get_library_version returns, before rules are read. Rules of another MPI library are left alone. A
 * process that is in no job may run on another machine than jobs. */
void preload_know_library(const char* version, int is_in_job);
void preload_know_nodes(int nodes);
/* Returns 1 and a sentence about the file of this number, from 0, of those rules files that are of another MPI library,
 * version or machine than this job. Returns 0 if there are fewer. */
int preload_has_other_origin(int number, char text[PRELOAD_TEXT]);
/* Reads the rules file into the settings, once. Returns its text, which the caller frees, or NULL. */
char* preload_read_own_rules(size_t* length);
/* Adds the rules of a rules file to the settings. `text` is the file's content, which another rank may have read. */
void preload_take_rules(const char* text, size_t length);
/* Makes names of files relative to this folder, instead of the current one. */
void preload_keep_to(const char* folder);
/* Writes the file's absolute name to `full`, of QD_MAX_PATH characters, and returns it. Returns `name` if the absolute name
 * is too long. */
const char* preload_full_name(const char* name, char* full);
/* Passes every later error in the settings to `each`. Must precede the first call of preload_settings. */
void preload_tell_errors(void (*each)(const char* error));
/* Reads a plain file of at most `most` bytes into memory that the caller frees. Returns NULL and sets errno if
 * not. */
unsigned char* preload_read(const char* path, size_t most, size_t* length);
/* The same for rules and schedules. Refuses a file of another user than this one and root, or that all users may write. */
unsigned char* preload_read_own(const char* path, size_t most, size_t* length);
/* Returns the reason why a file could not be read, opened or written, from errno. */
const char* preload_file_reason(void);
/* Returns the value of QUADRILLE that stands for the mode. */
const char* preload_mode_name(enum preload_mode mode);
/* Return 1 and a sentence in `text` if the file of the rules, or of the report, cannot be written; else 0. */
int preload_loses_rules(char text[PRELOAD_TEXT]);
int preload_loses_report(char text[PRELOAD_TEXT]);

/* ---- schedules.c */

#define PRELOAD_FILE "file:" /* begins the name of a schedule that is in a file */
enum { PRELOAD_MOST_FILES = 64 };

struct quadrille_universal;

int preload_schedule_count(void);
const struct quadrille_universal* preload_schedule(int number);
/* Returns "native" for PRELOAD_NATIVE, or the schedule's name. */
const char* preload_schedule_name(int number);
/* Returns whether calls may choose the block size of the schedule. */
int preload_takes_block_size(int number);
/* Returns whether the schedule is for the collective on that many groups. */
int preload_is_scheduled(int number, int collective, int groups);
/* Reads the schedule of a name that begins with PRELOAD_FILE, unless it was read before. Returns its number, or
 * PRELOAD_NATIVE and a reason in `error`. One thread at a time may call it, while others use schedules. */
int preload_read_schedule(const char* name, char error[PRELOAD_TEXT]);
/* Forgets the schedules from this number on, as if their files had not been read. No other thread may use one. */
void preload_drop_schedules(int from);
/* Checks the schedules of files that the settings name, except those for more than 64 given ranks. Returns "", or a
 * sentence about the first wrong one. Later calls return the same text. */
const char* preload_unfollowed_file(void);

/* ---- rules.c */

/* Returns the number of a collective. Its name may have any case. Returns -1 if no collective has the name. */
int preload_collective_of(const char* name);
int preload_reduces(int collective);
/* Sets the rule's schedule, window and block size from `text`, such as "tuna:radix=8:window=4" or "native". The
 * caller has set its collective and groups. Returns 0 and a reason in `error` if it fails. */
int preload_parse_algorithm(const char* text, struct preload_rule* rule, char error[PRELOAD_TEXT]);
/* Writes the text that preload_parse_algorithm reads. */
void preload_print_algorithm(const struct preload_rule* rule, char* text, size_t size);
/* Returns a rule for any communicator and any bytes, with use=native. */
struct preload_rule preload_any_rule(int collective, int groups);
/* Adds a rule; returns 0 if memory ran out. */
int preload_add_rule(struct preload_settings* to, const struct preload_rule* rule);
int preload_are_for_same_calls(const struct preload_rule* a, const struct preload_rule* b);
int preload_asks_for_bytes(const struct preload_rule* rule);
/* Returns whether the shape is in the rule's ranges. Ignores the ranges of nodes if the nodes are unknown. */
int preload_shape_fits(const struct preload_rule* rule, const struct preload_shape* shape);
/* Returns whether the bytes are in the rule's range. `bytes` is -1 if they are unknown. */
int preload_bytes_fit(const struct preload_rule* rule, int64_t bytes);
/* Returns the class of a size, by powers of four: 0, 1 to 3, 4 to 15, and so on; -1 if the bytes are unknown. */
int preload_size_class(int64_t bytes);
/* Returns the bytes of a class of sizes; any bytes for the class -1. */
struct preload_range preload_class_range(int size_class);

/* Reads one line of a rules file. Returns 1 if it has a rule, -1 if it has none, or 0 and the error. If it has the
 * origin of the rules instead, sets `origin`. */
int preload_read_rule(const char* line, size_t length, struct preload_rule* rule,
                      struct preload_origin* origin, char error[PRELOAD_TEXT]);
/* Adds the rules of a file to the settings. If it is wrong, writes "FILE:LINE: ..." to `wrong` and returns 0. */
int preload_read_rules(const char* path, const char* text, size_t length,
                       struct preload_settings* settings, char wrong[PRELOAD_TEXT]);
/* Writes the rules that this job has found to the rules file, in place of those for the same calls. All other lines
 * stay. `job_ends` as in preload_open. One thread at a time may call it. */
void preload_write_rules(const struct preload_rule* found, int count, int job_ends);
/* Returns how many rules preload_write_rules wrote last: 0 if it was never called, -1 if it failed. */
int preload_written_rules(void);
/* Opens a file under another name, which preload_close changes to `path`. So no reader sees an unfinished file.
 * Returns NULL if it fails. With `job_ends`, waits up to two seconds for another job that writes the file. Otherwise
 * does not wait: sets errno to EAGAIN if another job writes it, and for pipes and devices. */
FILE* preload_open(const char* path, int job_ends);
/* Closes the file, and gives it its name if it is complete. Otherwise prints that the `what`, such as "report", could
 * not be written, and returns 0. `file` may be NULL. */
int preload_close(FILE* file, const char* path, const char* what, int is_complete);
/* Returns whether preload_open could open the file, without opening it. Sets errno if not. */
int preload_may_write(const char* path);

/* ---- predict.c */

enum { PRELOAD_PREDICTED = 4 };
struct preload_predicted {
  struct preload_rule rule;
  double ratio; /* its time divided by that of MPI's own */
};
/* Finds the schedules that are worth a race on communicators of this shape. Returns their number, or -1 if the table
 * is wrong. `bytes` is -1 if they are unknown. */
int preload_predict(int collective, const struct preload_shape* shape, int64_t bytes,
                    int is_openmpi, struct preload_predicted predicted[PRELOAD_PREDICTED]);

/* Returns the rule of calls that need canonical sums and have no other rule, or NULL if no schedule has such sums. */
const struct preload_rule* preload_canonical_rule(int collective, const struct preload_shape* shape,
                                                  int64_t bytes);

#ifdef __cplusplus
}
#endif
