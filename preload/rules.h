/* Which schedule a collective follows: the rules, where they come from, and what they ask. Knows no communicator. */
#ifndef QUADRILLE_PRELOAD_RULES_H_
#define QUADRILLE_PRELOAD_RULES_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The collectives that are served: MPI's name of them, the runtime's, the one that their schedules are for, and the
 * family of their arguments. */
#define PRELOAD_COLLECTIVES(ROW)                                              \
  ROW(Allgather, allgather, "allgather", EQUAL_BLOCKS)                        \
  ROW(Allgatherv, allgatherv, "allgather", GATHERED_BLOCKS)                   \
  ROW(Allreduce, allreduce, "allreduce", ELEMENTS)                            \
  ROW(Alltoall, alltoall, "alltoall", EQUAL_BLOCKS)                           \
  ROW(Alltoallv, alltoallv, "alltoall", COUNTED_BLOCKS)                       \
  ROW(Alltoallw, alltoallw, "alltoall", TYPED_BLOCKS)                         \
  ROW(Bcast, bcast, "broadcast", BUFFER_OF_ROOT)                              \
  ROW(Exscan, exscan, "exscan", ELEMENTS)                                     \
  ROW(Gather, gather, "gather", EQUAL_BLOCKS_OF_ROOT)                         \
  ROW(Gatherv, gatherv, "gather", GATHERED_BLOCKS_OF_ROOT)                    \
  ROW(Reduce, reduce, "reduce", ELEMENTS_OF_ROOT)                             \
  ROW(Reduce_scatter, reduce_scatter, "reduce-scatter", COUNTED_ELEMENTS)     \
  ROW(Reduce_scatter_block, reduce_scatter_block, "reduce-scatter", ELEMENTS) \
  ROW(Scan, scan, "scan", ELEMENTS)                                           \
  ROW(Scatter, scatter, "scatter", EQUAL_BLOCKS_OF_ROOT)                      \
  ROW(Scatterv, scatterv, "scatter", SCATTERED_BLOCKS_OF_ROOT)

enum preload_collective {
#define PRELOAD_NUMBER(Name, name, scheduled, family) PRELOAD_##Name,
  PRELOAD_COLLECTIVES(PRELOAD_NUMBER)
#undef PRELOAD_NUMBER
      PRELOAD_COLLECTIVE_COUNT
};
extern const char* const preload_collective_names[]; /* "alltoallv" */

enum { PRELOAD_NATIVE = -1, PRELOAD_TEXT = 400 };

/* What the ranks of a communicator have agreed on. */
struct preload_shape {
  int groups;
  int ranks, remote_ranks;
  int nodes, least,
      most; /* nodes, and ranks of the smallest and the largest; 0: not known, or between groups */
};

struct preload_range {
  int64_t least, most;
};

/* A collective on a communicator of such a shape, with so many bytes, follows a schedule. */
struct preload_rule {
  int collective, groups;
  struct preload_range nodes, ranks_a_node, ranks, bytes;
  int even;                 /* all nodes of one size: 1, not: 0, either: -1 */
  int universal;            /* which schedule of quadrille_universal, or PRELOAD_NATIVE */
  int window, block_size;   /* options of the binding; 0: its own */
  double time, native_time; /* measured, in seconds; 0: not */
};

enum preload_mode { PRELOAD_OFF, PRELOAD_ON, PRELOAD_VERIFY, PRELOAD_LEARN };

/* What the environment of this process asks for. */
struct preload_settings {
  enum preload_mode mode;
  struct preload_rule* rules;
  int rule_count, first_of_file; /* before it, rules of variables */
  const char* rules_file;        /* or NULL */
  const char* report;            /* QUADRILLE_REPORT, or NULL */
  uint64_t hash;                 /* of all that decides */
  char error[PRELOAD_TEXT];      /* what is wrong with them, or "" */
};

/* settings.c: read once. */
const struct preload_settings* preload_settings(void);

/* algorithm.c: fills in the schedule, window and block size that `text` names, such as "tuna:radix=8:window=4" or
 * "native"; the rule has its collective and groups. Returns 0 and says why in `error`. */
int preload_parse_algorithm(const char* text, struct preload_rule* rule, char error[PRELOAD_TEXT]);
/* The number of a collective, or -1; any case. */
int preload_collective_of(const char* name);
/* The collective that its schedules are for: "broadcast" of a bcast. */
const char* preload_scheduled(int collective);
/* Whether the collective combines elements. */
int preload_reduces(int collective);
/* Writes what preload_parse_algorithm reads. */
void preload_print_algorithm(const struct preload_rule* rule, char* text, size_t size);

/* match.c */
/* A rule for any communicator and any bytes. */
struct preload_rule preload_any_rule(int collective, int groups);
/* Adds a rule; 0 where memory ran out. */
int preload_add_rule(struct preload_settings* to, const struct preload_rule* rule);
int preload_asks_for_nodes(const struct preload_rule* rule);
int preload_asks_for_bytes(const struct preload_rule* rule);
/* As far as nodes are known. */
int preload_shape_fits(const struct preload_rule* rule, const struct preload_shape* shape);
int preload_bytes_fit(const struct preload_rule* rule, int64_t bytes);
/* Bytes by powers of four: 0, 1 to 3, 4 to 15, ..; one class of its own where they are not known, -1. */
int preload_size_class(int64_t bytes);
struct preload_range preload_class_range(int size_class);

/* file.c: reads a rules file, or says why not: "FILE:LINE: ...". */
int preload_read_rules(const char* path, const char* text, size_t length,
                       struct preload_settings* settings);

/* print.c: such a file. */
void preload_print_rules(FILE* file, const struct preload_settings* settings);
/* A file that takes its name once it is whole, so that nobody reads half of it. The first returns NULL, the second 0, where
 * it cannot be written; NULL may be closed. */
FILE* preload_open(const char* path);
int preload_close(FILE* file, const char* path);

/* built_in.c: the rules where nobody gives any; 0 where memory ran out. */
int preload_add_built_in(struct preload_settings* settings);

#endif /* QUADRILLE_PRELOAD_RULES_H_ */
