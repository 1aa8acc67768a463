/* Expressions into register code. Constants and what a rank knows of its communicator have
 * registers of their own, variables too; everything else is evaluated into the next free register.
 * `and` and `? :` become jumps, which makes them lazy. */
#include <stdlib.h>

#include "runtime/program/compiler.h"

void qd_malformed(struct qd_compiler* c) {
  qd_read_fail(&c->in, "the code is malformed; make it again");
}

int32_t qd_emit(struct qd_compiler* c, enum qd_opcode operation, int target, int a, int b,
                int32_t immediate) {
  struct qd_program* p = c->program;
  if (c->in.error) return 0;
  if (p->instruction_count == p->instruction_capacity) {
    const int32_t room = p->instruction_capacity ? 2 * p->instruction_capacity : 64;
    struct qd_instruction* grown = realloc(p->instructions, (size_t)room * sizeof *grown);
    if (!grown) {
      qd_read_fail(&c->in, qd_no_memory);
      return 0;
    }
    p->instructions = grown;
    p->instruction_capacity = room;
  }
  p->instructions[p->instruction_count] = (struct qd_instruction){
      (uint8_t)operation, (uint8_t)target, (uint8_t)a, (uint8_t)b, immediate};
  return p->instruction_count++;
}

void qd_land(struct qd_compiler* c, qd_jumps jumps) {
  if (c->in.error) return;
  while (jumps >= 0) {
    int32_t* target = &c->program->instructions[jumps].immediate;
    jumps = *target;
    *target = c->program->instruction_count;
  }
}

/* One chain of both. */
static qd_jumps join(struct qd_compiler* c, qd_jumps first, qd_jumps second) {
  if (c->in.error || first < 0) return second;
  qd_jumps last = first;
  while (c->program->instructions[last].immediate >= 0)
    last = c->program->instructions[last].immediate;
  c->program->instructions[last].immediate = second;
  return first;
}

int qd_take_register(struct qd_compiler* c) {
  if (c->next_register >= c->invariant_capacity) {
    qd_read_fail(&c->in, "the program needs too many registers; make it again");
    return 0;
  }
  if (c->program->register_count <= c->next_register)
    c->program->register_count = c->next_register + 1;
  return c->next_register++;
}

int qd_invariant_register(struct qd_compiler* c, unsigned expression, int64_t value) {
  struct qd_program* p = c->program;
  for (int i = 0; i < p->invariant_count; i++)
    if (p->invariants[i].expression == expression && p->invariants[i].value == value)
      return QD_REGISTERS - 1 - i;
  if (c->next_register >= c->invariant_capacity - 1) {
    qd_read_fail(&c->in, "the program needs too many registers; make it again");
    return 0;
  }
  p->invariants[p->invariant_count++] = (struct qd_invariant){(uint8_t)expression, value};
  return --c->invariant_capacity;
}

static const char not_of_nodes[] =
    "a parameter depends on more than the nodes; make the schedule again";

static int table_index(struct qd_compiler* c) {
  const unsigned index = qd_read_byte(&c->in);
  if (index >= (unsigned)c->tables)
    qd_read_fail(&c->in, "the code uses a table that is not defined; make it again");
  else if (c->in_formula && c->program->tables[index].kind != QD_TABLE_NODES)
    qd_read_fail(&c->in, not_of_nodes);
  return c->in.error ? 0 : (int)index;
}

/* The register of an expression that never changes, or -1 where the one that starts with this byte
 * can change. */
