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
#define QUADRILLE_REGISTERS 256
#define QUADRILLE_LOCATES 16     /* of which the walk remembers the last result */
#define QUADRILLE_RUNS 16        /* loops of which the walk remembers whether they make runs */
#define QUADRILLE_RUN_STEPS 2    /* the most that a run has in an iteration, */
#define QUADRILLE_RUN_MESSAGES 4 /* and the most messages of all of them */

enum quadrille_opcode {
  QUADRILLE_DO_ADD,
  QUADRILLE_DO_SUBTRACT,
  QUADRILLE_DO_MULTIPLY,
  QUADRILLE_DO_DIVIDE,
  QUADRILLE_DO_MODULO,
  QUADRILLE_DO_XOR,
  QUADRILLE_DO_MINIMUM,
  QUADRILLE_DO_MAXIMUM,
  QUADRILLE_DO_WRAP,
  QUADRILLE_DO_EQUAL,
  QUADRILLE_DO_NOT_EQUAL,
  QUADRILLE_DO_LESS,
  QUADRILLE_DO_LESS_EQUAL,
  QUADRILLE_DO_MOVE,
  QUADRILLE_DO_ELEMENT,
  QUADRILLE_DO_LOCATE, /* in table immediate; b: which of the walk's memories */
  QUADRILLE_DO_JUMP,
  QUADRILLE_DO_UNLESS,       /* jump where a is false */
  QUADRILLE_DO_UNLESS_EQUAL, /* jump unless a = b, and so on */
  QUADRILLE_DO_UNLESS_NOT_EQUAL,
  QUADRILLE_DO_UNLESS_LESS,
  QUADRILLE_DO_UNLESS_LESS_EQUAL,
  QUADRILLE_DO_NEXT, /* ++a < b: jump */
  QUADRILLE_DO_STEP, /* key a, after b where target is 1; immediate: whether kinds are mixed */
  QUADRILLE_DO_STEP_END,
  QUADRILLE_DO_MESSAGE, /* peer a, flags b; pieces follow */
  QUADRILLE_DO_MESSAGE_END,
  QUADRILLE_DO_PIECE_MESSAGE, /* peer a, flags b, of pieces[immediate] alone */
  QUADRILLE_DO_PIECE,         /* pieces[immediate] */
  QUADRILLE_DO_COPY,          /* pieces[immediate] to the next; target is 1 outside steps */
  QUADRILLE_DO_REDUCE_LEFT,
  QUADRILLE_DO_REDUCE_RIGHT,
  QUADRILLE_DO_RUN, /* before the iteration of a loop without loops in it: index a, bound b, what
                       follows the loop; target: which of the walk's memories */
  QUADRILLE_DO_END
};

static inline int quadrille_is_binary(int operation) {
  return operation <= QUADRILLE_DO_LESS_EQUAL ||
         (operation >= QUADRILLE_DO_UNLESS_EQUAL && operation <= QUADRILLE_DO_UNLESS_LESS_EQUAL);
}

struct quadrille_instruction {
  uint8_t operation, target, a, b; /* registers */
  int32_t immediate;               /* jump target, table, or index */
};

struct quadrille_piece_registers {
  uint8_t buffer, ranged, block, low, high;
};

/* A register that holds the same value all along: an operator of the file and its operand. */
struct quadrille_invariant {
  uint8_t expression;
  int64_t value;
};

/* Code for an expression outside the body, up to QUADRILLE_DO_END. */
struct quadrille_fragment {
  int32_t start;
  uint8_t result;
};

struct quadrille_table_definition {
  uint8_t kind, source, located; /* located: searched, so it must be ascending */
  struct quadrille_fragment first, second;
};

struct quadrille_node_run {
  int64_t nodes, size;
};

struct quadrille_topology {
  struct quadrille_node_run* runs; /* by ascending size */
  int64_t run_count, nodes, ranks;
};

struct quadrille_program {
  unsigned char hash[QUADRILLE_HASH_LENGTH];
  char algorithm[64];
  char needs[64]; /* what its requirements say, in words; empty where the file has none */
  int collective, groups, port, port_per_node, in_place, commutative;

