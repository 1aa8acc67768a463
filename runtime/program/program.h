/* How the runtime represents a schedule: a program compiled to register instructions, its tables, and the walk, which
 * executes the instructions for one rank. This directory does not depend on MPI.
 *
 * The runtime trusts no file. Loading checks types, scopes, contexts and limits. The walk checks overflow, divisors
 * and table indices. The caller of the walk checks ranks, blocks and ranges. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/program/table_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Variables and intermediate values take registers from 0 up. Values that never change take the last ones. */
#define QD_REGISTERS 256
/* The most registers whose values never change: the constants 0 and 1, and QD_MAX_CONSTANTS others. */
#define QD_INVARIANTS (QD_MAX_CONSTANTS + 2)
#define QD_LOCATES 16 /* the walk remembers this many results of `locate` expressions */

/* The error text of a walk whose loops exceed the limit of iterations. */
#define QD_TOO_MANY_ITERATIONS \
  "its loops take too many iterations: they do not end, or its block size is too small"

enum qd_opcode {
  QD_DO_ADD, /* binary operators: target = a op b, in the order of enum qd_expression */
  QD_DO_SUBTRACT,
  QD_DO_MULTIPLY,
  QD_DO_DIVIDE,
  QD_DO_MODULO,
  QD_DO_XOR,
  QD_DO_MINIMUM,
  QD_DO_MAXIMUM,
  QD_DO_WRAP,
  QD_DO_EQUAL,
  QD_DO_NOT_EQUAL,
  QD_DO_LESS,
  QD_DO_LESS_EQUAL,
  QD_DO_MOVE,
  QD_DO_ELEMENT,
  QD_DO_LOCATE, /* looks up a in table immediate; b: where the result is remembered */
  QD_DO_JUMP,
  QD_DO_UNLESS,       /* jump if not a */
  QD_DO_UNLESS_EQUAL, /* jump if not a = b, and so on */
  QD_DO_UNLESS_NOT_EQUAL,
  QD_DO_UNLESS_LESS,
  QD_DO_UNLESS_LESS_EQUAL,
  QD_DO_NEXT, /* jump if ++a < b */
  QD_DO_STEP, /* key a, after b if target is 1; immediate: is_mixed */
  QD_DO_STEP_END,
  QD_DO_MESSAGE, /* peer a, flags b; pieces follow */
  QD_DO_MESSAGE_END,
  QD_DO_PIECE_MESSAGE, /* peer a, flags b, one piece: pieces[immediate] */
  QD_DO_PIECE,         /* pieces[immediate] */
  QD_DO_COPY,          /* pieces[immediate] to pieces[immediate + 1]; target is 1 outside steps */
  QD_DO_REDUCE_LEFT,
  QD_DO_REDUCE_RIGHT,
  QD_DO_END
};

struct qd_instruction {
  uint8_t operation, target, a, b; /* registers */
  int32_t immediate;               /* jump target, table, or index */
};

struct qd_piece_registers {
  uint8_t buffer, ranged, block, low, high;
};

/* An expression whose value never changes. `value` is its operand: a number, or the index of a parameter or table. */
struct qd_invariant {
  uint8_t expression;
  int64_t value;
};

/* The code of an expression outside the body, up to QD_DO_END. */
struct qd_fragment {
  int32_t start;
  uint8_t result;
};

struct qd_table_definition {
  uint8_t kind, source, located; /* located: `locate` searches it, so it must ascend */
  uint8_t of_call;               /* it depends on the counts, a parameter or the root of the call */
  struct qd_fragment first, second;
  int32_t literal, literal_count; /* literal: where its entries begin in the program's literals */
};

struct qd_requirement {
  struct qd_fragment condition;
  int tables;  /* it is checked as soon as the first `tables` tables are filled */
  int of_call; /* it depends on the counts, a parameter or the root of the call */
};

struct qd_node_run {
  int64_t nodes, size; /* size: ranks on each of the nodes */
};

struct qd_topology {
  struct qd_node_run* runs; /* by ascending size */
  int64_t run_count, nodes, ranks;
};

/* The compiled code. */
struct qd_code {
  struct qd_instruction* instructions;
  int32_t instruction_count, instruction_capacity;
  int32_t body; /* the first instruction of the body */
  struct qd_piece_registers* pieces;
  int32_t piece_count, piece_capacity;
  struct qd_invariant invariants[QD_INVARIANTS]; /* in registers 255, 254, ... */
  int32_t invariant_count;
  int32_t register_count; /* without the invariants */
  int32_t locate_count;
};

/* How a parameter gets its value. */
struct qd_parameter_rule {
  int at_call;               /* the caller, or the rule in the file, sets it at each call */
  int over_trees;            /* blocks travel over trees, not along a ring: see qd_block_size */
  int64_t alpha_ns, beta_ps; /* the costs in the rule: of a message, and of a byte */
};