static int invariant(struct qd_compiler* c, unsigned first) {
  const struct qd_program* p = c->program;
  int64_t value = 0;
  if (c->in_formula && (first == QD_PARAMETER || first == QD_GROUP))
    qd_read_fail(&c->in, not_of_nodes);
  if (!c->in_body && first == QD_RANK)
    qd_read_fail(&c->in, "the code asks for a rank where all ranks must agree; make it again");
  switch (first) {
    case QD_CONSTANT:
      value = qd_read_signed_varint(&c->in);
      if (value >= QD_LEAST_INLINE_CONSTANT && value <= QD_GREATEST_INLINE_CONSTANT)
        qd_malformed(c);
      break;
    case QD_PARAMETER:
      value = qd_read_byte(&c->in);
      if (value >= p->parameter_count)
        qd_read_fail(&c->in, "the code uses an unknown parameter; make it again");
      break;
    case QD_LENGTH: value = table_index(c); break;
    case QD_REMOTE_RANKS:
      if (p->groups != 2) qd_read_fail(&c->in, "the code asks for a second group; make it again");
      break;
    case QD_ROOT:
      if (p->collective != QD_BROADCAST && p->collective != QD_GATHER &&
          p->collective != QD_SCATTER && p->collective != QD_REDUCE)
        qd_read_fail(&c->in, "the code asks for a root; make it again");
      break;
    case QD_RANK:
    case QD_RANKS:
    case QD_GROUP: break;
    default: return -1;
  }
  return qd_invariant_register(c, first, value);
}

static enum qd_opcode binary(unsigned first) {
  switch (first) {
    case QD_ADD: return QD_DO_ADD;
    case QD_SUBTRACT: return QD_DO_SUBTRACT;
    case QD_MULTIPLY: return QD_DO_MULTIPLY;
    case QD_DIVIDE: return QD_DO_DIVIDE;
    case QD_MODULO: return QD_DO_MODULO;
    case QD_XOR: return QD_DO_XOR;
    case QD_MINIMUM: return QD_DO_MINIMUM;
    case QD_MAXIMUM: return QD_DO_MAXIMUM;
    case QD_WRAP: return QD_DO_WRAP;
    case QD_EQUAL: return QD_DO_EQUAL;
    case QD_NOT_EQUAL: return QD_DO_NOT_EQUAL;
    case QD_LESS: return QD_DO_LESS;
    case QD_LESS_EQUAL: return QD_DO_LESS_EQUAL;
    default: return QD_DO_END; /* not binary */
  }
}

static int is_comparison(unsigned first) { return first >= QD_EQUAL && first <= QD_LESS_EQUAL; }

static enum qd_type expression(struct qd_compiler* c, int target, int* where, int depth);

/* An operand of an operator, of the type that it wants. */
static int operand(struct qd_compiler* c, enum qd_type wanted, int depth) {
  int where = 0;
  if (expression(c, -1, &where, depth) != wanted)
    qd_read_fail(&c->in,
                 "the code has a condition where a number is wanted, or a number for a "
                 "condition; make it again");
  return where;
}

static qd_jumps condition(struct qd_compiler* c, int depth) {
  const unsigned first = c->in.next < c->in.length ? c->in.bytes[c->in.next] : 0;
  const int saved = c->next_register;
  if (depth > QD_MAX_DEPTH) qd_malformed(c);
  if (c->in.error) return -1;
  if (first == QD_AND) {
    qd_read_byte(&c->in);
    const qd_jumps left = condition(c, depth + 1);
    return join(c, left, condition(c, depth + 1));
  }
  if (is_comparison(first)) {
    qd_read_byte(&c->in);
    const int a = operand(c, QD_INTEGER, depth + 1), b = operand(c, QD_INTEGER, depth + 1);
    c->next_register = saved;
    return qd_emit(c, QD_DO_UNLESS_EQUAL + (first - QD_EQUAL), 0, a, b, -1);
  }
  const int value = operand(c, QD_BOOLEAN, depth);
  c->next_register = saved;
  return qd_emit(c, QD_DO_UNLESS, 0, value, 0, -1);
}

static enum qd_type choose(struct qd_compiler* c, int target, int depth) {
  const qd_jumps otherwise = condition(c, depth + 1);
  int where = 0;
  const enum qd_type type = expression(c, target, &where, depth + 1);
  const int32_t over = qd_emit(c, QD_DO_JUMP, 0, 0, 0, -1);
  qd_land(c, otherwise);
  if (expression(c, target, &where, depth + 1) != type)
    qd_read_fail(&c->in, "the code chooses between a condition and a number; make it again");
  qd_land(c, over);
  return type;
}

