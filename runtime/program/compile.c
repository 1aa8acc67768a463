/* Declarations and statements. Whatever schedule/validate.cc asks of a program is asked here too,
 * on its own. */
#include "runtime/program/compiler.h"

#include <stdlib.h>
#include <string.h>

static void body(struct qd_compiler* c, int depth);

static uint64_t counted(struct qd_compiler* c, uint64_t most) {
  const uint64_t count = qd_read_varint(&c->in);
  if (count > most)
    qd_read_fail(&c->in, "the code goes beyond the limits of the language; make it again");
  return c->in.error ? 0 : count;
}

static void heading(struct qd_compiler* c) {
  struct qd_program* p = c->program;
  p->collective = (int)qd_read_byte(&c->in);
  const unsigned flags = qd_read_byte(&c->in);
  p->groups = (int)(flags & QD_GROUPS_MASK);
  p->port = (int)(flags >> QD_PORT_SHIFT & QD_PORT_MASK);
  p->port_per_node = (flags & QD_PORT_PER_NODE) != 0;
  p->in_place = (flags & QD_IN_PLACE) != 0;
  p->commutative = (flags & QD_COMMUTATIVE) != 0;
  if (p->collective >= QD_COLLECTIVE_COUNT || flags & 0x80 || p->port > QD_PORT_SEND_RECEIVE ||
      (p->port == QD_PORT_NONE && p->port_per_node) || p->groups < 1 || p->groups > 2)
    qd_malformed(c);
  p->parameter_count = (int)counted(c, QD_MAX_PARAMETERS);
  for (int i = 0; i < p->parameter_count; i++) {
    p->at_call[i] = (int)qd_read_byte(&c->in);
    if (p->at_call[i] > 1) qd_malformed(c);
    p->depends_on_call |= p->at_call[i];
  }
}

static struct qd_fragment fragment(struct qd_compiler* c, enum qd_type type) {
  struct qd_fragment result = {c->program->instruction_count, 0};
  const int saved = c->next_register;
  result.result = (uint8_t)qd_compile_operand(c, type);
  c->next_register = saved;
  qd_emit(c, QD_DO_END, 0, 0, 0, 0);
  return result;
}

static void table(struct qd_compiler* c, struct qd_table_definition* table) {
  table->kind = (uint8_t)qd_read_byte(&c->in);
  switch (table->kind) {
    case QD_TABLE_NODES: c->program->uses_nodes = 1; break;
    case QD_TABLE_REMOTE_NODES: c->program->uses_nodes = 1; /* fall through */
    case QD_TABLE_REMOTE_COUNTS:
      c->program->depends_on_call |= table->kind == QD_TABLE_REMOTE_COUNTS;
      if (c->program->groups != 2)
        qd_read_fail(&c->in, "the code asks for a second group; make it again");
      break;
    case QD_TABLE_COUNTS: c->program->depends_on_call = c->program->uses_counts = 1; break;
    case QD_TABLE_PREFIX:
    case QD_TABLE_DISTINCT:
      table->source = (uint8_t)qd_read_byte(&c->in);
      if (table->source >= c->tables)
        return qd_read_fail(&c->in, "the code uses a table that is not defined; make it again");
      if (table->kind == QD_TABLE_DISTINCT) c->program->tables[table->source].located = 1;
      break;
    case QD_TABLE_POWERS:
      table->first = fragment(c, QD_INTEGER);
      table->second = fragment(c, QD_INTEGER);
      break;
    case QD_TABLE_MAP:
      table->first = fragment(c, QD_INTEGER);
      /* The index is variable 0, in register 0. */
      c->variables[c->variable_count++] = qd_take_register(c);
      table->second = fragment(c, QD_INTEGER);
      c->variable_count = 0;
      c->next_register = 0;
      break;
    default: qd_malformed(c);
  }
}

static void declare(struct qd_compiler* c, int reg) {
  if (c->variable_count == QD_MAX_VARIABLES)
    return qd_read_fail(&c->in, "the code goes beyond the limits of the language; make it again");
  c->variables[c->variable_count++] = reg;
}

