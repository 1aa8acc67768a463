/* Loops that become runs: `for v ... let ... step ... send, receive`, where key, peers and blocks
 * are affine in v.
 *
 * Instead of interpreting each iteration, the walk evaluates everything at both ends of the loop,
 * with all checks, and hands out first values and strides. That is exact: a sum, a difference or a
 * product with something that does not change is affine, so it lies between its ends, and so do all
 * its parts. Lets of the body are put in where they are named. */
#include <stdlib.h>
#include <string.h>

#include "runtime/compile.h"

enum shape { DOES_NOT_CHANGE, AFFINE, ANYTHING };

struct scan {
  struct quadrille_compiler* c;
  unsigned index; /* the loop's variable */
  int budget; /* operators that may still be looked at: lets put into lets could grow without end */
};

/* The shape of the next expression, which is read over. */
static enum shape shape_of(struct scan* s) {
  struct quadrille_compiler* c = s->c;
  const unsigned first = quadrille_read_byte(&c->in);
  if (c->in.error || --s->budget < 0) return ANYTHING;
  if (first & QUADRILLE_INLINE_BIT) {
    const unsigned number = first & QUADRILLE_INLINE_MASK;
    if (first & QUADRILLE_INLINE_CONSTANT_BIT || number < s->index) return DOES_NOT_CHANGE;
    if (number == s->index) return AFFINE;
    if (number >= (unsigned)c->variable_count) return ANYTHING;
    const uint64_t resume = c->in.next;
    c->in.next = c->variables[number].offset;
    const enum shape shape = shape_of(s);
    c->in.next = resume;
    return shape;
  }
  int operands = 2;
  switch (first) {
    case QUADRILLE_CONSTANT: quadrille_read_signed_varint(&c->in); return DOES_NOT_CHANGE;
    case QUADRILLE_PARAMETER:
    case QUADRILLE_LENGTH: quadrille_read_byte(&c->in); return DOES_NOT_CHANGE;
    case QUADRILLE_RANK:
    case QUADRILLE_RANKS:
    case QUADRILLE_REMOTE_RANKS:
    case QUADRILLE_GROUP:
    case QUADRILLE_ROOT: return DOES_NOT_CHANGE;
    case QUADRILLE_ELEMENT:
    case QUADRILLE_LOCATE:
      quadrille_read_byte(&c->in);
      operands = 1;
      break;
    case QUADRILLE_CHOOSE: operands = 3; break;
    default: break;
  }
  enum shape shapes[3] = {DOES_NOT_CHANGE, DOES_NOT_CHANGE, DOES_NOT_CHANGE};
  for (int i = 0; i < operands; i++) shapes[i] = shape_of(s);
  if (shapes[0] == DOES_NOT_CHANGE && shapes[1] == DOES_NOT_CHANGE && shapes[2] == DOES_NOT_CHANGE)
    return DOES_NOT_CHANGE;
  if (shapes[0] == ANYTHING || shapes[1] == ANYTHING || shapes[2] == ANYTHING) return ANYTHING;
  if (first == QUADRILLE_ADD || first == QUADRILLE_SUBTRACT) return AFFINE;
  return first == QUADRILLE_MULTIPLY &&
                 (shapes[0] == DOES_NOT_CHANGE || shapes[1] == DOES_NOT_CHANGE)
             ? AFFINE
             : ANYTHING;
}

/* A value of the run: where its expression stands in the code. */
struct value {
  uint64_t start, end;
  enum shape shape;
};

struct plan {
  struct value values[QUADRILLE_RUN_VALUES];
  struct quadrille_run_registers run;
};

/* Reads over the next expression and returns the number of the run's value that it is, or -1. */
static int plan_value(struct scan* s, struct plan* plan) {
  struct quadrille_compiler* c = s->c;
  struct value value = {c->in.next, 0, DOES_NOT_CHANGE};
  value.shape = shape_of(s);
  value.end = c->in.next;
  if (c->in.error || value.shape == ANYTHING) return -1;
  const uint64_t length = value.end - value.start;
  for (int i = 0; i < plan->run.value_count; i++)
    if (plan->values[i].end - plan->values[i].start == length &&
        memcmp(c->in.bytes + plan->values[i].start, c->in.bytes + value.start, length) == 0)
      return i;
  if (plan->run.value_count == QUADRILLE_RUN_VALUES) return -1;
  plan->values[plan->run.value_count] = value;
  return plan->run.value_count++;
}

static int plan_message(struct scan* s, struct plan* plan, unsigned opcode) {
  struct quadrille_run_registers* run = &plan->run;
  const unsigned flags = opcode & QUADRILLE_MESSAGE_FLAGS;
  if ((opcode & ~(unsigned)QUADRILLE_MESSAGE_FLAGS) != QUADRILLE_MESSAGE ||
      !(flags & QUADRILLE_MESSAGE_SINGLE) || run->message_count == QUADRILLE_RUN_MESSAGES)
    return 0;
  const int peer = plan_value(s, plan);
  const unsigned piece = quadrille_read_byte(&s->c->in);
  if (peer < 0 || (piece & ~(unsigned)QUADRILLE_PIECE_BUFFER) != QUADRILLE_PIECE) return 0;
  const int block = plan_value(s, plan);
  if (block < 0) return 0;
  run->messages[run->message_count].flags = (uint8_t)flags;
  run->messages[run->message_count].buffer = (uint8_t)(piece & QUADRILLE_PIECE_BUFFER);
  run->messages[run->message_count].peer = (uint8_t)peer;
  run->messages[run->message_count].block = (uint8_t)block;
  run->message_count++;
  return 1;
}