/* What a program depends on, and what its body contains. */
struct qd_uses {
  int call; /* counts or parameters of the call */
  int counts;
  int nodes; /* the nodes, not only the number of ranks */
  int sized, temporaries, several_pieces;
};

struct qd_program {
  unsigned char hash[QD_HASH_LENGTH];
  char algorithm[64];
  char needs[64]; /* its requirements in words; empty if the file has none */
  int collective, groups, in_place, commutative, canonical;
  int window; /* the most steps in flight unless an option sets it; 0: the default */

  int parameter_count, table_count, requirement_count;
  int64_t name_count;                    /* the names that it declares, and its own */
  int64_t parameters[QD_MAX_PARAMETERS]; /* values; the rule if the value is set at the call */
  struct qd_parameter_rule rules[QD_MAX_PARAMETERS];
  struct qd_table_definition tables[QD_MAX_TABLES];
  int64_t* literals; /* the entries of all tables of literals */
  int32_t literal_count, literal_capacity;
  struct qd_requirement requirements[QD_MAX_REQUIREMENTS];
  struct qd_fragment temporary_blocks;
  uint8_t temporary_of_call; /* the number of temporary blocks depends on the call */

  struct qd_topology topologies[2];
  /* A schedule for any nodes has no topologies. Its parameters are formulas, except those set at the call. */
  int serves_any_nodes;
  int64_t most_ranks; /* the most ranks of a group, if it serves any nodes */
  struct qd_fragment formulas[QD_MAX_PARAMETERS];

  struct qd_uses uses;
  struct qd_code code;
};

/* Functions that return an error text return this string if memory ran out. Callers compare its address. */
extern const char qd_no_memory[];
/* The error text for a valid schedule that this runtime does not serve. Callers compare its address. */
extern const char qd_not_served[];

enum { QD_MAX_PATH = 4096 };
/* Writes the path of a file that a setting names: `name`, or `folder`/`name` if `name` is relative. Returns `full`,
 * or `name` if the path is too long. */
const char* qd_full_name(const char* folder, const char* name, char full[QD_MAX_PATH]);

/* Doubles the capacity of an array. Returns 0 if memory ran out; then the array is unchanged. */
int qd_grow(void** array, int32_t* capacity, size_t size);
/* See QD_LENGTHEN. */
int qd_lengthen(void** array, int32_t* capacity, int64_t length, size_t size);

/* Raises the capacity of the array to `length` if it is less. Is 0 if memory ran out; then the array is unchanged. */
#define QD_LENGTHEN(array, capacity, length) \
  qd_lengthen((void**)&(array), &(capacity), (length), sizeof *(array))
/* Makes room for one more element of the array. Is 0 if memory ran out. */
#define QD_CAN_APPEND(array, count, capacity) \
  ((count) < (capacity) || qd_grow((void**)&(array), &(capacity), sizeof *(array)))

/* Reads a schedule file. Returns NULL, or a static string that says what is wrong and how to mend it. After success
 * the caller destroys the program. */
const char* qd_program_load(struct qd_program* program, const unsigned char* file, uint64_t length);
void qd_program_destroy(struct qd_program* program);

/* The bytes being read. Reading past their end is an error. After an error, every read returns zero. */
struct qd_reader {
  const unsigned char* bytes;
  uint64_t length, next;
  const char* error;
};
unsigned qd_read_byte(struct qd_reader* reader);
uint64_t qd_read_varint(struct qd_reader* reader);
int64_t qd_read_signed_varint(struct qd_reader* reader);
void qd_read_fail(struct qd_reader* reader, const char* error);

/* Compiles the code section into the program (compile.c). Returns NULL, or a static error text. */
const char* qd_compile(struct qd_program* program, const unsigned char* code, uint64_t length);
/* Compiles the next formula of the section JOB and appends its code. Errors are in `job`. */
struct qd_fragment qd_compile_formula(struct qd_program* program, struct qd_reader* job);

/* What the walk of a rank depends on: the rank, its groups, and its call. */
struct qd_context {
  int64_t rank, ranks, remote_ranks, group, root;
  const int64_t* counts;                /* one for each rank of its group; NULL if there are none */
  const int64_t* remote_counts;         /* of the other group */
  const int64_t* parameters;            /* all parameters of this call; NULL: those of the file */
  const struct qd_topology* topologies; /* one per group; NULL: those of the file */
};

/* collective.c. Returns whether all ranks of a group know the lengths of all blocks. These are in bytes, in a
 * reduction in elements. Otherwise only the two ends of a message know its lengths. */
