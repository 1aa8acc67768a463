/* The compiler of code sections, in two files: expressions, and declarations and statements. */
#ifndef QUADRILLE_RUNTIME_COMPILER_H_
#define QUADRILLE_RUNTIME_COMPILER_H_

#include "runtime/program/program.h"

enum qd_type { QD_INTEGER, QD_BOOLEAN };

/* Jumps that all go to one place that is not known yet, chained through their targets; -1 ends the
 * chain. */
typedef int32_t qd_jumps;

struct qd_compiler {
  struct qd_reader in;
  struct qd_program* program;
  int variables[QD_MAX_VARIABLES]; /* their registers */
  int variable_count;
  int next_register, invariant_capacity; /* registers below, and above, are taken */
  int tables;                            /* defined so far */
  int in_step, in_message;
  int in_body;    /* all before it is the same at all ranks */
  int in_formula; /* which comes before the tables */
  int receives;   /* the message */
  int obstacles;  /* to runs: loops and copies so far */
  /* The step: the first and the last kind of its statements, and of the loop's; whether one comes after a later kind. */
  int first_kind, last_kind, is_mixed;
};

/* compile_expression.c */
int32_t qd_emit(struct qd_compiler* c, enum qd_opcode operation, int target, int a, int b,
                int32_t immediate);
void qd_land(struct qd_compiler* c, qd_jumps jumps);
int qd_take_register(struct qd_compiler* c);
int qd_invariant_register(struct qd_compiler* c, unsigned expression, int64_t value);
/* Compiles the next expression, which must have that type; returns the register that holds its
 * value. */
int qd_compile_operand(struct qd_compiler* c, enum qd_type type);
/* The same, into that register. */
void qd_compile_into(struct qd_compiler* c, int target, enum qd_type type);
/* Compiles the next condition; the jumps that are taken where it does not hold. */
qd_jumps qd_compile_condition(struct qd_compiler* c);
void qd_malformed(struct qd_compiler* c);

#endif /* QUADRILLE_RUNTIME_COMPILER_H_ */
