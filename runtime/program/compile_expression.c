/* Expressions into register code. Constants and what a rank knows of its communicator have
 * registers of their own, variables too; everything else is evaluated into the next free register.
 * `and` and `? :` become jumps, which makes them lazy. */
#include <stdlib.h>

#include "runtime/program/compiler.h"

void quadrille_malformed(struct quadrille_compiler* c) {
  quadrille_read_fail(&c->in, "the code is malformed; make it again");
}

int32_t quadrille_emit(struct quadrille_compiler* c, enum quadrille_opcode operation, int target,
                       int a, int b, int32_t immediate) {
  struct quadrille_program* p = c->program;
  if (c->in.error) return 0;
  if (p->instruction_count == p->instruction_room) {
    const int32_t room = p->instruction_room ? 2 * p->instruction_room : 64;
    struct quadrille_instruction* grown = realloc(p->instructions, (size_t)room * sizeof *grown);
    if (!grown) {
      quadrille_read_fail(&c->in, quadrille_no_memory);
      return 0;
    }
    p->instructions = grown;
    p->instruction_room = room;
  }
  p->instructions[p->instruction_count] = (struct quadrille_instruction){
      (uint8_t)operation, (uint8_t)target, (uint8_t)a, (uint8_t)b, immediate};
  return p->instruction_count++;
}

void quadrille_land(struct quadrille_compiler* c, quadrille_jumps jumps) {
  if (c->in.error) return;
  while (jumps >= 0) {
    int32_t* target = &c->program->instructions[jumps].immediate;
    jumps = *target;
    *target = c->program->instruction_count;
  }
}

/* One chain of both. */
static quadrille_jumps join(struct quadrille_compiler* c, quadrille_jumps first,
                            quadrille_jumps second) {
  if (c->in.error || first < 0) return second;
  quadrille_jumps last = first;
  while (c->program->instructions[last].immediate >= 0)
    last = c->program->instructions[last].immediate;
  c->program->instructions[last].immediate = second;
  return first;
}

int quadrille_take_register(struct quadrille_compiler* c) {
  if (c->next_register >= c->invariant_room) {
    quadrille_read_fail(&c->in, "the program needs too many registers; make it again");
    return 0;
  }
  if (c->program->register_count <= c->next_register)
    c->program->register_count = c->next_register + 1;
  return c->next_register++;
}

int quadrille_invariant_register(struct quadrille_compiler* c, unsigned expression, int64_t value) {
  struct quadrille_program* p = c->program;
  for (int i = 0; i < p->invariant_count; i++)
    if (p->invariants[i].expression == expression && p->invariants[i].value == value)
      return QUADRILLE_REGISTERS - 1 - i;
  if (c->next_register >= c->invariant_room - 1) {
    quadrille_read_fail(&c->in, "the program needs too many registers; make it again");
    return 0;
  }
  p->invariants[p->invariant_count++] = (struct quadrille_invariant){(uint8_t)expression, value};
  return --c->invariant_room;
}

static const char not_of_nodes[] =
    "a parameter depends on more than the nodes; make the schedule again";

static int table_index(struct quadrille_compiler* c) {
  const unsigned index = quadrille_read_byte(&c->in);
  if (index >= (unsigned)c->tables)
    quadrille_read_fail(&c->in, "the code uses a table that is not defined; make it again");
  else if (c->in_formula && c->program->tables[index].kind != QUADRILLE_TABLE_NODES)
    quadrille_read_fail(&c->in, not_of_nodes);
  return c->in.error ? 0 : (int)index;
}

/* The register of an expression that never changes, or -1 where the one that starts with this byte
 * can change. */
static int invariant(struct quadrille_compiler* c, unsigned first) {
  const struct quadrille_program* p = c->program;
  int64_t value = 0;
  if (c->in_formula && (first == QUADRILLE_PARAMETER || first == QUADRILLE_GROUP))
    quadrille_read_fail(&c->in, not_of_nodes);
  if (!c->in_body && first == QUADRILLE_RANK)
    quadrille_read_fail(&c->in,
                        "the code asks for a rank where all ranks must agree; make it again");
  switch (first) {
    case QUADRILLE_CONSTANT:
      value = quadrille_read_signed_varint(&c->in);
      if (value >= QUADRILLE_LEAST_INLINE_CONSTANT && value <= QUADRILLE_GREATEST_INLINE_CONSTANT)
        quadrille_malformed(c);
      break;
    case QUADRILLE_PARAMETER:
      value = quadrille_read_byte(&c->in);
      if (value >= p->parameter_count)
        quadrille_read_fail(&c->in, "the code uses an unknown parameter; make it again");
      break;
    case QUADRILLE_LENGTH: value = table_index(c); break;
    case QUADRILLE_REMOTE_RANKS:
      if (p->groups != 2)
        quadrille_read_fail(&c->in, "the code asks for a second group; make it again");
      break;
    case QUADRILLE_ROOT:
      if (p->collective != QUADRILLE_BROADCAST && p->collective != QUADRILLE_GATHER &&
          p->collective != QUADRILLE_SCATTER && p->collective != QUADRILLE_REDUCE)
        quadrille_read_fail(&c->in, "the code asks for a root; make it again");
      break;
    case QUADRILLE_RANK:
    case QUADRILLE_RANKS:
    case QUADRILLE_GROUP: break;
    default: return -1;
  }
  return quadrille_invariant_register(c, first, value);
}

