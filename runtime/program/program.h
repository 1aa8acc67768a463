/* A schedule as the runtime holds it: the file's code compiled to register instructions, its
 * tables, and the walk of one rank over them. Nothing here knows MPI.
 *
 * The interpreter trusts no file. Loading checks everything that can be known then (types, scopes,
 * contexts, limits); the walk checks the rest as it goes (overflow, divisors, table indices), and
 * its user checks ranks, blocks and ranges.
 */
#ifndef QUADRILLE_RUNTIME_PROGRAM_H_
#define QUADRILLE_RUNTIME_PROGRAM_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/program/table_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Variables and intermediate values take registers from 0 up, values that never change from the
 * last one down. */
#define QD_REGISTERS 256
#define QD_LOCATES 16     /* of which the walk remembers the last result */
#define QD_RUNS 16        /* loops of which the walk remembers whether they make runs */
#define QD_RUN_STEPS 2    /* the most that a run has in an iteration, */
#define QD_RUN_MESSAGES 4 /* and the most messages of all of them */

enum qd_opcode {
  QD_DO_ADD,
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
  QD_DO_LOCATE, /* in table immediate; b: which of the walk's memories */
  QD_DO_JUMP,
  QD_DO_UNLESS,       /* jump where a is false */
  QD_DO_UNLESS_EQUAL, /* jump unless a = b, and so on */
  QD_DO_UNLESS_NOT_EQUAL,
  QD_DO_UNLESS_LESS,
  QD_DO_UNLESS_LESS_EQUAL,
  QD_DO_NEXT, /* ++a < b: jump */
  QD_DO_STEP, /* key a, after b where target is 1; immediate: whether kinds are mixed */
  QD_DO_STEP_END,
  QD_DO_MESSAGE, /* peer a, flags b; pieces follow */
  QD_DO_MESSAGE_END,
  QD_DO_PIECE_MESSAGE, /* peer a, flags b, of pieces[immediate] alone */
  QD_DO_PIECE,         /* pieces[immediate] */
  QD_DO_COPY,          /* pieces[immediate] to the next; target is 1 outside steps */
  QD_DO_REDUCE_LEFT,
  QD_DO_REDUCE_RIGHT,
  QD_DO_RUN, /* before the iteration of a loop without loops in it: index a, bound b, what
                       follows the loop; target: which of the walk's memories */
  QD_DO_END
};

static inline int qd_is_binary(int operation) {
  return operation <= QD_DO_LESS_EQUAL ||
         (operation >= QD_DO_UNLESS_EQUAL && operation <= QD_DO_UNLESS_LESS_EQUAL);
}

struct qd_instruction {
  uint8_t operation, target, a, b; /* registers */
  int32_t immediate;               /* jump target, table, or index */
};

struct qd_piece_registers {
  uint8_t buffer, ranged, block, low, high;
};

/* A register that holds the same value all along: an operator of the file and its operand. */
struct qd_invariant {
  uint8_t expression;
  int64_t value;
};

/* Code for an expression outside the body, up to QD_DO_END. */
struct qd_fragment {
  int32_t start;
  uint8_t result;
};

struct qd_table_definition {
  uint8_t kind, source, located; /* located: searched, so it must be ascending */
  struct qd_fragment first, second;
};

struct qd_node_run {
  int64_t nodes, size;
};

struct qd_topology {
  struct qd_node_run* runs; /* by ascending size */
  int64_t run_count, nodes, ranks;
};

struct qd_program {
  unsigned char hash[QD_HASH_LENGTH];
  char algorithm[64];
  char needs[64]; /* what its requirements say, in words; empty where the file has none */
  int collective, groups, port, port_per_node, in_place, commutative;

