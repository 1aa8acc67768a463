/* Compiles the code section of a file to register instructions.
 *
 * Variables, constants, and values that never change at a rank have registers of their own. Every other expression is
 * evaluated into the next free register. `and` and `? :` become jumps, so they are lazy.
 *
 * This file checks everything that schedule/validate.cc checks, but shares no code with it. Tested by tests/reject,
 * by the mutants of tests/mutation, and, event by event, by tests/runtime/walk_test.cc. */
#include <stdlib.h>

#include "runtime/program/program.h"

#define BEYOND(limit) "the code has " limit "; make it again"
static const char no_second_group[] = "the code asks for a second group; make it again";
static const char no_operator[] =
    "the code reduces in a collective without an operator; make it again";
static const char writes_send_buffer[] = "the code writes into the send buffer; make it again";
static const char undefined_table[] = "the code uses a table that is not defined; make it again";
static const char only_nodes[] =
    "a parameter depends on more than the nodes; make the schedule again";

enum type { INTEGER, BOOLEAN };

/* A chain of jumps to one target that is not known yet. Each jump holds the index of the next; the last holds -1. */
typedef int32_t jumps;

struct compiler {
  struct qd_reader in;
  struct qd_program* program;
  int variables[QD_MAX_VARIABLES]; /* their registers */
  int variable_count;
  int next_register; /* lower registers are taken */
  int tables;        /* number of tables defined so far */
  int named_tables;  /* the last table that the current fragment names, plus 1 */
  int names_call;    /* the fragment depends on the call */
  int in_step, in_message;
  int in_body;    /* values of expressions may differ from rank to rank */
  int in_formula; /* expressions may use only `ranks` and node sizes */
  int receives;   /* the current message is a receive */
  /* The first kind of statement in the step, or in the current loop of the step, and the last kind in the step.
   * is_mixed: a statement follows one of a later kind. */
  int first_kind, last_kind, is_mixed;
};

/* ---- Instructions and registers */

static void fail(struct compiler* c, const char* error) { qd_read_fail(&c->in, error); }

static void malformed(struct compiler* c) { fail(c, "the code is malformed; make it again"); }

/* Appends an instruction and returns its index. */
static int32_t emit(struct compiler* c, enum qd_opcode operation, int target, int a, int b,
                    int32_t immediate) {
  struct qd_code* code = &c->program->code;
  if (c->in.error) return 0;
  if (!QD_CAN_APPEND(code->instructions, code->instruction_count, code->instruction_capacity)) {
    fail(c, qd_no_memory);
    return 0;
  }
  code->instructions[code->instruction_count] = (struct qd_instruction){
      (uint8_t)operation, (uint8_t)target, (uint8_t)a, (uint8_t)b, immediate};
  return code->instruction_count++;
}

/* Sets the target of all jumps in the chain to the next instruction. */
static void patch(struct compiler* c, jumps each) {
  if (c->in.error) return;
  while (each >= 0) {
    int32_t* target = &c->program->code.instructions[each].immediate;
    each = *target;
    *target = c->program->code.instruction_count;
  }
}

/* Joins two chains into one, and returns it. */
static jumps join(struct compiler* c, jumps first, jumps second) {
  if (c->in.error || first < 0) return second;
  jumps last = first;
  while (c->program->code.instructions[last].immediate >= 0)
    last = c->program->code.instructions[last].immediate;
  c->program->code.instructions[last].immediate = second;
  return first;
}

/* A program within the limits never runs out of registers. It needs at most 171: for QD_MAX_VARIABLES variables,
 * QD_MAX_DEPTH - 1 bounds of loops, the six expressions of a copy, and two for each but the last level of an
 * expression. */
static int take_register(struct compiler* c) {
  _Static_assert(QD_MAX_VARIABLES + QD_MAX_DEPTH - 1 + 6 + 2 * (QD_MAX_DEPTH - 1) + QD_INVARIANTS <=
                     QD_REGISTERS,
                 "registers for all variables, values and constants");
  if (c->next_register >= QD_REGISTERS - QD_INVARIANTS) {
    malformed(c);
    return 0;
  }
  if (c->program->code.register_count <= c->next_register)
    c->program->code.register_count = c->next_register + 1;
  return c->next_register++;
}

