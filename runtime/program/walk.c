/* The register machine: the walk of one rank, one event at a time. Every result is checked.
 *
 * A loop whose iterations differ only in values with a constant stride is handed out as one run. To find a run, the machine
 * walks one iteration with strides: beside the value of each register stands its difference from iteration to iteration.
 * `count` is the number of iterations for which values and strides are right:
 * - A sum, a difference, or a product with a value that does not change has a stride.
 * - A comparison, a minimum, a wrap, or an interval of a table limits the count to iterations with the same outcome.
 * - If a value has no stride, or is undefined, there is no run: the plain walk goes on with the iteration.
 * Values and strides are so small that nothing overflows within the count.
 *
 * tests/runtime/walk_test.cc compares the events with those of two other walks. */
#include <string.h>

#include "runtime/program/program.h"

static inline int64_t quotient(int64_t x, int64_t y) { return x / y - (x % y < 0); }
static inline int64_t remainder_of(int64_t x, int64_t y) { return x % y + (x % y < 0 ? y : 0); }
static inline int64_t wrapped(int64_t x, int64_t m) { return x < 0 ? x + m : x < m ? x : x - m; }

/* ---- Iterations with strides */

enum { ENTRIES_AHEAD = 256 };

static const int64_t most_value = (int64_t)1 << 61, most_stride = (int64_t)1 << 30;

static const struct qd_value none = {0, 0};