int qd_has_global_counts(const struct qd_program* program);
/* Returns whether the collective is a reduction. */
int qd_reduces(const struct qd_program* program);
/* Returns whether the collective has a root. */
int qd_is_rooted(const struct qd_program* program);
/* Returns whether a block size cuts a single contribution: in a broadcast, a reduce or a scan. */
int qd_has_one_contribution(const struct qd_program* program);
/* Returns whether calls may choose a block size: exactly one parameter is set at the call. */
int qd_takes_block_size(const struct qd_program* program);
/* Returns whether blocks may travel over trees: in a broadcast, reduce, allgather or reduce-scatter. */
int qd_may_pass_over_trees(const struct qd_program* program);
/* Returns whether MPI has one buffer argument, which the root sends and others receive: a broadcast on one group. */
int qd_has_one_buffer(const struct qd_program* program);
/* Writes how many blocks this rank's buffers have: counts[QD_PIECE_SEND] and counts[QD_PIECE_RECEIVE]. */
void qd_block_counts(const struct qd_program* program, const struct qd_context* context,
                     int32_t counts[2]);
/* Returns the name of a collective in `generate` and in the API, such as "reduce-scatter". */
const char* qd_collective_name(int collective);

static inline const struct qd_topology* qd_topologies_of(const struct qd_program* program,
                                                         const struct qd_context* context) {
  return context->topologies ? context->topologies : program->topologies;
}

struct qd_tables {
  int64_t* entries[QD_MAX_TABLES];
  int64_t lengths[QD_MAX_TABLES], capacities[QD_MAX_TABLES];
  int64_t temporary_blocks;
  char refusal[256]; /* holds an error text that has numbers in it */
  int is_of_call;    /* the last error depends on the counts, a parameter or the root of the call */
};

/* Writes the values of the formulas of a schedule for any nodes. Does not change the values of parameters that are
 * set at the call. Returns NULL, or a static error text. */
const char* qd_formulas_evaluate(const struct qd_program* program, const struct qd_context* context,
                                 int64_t values[QD_MAX_PARAMETERS]);

/* Fills all tables in their order. Checks each requirement as soon as the tables that it names are filled. Returns
 * NULL, or an error text that lives as long as the tables. The caller destroys the tables in either case. */
const char* qd_tables_fill(struct qd_tables* tables, const struct qd_program* program,
                           const struct qd_context* context);
/* Does what qd_tables_fill does, with tables that are all zero or were filled before. Reuses their memory. */
const char* qd_tables_refill(struct qd_tables* tables, const struct qd_program* program,
                             const struct qd_context* context);
void qd_tables_destroy(struct qd_tables* tables);

enum qd_event_kind {
  QD_EVENT_STEP, /* key, has_after, after, is_mixed */
  QD_EVENT_STEP_END,
  QD_EVENT_PIECE_MESSAGE, /* flags, peer, piece: a message of one piece */
  QD_EVENT_MESSAGE,       /* flags, peer; pieces and QD_EVENT_MESSAGE_END follow */
  QD_EVENT_PIECE,         /* piece */
  QD_EVENT_MESSAGE_END,
  QD_EVENT_COPY,        /* piece to second; outside */
  QD_EVENT_REDUCE_LEFT, /* piece into second; outside */
  QD_EVENT_REDUCE_RIGHT,
  QD_EVENT_END,
  QD_EVENT_UNDEFINED /* why */
};

static inline int qd_is_local(enum qd_event_kind kind) {
  return kind >= QD_EVENT_COPY && kind <= QD_EVENT_REDUCE_RIGHT;
}

struct qd_piece {
  int buffer, ranged;
  int64_t block, low, high;
};

struct qd_event {
  enum qd_event_kind kind;
  int has_after, outside;
  int is_mixed;   /* the step may not list all sends first, then all copies, then all receives */
  unsigned flags; /* QD_MESSAGE_... */
  int64_t key, after, peer, count;
  struct qd_piece piece, second;
  const char* why;
};

struct qd_walker {
  const struct qd_program* program;
  const struct qd_tables* tables;
  const struct qd_instruction* next;
  int64_t iterations;          /* left for loops; the caller may set a limit after qd_walk_start */
  int64_t located[QD_LOCATES]; /* the last results of `locate` */
  int64_t registers[QD_REGISTERS];
};

/* Starts at the body, without a limit of iterations. */
void qd_walk_start(struct qd_walker* walker, const struct qd_program* program,
                   const struct qd_tables* tables, const struct qd_context* context);
/* Writes the next event. The walk is over after QD_EVENT_END or QD_EVENT_UNDEFINED. */
void qd_walk_next(struct qd_walker* walker, struct qd_event* event);

#ifdef __cplusplus
}
#endif