static int invariant_register(struct compiler* c, unsigned expression, int64_t value) {
  struct qd_program* p = c->program;
  for (int i = 0; i < p->code.invariant_count; i++)
    if (p->code.invariants[i].expression == expression && p->code.invariants[i].value == value)
      return QD_REGISTERS - 1 - i;
  if (p->code.invariant_count == QD_INVARIANTS) {
    fail(c, BEYOND(QD_MANY_CONSTANTS));
    return 0;
  }
  p->code.invariants[p->code.invariant_count++] = (struct qd_invariant){(uint8_t)expression, value};
  return QD_REGISTERS - p->code.invariant_count;
}

/* ---- Expressions */

static int table_index(struct compiler* c) {
  const unsigned index = qd_read_byte(&c->in);
  if (index >= (unsigned)c->tables)
    fail(c, undefined_table);
  else if (c->in_formula && c->program->tables[index].kind != QD_TABLE_NODES)
    fail(c, only_nodes);
  if (c->in.error) return 0;
  if (c->named_tables <= (int)index) c->named_tables = (int)index + 1;
  c->names_call |= c->program->tables[index].of_call;
  return (int)index;
}

/* Returns the register of the expression that starts with this byte if its value never changes, else -1. */
static int invariant(struct compiler* c, unsigned first) {
  const struct qd_program* p = c->program;
  int64_t value = 0;
  if (c->in_formula && (first == QD_PARAMETER || first == QD_GROUP)) fail(c, only_nodes);
  if (!c->in_body && first == QD_RANK)
    fail(c, "the code asks for a rank where all ranks must agree; make it again");
  switch (first) {
    case QD_CONSTANT:
      value = qd_read_signed_varint(&c->in);
      if (value >= QD_LEAST_INLINE_CONSTANT && value <= QD_GREATEST_INLINE_CONSTANT) malformed(c);
      break;
    case QD_PARAMETER:
      value = qd_read_byte(&c->in);
      if (value >= p->parameter_count) fail(c, "the code uses an unknown parameter; make it again");
      c->names_call |= !c->in.error && p->rules[value].at_call;
      break;
    case QD_LENGTH: value = table_index(c); break;
    case QD_REMOTE_RANKS:
      if (p->groups != 2) fail(c, no_second_group);
      break;
    case QD_ROOT:
      if (!c->in.error && !qd_is_rooted(p)) fail(c, "the code asks for a root; make it again");
      c->names_call = 1;
      break;
    case QD_RANK:
    case QD_RANKS:
    case QD_GROUP: break;
    default: return -1;
  }
  return invariant_register(c, first, value);
}

static int is_comparison(unsigned first) { return first >= QD_EQUAL && first <= QD_LESS_EQUAL; }

static enum type expression(struct compiler* c, int target, int* where, int depth);

static void expect(struct compiler* c, enum type wanted, enum type found) {
  if (found != wanted)
    fail(c,
         "the code has a condition where a number is wanted, or a number for a "
         "condition; make it again");
}

/* Compiles the next expression, which must have the type `wanted`. Returns the register of its value. */
static int operand(struct compiler* c, enum type wanted, int depth) {
  int where = 0;
  expect(c, wanted, expression(c, -1, &where, depth));
  return where;
}

/* Compiles the next expression, which must be a number, so that its value goes to register `target`. */
static void compile_into(struct compiler* c, int target) {
  int where = 0;
  expect(c, INTEGER, expression(c, target, &where, 0));
}

/* Compiles the next condition. Returns the chain of jumps that are taken if it does not hold. */
static jumps condition(struct compiler* c, int depth) {
  const unsigned first = c->in.next < c->in.length ? c->in.bytes[c->in.next] : 0;
  const int saved = c->next_register;
  if (depth > QD_MAX_DEPTH) fail(c, BEYOND(QD_DEEP_EXPRESSION));
  if (c->in.error) return -1;
  if (first == QD_AND) {
    qd_read_byte(&c->in);
    const jumps left = condition(c, depth + 1);
    return join(c, left, condition(c, depth + 1));
  }
  if (is_comparison(first)) {
    qd_read_byte(&c->in);
    const int a = operand(c, INTEGER, depth + 1), b = operand(c, INTEGER, depth + 1);
    c->next_register = saved;
    return emit(c, QD_DO_UNLESS_EQUAL + (first - QD_EQUAL), 0, a, b, -1);
  }
  const int value = operand(c, BOOLEAN, depth);
  c->next_register = saved;
  return emit(c, QD_DO_UNLESS, 0, value, 0, -1);
}

