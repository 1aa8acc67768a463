/* Declarations and statements. Whatever schedule/validate.cc asks of a program is asked here too,
 * on its own. */
#include "runtime/program/compiler.h"

#include <stdlib.h>
#include <string.h>

static void body(struct quadrille_compiler* c, int depth);

static uint64_t counted(struct quadrille_compiler* c, uint64_t most) {
  const uint64_t count = quadrille_read_varint(&c->in);
  if (count > most)
    quadrille_read_fail(&c->in, "the code goes beyond the limits of the language; make it again");
  return c->in.error ? 0 : count;
}

static void heading(struct quadrille_compiler* c) {
  struct quadrille_program* p = c->program;
  p->collective = (int)quadrille_read_byte(&c->in);
  const unsigned flags = quadrille_read_byte(&c->in);
  p->groups = (int)(flags & QUADRILLE_GROUPS_MASK);
  p->port = (int)(flags >> QUADRILLE_PORT_SHIFT & QUADRILLE_PORT_MASK);
  p->port_per_node = (flags & QUADRILLE_PORT_PER_NODE) != 0;
  p->in_place = (flags & QUADRILLE_IN_PLACE) != 0;
  p->commutative = (flags & QUADRILLE_COMMUTATIVE) != 0;
  if (p->collective >= QUADRILLE_COLLECTIVE_COUNT || flags & 0x80 ||
      p->port > QUADRILLE_PORT_SEND_RECEIVE ||
      (p->port == QUADRILLE_PORT_NONE && p->port_per_node) || p->groups < 1 || p->groups > 2)
    quadrille_malformed(c);
  p->parameter_count = (int)counted(c, QUADRILLE_MAX_PARAMETERS);
  for (int i = 0; i < p->parameter_count; i++) {
    p->at_call[i] = (int)quadrille_read_byte(&c->in);
    if (p->at_call[i] > 1) quadrille_malformed(c);
    p->depends_on_call |= p->at_call[i];
  }
}

static struct quadrille_fragment fragment(struct quadrille_compiler* c, enum quadrille_type type) {
  struct quadrille_fragment result = {c->program->instruction_count, 0};
  const int saved = c->next_register;
  result.result = (uint8_t)quadrille_compile_operand(c, type);
  c->next_register = saved;
  quadrille_emit(c, QUADRILLE_DO_END, 0, 0, 0, 0);
  return result;
}

static void table(struct quadrille_compiler* c, struct quadrille_table_definition* table) {
  table->kind = (uint8_t)quadrille_read_byte(&c->in);
  switch (table->kind) {
    case QUADRILLE_TABLE_NODES: c->program->uses_nodes = 1; break;
    case QUADRILLE_TABLE_REMOTE_NODES: c->program->uses_nodes = 1; /* fall through */
    case QUADRILLE_TABLE_REMOTE_COUNTS:
      c->program->depends_on_call |= table->kind == QUADRILLE_TABLE_REMOTE_COUNTS;
      if (c->program->groups != 2)
        quadrille_read_fail(&c->in, "the code asks for a second group; make it again");
      break;
    case QUADRILLE_TABLE_COUNTS: c->program->depends_on_call = c->program->uses_counts = 1; break;
    case QUADRILLE_TABLE_PREFIX:
    case QUADRILLE_TABLE_DISTINCT:
      table->source = (uint8_t)quadrille_read_byte(&c->in);
      if (table->source >= c->tables)
        return quadrille_read_fail(&c->in,
                                   "the code uses a table that is not defined; make it again");
      if (table->kind == QUADRILLE_TABLE_DISTINCT) c->program->tables[table->source].located = 1;
      break;
    case QUADRILLE_TABLE_POWERS:
      table->first = fragment(c, QUADRILLE_INTEGER);
      table->second = fragment(c, QUADRILLE_INTEGER);
      break;
    case QUADRILLE_TABLE_MAP:
      table->first = fragment(c, QUADRILLE_INTEGER);
      /* The index is variable 0, in register 0. */
      c->variables[c->variable_count++] = quadrille_take_register(c);
      table->second = fragment(c, QUADRILLE_INTEGER);
      c->variable_count = 0;
      c->next_register = 0;
      break;
    default: quadrille_malformed(c);
  }
}