static enum quadrille_opcode binary(unsigned first) {
  switch (first) {
    case QUADRILLE_ADD: return QUADRILLE_DO_ADD;
    case QUADRILLE_SUBTRACT: return QUADRILLE_DO_SUBTRACT;
    case QUADRILLE_MULTIPLY: return QUADRILLE_DO_MULTIPLY;
    case QUADRILLE_DIVIDE: return QUADRILLE_DO_DIVIDE;
    case QUADRILLE_MODULO: return QUADRILLE_DO_MODULO;
    case QUADRILLE_XOR: return QUADRILLE_DO_XOR;
    case QUADRILLE_MINIMUM: return QUADRILLE_DO_MINIMUM;
    case QUADRILLE_MAXIMUM: return QUADRILLE_DO_MAXIMUM;
    case QUADRILLE_WRAP: return QUADRILLE_DO_WRAP;
    case QUADRILLE_EQUAL: return QUADRILLE_DO_EQUAL;
    case QUADRILLE_NOT_EQUAL: return QUADRILLE_DO_NOT_EQUAL;
    case QUADRILLE_LESS: return QUADRILLE_DO_LESS;
    case QUADRILLE_LESS_EQUAL: return QUADRILLE_DO_LESS_EQUAL;
    default: return QUADRILLE_DO_END; /* not binary */
  }
}

static int is_comparison(unsigned first) {
  return first >= QUADRILLE_EQUAL && first <= QUADRILLE_LESS_EQUAL;
}

static enum quadrille_type expression(struct quadrille_compiler* c, int target, int* where,
                                      int depth);

/* An operand of an operator, of the type that it wants. */
static int operand(struct quadrille_compiler* c, enum quadrille_type wanted, int depth) {
  int where = 0;
  if (expression(c, -1, &where, depth) != wanted)
    quadrille_read_fail(&c->in,
                        "the code has a condition where a number is wanted, or a number for a "
                        "condition; make it again");
  return where;
}

static quadrille_jumps condition(struct quadrille_compiler* c, int depth) {
  const unsigned first = c->in.next < c->in.length ? c->in.bytes[c->in.next] : 0;
  const int saved = c->next_register;
  if (depth > QUADRILLE_MAX_DEPTH) quadrille_malformed(c);
  if (c->in.error) return -1;
  if (first == QUADRILLE_AND) {
    quadrille_read_byte(&c->in);
    const quadrille_jumps left = condition(c, depth + 1);
    return join(c, left, condition(c, depth + 1));
  }
  if (is_comparison(first)) {
    quadrille_read_byte(&c->in);
    const int a = operand(c, QUADRILLE_INTEGER, depth + 1),
              b = operand(c, QUADRILLE_INTEGER, depth + 1);
    c->next_register = saved;
    return quadrille_emit(c, QUADRILLE_DO_UNLESS_EQUAL + (first - QUADRILLE_EQUAL), 0, a, b, -1);
  }
  const int value = operand(c, QUADRILLE_BOOLEAN, depth);
  c->next_register = saved;
  return quadrille_emit(c, QUADRILLE_DO_UNLESS, 0, value, 0, -1);
}

static enum quadrille_type choose(struct quadrille_compiler* c, int target, int depth) {
  const quadrille_jumps otherwise = condition(c, depth + 1);
  int where = 0;
  const enum quadrille_type type = expression(c, target, &where, depth + 1);
  const int32_t over = quadrille_emit(c, QUADRILLE_DO_JUMP, 0, 0, 0, -1);
  quadrille_land(c, otherwise);
  if (expression(c, target, &where, depth + 1) != type)
    quadrille_read_fail(&c->in, "the code chooses between a condition and a number; make it again");
  quadrille_land(c, over);
  return type;
}