static enum type choose(struct compiler* c, int target, int depth) {
  const jumps otherwise = condition(c, depth + 1);
  int where = 0;
  const enum type type = expression(c, target, &where, depth + 1);
  const jumps end = emit(c, QD_DO_JUMP, 0, 0, 0, -1);
  patch(c, otherwise);
  if (expression(c, target, &where, depth + 1) != type)
    fail(c, "the code chooses between a condition and a number; make it again");
  patch(c, end);
  return type;
}

static void conjunction(struct compiler* c, int target, int depth) {
  const jumps first = condition(c, depth + 1);
  const jumps otherwise = join(c, first, condition(c, depth + 1));
  emit(c, QD_DO_MOVE, target, invariant_register(c, QD_CONSTANT, 1), 0, 0);
  const jumps end = emit(c, QD_DO_JUMP, 0, 0, 0, -1);
  patch(c, otherwise);
  emit(c, QD_DO_MOVE, target, invariant_register(c, QD_CONSTANT, 0), 0, 0);
  patch(c, end);
}

/* Compiles an operator and its operands. The result goes to register `target`. */
static enum type operation(struct compiler* c, unsigned first, int target, int depth) {
  if (first == QD_CHOOSE) return choose(c, target, depth);
  if (first == QD_AND) {
    conjunction(c, target, depth);
    return BOOLEAN;
  }
  if (first == QD_ELEMENT || first == QD_LOCATE) {
    const int table = table_index(c);
    if (first == QD_LOCATE) c->program->tables[table].located = 1;
    const int index = operand(c, INTEGER, depth + 1);
    if (first == QD_ELEMENT)
      emit(c, QD_DO_ELEMENT, target, index, 0, table);
    else
      emit(c, QD_DO_LOCATE, target, index, c->program->code.locate_count++ % QD_LOCATES, table);
    return INTEGER;
  }
  _Static_assert(QD_LESS_EQUAL - QD_ADD == QD_DO_LESS_EQUAL, "binary operators in one order");
  if (first < QD_ADD || first > QD_LESS_EQUAL) {
    malformed(c);
    return INTEGER;
  }
  const int a = operand(c, INTEGER, depth + 1), b = operand(c, INTEGER, depth + 1);
  emit(c, QD_DO_ADD + (first - QD_ADD), target, a, b, 0);
  return is_comparison(first) ? BOOLEAN : INTEGER;
}

static int variable(struct compiler* c, unsigned number) {
  if (number < (unsigned)c->variable_count) return c->variables[number];
  fail(c, "the code names a variable that is not in scope; make it again");
  return 0;
}

/* Compiles the next expression into register `target`, or into any register if `target` is negative. Writes to
 * `where` which register that is. Returns the type. */
static enum type expression(struct compiler* c, int target, int* where, int depth) {
  const unsigned first = qd_read_byte(&c->in);
  if (depth > QD_MAX_DEPTH) fail(c, BEYOND(QD_DEEP_EXPRESSION));
  *where = 0;
  if (c->in.error) return INTEGER;
  const int saved = c->next_register;
  int at = -1;
  if (first & QD_INLINE_BIT)
    at = first & QD_INLINE_CONSTANT_BIT
             ? invariant_register(c, QD_CONSTANT,
                                  (int)(first & QD_INLINE_MASK) + QD_LEAST_INLINE_CONSTANT)
             : variable(c, first & QD_INLINE_MASK);
  else
    at = invariant(c, first);
  if (at >= 0) {
    if (target >= 0) {
      emit(c, QD_DO_MOVE, target, at, 0, 0);
      c->next_register = saved;
    }
    *where = target >= 0 ? target : at;
    return INTEGER;
  }
  *where = target >= 0 ? target : take_register(c);
  const int kept = c->next_register;
  const enum type type = operation(c, first, *where, depth);
  c->next_register = kept;
  return type;
}