static void declare(struct quadrille_compiler* c, int reg) {
  if (c->variable_count == QUADRILLE_MAX_VARIABLES)
    return quadrille_read_fail(&c->in,
                               "the code goes beyond the limits of the language; make it again");
  c->variables[c->variable_count++] = reg;
}

/* Whether that register holds the same number in every call; if so, writes it. */
static int holds_constant(const struct quadrille_compiler* c, int reg, int64_t* value) {
  const int i = QUADRILLE_REGISTERS - 1 - reg;
  if (i >= c->program->invariant_count ||
      c->program->invariants[i].expression != QUADRILLE_CONSTANT)
    return 0;
  *value = c->program->invariants[i].value;
  return 1;
}

/* Whether a loop has the same few iterations always; `start`: the instructions that set its index. */
static int is_short(const struct quadrille_compiler* c, int32_t start, int32_t length, int bound) {
  const struct quadrille_instruction* set = &c->program->instructions[start];
  int64_t first, end, iterations;
  return !c->in.error && length == 1 && set->operation == QUADRILLE_DO_MOVE &&
         holds_constant(c, set->a, &first) && holds_constant(c, bound, &end) &&
         !__builtin_sub_overflow(end, first, &iterations) && iterations <= QUADRILLE_RUN_STEPS;
}

/* The kinds of statements in a step, in the order in which they take effect. */
enum { SENDS, COPIES, RECEIVES, NO_KIND };

static void note_kind(struct quadrille_compiler* c, int kind) {
  c->is_mixed |= kind < c->last_kind;
  if (kind < c->first_kind) c->first_kind = kind;
  if (kind > c->last_kind) c->last_kind = kind;
}

/* A loop without copies in it, and without loops but short ones, whose iterations are steps or
 * pieces, may go on in runs. */
static void loop(struct quadrille_compiler* c, int depth) {
  const int saved = c->next_register, obstacles = c->obstacles, first_kind = c->first_kind;
  const int index = quadrille_take_register(c);
  const int32_t before = c->program->instruction_count;
  quadrille_compile_into(c, index, QUADRILLE_INTEGER);
  const int32_t length = c->program->instruction_count - before;
  const int bound = quadrille_compile_operand(c, QUADRILLE_INTEGER);
  const int few = is_short(c, before, length, bound);
  const quadrille_jumps exit = quadrille_emit(c, QUADRILLE_DO_UNLESS_LESS, 0, index, bound, -1);
  declare(c, index);
  const int32_t start = quadrille_emit(c, QUADRILLE_DO_RUN, 0, index, bound, -1);
  c->first_kind = NO_KIND;
  body(c, depth);
  c->is_mixed |= c->first_kind < c->last_kind; /* the next iteration begins with the first kind */
  if (first_kind < c->first_kind) c->first_kind = first_kind;
  const int runs = !few && c->obstacles == obstacles && (!c->in_step || c->in_message);
  quadrille_emit(c, QUADRILLE_DO_NEXT, 0, index, bound, runs ? start : start + 1);
  if (!c->in.error) {
    struct quadrille_instruction* run = &c->program->instructions[start];
    run->immediate = runs ? c->program->instruction_count : start + 1;
    run->target = (uint8_t)(c->program->run_count++ % QUADRILLE_RUNS);
    if (!runs) run->operation = QUADRILLE_DO_JUMP;
  }
  quadrille_land(c, exit);
  if (!few) c->obstacles++;
  c->variable_count--;
  c->next_register = saved;
}