/* Whether that register holds the same number in every call; if so, writes it. */
static int holds_constant(const struct qd_compiler* c, int reg, int64_t* value) {
  const int i = QD_REGISTERS - 1 - reg;
  if (i >= c->program->invariant_count || c->program->invariants[i].expression != QD_CONSTANT)
    return 0;
  *value = c->program->invariants[i].value;
  return 1;
}

/* Whether a loop has the same few iterations always; `start`: the instructions that set its index. */
static int is_short(const struct qd_compiler* c, int32_t start, int32_t length, int bound) {
  const struct qd_instruction* set = &c->program->instructions[start];
  int64_t first, end, iterations;
  return !c->in.error && length == 1 && set->operation == QD_DO_MOVE &&
         holds_constant(c, set->a, &first) && holds_constant(c, bound, &end) &&
         !__builtin_sub_overflow(end, first, &iterations) && iterations <= QD_RUN_STEPS;
}

/* The kinds of statements in a step, in the order in which they take effect. */
enum { SENDS, COPIES, RECEIVES, NO_KIND };

static void note_kind(struct qd_compiler* c, int kind) {
  c->is_mixed |= kind < c->last_kind;
  if (kind < c->first_kind) c->first_kind = kind;
  if (kind > c->last_kind) c->last_kind = kind;
}

/* A loop without copies in it, and without loops but short ones, whose iterations are steps or
 * pieces, may go on in runs. */
static void loop(struct qd_compiler* c, int depth) {
  const int saved = c->next_register, obstacles = c->obstacles, first_kind = c->first_kind;
  const int index = qd_take_register(c);
  const int32_t before = c->program->instruction_count;
  qd_compile_into(c, index, QD_INTEGER);
  const int32_t length = c->program->instruction_count - before;
  const int bound = qd_compile_operand(c, QD_INTEGER);
  const int few = is_short(c, before, length, bound);
  const qd_jumps exit = qd_emit(c, QD_DO_UNLESS_LESS, 0, index, bound, -1);
  declare(c, index);
  const int32_t start = qd_emit(c, QD_DO_RUN, 0, index, bound, -1);
  c->first_kind = NO_KIND;
  body(c, depth);
  c->is_mixed |= c->first_kind < c->last_kind; /* the next iteration begins with the first kind */
  if (first_kind < c->first_kind) c->first_kind = first_kind;
  const int runs = !few && c->obstacles == obstacles && (!c->in_step || c->in_message);
  qd_emit(c, QD_DO_NEXT, 0, index, bound, runs ? start : start + 1);
  if (!c->in.error) {
    struct qd_instruction* run = &c->program->instructions[start];
    run->immediate = runs ? c->program->instruction_count : start + 1;
    run->target = (uint8_t)(c->program->run_count++ % QD_RUNS);
    if (!runs) run->operation = QD_DO_JUMP;
  }
  qd_land(c, exit);
  if (!few) c->obstacles++;
  c->variable_count--;
  c->next_register = saved;
}

static void choice(struct qd_compiler* c, int has_else, int depth) {
  const qd_jumps otherwise = qd_compile_condition(c);
  body(c, depth);
  if (!has_else) return qd_land(c, otherwise);
  const qd_jumps over = qd_emit(c, QD_DO_JUMP, 0, 0, 0, -1);
  qd_land(c, otherwise);
  const uint64_t start = c->in.next;
  body(c, depth);
  if (c->in.next == start + 1) qd_malformed(c); /* an empty `else` has the shorter form */
  qd_land(c, over);
}

static void step(struct qd_compiler* c, int has_after, int depth) {
  if (c->in_step) qd_read_fail(&c->in, "the code has a step inside a step; make it again");
  const int saved = c->next_register;
  const int key = qd_compile_operand(c, QD_INTEGER);
  const int after = has_after ? qd_compile_operand(c, QD_INTEGER) : 0;
  c->next_register = saved;
  const int32_t begin = qd_emit(c, QD_DO_STEP, has_after, key, after, 0);
  c->in_step = 1;
  c->first_kind = NO_KIND;
  c->last_kind = SENDS;
  c->is_mixed = 0;
  body(c, depth);
  c->in_step = 0;
  if (!c->in.error) c->program->instructions[begin].immediate = c->is_mixed;
  qd_emit(c, QD_DO_STEP_END, 0, 0, 0, 0);
}