  int parameter_count, table_count, requirement_count, invariant_count;
  int at_call[QD_MAX_PARAMETERS];
  int64_t parameters[QD_MAX_PARAMETERS]; /* where given at the call: the rule */
  int64_t alpha_ns[QD_MAX_PARAMETERS], beta_ps[QD_MAX_PARAMETERS]; /* of the rule */
  int depends_on_call; /* counts or parameters of the call are in it */
  struct qd_table_definition tables[QD_MAX_TABLES];
  struct qd_fragment requirements[QD_MAX_REQUIREMENTS];
  struct qd_fragment temporary_blocks;
  struct qd_invariant invariants[QD_REGISTERS]; /* of registers 255, 254, ... */
  struct qd_topology topologies[2];
  /* For any nodes: no topologies; parameters that are not given at the call are formulas. */
  int serves_any_nodes;
  int64_t most_ranks; /* then */
  struct qd_fragment formulas[QD_MAX_PARAMETERS];
  int uses_counts; /* of its own group */
  int uses_nodes;  /* depends on the spread over nodes, not on the number of ranks alone */
  /* What the body contains, for users that serve part of the language only. */
  int has_reductions, has_sized, has_temporaries, has_several_pieces;

  struct qd_instruction* instructions;
  int32_t instruction_count, instruction_capacity, body;
  struct qd_piece_registers* pieces;
  int32_t piece_count, piece_capacity;
  int32_t run_count, locate_count, register_count; /* without those that never change */
};

/* What functions that return what is wrong return where memory ran out: this very string. */
extern const char qd_no_memory[];
/* The same of a schedule that may well be right. */
extern const char qd_not_served[];

/* Reads a schedule file. Returns NULL, or what is wrong with it: a static string that says how to
 * mend it. On success the caller destroys the program. */
const char* qd_program_load(struct qd_program* program, const unsigned char* file, uint64_t length);
void qd_program_destroy(struct qd_program* program);

/* The bytes being read: reading past the end or failing sets `error`, and everything reads as zero
 * from then on. */
struct qd_reader {
  const unsigned char* bytes;
  uint64_t length, next;
  const char* error;
};
unsigned qd_read_byte(struct qd_reader* reader);
uint64_t qd_read_varint(struct qd_reader* reader);
int64_t qd_read_signed_varint(struct qd_reader* reader);
void qd_read_fail(struct qd_reader* reader, const char* error);

/* Compiles the code section into the program (compile.c). */
const char* qd_compile(struct qd_program* program, const unsigned char* code, uint64_t length);
/* Compiles the next expression of the job, a formula, behind it. */
struct qd_fragment qd_compile_formula(struct qd_program* program, struct qd_reader* job);

/* What the caller knows of its context and its call. */
struct qd_context {
  int64_t rank, ranks, remote_ranks, group, root;
  const int64_t* counts; /* of its group, one a rank; NULL where the program has no table of them */
  const int64_t* remote_counts;         /* of the other group */
  const int64_t* parameters;            /* all of them, for this call; NULL: those of the file */
  const struct qd_topology* topologies; /* one a group; NULL: those of the file */
};

/* collective.c: whether all ranks of a group know how long all blocks are, in bytes, or in elements where
 * the collective reduces; else the two ends of a message alone know its lengths. */
int qd_has_global_counts(const struct qd_program* program);
/* Whether it combines; whether one rank plays a part of its own. */
int qd_reduces(const struct qd_program* program);
int qd_is_rooted(const struct qd_program* program);
/* Whether what the root sends is the buffer in which others receive: a broadcast on one group. */
int qd_has_one_buffer(const struct qd_program* program);
/* How many blocks the send buffer and the receive buffer have, by QD_PIECE_. */
void qd_block_counts(const struct qd_program* program, const struct qd_context* context,
                     int32_t counts[2]);
/* As in `generate` and in the names of the API: "reduce-scatter". */
const char* qd_collective_name(int collective);

static inline const struct qd_topology* qd_topologies_of(const struct qd_program* program,
                                                         const struct qd_context* context) {
  return context->topologies ? context->topologies : program->topologies;
}

struct qd_tables {
  int64_t* entries[QD_MAX_TABLES];
  int64_t lengths[QD_MAX_TABLES], capacities[QD_MAX_TABLES];
  int64_t temporary_blocks;
  char refusal[256]; /* a text that names numbers */
};

/* The values of the formulas of a schedule for any nodes, at that context; leaves those of parameters
 * that are given at the call. Returns NULL or what is wrong, a static string. */