static void choice(struct quadrille_compiler* c, int has_else, int depth) {
  const quadrille_jumps otherwise = quadrille_compile_condition(c);
  body(c, depth);
  if (!has_else) return quadrille_land(c, otherwise);
  const quadrille_jumps over = quadrille_emit(c, QUADRILLE_DO_JUMP, 0, 0, 0, -1);
  quadrille_land(c, otherwise);
  const uint64_t start = c->in.next;
  body(c, depth);
  if (c->in.next == start + 1) quadrille_malformed(c); /* an empty `else` has the shorter form */
  quadrille_land(c, over);
}

static void step(struct quadrille_compiler* c, int has_after, int depth) {
  if (c->in_step) quadrille_read_fail(&c->in, "the code has a step inside a step; make it again");
  const int saved = c->next_register;
  const int key = quadrille_compile_operand(c, QUADRILLE_INTEGER);
  const int after = has_after ? quadrille_compile_operand(c, QUADRILLE_INTEGER) : 0;
  c->next_register = saved;
  const int32_t begin = quadrille_emit(c, QUADRILLE_DO_STEP, has_after, key, after, 0);
  c->in_step = 1;
  c->first_kind = NO_KIND;
  c->last_kind = SENDS;
  c->is_mixed = 0;
  body(c, depth);
  c->in_step = 0;
  if (!c->in.error) c->program->instructions[begin].immediate = c->is_mixed;
  quadrille_emit(c, QUADRILLE_DO_STEP_END, 0, 0, 0, 0);
}

/* Compiles what a piece names and adds it to the pieces; returns its index. */
static int32_t piece(struct quadrille_compiler* c, unsigned opcode) {
  struct quadrille_program* p = c->program;
  const unsigned buffer = opcode & QUADRILLE_PIECE_BUFFER;
  if ((opcode & ~(unsigned)QUADRILLE_PIECE_FLAGS) != QUADRILLE_PIECE ||
      buffer > QUADRILLE_PIECE_TEMPORARY)
    quadrille_malformed(c);
  if (c->in.error) return 0;
  struct quadrille_piece_registers piece = {(uint8_t)buffer, (opcode & QUADRILLE_PIECE_RANGED) != 0,
                                            0, 0, 0};
  piece.block = (uint8_t)quadrille_compile_operand(c, QUADRILLE_INTEGER);
  if (piece.ranged) {
    if (p->collective == QUADRILLE_ALLTOALL)
      quadrille_read_fail(&c->in,
                          "the code names a part of a block in an all-to-all; make it again");
    piece.low = (uint8_t)quadrille_compile_operand(c, QUADRILLE_INTEGER);
    piece.high = (uint8_t)quadrille_compile_operand(c, QUADRILLE_INTEGER);
  }
  p->has_temporaries |= buffer == QUADRILLE_PIECE_TEMPORARY;
  if (p->piece_count == p->piece_room) {
    const int32_t room = p->piece_room ? 2 * p->piece_room : 16;
    struct quadrille_piece_registers* grown = realloc(p->pieces, (size_t)room * sizeof *grown);
    if (!grown) quadrille_read_fail(&c->in, quadrille_no_memory);
    if (!grown) return 0;
    p->pieces = grown;
    p->piece_room = room;
  }
  p->pieces[p->piece_count] = piece;
  return p->piece_count++;
}

static int32_t piece_of_message(struct quadrille_compiler* c, unsigned opcode) {
  const int32_t index = piece(c, opcode);
  if (!c->in.error && c->receives && c->program->pieces[index].buffer == QUADRILLE_PIECE_SEND)
    quadrille_read_fail(&c->in, "the code writes into the send buffer; make it again");
  return index;
}

static const unsigned combines = QUADRILLE_MESSAGE_LEFT | QUADRILLE_MESSAGE_RIGHT;