/* Compiles what a piece names and adds it to the pieces; returns its index. */
static int32_t piece(struct qd_compiler* c, unsigned opcode) {
  struct qd_program* p = c->program;
  const unsigned buffer = opcode & QD_PIECE_BUFFER;
  if ((opcode & ~(unsigned)QD_PIECE_FLAGS) != QD_PIECE || buffer > QD_PIECE_TEMPORARY)
    qd_malformed(c);
  if (c->in.error) return 0;
  struct qd_piece_registers piece = {(uint8_t)buffer, (opcode & QD_PIECE_RANGED) != 0, 0, 0, 0};
  piece.block = (uint8_t)qd_compile_operand(c, QD_INTEGER);
  if (piece.ranged) {
    if (p->collective == QD_ALLTOALL)
      qd_read_fail(&c->in, "the code names a part of a block in an all-to-all; make it again");
    piece.low = (uint8_t)qd_compile_operand(c, QD_INTEGER);
    piece.high = (uint8_t)qd_compile_operand(c, QD_INTEGER);
  }
  p->has_temporaries |= buffer == QD_PIECE_TEMPORARY;
  if (p->piece_count == p->piece_capacity) {
    const int32_t room = p->piece_capacity ? 2 * p->piece_capacity : 16;
    struct qd_piece_registers* grown = realloc(p->pieces, (size_t)room * sizeof *grown);
    if (!grown) qd_read_fail(&c->in, qd_no_memory);
    if (!grown) return 0;
    p->pieces = grown;
    p->piece_capacity = room;
  }
  p->pieces[p->piece_count] = piece;
  return p->piece_count++;
}

static int32_t piece_of_message(struct qd_compiler* c, unsigned opcode) {
  const int32_t index = piece(c, opcode);
  if (!c->in.error && c->receives && c->program->pieces[index].buffer == QD_PIECE_SEND)
    qd_read_fail(&c->in, "the code writes into the send buffer; make it again");
  return index;
}

static const unsigned combines = QD_MESSAGE_LEFT | QD_MESSAGE_RIGHT;

/* A message with one of these flags: a receive on one side, of lengths that it knows. */
static void combining(struct qd_compiler* c, unsigned flags) {
  if ((flags & combines) == combines || !(flags & QD_MESSAGE_RECEIVE) || flags & QD_MESSAGE_SIZED)
    qd_malformed(c);
  if (c->program->collective < QD_REDUCE)
    qd_read_fail(&c->in, "the code reduces in a collective without an operator; make it again");
  c->program->has_reductions = 1;
}

static void message(struct qd_compiler* c, unsigned opcode, int depth) {
  struct qd_program* p = c->program;
  const unsigned flags = opcode & QD_MESSAGE_FLAGS;
  if (!c->in_step || c->in_message)
    qd_read_fail(&c->in, "the code has a message outside a step; make it again");
  if (flags & QD_MESSAGE_REMOTE && p->groups != 2)
    qd_read_fail(&c->in, "the code asks for a second group; make it again");
  if (depth >= QD_MAX_DEPTH) qd_malformed(c);
  if (flags & combines) combining(c, flags);
  p->has_sized |= (flags & QD_MESSAGE_SIZED) != 0;
  const int saved = c->next_register;
  const int peer = qd_compile_operand(c, QD_INTEGER);
  c->in_message = 1;
  c->receives = (flags & QD_MESSAGE_RECEIVE) != 0;
  note_kind(c, c->receives ? RECEIVES : SENDS);
  if (flags & QD_MESSAGE_SINGLE) {
    const int32_t index = piece_of_message(c, qd_read_byte(&c->in));
    qd_emit(c, QD_DO_PIECE_MESSAGE, 0, peer, (int)flags, index);
  } else {
    qd_emit(c, QD_DO_MESSAGE, 0, peer, (int)flags, 0);
    const int32_t start = c->program->instruction_count;
    const uint64_t before = c->in.next;
    body(c, depth);
    if (flags & combines && c->in.next == before + 1) qd_malformed(c); /* of nothing */
    const int32_t length = c->program->instruction_count - start;
    p->has_several_pieces |= length > 0;
    qd_emit(c, QD_DO_MESSAGE_END, 0, 0, 0, 0);
  }
  c->in_message = 0;
  c->next_register = saved;
}