/* ---- Declarations */

static void body(struct compiler* c, int depth);

/* Reads a number of declarations, of which there may be at most `most`. Returns 0 after an error. */
static uint64_t read_count(struct compiler* c, uint64_t most, const char* error) {
  const uint64_t count = qd_read_varint(&c->in);
  if (count > most) fail(c, error);
  return c->in.error ? 0 : count;
}

static void heading(struct compiler* c) {
  struct qd_program* p = c->program;
  const unsigned first = qd_read_byte(&c->in);
  p->collective = (int)(first & ~(unsigned)QD_CANONICAL);
  p->canonical = (first & QD_CANONICAL) != 0;
  const unsigned flags = qd_read_byte(&c->in);
  p->groups = (int)(flags & QD_GROUPS_MASK);
  const unsigned port = flags >> QD_PORT_SHIFT & QD_PORT_MASK;
  p->in_place = (flags & QD_IN_PLACE) != 0;
  p->commutative = (flags & QD_COMMUTATIVE) != 0;
  if (flags & QD_WINDOWED) {
    p->window = (int)read_count(c, QD_MAX_WINDOW, BEYOND(QD_WIDE_WINDOW));
    if (p->window == 0) fail(c, BEYOND(QD_WIDE_WINDOW));
  }
  if (p->collective >= QD_COLLECTIVE_COUNT || (port == QD_PORT_NONE && flags & QD_PORT_PER_NODE) ||
      p->groups < 1 || p->groups > 2)
    malformed(c);
  p->parameter_count = (int)read_count(c, QD_MAX_PARAMETERS, BEYOND(QD_MANY_PARAMETERS));
  for (int i = 0; i < p->parameter_count; i++) {
    const unsigned kind = qd_read_byte(&c->in);
    p->rules[i].at_call = (kind & QD_PARAMETER_AT_CALL) != 0;
    p->rules[i].over_trees = (kind & QD_PARAMETER_OVER_TREES) != 0;
    if (kind > (QD_PARAMETER_AT_CALL | QD_PARAMETER_OVER_TREES)) malformed(c);
    if (p->rules[i].over_trees && (!p->rules[i].at_call || !qd_may_pass_over_trees(p)))
      malformed(c);
    p->uses.call |= p->rules[i].at_call;
  }
  if (port == QD_PORT_PARAMETER &&
      (!(flags & QD_PORT_PER_NODE) || p->parameter_count == 0 || p->rules[0].at_call))
    malformed(c);
}

static struct qd_fragment fragment(struct compiler* c, enum type type) {
  struct qd_fragment result = {c->program->code.instruction_count, 0};
  const int saved = c->next_register;
  result.result = (uint8_t)operand(c, type, 0);
  c->next_register = saved;
  emit(c, QD_DO_END, 0, 0, 0, 0);
  return result;
}

static void literals(struct compiler* c, struct qd_table_definition* table) {
  struct qd_program* p = c->program;
  table->literal = p->literal_count;
  table->literal_count = (int32_t)read_count(c, QD_MAX_LITERALS, BEYOND(QD_MANY_LITERALS));
  if (table->literal_count == 0) malformed(c);
  for (int32_t i = 0; i < table->literal_count && !c->in.error; i++) {
    if (!QD_CAN_APPEND(p->literals, p->literal_count, p->literal_capacity))
      return fail(c, qd_no_memory);
    p->literals[p->literal_count++] = qd_read_signed_varint(&c->in);
  }
}