  int parameter_count, table_count, requirement_count, invariant_count;
  int at_call[QUADRILLE_MAX_PARAMETERS];
  int64_t parameters[QUADRILLE_MAX_PARAMETERS]; /* where given at the call: the rule */
  int64_t alpha_ns[QUADRILLE_MAX_PARAMETERS], beta_ps[QUADRILLE_MAX_PARAMETERS]; /* of the rule */
  int depends_on_call; /* counts or parameters of the call are in it */
  struct quadrille_table_definition tables[QUADRILLE_MAX_TABLES];
  struct quadrille_fragment requirements[QUADRILLE_MAX_REQUIREMENTS];
  struct quadrille_fragment temporary_blocks;
  struct quadrille_invariant invariants[QUADRILLE_REGISTERS]; /* of registers 255, 254, ... */
  struct quadrille_topology topologies[2];
  /* For any nodes: no topologies; parameters that are not given at the call are formulas. */
  int serves_any_nodes;
  int64_t most_ranks; /* then */
  struct quadrille_fragment formulas[QUADRILLE_MAX_PARAMETERS];
  int uses_counts; /* of its own group */
  int uses_nodes;  /* depends on the spread over nodes, not on the number of ranks alone */
  /* What the body contains, for users that serve part of the language only. */
  int has_reductions, has_sized, has_temporaries, has_several_pieces;

  struct quadrille_instruction* instructions;
  int32_t instruction_count, instruction_room, body;
  struct quadrille_piece_registers* pieces;
  int32_t piece_count, piece_room;
  int32_t run_count, locate_count, register_count; /* without those that never change */
};

/* What functions that return what is wrong return where memory ran out: this very string. */
extern const char quadrille_no_memory[];
/* The same of a schedule that may well be right. */
extern const char quadrille_not_served[];

/* Reads a schedule file. Returns NULL, or what is wrong with it: a static string that says how to
 * mend it. On success the caller destroys the program. */
const char* quadrille_program_load(struct quadrille_program* program, const unsigned char* file,
                                   uint64_t length);
void quadrille_program_destroy(struct quadrille_program* program);

/* The bytes being read: reading past the end or failing sets `error`, and everything reads as zero
 * from then on. */
struct quadrille_reader {
  const unsigned char* bytes;
  uint64_t length, next;
  const char* error;
};
unsigned quadrille_read_byte(struct quadrille_reader* reader);
uint64_t quadrille_read_varint(struct quadrille_reader* reader);
int64_t quadrille_read_signed_varint(struct quadrille_reader* reader);
void quadrille_read_fail(struct quadrille_reader* reader, const char* error);

/* Compiles the code section into the program (compile.c). */
const char* quadrille_compile(struct quadrille_program* program, const unsigned char* code,
                              uint64_t length);
/* Compiles the next expression of the job, a formula, behind it. */
struct quadrille_fragment quadrille_compile_formula(struct quadrille_program* program,
                                                    struct quadrille_reader* job);

/* What the caller knows of its place and its call. */
struct quadrille_place {
  int64_t rank, ranks, remote_ranks, group, root;
  const int64_t* counts; /* of its group, one a rank; NULL where the program has no table of them */
  const int64_t* remote_counts; /* of the other group */
  const int64_t* parameters;    /* all of them, for this call; NULL: those of the file */
  const struct quadrille_topology* topologies; /* one a group; NULL: those of the file */
};

/* collective.c: whether all ranks of a group know how long all blocks are, in bytes, or in elements where
 * the collective reduces; else the two ends of a message alone know its lengths. */
int quadrille_is_counted(const struct quadrille_program* program);
/* Whether it combines; whether one rank plays a part of its own. */
int quadrille_reduces(const struct quadrille_program* program);
int quadrille_is_rooted(const struct quadrille_program* program);
/* Whether what the root sends is the buffer in which others receive: a broadcast on one group. */
int quadrille_has_one_buffer(const struct quadrille_program* program);
/* How many blocks the send buffer and the receive buffer have, by QUADRILLE_PIECE_. */
void quadrille_block_counts(const struct quadrille_program* program,
                            const struct quadrille_place* place, int32_t counts[2]);
/* As in `generate` and in the names of the API: "reduce-scatter". */
const char* quadrille_collective_name(int collective);

static inline const struct quadrille_topology* quadrille_topologies_of(
    const struct quadrille_program* program, const struct quadrille_place* place) {
  return place->topologies ? place->topologies : program->topologies;
}

struct quadrille_tables {
  int64_t* entries[QUADRILLE_MAX_TABLES];
  int64_t lengths[QUADRILLE_MAX_TABLES], rooms[QUADRILLE_MAX_TABLES];
  int64_t temporary_blocks;
  char refusal[256]; /* a text that names numbers */
};

/* The values of the formulas of a schedule for any nodes, at that place; leaves those of parameters
 * that are given at the call. Returns NULL or what is wrong, a static string. */
const char* quadrille_formulas_evaluate(const struct quadrille_program* program,
                                        const struct quadrille_place* place,
                                        int64_t values[QUADRILLE_MAX_PARAMETERS]);