/* A copy or a reduction. */
static void local(struct qd_compiler* c, unsigned opcode) {
  struct qd_program* p = c->program;
  const int reduction = opcode != QD_COPY;
  if (c->in_message) qd_read_fail(&c->in, "the code has a copy inside a message; make it again");
  if (reduction && p->collective < QD_REDUCE)
    qd_read_fail(&c->in, "the code reduces in a collective without an operator; make it again");
  p->has_reductions |= reduction;
  c->obstacles++;
  note_kind(c, COPIES);
  const int saved = c->next_register;
  const int32_t first = piece(c, qd_read_byte(&c->in));
  const int32_t second = piece(c, qd_read_byte(&c->in));
  if (!c->in.error && p->pieces[second].buffer == QD_PIECE_SEND)
    qd_read_fail(&c->in, "the code writes into the send buffer; make it again");
  const enum qd_opcode operation = opcode == QD_COPY          ? QD_DO_COPY
                                   : opcode == QD_REDUCE_LEFT ? QD_DO_REDUCE_LEFT
                                                              : QD_DO_REDUCE_RIGHT;
  qd_emit(c, operation, !c->in_step, 0, 0, first);
  c->next_register = saved;
}

static void statement(struct qd_compiler* c, unsigned opcode, int depth) {
  switch (opcode) {
    case QD_LET: {
      const int reg = qd_take_register(c);
      qd_compile_into(c, reg, QD_INTEGER);
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
  if (!c->in_message) return qd_malformed(c);
  const int saved = c->next_register;
  const int32_t index = piece_of_message(c, opcode);
  qd_emit(c, QD_DO_PIECE, 0, 0, 0, index);
  c->next_register = saved;
}

static void body(struct qd_compiler* c, int depth) {
  if (depth >= QD_MAX_DEPTH) qd_malformed(c);
  const int variables = c->variable_count, registers = c->next_register, in_message = c->in_message;
  const uint64_t start = c->in.next;
  uint64_t lone = 0;               /* where the first statement, a piece, ends */
  if (in_message) c->in_message++; /* deeper than the message's own body */
  while (!c->in.error) {
    const unsigned opcode = qd_read_byte(&c->in);
    if (opcode == QD_END || c->in.error) break;
    const int first = c->in.next == start + 1;
    statement(c, opcode, depth + 1);
    if (first && (opcode & ~(unsigned)QD_PIECE_FLAGS) == QD_PIECE) lone = c->in.next;
  }
  /* In a message's own body, a lone piece has the shorter form. */
  if (in_message == 1 && lone > 0 && c->in.next == lone + 1) qd_malformed(c);
  c->variable_count = variables;
  c->next_register = registers;
  c->in_message = in_message;
}

const char* qd_compile(struct qd_program* program, const unsigned char* code, uint64_t length) {
  struct qd_compiler c = {0};
  c.in = (struct qd_reader){code, length, 0, NULL};
  c.program = program;
  c.invariant_capacity = QD_REGISTERS;
  heading(&c);
  program->table_count = (int)counted(&c, QD_MAX_TABLES);
  for (; c.tables < program->table_count && !c.in.error; c.tables++)
    table(&c, &program->tables[c.tables]);
  program->requirement_count = (int)counted(&c, QD_MAX_REQUIREMENTS);
  for (int i = 0; i < program->requirement_count; i++)
    program->requirements[i] = fragment(&c, QD_BOOLEAN);
  program->temporary_blocks = fragment(&c, QD_INTEGER);
  program->body = program->instruction_count;
  c.in_body = 1;
  body(&c, 0);
  qd_emit(&c, QD_DO_END, 0, 0, 0, 0);
  if (c.in.next != c.in.length) qd_malformed(&c);
  return c.in.error;
}

struct qd_fragment qd_compile_formula(struct qd_program* program, struct qd_reader* job) {
  struct qd_compiler c = {.in = *job,
                          .program = program,
                          .next_register = program->register_count,
                          .invariant_capacity = QD_REGISTERS - program->invariant_count,
                          .tables = program->table_count,
                          .in_formula = 1};
  const struct qd_fragment result = fragment(&c, QD_INTEGER);
  *job = c.in;
  return result;
}