static void compile_table(struct compiler* c, struct qd_table_definition* table) {
  table->kind = (uint8_t)qd_read_byte(&c->in);
  c->names_call = 0;
  switch (table->kind) {
    case QD_TABLE_NODES: c->program->uses.nodes = 1; break;
    case QD_TABLE_REMOTE_NODES:
      c->program->uses.nodes = 1;
      if (c->program->groups != 2) fail(c, no_second_group);
      break;
    case QD_TABLE_REMOTE_COUNTS:
      if (c->program->groups != 2) fail(c, no_second_group); /* fall through */
    case QD_TABLE_COUNTS:
      c->program->uses.call = c->program->uses.counts = c->names_call = 1;
      break;
    case QD_TABLE_PREFIX:
    case QD_TABLE_DISTINCT:
    case QD_TABLE_GREATEST:
      table->source = (uint8_t)qd_read_byte(&c->in);
      if (table->source >= c->tables) return fail(c, undefined_table);
      if (table->kind == QD_TABLE_DISTINCT) c->program->tables[table->source].located = 1;
      c->names_call = c->program->tables[table->source].of_call;
      break;
    case QD_TABLE_POWERS:
      table->first = fragment(c, INTEGER);
      table->second = fragment(c, INTEGER);
      break;
    case QD_TABLE_MAP:
      table->first = fragment(c, INTEGER);
      /* The index is variable 0, in register 0. The file has a name for it. */
      c->program->name_count++;
      c->variables[c->variable_count++] = take_register(c);
      table->second = fragment(c, INTEGER);
      c->variable_count = 0;
      c->next_register = 0;
      break;
    case QD_TABLE_LITERAL: literals(c, table); break;
    default: malformed(c);
  }
  table->of_call = (uint8_t)c->names_call;
}

static void requirement(struct compiler* c, struct qd_requirement* requirement) {
  c->named_tables = c->names_call = 0;
  requirement->condition = fragment(c, BOOLEAN);
  requirement->tables = c->named_tables;
  requirement->of_call = c->names_call;
}

static void declare(struct compiler* c, int reg) {
  if (c->variable_count == QD_MAX_VARIABLES) return fail(c, BEYOND(QD_MANY_VARIABLES));
  c->program->name_count++;
  c->variables[c->variable_count++] = reg;
}

/* ---- Statements */

/* The kinds of statements in a step, in the order in which they take effect. */
enum { SENDS, COPIES, RECEIVES, NO_KIND };

static void note_kind(struct compiler* c, int kind) {
  c->is_mixed |= kind < c->last_kind;
  if (kind < c->first_kind) c->first_kind = kind;
  if (kind > c->last_kind) c->last_kind = kind;
}

static void loop(struct compiler* c, int depth) {
  const int saved = c->next_register, first_kind = c->first_kind;
  const int index = take_register(c);
  compile_into(c, index);
  const int bound = operand(c, INTEGER, 0);
  const jumps exit = emit(c, QD_DO_UNLESS_LESS, 0, index, bound, -1);
  declare(c, index);
  const int32_t start = c->program->code.instruction_count;
  c->first_kind = NO_KIND;
  body(c, depth);
  c->is_mixed |= c->first_kind < c->last_kind; /* the next iteration follows */
  if (first_kind < c->first_kind) c->first_kind = first_kind;
  emit(c, QD_DO_NEXT, 0, index, bound, start);
  patch(c, exit);
  c->variable_count--;
  c->next_register = saved;
}

static void choice(struct compiler* c, int has_else, int depth) {
  const jumps otherwise = condition(c, 0);
  body(c, depth);
  if (!has_else) return patch(c, otherwise);
  const jumps end = emit(c, QD_DO_JUMP, 0, 0, 0, -1);
  patch(c, otherwise);
  const uint64_t start = c->in.next;
  body(c, depth);
  if (c->in.next == start + 1) malformed(c); /* an empty `else` has the shorter form */
  patch(c, end);
}

static void step(struct compiler* c, int has_after, int depth) {
  if (c->in_step) fail(c, "the code has a step inside a step; make it again");
  const int saved = c->next_register;
  const int key = operand(c, INTEGER, 0);
  const int after = has_after ? operand(c, INTEGER, 0) : 0;
  c->next_register = saved;
  const int32_t begin = emit(c, QD_DO_STEP, has_after, key, after, 0);
  c->in_step = 1;
  c->first_kind = NO_KIND;
  c->last_kind = SENDS;
  c->is_mixed = 0;
  body(c, depth);
  c->in_step = 0;
  if (!c->in.error) c->program->code.instructions[begin].immediate = c->is_mixed;
  emit(c, QD_DO_STEP_END, 0, 0, 0, 0);
}