/* Reads the loop's body; true where it is a run. Lets become variables that are put in. */
static int plan_body(struct scan* s, struct plan* plan) {
  struct quadrille_compiler* c = s->c;
  unsigned opcode = quadrille_read_byte(&c->in);
  for (; opcode == QUADRILLE_LET; opcode = quadrille_read_byte(&c->in)) {
    if (c->variable_count == QUADRILLE_MAX_VARIABLES) return 0;
    const uint64_t offset = c->in.next;
    shape_of(s);
    c->variables[c->variable_count++] = (struct quadrille_variable){1, 0, offset};
  }
  if (opcode != QUADRILLE_STEP && opcode != QUADRILLE_STEP_AFTER) return 0;
  if (plan_value(s, plan) != 0) return 0;
  plan->run.has_after = opcode == QUADRILLE_STEP_AFTER;
  /* `after` takes place 1, also where it is the same as the key. */
  if (plan->run.has_after && plan_value(s, plan) != 1) return 0;
  while ((opcode = quadrille_read_byte(&c->in)) != QUADRILLE_END)
    if (c->in.error || !plan_message(s, plan, opcode)) return 0;
  return plan->run.message_count > 0 && quadrille_read_byte(&c->in) == QUADRILLE_END &&
         !c->in.error && s->budget >= 0;
}

/* Compiles the value's expression into that register. */
static void compile_value(struct quadrille_compiler* c, const struct value* value, int reg) {
  c->in.next = value->start;
  quadrille_compile_into(c, reg, QUADRILLE_INTEGER);
}

static int32_t add_run(struct quadrille_compiler* c, const struct quadrille_run_registers* run) {
  struct quadrille_program* p = c->program;
  if (p->run_count == p->run_room) {
    const int32_t room = p->run_room ? 2 * p->run_room : 4;
    struct quadrille_run_registers* grown = realloc(p->runs, (size_t)room * sizeof *grown);
    if (!grown) quadrille_read_fail(&c->in, "out of memory");
    if (!grown) return 0;
    p->runs = grown;
    p->run_room = room;
  }
  p->runs[p->run_count] = *run;
  return p->run_count++;
}

static quadrille_jumps emit_run(struct quadrille_compiler* c, struct plan* plan, int index,
                                int bound) {
  struct quadrille_run_registers* run = &plan->run;
  const int32_t choose = quadrille_emit(c, QUADRILLE_DO_RUN_CHOOSE, 0, index, bound, -1);
  const int first = quadrille_take_register(c);
  quadrille_emit(c, QUADRILLE_DO_MOVE, first, index, 0, 0);
  quadrille_emit(c, QUADRILLE_DO_SUBTRACT, index, bound,
                 quadrille_invariant_register(c, QUADRILLE_CONSTANT, 1), 0);
  for (int i = 0; i < run->value_count; i++) {
    run->values[i].first = run->values[i].last = (uint8_t)quadrille_take_register(c);
    if (plan->values[i].shape == DOES_NOT_CHANGE) continue;
    run->values[i].last = (uint8_t)quadrille_take_register(c);
    compile_value(c, &plan->values[i], run->values[i].last);
  }
  quadrille_emit(c, QUADRILLE_DO_MOVE, index, first, 0, 0);
  for (int i = 0; i < run->value_count; i++)
    compile_value(c, &plan->values[i], run->values[i].first);
  run->index = (uint8_t)index;
  run->bound = (uint8_t)bound;
  const int32_t number = add_run(c, run);
  quadrille_emit(c, QUADRILLE_DO_RUN, 0, 0, 0, number);
  const quadrille_jumps over = quadrille_emit(c, QUADRILLE_DO_JUMP, 0, 0, 0, -1);
  if (!c->in.error) c->program->runs[number].plain = c->program->instruction_count;
  quadrille_land(c, choose);
  return over;
}

quadrille_jumps quadrille_compile_run(struct quadrille_compiler* c, int index, int bound) {
  if (c->in.error || c->in_step) return -1;
  const uint64_t start = c->in.next;
  const int variables = c->variable_count, registers = c->next_register;
  struct scan scan = {c, (unsigned)variables - 1, 200};
  struct plan plan = {0};
  const int found = plan_body(&scan, &plan);
  /* What could not be read here is read again, and judged, as a plain loop. */
  c->in.error = NULL;
  const quadrille_jumps over = found ? emit_run(c, &plan, index, bound) : -1;
  c->in.next = start;
  c->variable_count = variables;
  c->next_register = registers;
  return over;
}