/* The number of entries <= x in an ascending table, minus one. */
static int64_t locate_far(const int64_t* entries, int64_t length, int64_t x) {
  int64_t low = 0, high = length; /* entries below low are <= x, those from high on are greater */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (entries[middle] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

/* The same, but looks first in the last interval and the one before it: pipelines go through blocks one by one. */
static __attribute__((noinline)) int64_t locate_near(const int64_t* entries, int64_t length,
                                                     int64_t x, int64_t near) {
  for (int64_t i = near; i >= near - 1; i--)
    if (i >= 0 && i < length - 1 && entries[i] <= x && x < entries[i + 1]) return i;
  return locate_far(entries, length, x);
}

/* The most iterations of inner loops. No iteration of a run has that many steps and messages. */
enum { MOST_ROUNDS = 256 };

/* One iteration that is walked with strides. */
struct attempt {
  int64_t *values, *strides; /* by register */
  int64_t count;             /* 0: there is no run */
  struct qd_run* run;
  int rounds; /* of inner loops */
};

/* Limits the count to iterations in which a value that is at least 0 stays so. */
static inline void keep_nonnegative(struct attempt* a, int64_t value, int64_t stride) {
  if (stride >= 0) return;
  const int64_t count = value / -stride + 1;
  if (count < a->count) a->count = count;
}

/* Limits the count to iterations in which a difference keeps its sign. Returns whether it is negative. */
static inline int keep_sign(struct attempt* a, int64_t difference, int64_t stride) {
  if (difference < 0)
    keep_nonnegative(a, -1 - difference, -stride);
  else
    keep_nonnegative(a, difference, stride);
  return difference < 0;
}

static inline int is_within(int64_t value, int64_t most) {
  return (uint64_t)value + (uint64_t)most <= 2 * (uint64_t)most;
}

static inline void set(struct attempt* a, int target, int64_t value, int64_t stride) {
  if (!is_within(value, most_value) || !is_within(stride, most_stride)) a->count = 0;
  a->values[target] = value;
  a->strides[target] = stride;
}

static void multiply(struct attempt* a, const struct qd_instruction* i) {
  const int64_t x = a->values[i->a], y = a->values[i->b];
  const int64_t x_stride = a->strides[i->a], y_stride = a->strides[i->b];
  int64_t product, left, right;
  if ((x_stride != 0 && y_stride != 0) || __builtin_mul_overflow(x, y, &product) ||
      __builtin_mul_overflow(x, y_stride, &left) || __builtin_mul_overflow(x_stride, y, &right))
    a->count = 0;
  else
    set(a, i->target, product, x_stride == 0 ? left : right);
}

static void divide(struct attempt* a, const struct qd_instruction* i) {
  const int64_t x = a->values[i->a], y = a->values[i->b], stride = a->strides[i->a];
  if (a->strides[i->b] != 0 || y <= 0) {
    a->count = 0;
    return;
  }
  const int64_t rest = remainder_of(x, y);
  const int is_whole = stride % y == 0;
  if (!is_whole) {
    keep_nonnegative(a, rest, stride);
    keep_nonnegative(a, y - 1 - rest, -stride);
  }
  if (i->operation == QD_DO_DIVIDE)
    set(a, i->target, quotient(x, y), is_whole ? stride / y : 0);
  else
    set(a, i->target, rest, is_whole ? 0 : stride);
}

/* The minimum, or, with sign -1, the maximum. */
static void least(struct attempt* a, const struct qd_instruction* i, int sign) {
  const int64_t difference = sign * (a->values[i->a] - a->values[i->b]);
  const int64_t stride = sign * (a->strides[i->a] - a->strides[i->b]);
  const int first = difference < 0 || (difference == 0 && stride <= 0);
  keep_nonnegative(a, first ? -difference : difference, first ? -stride : stride);
  const int from = first ? i->a : i->b;
  set(a, i->target, a->values[from], a->strides[from]);
}

static void wrap(struct attempt* a, const struct qd_instruction* i) {
  const int64_t x = a->values[i->a], m = a->values[i->b], stride = a->strides[i->a];
  if (a->strides[i->b] != 0 || x < -m || x >= 2 * m) {
    a->count = 0;
    return;
  }
  const int64_t result = wrapped(x, m);
  keep_nonnegative(a, result, stride);
  keep_nonnegative(a, m - 1 - result, -stride);
  set(a, i->target, result, stride);
}

static void locate(struct attempt* a, const struct qd_instruction* i, struct qd_walker* walker) {
  const int64_t* entries = walker->tables->entries[i->immediate];
  const int64_t length = walker->tables->lengths[i->immediate], x = a->values[i->a];
  const int64_t at = walker->located[i->b] = locate_near(entries, length, x, walker->located[i->b]);
  int64_t distance;
  if (at >= 0) {
    if (__builtin_sub_overflow(x, entries[at], &distance)) a->count = 0;
    keep_nonnegative(a, distance, a->strides[i->a]);
  }
  if (at + 1 < length) {
    if (__builtin_sub_overflow(entries[at + 1], x, &distance)) a->count = 0;
    keep_nonnegative(a, distance - 1, -a->strides[i->a]);
  }
  set(a, i->target, at, 0);
}

/* Entries may have a stride too, such as equal counts. Compares at most ENTRIES_AHEAD of them. */
static void element(struct attempt* a, const struct qd_instruction* i,
                    const struct qd_walker* walker) {
  const int64_t* entries = walker->tables->entries[i->immediate];
  const int64_t length = walker->tables->lengths[i->immediate];
  const int64_t index = a->values[i->a], step = a->strides[i->a];
  int64_t stride = 0;
  if ((uint64_t)index >= (uint64_t)length) {
    a->count = 0;
    return;
  }
  if (step != 0) {
    keep_nonnegative(a, index, step);
    keep_nonnegative(a, length - 1 - index, -step);
    if (a->count > ENTRIES_AHEAD) a->count = ENTRIES_AHEAD;
    if (a->count < 2 || __builtin_sub_overflow(entries[index + step], entries[index], &stride))
      a->count = 0;
    for (int64_t done = 2; done < a->count; done++) {
      const int64_t at = index + done * step;
      int64_t difference;
      if (__builtin_sub_overflow(entries[at], entries[at - step], &difference) ||
          difference != stride)
        a->count = done;
    }
  }
  set(a, i->target, entries[index], stride);
}

/* Whether a comparison of that kind holds. Limits the count to iterations with the same outcome. */
static int compare(struct attempt* a, const struct qd_instruction* i, int kind) {
  const int64_t difference = a->values[i->a] - a->values[i->b];
  const int64_t stride = a->strides[i->a] - a->strides[i->b];
  if (kind == QD_DO_LESS) return keep_sign(a, difference, stride);
  if (kind == QD_DO_LESS_EQUAL) return keep_sign(a, difference - 1, stride);
  if (difference != 0)
    keep_sign(a, difference > 0 ? difference - 1 : difference, stride);
  else if (stride != 0)
    a->count = 0;
  return (difference == 0) == (kind == QD_DO_EQUAL);
}

static struct qd_value value_of(const struct attempt* a, int reg) {
  return (struct qd_value){a->values[reg], a->strides[reg]};
}

static void begin_step(struct attempt* a, const struct qd_instruction* i) {
  if (a->run->step_count == QD_RUN_STEPS) {
    a->count = 0;
    return;
  }
  a->run->steps[a->run->step_count++] =
      (struct qd_run_step){i->target, 0, value_of(a, i->a), i->target ? value_of(a, i->b) : none};
}

static struct qd_run_message* add_message(struct attempt* a) {
  if (a->run->message_count == QD_RUN_MESSAGES) {
    a->count = 0;
    a->run->message_count--;
  }
  if (a->run->step_count > 0) a->run->steps[a->run->step_count - 1].message_count++;
  return &a->run->messages[a->run->message_count++];
}

static void set_piece(const struct attempt* a, const struct qd_piece_registers* p,
                      struct qd_run_message* message) {
  message->is_token = 0;
  message->buffer = p->buffer;
  message->ranged = p->ranged;
  message->block = value_of(a, p->block);
  message->low = p->ranged ? value_of(a, p->low) : none;
  message->high = p->ranged ? value_of(a, p->high) : none;
}

/* A token, or a message of one piece. */
static void add_whole_message(struct attempt* a, const struct qd_instruction* i,
                              const struct qd_piece_registers* pieces) {
  struct qd_run_message* message = add_message(a);
  message->flags = i->b;
  message->peer = value_of(a, i->a);
  message->is_token = 1;
  if (i->operation == QD_DO_PIECE_MESSAGE) set_piece(a, &pieces[i->immediate], message);
}

/* Whether sums and differences of the operands do not overflow. Only values from outside the loop can be larger. */
static inline int are_small(const struct attempt* a, const struct qd_instruction* i) {
  return is_within(a->values[i->a], most_value) && is_within(a->values[i->b], most_value);
}

/* Walks one instruction. Returns the next one, or NULL if the iteration makes no run. */
static inline const struct qd_instruction* walk_strided(struct attempt* a, struct qd_walker* walker,
                                                        const struct qd_instruction* i) {
  const int64_t *v = a->values, *s = a->strides;
  const struct qd_piece_registers* pieces = walker->program->code.pieces;
  const struct qd_instruction* target = walker->program->code.instructions + i->immediate;
  if (qd_is_binary(i->operation) && !are_small(a, i)) return NULL;
  switch ((enum qd_opcode)i->operation) {
    case QD_DO_ADD: set(a, i->target, v[i->a] + v[i->b], s[i->a] + s[i->b]); break;
    case QD_DO_SUBTRACT: set(a, i->target, v[i->a] - v[i->b], s[i->a] - s[i->b]); break;
    case QD_DO_MULTIPLY: multiply(a, i); break;
    case QD_DO_DIVIDE:
    case QD_DO_MODULO: divide(a, i); break;
    case QD_DO_MINIMUM: least(a, i, 1); break;
    case QD_DO_MAXIMUM: least(a, i, -1); break;
    case QD_DO_WRAP: wrap(a, i); break;
    case QD_DO_EQUAL:
    case QD_DO_NOT_EQUAL:
    case QD_DO_LESS:
    case QD_DO_LESS_EQUAL: set(a, i->target, compare(a, i, i->operation), 0); break;
    case QD_DO_MOVE: set(a, i->target, v[i->a], s[i->a]); break;
    case QD_DO_ELEMENT: element(a, i, walker); break;
    case QD_DO_LOCATE: locate(a, i, walker); break;
    case QD_DO_JUMP: return target;
    case QD_DO_NEXT: /* of an inner loop, which always has the same few iterations */
      if (s[i->a] != 0 || s[i->b] != 0 || ++a->rounds > MOST_ROUNDS) return NULL;
      return ++a->values[i->a] < v[i->b] ? target : i + 1;
    case QD_DO_UNLESS: return v[i->a] ? i + 1 : target;
    case QD_DO_UNLESS_EQUAL:
    case QD_DO_UNLESS_NOT_EQUAL:
    case QD_DO_UNLESS_LESS:
    case QD_DO_UNLESS_LESS_EQUAL:
      return compare(a, i, i->operation - QD_DO_UNLESS_EQUAL + QD_DO_EQUAL) ? i + 1 : target;
    case QD_DO_STEP: begin_step(a, i); break;
    case QD_DO_STEP_END: break;
    case QD_DO_PIECE_MESSAGE: add_whole_message(a, i, pieces); break;
    case QD_DO_MESSAGE: /* the plain walk hands out a message of several pieces */
      add_whole_message(a, i, pieces);
      if ((i + 1)->operation != QD_DO_MESSAGE_END) return NULL;
      break;
    case QD_DO_MESSAGE_END: break;
    case QD_DO_PIECE: set_piece(a, &pieces[i->immediate], add_message(a)); break;
    default: return NULL; /* an exclusive or, or an operation that such a loop does not have */
  }
  return i + 1;
}

/* Tries the iteration of the loop that `i` begins. Returns the count of event->run; the event is QD_EVENT_END if its
 * iterations do nothing. Returns 0 if there is no run. Changes only registers that the iteration sets before it reads them.
 * It is not inlined: so the state of the plain walk stays in machine registers. */
static __attribute__((noinline)) int64_t walk_run(struct qd_walker* walker,
                                                  const struct qd_instruction* i,
                                                  struct qd_event* event) {
  const struct qd_instruction* const end = walker->program->code.instructions + i->immediate - 1;
  struct attempt a = {.values = walker->registers, .strides = walker->strides, .run = &event->run};
  memset(walker->strides, 0,
         (size_t)walker->program->code.register_count * sizeof *walker->strides);
  a.strides[i->a] = 1;
  /* The loop continues, so this is positive and less than 2^64. Larger values are refused when they are set. */
  const uint64_t left = (uint64_t)a.values[i->b] - (uint64_t)a.values[i->a];
  a.count = left < (uint64_t)most_stride ? (int64_t)left : most_stride;
  a.run->step_count = a.run->message_count = 0;
  for (i++; i && i != end;) {
    if (a.count < 2) return 0;
    i = walk_strided(&a, walker, i);
  }
  if (!i || a.count < 2) return 0;
  a.run->count = a.count;
  event->kind = a.run->step_count > 0      ? QD_EVENT_RUN
                : a.run->message_count > 0 ? QD_EVENT_PIECE_RUN
                                           : QD_EVENT_END; /* nothing happens */
  return a.count;
}

/* ---- The plain walk */

static inline void fill_piece(const struct qd_walker* walker, int32_t index,
                              struct qd_piece* piece) {
  const struct qd_piece_registers* p = &walker->program->code.pieces[index];
  piece->buffer = p->buffer;
  piece->ranged = p->ranged;
  piece->block = walker->registers[p->block];
  piece->low = p->ranged ? walker->registers[p->low] : 0;
  piece->high = p->ranged ? walker->registers[p->high] : 0;
}

/* Tries a run. After a try that made no run, or a short one, waits for 1, 3, 7, ... iterations before the next. */
static int64_t try_run(struct qd_walker* walker, const struct qd_instruction* i,
                       struct qd_event* event) {
  enum { WORTH_IT = 4, MOST_FAILURES = 6 };
  uint8_t *wait = &walker->waits[i->target], *failures = &walker->failures[i->target];
  if (!walker->makes_runs) return 0;
  if (*wait > 0) {
    --*wait;
    return 0;
  }
  const int64_t count = walk_run(walker, i, event);
  if (count >= WORTH_IT) {
    *failures = 0;
  } else {
    *wait = (uint8_t)((1 << *failures) - 1);
    *failures = (uint8_t)(*failures < MOST_FAILURES ? *failures + 1 : MOST_FAILURES);
  }
  return count;
}

void qd_walk_start(struct qd_walker* walker, const struct qd_program* program,
                   const struct qd_tables* tables, const struct qd_context* context) {
  walker->program = program;
  walker->tables = tables;
  walker->next = program->code.instructions + program->code.body;
  walker->iterations = INT64_MAX;
  walker->makes_runs = 1;
  memset(walker->located, 0, sizeof walker->located);
  memset(walker->waits, 0, sizeof walker->waits);
  memset(walker->failures, 0, sizeof walker->failures);
  memset(walker->strides, 0, sizeof walker->strides);
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

/* One function, so that its state stays in machine registers. NOLINTNEXTLINE(readability-function-size) */
void qd_walk_next(struct qd_walker* walker, struct qd_event* event) {
  const struct qd_instruction* const code = walker->program->code.instructions;
  const struct qd_instruction* i = walker->next;
  int64_t* const r = walker->registers;
  for (;; i++) {
    switch ((enum qd_opcode)i->operation) {
      case QD_DO_ADD:
        if (__builtin_add_overflow(r[i->a], r[i->b], &r[i->target])) goto overflows;
        break;
      case QD_DO_SUBTRACT:
        if (__builtin_sub_overflow(r[i->a], r[i->b], &r[i->target])) goto overflows;
        break;
      case QD_DO_MULTIPLY:
        if (__builtin_mul_overflow(r[i->a], r[i->b], &r[i->target])) goto overflows;
        break;
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
      case QD_DO_JUMP: i = code + i->immediate - 1; break;
      case QD_DO_UNLESS:
        if (!r[i->a]) i = code + i->immediate - 1;
        break;
      case QD_DO_UNLESS_EQUAL:
        if (r[i->a] != r[i->b]) i = code + i->immediate - 1;
        break;
      case QD_DO_UNLESS_NOT_EQUAL:
        if (r[i->a] == r[i->b]) i = code + i->immediate - 1;
        break;
      case QD_DO_UNLESS_LESS:
        if (r[i->a] >= r[i->b]) i = code + i->immediate - 1;
        break;
      case QD_DO_UNLESS_LESS_EQUAL:
        if (r[i->a] > r[i->b]) i = code + i->immediate - 1;
        break;
      case QD_DO_NEXT:
        event->why = QD_TOO_MANY_ITERATIONS;
        if (--walker->iterations < 0) goto undefined;
        if (++r[i->a] < r[i->b]) i = code + i->immediate - 1;
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
      case QD_DO_RUN: {
        const int64_t count = try_run(walker, i, event);
        if (count == 0) break;
        /* The reader of the walk counts the iterations of a run of steps. */
        event->why = QD_TOO_MANY_ITERATIONS;
        if (event->kind != QD_EVENT_RUN && (walker->iterations -= count) < 0) goto undefined;
        r[i->a] += count;
        if (r[i->a] == r[i->b]) i = code + i->immediate;
        i--;
        if (event->kind != QD_EVENT_END) goto out;
        break;
      }
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