/* Compiles the expressions of a piece and adds it to the pieces. Returns its index. */
static int32_t piece(struct compiler* c, unsigned opcode) {
  struct qd_program* p = c->program;
  const unsigned buffer = opcode & QD_PIECE_BUFFER;
  if ((opcode & ~(unsigned)QD_PIECE_FLAGS) != QD_PIECE || buffer > QD_PIECE_TEMPORARY) malformed(c);
  if (c->in.error) return 0;
  struct qd_piece_registers piece = {(uint8_t)buffer, (opcode & QD_PIECE_RANGED) != 0, 0, 0, 0};
  piece.block = (uint8_t)operand(c, INTEGER, 0);
  if (piece.ranged) {
    if (p->collective == QD_ALLTOALL)
      fail(c, "the code names a part of a block in an all-to-all; make it again");
    piece.low = (uint8_t)operand(c, INTEGER, 0);
    piece.high = (uint8_t)operand(c, INTEGER, 0);
  }
  p->uses.temporaries |= buffer == QD_PIECE_TEMPORARY;
  struct qd_code* code = &p->code;
  if (!QD_CAN_APPEND(code->pieces, code->piece_count, code->piece_capacity)) {
    fail(c, qd_no_memory);
    return 0;
  }
  code->pieces[code->piece_count] = piece;
  return code->piece_count++;
}

static int32_t piece_of_message(struct compiler* c, unsigned opcode) {
  const int32_t index = piece(c, opcode);
  if (!c->in.error && c->receives && c->program->code.pieces[index].buffer == QD_PIECE_SEND)
    fail(c, writes_send_buffer);
  return index;
}

static const unsigned combines = QD_MESSAGE_LEFT | QD_MESSAGE_RIGHT;

/* Checks a message that has one of these flags. It must be a receive of known lengths with only one of them. */
static void combining(struct compiler* c, unsigned flags) {
  if ((flags & combines) == combines || !(flags & QD_MESSAGE_RECEIVE) || flags & QD_MESSAGE_SIZED)
    malformed(c);
  if (!qd_reduces(c->program)) fail(c, no_operator);
}

static void message(struct compiler* c, unsigned opcode, int depth) {
  struct qd_program* p = c->program;
  const unsigned flags = opcode & QD_MESSAGE_FLAGS;
  if (!c->in_step || c->in_message) fail(c, "the code has a message outside a step; make it again");
  if (flags & QD_MESSAGE_REMOTE && p->groups != 2) fail(c, no_second_group);
  if (depth >= QD_MAX_DEPTH) fail(c, BEYOND(QD_DEEP_STATEMENTS));
  if (flags & combines) combining(c, flags);
  p->uses.sized |= (flags & QD_MESSAGE_SIZED) != 0;
  const int saved = c->next_register;
  const int peer = operand(c, INTEGER, 0);
  c->in_message = 1;
  c->receives = (flags & QD_MESSAGE_RECEIVE) != 0;
  note_kind(c, c->receives ? RECEIVES : SENDS);
  if (flags & QD_MESSAGE_SINGLE) {
    const int32_t index = piece_of_message(c, qd_read_byte(&c->in));
    emit(c, QD_DO_PIECE_MESSAGE, 0, peer, (int)flags, index);
  } else {
    emit(c, QD_DO_MESSAGE, 0, peer, (int)flags, 0);
    const int32_t start = c->program->code.instruction_count;
    const uint64_t before = c->in.next;
    body(c, depth);
    if (flags & combines && c->in.next == before + 1) malformed(c); /* it has no pieces */
    const int32_t length = c->program->code.instruction_count - start;
    p->uses.several_pieces |= length > 0;
    emit(c, QD_DO_MESSAGE_END, 0, 0, 0, 0);
  }
  c->in_message = 0;
  c->next_register = saved;
}

/* Compiles a copy or a reduction. */
static void local(struct compiler* c, unsigned opcode) {
  struct qd_program* p = c->program;
  const int reduction = opcode != QD_COPY;
  if (c->in_message) fail(c, "the code has a copy inside a message; make it again");
  if (reduction && !qd_reduces(p)) fail(c, no_operator);
  note_kind(c, COPIES);
  const int saved = c->next_register;
  const int32_t first = piece(c, qd_read_byte(&c->in));
  const int32_t second = piece(c, qd_read_byte(&c->in));
  if (!c->in.error && p->code.pieces[second].buffer == QD_PIECE_SEND) fail(c, writes_send_buffer);
  const enum qd_opcode operation = opcode == QD_COPY          ? QD_DO_COPY
                                   : opcode == QD_REDUCE_LEFT ? QD_DO_REDUCE_LEFT
                                                              : QD_DO_REDUCE_RIGHT;
  emit(c, operation, !c->in_step, 0, 0, first);
  c->next_register = saved;
}

