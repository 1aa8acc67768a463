/* The compiler of code sections, in two files: expressions, and declarations and statements. */
#ifndef QUADRILLE_RUNTIME_COMPILER_H_
#define QUADRILLE_RUNTIME_COMPILER_H_

#include "runtime/program/program.h"

enum quadrille_type { QUADRILLE_INTEGER, QUADRILLE_BOOLEAN };

/* Jumps that all go to one place that is not known yet, chained through their targets; -1 ends the
 * chain. */
typedef int32_t quadrille_jumps;

struct quadrille_compiler {
  struct quadrille_reader in;
  struct quadrille_program* program;
  int variables[QUADRILLE_MAX_VARIABLES]; /* their registers */
  int variable_count;
  int next_register, invariant_room; /* registers below, and above, are taken */
  int tables;                        /* defined so far */
  int in_step, in_message;
  int in_body;    /* all before it is the same at all ranks */
  int in_formula; /* which comes before the tables */
  int receives;   /* the message */
  int obstacles;  /* to runs: loops and copies so far */
  /* The step: the first and the last kind of its statements, and of the loop's; whether one comes after a later kind. */
  int first_kind, last_kind, is_mixed;
};

/* compile_expression.c */
int32_t quadrille_emit(struct quadrille_compiler* c, enum quadrille_opcode operation, int target,
                       int a, int b, int32_t immediate);
void quadrille_land(struct quadrille_compiler* c, quadrille_jumps jumps);
int quadrille_take_register(struct quadrille_compiler* c);
int quadrille_invariant_register(struct quadrille_compiler* c, unsigned expression, int64_t value);
/* Compiles the next expression, which must have that type; returns the register that holds its
 * value. */
int quadrille_compile_operand(struct quadrille_compiler* c, enum quadrille_type type);
/* The same, into that register. */
void quadrille_compile_into(struct quadrille_compiler* c, int target, enum quadrille_type type);
/* Compiles the next condition; the jumps that are taken where it does not hold. */
quadrille_jumps quadrille_compile_condition(struct quadrille_compiler* c);
void quadrille_malformed(struct quadrille_compiler* c);

#endif /* QUADRILLE_RUNTIME_COMPILER_H_ */
