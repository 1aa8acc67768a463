/* The compiler of code sections, in three files: expressions, statements, and loops that become
 * runs. */
#ifndef QUADRILLE_RUNTIME_COMPILE_H_
#define QUADRILLE_RUNTIME_COMPILE_H_

#include "runtime/program.h"

enum quadrille_type { QUADRILLE_INTEGER, QUADRILLE_BOOLEAN };

/* A variable in scope: in a register, or, while a run is compiled, an expression to be evaluated
 * where it is named. */
struct quadrille_variable {
  int inlined;
  int reg;         /* where not inlined */
  uint64_t offset; /* of its expression, where inlined */
};

/* Jumps that all go to one place that is not known yet, chained through their targets; -1 ends the
 * chain. */
typedef int32_t quadrille_jumps;

struct quadrille_compiler {
  struct quadrille_reader in;
  struct quadrille_program* program;
  struct quadrille_variable variables[QUADRILLE_MAX_VARIABLES];
  int variable_count;
  int next_register, invariant_room; /* registers below, and above, are taken */
  int tables;                        /* defined so far */
  int in_step, in_message, in_lanes;
};

/* compile_expression.c */
int32_t quadrille_emit(struct quadrille_compiler* c, enum quadrille_operation operation, int target,
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

/* compile_run.c: at the start of a loop's body, with the loop's variable declared and in register
 * `index`. Emits a run where the body allows one and returns the jump over the plain loop, else -1.
 * Leaves the reader where it was. */
quadrille_jumps quadrille_compile_run(struct quadrille_compiler* c, int index, int bound);

#endif /* QUADRILLE_RUNTIME_COMPILE_H_ */