/* A message with one of these flags: a receive on one side, of lengths that it knows. */
static void combining(struct quadrille_compiler* c, unsigned flags) {
  if ((flags & combines) == combines || !(flags & QUADRILLE_MESSAGE_RECEIVE) ||
      flags & QUADRILLE_MESSAGE_SIZED)
    quadrille_malformed(c);
  if (c->program->collective < QUADRILLE_REDUCE)
    quadrille_read_fail(&c->in,
                        "the code reduces in a collective without an operator; make it again");
  c->program->has_reductions = 1;
}

static void message(struct quadrille_compiler* c, unsigned opcode, int depth) {
  struct quadrille_program* p = c->program;
  const unsigned flags = opcode & QUADRILLE_MESSAGE_FLAGS;
  if (!c->in_step || c->in_message)
    quadrille_read_fail(&c->in, "the code has a message outside a step; make it again");
  if (flags & QUADRILLE_MESSAGE_REMOTE && p->groups != 2)
    quadrille_read_fail(&c->in, "the code asks for a second group; make it again");
  if (depth >= QUADRILLE_MAX_DEPTH) quadrille_malformed(c);
  if (flags & combines) combining(c, flags);
  p->has_sized |= (flags & QUADRILLE_MESSAGE_SIZED) != 0;
  const int saved = c->next_register;
  const int peer = quadrille_compile_operand(c, QUADRILLE_INTEGER);
  c->in_message = 1;
  c->receives = (flags & QUADRILLE_MESSAGE_RECEIVE) != 0;
  note_kind(c, c->receives ? RECEIVES : SENDS);
  if (flags & QUADRILLE_MESSAGE_SINGLE) {
    const int32_t index = piece_of_message(c, quadrille_read_byte(&c->in));
    quadrille_emit(c, QUADRILLE_DO_PIECE_MESSAGE, 0, peer, (int)flags, index);
  } else {
    quadrille_emit(c, QUADRILLE_DO_MESSAGE, 0, peer, (int)flags, 0);
    const int32_t start = c->program->instruction_count;
    const uint64_t before = c->in.next;
    body(c, depth);
    if (flags & combines && c->in.next == before + 1) quadrille_malformed(c); /* of nothing */
    const int32_t length = c->program->instruction_count - start;
    p->has_several_pieces |= length > 0;
    quadrille_emit(c, QUADRILLE_DO_MESSAGE_END, 0, 0, 0, 0);
  }
  c->in_message = 0;
  c->next_register = saved;
}

/* A copy or a reduction. */
static void local(struct quadrille_compiler* c, unsigned opcode) {
  struct quadrille_program* p = c->program;
  const int reduction = opcode != QUADRILLE_COPY;
  if (c->in_message)
    quadrille_read_fail(&c->in, "the code has a copy inside a message; make it again");
  if (reduction && p->collective < QUADRILLE_REDUCE)
    quadrille_read_fail(&c->in,
                        "the code reduces in a collective without an operator; make it again");
  p->has_reductions |= reduction;
  c->obstacles++;
  note_kind(c, COPIES);
  const int saved = c->next_register;
  const int32_t first = piece(c, quadrille_read_byte(&c->in));
  const int32_t second = piece(c, quadrille_read_byte(&c->in));
  if (!c->in.error && p->pieces[second].buffer == QUADRILLE_PIECE_SEND)
    quadrille_read_fail(&c->in, "the code writes into the send buffer; make it again");
  const enum quadrille_opcode operation = opcode == QUADRILLE_COPY ? QUADRILLE_DO_COPY
                                          : opcode == QUADRILLE_REDUCE_LEFT
                                              ? QUADRILLE_DO_REDUCE_LEFT
                                              : QUADRILLE_DO_REDUCE_RIGHT;
  quadrille_emit(c, operation, !c->in_step, 0, 0, first);
  c->next_register = saved;
}