static void statement(struct compiler* c, unsigned opcode, int depth) {
  switch (opcode) {
    case QD_LET: {
      const int reg = take_register(c);
      compile_into(c, reg);
      return declare(c, reg);
    }
    case QD_FOR: return loop(c, depth);
    case QD_IF:
    case QD_IF_ELSE: return choice(c, opcode == QD_IF_ELSE, depth);
    case QD_STEP:
    case QD_STEP_AFTER: return step(c, opcode == QD_STEP_AFTER, depth);
    case QD_COPY:
    case QD_REDUCE_LEFT:
    case QD_REDUCE_RIGHT: return local(c, opcode);
    default: break;
  }
  if ((opcode & ~(unsigned)QD_MESSAGE_FLAGS) == QD_MESSAGE) return message(c, opcode, depth);
  if (!c->in_message) return malformed(c);
  const int saved = c->next_register;
  const int32_t index = piece_of_message(c, opcode);
  emit(c, QD_DO_PIECE, 0, 0, 0, index);
  c->next_register = saved;
}

static void body(struct compiler* c, int depth) {
  if (depth >= QD_MAX_DEPTH) fail(c, BEYOND(QD_DEEP_STATEMENTS));
  const int variables = c->variable_count, registers = c->next_register, in_message = c->in_message;
  const uint64_t start = c->in.next;
  uint64_t lone = 0;               /* where the first statement ends, if that is a piece */
  if (in_message) c->in_message++; /* counts the depth of bodies in the message */
  while (!c->in.error) {
    const unsigned opcode = qd_read_byte(&c->in);
    if (opcode == QD_END || c->in.error) break;
    const int first = c->in.next == start + 1;
    statement(c, opcode, depth + 1);
    if (first && (opcode & ~(unsigned)QD_PIECE_FLAGS) == QD_PIECE) lone = c->in.next;
  }
  /* A message of one piece must have the shorter form. */
  if (in_message == 1 && lone > 0 && c->in.next == lone + 1) malformed(c);
  c->variable_count = variables;
  c->next_register = registers;
  c->in_message = in_message;
}

const char* qd_compile(struct qd_program* program, const unsigned char* code, uint64_t length) {
  struct compiler c = {0};
  c.in = (struct qd_reader){code, length, 0, NULL};
  c.program = program;
  invariant_register(&c, QD_CONSTANT, 0);
  invariant_register(&c, QD_CONSTANT, 1);
  heading(&c);
  program->table_count = (int)read_count(&c, QD_MAX_TABLES, BEYOND(QD_MANY_TABLES));
  for (; c.tables < program->table_count && !c.in.error; c.tables++)
    compile_table(&c, &program->tables[c.tables]);
  program->requirement_count =
      (int)read_count(&c, QD_MAX_REQUIREMENTS, BEYOND(QD_MANY_REQUIREMENTS));
  for (int i = 0; i < program->requirement_count; i++) requirement(&c, &program->requirements[i]);
  c.names_call = 0;
  program->temporary_blocks = fragment(&c, INTEGER);
  program->temporary_of_call = (uint8_t)c.names_call;
  program->code.body = program->code.instruction_count;
  c.in_body = 1;
  body(&c, 0);
  emit(&c, QD_DO_END, 0, 0, 0, 0);
  if (c.in.next != c.in.length) malformed(&c);
  program->name_count += 1 + program->parameter_count + program->table_count;
  return c.in.error;
}

struct qd_fragment qd_compile_formula(struct qd_program* program, struct qd_reader* job) {
  struct compiler c = {
      .in = *job, .program = program, .tables = program->table_count, .in_formula = 1};
  const struct qd_fragment result = fragment(&c, INTEGER);
  *job = c.in;
  return result;
}