const char* qd_formulas_evaluate(const struct qd_program* program, const struct qd_context* context,
                                 int64_t values[QD_MAX_PARAMETERS]);

/* Fills all tables and asks all requirements. Returns NULL or what is wrong, which lives
 * as long as the tables do; these need destroying in either case. */
const char* qd_tables_fill(struct qd_tables* tables, const struct qd_program* program,
                           const struct qd_context* context);
/* The same over tables that were filled before, or are all zero, in the memory that they have. */
const char* qd_tables_refill(struct qd_tables* tables, const struct qd_program* program,
                             const struct qd_context* context);
void qd_tables_destroy(struct qd_tables* tables);

enum qd_event_kind {
  QD_EVENT_STEP, /* key, has_after, after, is_mixed */
  QD_EVENT_STEP_END,
  QD_EVENT_PIECE_MESSAGE, /* flags, peer, piece: a message of one piece */
  QD_EVENT_MESSAGE,       /* flags, peer; then pieces and the end */
  QD_EVENT_PIECE,         /* piece */
  QD_EVENT_MESSAGE_END,
  QD_EVENT_COPY,        /* piece to second; outside */
  QD_EVENT_REDUCE_LEFT, /* piece into second; outside */
  QD_EVENT_REDUCE_RIGHT,
  QD_EVENT_RUN,       /* run: so many times its steps */
  QD_EVENT_PIECE_RUN, /* run: so many times the pieces of its messages, of the message that
                                has begun */
  QD_EVENT_END,
  QD_EVENT_UNDEFINED /* why */
};

struct qd_piece {
  int buffer, ranged;
  int64_t block, low, high;
};

/* A value at the first of a run's iterations, and what each further one adds. */
struct qd_value {
  int64_t value, stride;
};

struct qd_run_message {
  unsigned flags;
  int is_token, buffer, ranged; /* of the piece, where it is not a token */
  struct qd_value peer, block, low, high;
};

struct qd_run_step {
  int has_after, message_count; /* messages follow those of the step before */
  struct qd_value key, after;
};

/* Iterations of a loop that are alike but for values that change evenly. */
struct qd_run {
  int64_t count; /* of the iterations, at least 2 */
  int step_count, message_count;
  struct qd_run_step steps[QD_RUN_STEPS];
  struct qd_run_message messages[QD_RUN_MESSAGES];
};

struct qd_event {
  enum qd_event_kind kind;
  int has_after, outside;
  int is_mixed;   /* sends, copies and receives may come in another order than that */
  unsigned flags; /* QD_MESSAGE_... */
  int64_t key, after, peer, count;
  struct qd_piece piece, second;
  struct qd_run run;
  const char* why;
};

struct qd_walker {
  const struct qd_program* program;
  const struct qd_tables* tables;
  const struct qd_instruction* next;
  int64_t iterations;          /* that loops may still make: no limit, unless set after the start */
  int64_t located[QD_LOCATES]; /* what they came to */
  uint8_t waits[QD_RUNS];      /* iterations until a run is tried again */
  uint8_t failures[QD_RUNS];   /* how many were tried in vain, the last ones */
  int64_t registers[QD_REGISTERS];
  int64_t strides[QD_REGISTERS]; /* while a run is tried; 0 of what never changes */
};

void qd_walk_start(struct qd_walker* walker, const struct qd_program* program,
                   const struct qd_tables* tables, const struct qd_context* context);
/* The next event. After QD_EVENT_END or _UNDEFINED there is none. */
void qd_walk_next(struct qd_walker* walker, struct qd_event* event);

/* Entries <= x, minus one, of an ascending table; `near` is where to look first. */
int64_t qd_locate_near(const int64_t* entries, int64_t length, int64_t x, int64_t near);
/* strided.c: tries the iteration of the loop at whose start `run` stands. Returns for how many
 * iterations event->run holds, its kind being QD_EVENT_END where they do nothing; 0 where the
 * iteration is not like the next. Changes nothing else but what the iteration itself sets first. */
int64_t qd_walk_run(struct qd_walker* walker, const struct qd_instruction* run,
                    struct qd_event* event);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_PROGRAM_H_ */