static void statement(struct quadrille_compiler* c, unsigned opcode, int depth) {
  switch (opcode) {
    case QUADRILLE_LET: {
      const int reg = quadrille_take_register(c);
      quadrille_compile_into(c, reg, QUADRILLE_INTEGER);
      return declare(c, reg);
    }
    case QUADRILLE_FOR: return loop(c, depth);
    case QUADRILLE_IF:
    case QUADRILLE_IF_ELSE: return choice(c, opcode == QUADRILLE_IF_ELSE, depth);
    case QUADRILLE_STEP:
    case QUADRILLE_STEP_AFTER: return step(c, opcode == QUADRILLE_STEP_AFTER, depth);
    case QUADRILLE_COPY:
    case QUADRILLE_REDUCE_LEFT:
    case QUADRILLE_REDUCE_RIGHT: return local(c, opcode);
    default: break;
  }
  if ((opcode & ~(unsigned)QUADRILLE_MESSAGE_FLAGS) == QUADRILLE_MESSAGE)
    return message(c, opcode, depth);
  if (!c->in_message) return quadrille_malformed(c);
  const int saved = c->next_register;
  const int32_t index = piece_of_message(c, opcode);
  quadrille_emit(c, QUADRILLE_DO_PIECE, 0, 0, 0, index);
  c->next_register = saved;
}

static void body(struct quadrille_compiler* c, int depth) {
  if (depth >= QUADRILLE_MAX_DEPTH) quadrille_malformed(c);
  const int variables = c->variable_count, registers = c->next_register, in_message = c->in_message;
  const uint64_t start = c->in.next;
  uint64_t lone = 0;               /* where the first statement, a piece, ends */
  if (in_message) c->in_message++; /* deeper than the message's own body */
  while (!c->in.error) {
    const unsigned opcode = quadrille_read_byte(&c->in);
    if (opcode == QUADRILLE_END || c->in.error) break;
    const int first = c->in.next == start + 1;
    statement(c, opcode, depth + 1);
    if (first && (opcode & ~(unsigned)QUADRILLE_PIECE_FLAGS) == QUADRILLE_PIECE) lone = c->in.next;
  }
  /* In a message's own body, a lone piece has the shorter form. */
  if (in_message == 1 && lone > 0 && c->in.next == lone + 1) quadrille_malformed(c);
  c->variable_count = variables;
  c->next_register = registers;
  c->in_message = in_message;
}

const char* quadrille_compile(struct quadrille_program* program, const unsigned char* code,
                              uint64_t length) {
  struct quadrille_compiler c = {0};
  c.in = (struct quadrille_reader){code, length, 0, NULL};
  c.program = program;
  c.invariant_room = QUADRILLE_REGISTERS;
  heading(&c);
  program->table_count = (int)counted(&c, QUADRILLE_MAX_TABLES);
  for (; c.tables < program->table_count && !c.in.error; c.tables++)
    table(&c, &program->tables[c.tables]);
  program->requirement_count = (int)counted(&c, QUADRILLE_MAX_REQUIREMENTS);
  for (int i = 0; i < program->requirement_count; i++)
    program->requirements[i] = fragment(&c, QUADRILLE_BOOLEAN);
  program->temporary_blocks = fragment(&c, QUADRILLE_INTEGER);
  program->body = program->instruction_count;
  c.in_body = 1;
  body(&c, 0);
  quadrille_emit(&c, QUADRILLE_DO_END, 0, 0, 0, 0);
  if (c.in.next != c.in.length) quadrille_malformed(&c);
  return c.in.error;
}

struct quadrille_fragment quadrille_compile_formula(struct quadrille_program* program,
                                                    struct quadrille_reader* job) {
  struct quadrille_compiler c = {.in = *job,
                                 .program = program,
                                 .next_register = program->register_count,
                                 .invariant_room = QUADRILLE_REGISTERS - program->invariant_count,
                                 .tables = program->table_count,
                                 .in_formula = 1};
  const struct quadrille_fragment result = fragment(&c, QUADRILLE_INTEGER);
  *job = c.in;
  return result;
}
