/* The register machine, which executes the walk of one rank up to the next event. It checks every result.
 * tests/runtime/walk_test.cc compares the events with those of two other implementations. */
#include <string.h>

#include "runtime/program/program.h"

static inline int64_t quotient(int64_t x, int64_t y) { return x / y - (x % y < 0); }
static inline int64_t remainder_of(int64_t x, int64_t y) { return x % y + (x % y < 0 ? y : 0); }
static inline int64_t wrapped(int64_t x, int64_t m) { return x < 0 ? x + m : x < m ? x : x - m; }

/* Returns the number of entries <= x in an ascending table, minus one. */
static int64_t locate_far(const int64_t* entries, int64_t length, int64_t x) {
  int64_t low = 0, high = length; /* entries before `low` are <= x, those from `high` on are > x */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (entries[middle] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

/* Returns what locate_far does. Tries the last result and the one before first: pipelines visit blocks one by one. */
static __attribute__((noinline)) int64_t locate_near(const int64_t* entries, int64_t length,
                                                     int64_t x, int64_t near) {
  for (int64_t i = near; i >= near - 1; i--)
    if (i >= 0 && i < length - 1 && entries[i] <= x && x < entries[i + 1]) return i;
  return locate_far(entries, length, x);
}

static inline void fill_piece(const struct qd_walker* walker, int32_t index,
                              struct qd_piece* piece) {
  const struct qd_piece_registers* p = &walker->program->code.pieces[index];
  piece->buffer = p->buffer;
  piece->ranged = p->ranged;
  piece->block = walker->registers[p->block];
  piece->low = p->ranged ? walker->registers[p->low] : 0;
  piece->high = p->ranged ? walker->registers[p->high] : 0;
}

void qd_walk_start(struct qd_walker* walker, const struct qd_program* program,
                   const struct qd_tables* tables, const struct qd_context* context) {
  walker->program = program;
  walker->tables = tables;
  walker->next = program->code.instructions + program->code.body;
  walker->iterations = INT64_MAX;
  memset(walker->located, 0, sizeof walker->located);
  const int64_t* parameters = context->parameters ? context->parameters : program->parameters;
  for (int i = 0; i < program->code.invariant_count; i++) {
    const struct qd_invariant* invariant = &program->code.invariants[i];
    int64_t* value = &walker->registers[QD_REGISTERS - 1 - i];
    switch (invariant->expression) {
      case QD_PARAMETER: *value = parameters[invariant->value]; break;
      case QD_RANK: *value = context->rank; break;
      case QD_RANKS: *value = context->ranks; break;
      case QD_REMOTE_RANKS: *value = context->remote_ranks; break;
      case QD_GROUP: *value = context->group; break;
      case QD_ROOT: *value = context->root; break;
      case QD_LENGTH: *value = tables->lengths[invariant->value]; break;
      default: *value = invariant->value; break;
    }
  }
}

#define CHECKED(operation) \
  if (__builtin_##operation##_overflow(r[i->a], r[i->b], &r[i->target])) goto overflows
#define JUMP_IF(condition) \
  if (condition) i = code + i->immediate - 1

/* One function, so that its state stays in machine registers. NOLINTNEXTLINE(readability-function-size) */
void qd_walk_next(struct qd_walker* walker, struct qd_event* event) {
  const struct qd_instruction* const code = walker->program->code.instructions;
  const struct qd_instruction* i = walker->next;
  int64_t* const r = walker->registers;
  for (;; i++) {
    switch ((enum qd_opcode)i->operation) {
      case QD_DO_ADD: CHECKED(add); break;
      case QD_DO_SUBTRACT: CHECKED(sub); break;
      case QD_DO_MULTIPLY: CHECKED(mul); break;
      case QD_DO_DIVIDE:
      case QD_DO_MODULO: {
        event->why = "a divisor is not positive";
        if (r[i->b] <= 0) goto undefined;
        r[i->target] = i->operation == QD_DO_DIVIDE ? quotient(r[i->a], r[i->b])
                                                    : remainder_of(r[i->a], r[i->b]);
        break;
      }
      case QD_DO_XOR: r[i->target] = r[i->a] ^ r[i->b]; break;
      case QD_DO_MINIMUM: r[i->target] = r[i->a] < r[i->b] ? r[i->a] : r[i->b]; break;
      case QD_DO_MAXIMUM: r[i->target] = r[i->a] > r[i->b] ? r[i->a] : r[i->b]; break;
      case QD_DO_WRAP: {
        const int64_t x = r[i->a], m = r[i->b];
        event->why = "wrap(x, m) with x outside -m .. 2m";
        if (m <= 0 || x < -m) goto undefined;
        const int64_t result = wrapped(x, m);
        if (result >= m) goto undefined;
        r[i->target] = result;
        break;
      }
      case QD_DO_EQUAL: r[i->target] = r[i->a] == r[i->b]; break;
      case QD_DO_NOT_EQUAL: r[i->target] = r[i->a] != r[i->b]; break;
      case QD_DO_LESS: r[i->target] = r[i->a] < r[i->b]; break;
      case QD_DO_LESS_EQUAL: r[i->target] = r[i->a] <= r[i->b]; break;
      case QD_DO_MOVE: r[i->target] = r[i->a]; break;
      case QD_DO_ELEMENT:
        event->why = "an index is outside its table";
        if ((uint64_t)r[i->a] >= (uint64_t)walker->tables->lengths[i->immediate]) goto undefined;
        r[i->target] = walker->tables->entries[i->immediate][r[i->a]];
        break;
      case QD_DO_LOCATE:
        r[i->target] = walker->located[i->b] =
            locate_near(walker->tables->entries[i->immediate],
                        walker->tables->lengths[i->immediate], r[i->a], walker->located[i->b]);
        break;
      case QD_DO_JUMP: JUMP_IF(1); break;
      case QD_DO_UNLESS: JUMP_IF(!r[i->a]); break;
      case QD_DO_UNLESS_EQUAL: JUMP_IF(r[i->a] != r[i->b]); break;
      case QD_DO_UNLESS_NOT_EQUAL: JUMP_IF(r[i->a] == r[i->b]); break;
      case QD_DO_UNLESS_LESS: JUMP_IF(r[i->a] >= r[i->b]); break;
      case QD_DO_UNLESS_LESS_EQUAL: JUMP_IF(r[i->a] > r[i->b]); break;
      case QD_DO_NEXT:
        event->why = QD_TOO_MANY_ITERATIONS;
        if (--walker->iterations < 0) goto undefined;
        JUMP_IF(++r[i->a] < r[i->b]);
        break;
      case QD_DO_STEP:
        event->kind = QD_EVENT_STEP;
        event->key = r[i->a];
        event->has_after = i->target;
        event->after = r[i->b];
        event->is_mixed = i->immediate;
        goto out;
      case QD_DO_STEP_END: event->kind = QD_EVENT_STEP_END; goto out;
      case QD_DO_PIECE_MESSAGE:
        event->kind = QD_EVENT_PIECE_MESSAGE;
        event->flags = i->b;
        event->peer = r[i->a];
        fill_piece(walker, i->immediate, &event->piece);
        goto out;
      case QD_DO_MESSAGE:
        event->kind = QD_EVENT_MESSAGE;
        event->flags = i->b;
        event->peer = r[i->a];
        goto out;
      case QD_DO_MESSAGE_END: event->kind = QD_EVENT_MESSAGE_END; goto out;
      case QD_DO_PIECE:
        event->kind = QD_EVENT_PIECE;
        fill_piece(walker, i->immediate, &event->piece);
        goto out;
      case QD_DO_COPY:
      case QD_DO_REDUCE_LEFT:
      case QD_DO_REDUCE_RIGHT:
        event->kind = i->operation == QD_DO_COPY          ? QD_EVENT_COPY
                      : i->operation == QD_DO_REDUCE_LEFT ? QD_EVENT_REDUCE_LEFT
                                                          : QD_EVENT_REDUCE_RIGHT;
        event->outside = i->target;
        fill_piece(walker, i->immediate, &event->piece);
        fill_piece(walker, i->immediate + 1, &event->second);
        goto out;
      case QD_DO_END:
        event->kind = QD_EVENT_END;
        walker->next = i;
        return;
    }
  }
out:
  walker->next = i + 1;
  return;
overflows:
  event->why = "an expression's result is outside 64 bits";
undefined:
  event->kind = QD_EVENT_UNDEFINED;
  walker->next = i;
}