/* Fills all tables and asks all requirements. Returns NULL or what is wrong, which lives
 * as long as the tables do; these need destroying in either case. */
const char* quadrille_tables_fill(struct quadrille_tables* tables,
                                  const struct quadrille_program* program,
                                  const struct quadrille_place* place);
/* The same over tables that were filled before, or are all zero, in the memory that they have. */
const char* quadrille_tables_refill(struct quadrille_tables* tables,
                                    const struct quadrille_program* program,
                                    const struct quadrille_place* place);
void quadrille_tables_destroy(struct quadrille_tables* tables);

enum quadrille_event_kind {
  QUADRILLE_EVENT_STEP, /* key, has_after, after, is_mixed */
  QUADRILLE_EVENT_STEP_END,
  QUADRILLE_EVENT_PIECE_MESSAGE, /* flags, peer, piece: a message of one piece */
  QUADRILLE_EVENT_MESSAGE,       /* flags, peer; then pieces and the end */
  QUADRILLE_EVENT_PIECE,         /* piece */
  QUADRILLE_EVENT_MESSAGE_END,
  QUADRILLE_EVENT_COPY,        /* piece to second; outside */
  QUADRILLE_EVENT_REDUCE_LEFT, /* piece into second; outside */
  QUADRILLE_EVENT_REDUCE_RIGHT,
  QUADRILLE_EVENT_RUN,       /* run: so many times its steps */
  QUADRILLE_EVENT_PIECE_RUN, /* run: so many times the pieces of its messages, of the message that
                                has begun */
  QUADRILLE_EVENT_END,
  QUADRILLE_EVENT_UNDEFINED /* why */
};

struct quadrille_piece {
  int buffer, ranged;
  int64_t block, low, high;
};

/* A value at the first of a run's iterations, and what each further one adds. */
struct quadrille_value {
  int64_t value, stride;
};

struct quadrille_run_message {
  unsigned flags;
  int is_token, buffer, ranged; /* of the piece, where it is not a token */
  struct quadrille_value peer, block, low, high;
};

struct quadrille_run_step {
  int has_after, message_count; /* messages follow those of the step before */
  struct quadrille_value key, after;
};

/* Iterations of a loop that are alike but for values that change evenly. */
struct quadrille_run {
  int64_t count; /* of the iterations, at least 2 */
  int step_count, message_count;
  struct quadrille_run_step steps[QUADRILLE_RUN_STEPS];
  struct quadrille_run_message messages[QUADRILLE_RUN_MESSAGES];
};

struct quadrille_event {
  enum quadrille_event_kind kind;
  int has_after, outside;
  int is_mixed;   /* sends, copies and receives may come in another order than that */
  unsigned flags; /* QUADRILLE_MESSAGE_... */
  int64_t key, after, peer, count;
  struct quadrille_piece piece, second;
  struct quadrille_run run;
  const char* why;
};

struct quadrille_walker {
  const struct quadrille_program* program;
  const struct quadrille_tables* tables;
  const struct quadrille_instruction* next;
  int64_t iterations; /* that loops may still make: no limit, unless set after the start */
  int64_t located[QUADRILLE_LOCATES]; /* what they came to */
  uint8_t waits[QUADRILLE_RUNS];      /* iterations until a run is tried again */
  uint8_t failures[QUADRILLE_RUNS];   /* how many were tried in vain, the last ones */
  int64_t registers[QUADRILLE_REGISTERS];
  int64_t strides[QUADRILLE_REGISTERS]; /* while a run is tried; 0 of what never changes */
};

void quadrille_walk_start(struct quadrille_walker* walker, const struct quadrille_program* program,
                          const struct quadrille_tables* tables,
                          const struct quadrille_place* place);
/* The next event. After QUADRILLE_EVENT_END or _UNDEFINED there is none. */
void quadrille_walk_next(struct quadrille_walker* walker, struct quadrille_event* event);

/* Entries <= x, minus one, of an ascending table; `near` is where to look first. */
int64_t quadrille_locate_near(const int64_t* entries, int64_t length, int64_t x, int64_t near);
/* strided.c: tries the iteration of the loop at whose start `run` stands. Returns for how many
 * iterations event->run holds, its kind being QUADRILLE_EVENT_END where they do nothing; 0 where the
 * iteration is not like the next. Changes nothing else but what the iteration itself sets first. */
int64_t quadrille_walk_run(struct quadrille_walker* walker, const struct quadrille_instruction* run,
                           struct quadrille_event* event);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_PROGRAM_H_ */