static void conjunction(struct qd_compiler* c, int target, int depth) {
  const qd_jumps first = condition(c, depth + 1);
  const qd_jumps no = join(c, first, condition(c, depth + 1));
  qd_emit(c, QD_DO_MOVE, target, qd_invariant_register(c, QD_CONSTANT, 1), 0, 0);
  const int32_t over = qd_emit(c, QD_DO_JUMP, 0, 0, 0, -1);
  qd_land(c, no);
  qd_emit(c, QD_DO_MOVE, target, qd_invariant_register(c, QD_CONSTANT, 0), 0, 0);
  qd_land(c, over);
}

/* Compiles an operator into `target`. */
static enum qd_type operation(struct qd_compiler* c, unsigned first, int target, int depth) {
  if (first == QD_CHOOSE) return choose(c, target, depth);
  if (first == QD_AND) {
    conjunction(c, target, depth);
    return QD_BOOLEAN;
  }
  if (first == QD_ELEMENT || first == QD_LOCATE) {
    const int table = table_index(c);
    if (first == QD_LOCATE) c->program->tables[table].located = 1;
    const int index = operand(c, QD_INTEGER, depth + 1);
    if (first == QD_ELEMENT)
      qd_emit(c, QD_DO_ELEMENT, target, index, 0, table);
    else
      qd_emit(c, QD_DO_LOCATE, target, index, c->program->locate_count++ % QD_LOCATES, table);
    return QD_INTEGER;
  }
  const enum qd_opcode simple = binary(first);
  if (simple == QD_DO_END) {
    qd_malformed(c);
    return QD_INTEGER;
  }
  const int a = operand(c, QD_INTEGER, depth + 1), b = operand(c, QD_INTEGER, depth + 1);
  qd_emit(c, simple, target, a, b, 0);
  return is_comparison(first) ? QD_BOOLEAN : QD_INTEGER;
}

static int variable(struct qd_compiler* c, unsigned number) {
  if (number < (unsigned)c->variable_count) return c->variables[number];
  qd_read_fail(&c->in, "the code names a variable that is not in scope; make it again");
  return 0;
}

/* Compiles the next expression into `target`, or, where that is negative, into any register. */
static enum qd_type expression(struct qd_compiler* c, int target, int* where, int depth) {
  const unsigned first = qd_read_byte(&c->in);
  if (depth > QD_MAX_DEPTH) qd_malformed(c);
  *where = 0;
  if (c->in.error) return QD_INTEGER;
  const int saved = c->next_register;
  int at = -1;
  if (first & QD_INLINE_BIT)
    at = first & QD_INLINE_CONSTANT_BIT
             ? qd_invariant_register(c, QD_CONSTANT,
                                     (int)(first & QD_INLINE_MASK) + QD_LEAST_INLINE_CONSTANT)
             : variable(c, first & QD_INLINE_MASK);
  else
    at = invariant(c, first);
  if (at >= 0) {
    if (target >= 0) {
      qd_emit(c, QD_DO_MOVE, target, at, 0, 0);
      c->next_register = saved;
    }
    *where = target >= 0 ? target : at;
    return QD_INTEGER;
  }
  *where = target >= 0 ? target : qd_take_register(c);
  const int kept = c->next_register;
  const enum qd_type type = operation(c, first, *where, depth);
  c->next_register = kept;
  return type;
}

int qd_compile_operand(struct qd_compiler* c, enum qd_type type) { return operand(c, type, 0); }

void qd_compile_into(struct qd_compiler* c, int target, enum qd_type type) {
  int where = 0;
  if (expression(c, target, &where, 0) != type)
    qd_read_fail(&c->in,
                 "the code has a condition where a number is wanted, or a number for a "
                 "condition; make it again");
}

qd_jumps qd_compile_condition(struct qd_compiler* c) { return condition(c, 0); }