static void conjunction(struct quadrille_compiler* c, int target, int depth) {
  const quadrille_jumps first = condition(c, depth + 1);
  const quadrille_jumps no = join(c, first, condition(c, depth + 1));
  quadrille_emit(c, QUADRILLE_DO_MOVE, target,
                 quadrille_invariant_register(c, QUADRILLE_CONSTANT, 1), 0, 0);
  const int32_t over = quadrille_emit(c, QUADRILLE_DO_JUMP, 0, 0, 0, -1);
  quadrille_land(c, no);
  quadrille_emit(c, QUADRILLE_DO_MOVE, target,
                 quadrille_invariant_register(c, QUADRILLE_CONSTANT, 0), 0, 0);
  quadrille_land(c, over);
}

/* Compiles an operator into `target`. */
static enum quadrille_type operation(struct quadrille_compiler* c, unsigned first, int target,
                                     int depth) {
  if (first == QUADRILLE_CHOOSE) return choose(c, target, depth);
  if (first == QUADRILLE_AND) {
    conjunction(c, target, depth);
    return QUADRILLE_BOOLEAN;
  }
  if (first == QUADRILLE_ELEMENT || first == QUADRILLE_LOCATE) {
    const int table = table_index(c);
    if (first == QUADRILLE_LOCATE) c->program->tables[table].located = 1;
    const int index = operand(c, QUADRILLE_INTEGER, depth + 1);
    if (first == QUADRILLE_ELEMENT)
      quadrille_emit(c, QUADRILLE_DO_ELEMENT, target, index, 0, table);
    else
      quadrille_emit(c, QUADRILLE_DO_LOCATE, target, index,
                     c->program->locate_count++ % QUADRILLE_LOCATES, table);
    return QUADRILLE_INTEGER;
  }
  const enum quadrille_opcode simple = binary(first);
  if (simple == QUADRILLE_DO_END) {
    quadrille_malformed(c);
    return QUADRILLE_INTEGER;
  }
  const int a = operand(c, QUADRILLE_INTEGER, depth + 1),
            b = operand(c, QUADRILLE_INTEGER, depth + 1);
  quadrille_emit(c, simple, target, a, b, 0);
  return is_comparison(first) ? QUADRILLE_BOOLEAN : QUADRILLE_INTEGER;
}

static int variable(struct quadrille_compiler* c, unsigned number) {
  if (number < (unsigned)c->variable_count) return c->variables[number];
  quadrille_read_fail(&c->in, "the code names a variable that is not in scope; make it again");
  return 0;
}

/* Compiles the next expression into `target`, or, where that is negative, into any register. */
static enum quadrille_type expression(struct quadrille_compiler* c, int target, int* where,
                                      int depth) {
  const unsigned first = quadrille_read_byte(&c->in);
  if (depth > QUADRILLE_MAX_DEPTH) quadrille_malformed(c);
  *where = 0;
  if (c->in.error) return QUADRILLE_INTEGER;
  const int saved = c->next_register;
  int at = -1;
  if (first & QUADRILLE_INLINE_BIT)
    at = first & QUADRILLE_INLINE_CONSTANT_BIT
             ? quadrille_invariant_register(
                   c, QUADRILLE_CONSTANT,
                   (int)(first & QUADRILLE_INLINE_MASK) + QUADRILLE_LEAST_INLINE_CONSTANT)
             : variable(c, first & QUADRILLE_INLINE_MASK);
  else
    at = invariant(c, first);
  if (at >= 0) {
    if (target >= 0) {
      quadrille_emit(c, QUADRILLE_DO_MOVE, target, at, 0, 0);
      c->next_register = saved;
    }
    *where = target >= 0 ? target : at;
    return QUADRILLE_INTEGER;
  }
  *where = target >= 0 ? target : quadrille_take_register(c);
  const int kept = c->next_register;
  const enum quadrille_type type = operation(c, first, *where, depth);
  c->next_register = kept;
  return type;
}

int quadrille_compile_operand(struct quadrille_compiler* c, enum quadrille_type type) {
  return operand(c, type, 0);
}

void quadrille_compile_into(struct quadrille_compiler* c, int target, enum quadrille_type type) {
  int where = 0;
  if (expression(c, target, &where, 0) != type)
    quadrille_read_fail(&c->in,
                        "the code has a condition where a number is wanted, or a number for a "
                        "condition; make it again");
}

quadrille_jumps quadrille_compile_condition(struct quadrille_compiler* c) {
  return condition(c, 0);
}
