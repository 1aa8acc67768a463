/* Iterations of a loop handed out as one run.
 *
 * The walk of one iteration is repeated with strides: beside each register's value stands what one
 * iteration more adds to it, and `count` is for how many iterations all that is so. A sum, a
 * difference or a product with what does not change keeps a stride; a comparison, a minimum, a
 * wrap, an interval of a table limit the count to the iterations in which they come out alike. What
 * has no stride, and what is not defined, is left to the plain walk. Values and strides are small
 * enough that nothing overflows within the count. Tested, event by event, by
 * tests/runtime/walk_test.cc. */
#include <string.h>

#include "runtime/program/program.h"

enum { ENTRIES_AHEAD = 256 };

static const int64_t most_value = (int64_t)1 << 61, most_stride = (int64_t)1 << 30;

static const struct qd_value none = {0, 0};

/* Entries <= x, minus one, of an ascending table. */
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

/* The same, beginning with the interval of the last time and its neighbours: pipelines go through
 * blocks one by one. */
int64_t qd_locate_near(const int64_t* entries, int64_t length, int64_t x, int64_t near) {
  for (int64_t i = near; i >= near - 1; i--)
    if (i >= 0 && i < length - 1 && entries[i] <= x && x < entries[i + 1]) return i;
  return locate_far(entries, length, x);
}

/* More rounds of loops inside than any iteration that may be a run has steps and messages. */
enum { most_rounds = 256 };

struct attempt {
  int64_t *values, *strides; /* by register */
  int64_t count;             /* 0: not a run */
  struct qd_run* run;
  int rounds; /* of loops inside */
};

/* `value` is at least 0; so it has to stay. */
static inline void keep(struct attempt* a, int64_t value, int64_t stride) {
  if (stride >= 0) return;
  const int64_t count = value / -stride + 1;
  if (count < a->count) a->count = count;
}

/* Keeps the sign of a difference: negative, or not. */
static inline int keep_negative(struct attempt* a, int64_t difference, int64_t stride) {
  if (difference < 0)
    keep(a, -1 - difference, -stride);
  else
    keep(a, difference, stride);
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
  const int64_t borrowed = x % y < 0;
  const int64_t quotient = x / y - borrowed, rest = x % y + (borrowed ? y : 0);
  const int whole = stride % y == 0;
  if (!whole) {
    keep(a, rest, stride);
    keep(a, y - 1 - rest, -stride);
  }
  if (i->operation == QD_DO_DIVIDE)
    set(a, i->target, quotient, whole ? stride / y : 0);
  else
    set(a, i->target, rest, whole ? 0 : stride);
}

/* The minimum, or, with sign -1, the maximum. */
static void least(struct attempt* a, const struct qd_instruction* i, int sign) {
  const int64_t difference = sign * (a->values[i->a] - a->values[i->b]);
  const int64_t stride = sign * (a->strides[i->a] - a->strides[i->b]);
  const int first = difference < 0 || (difference == 0 && stride <= 0);
  keep(a, first ? -difference : difference, first ? -stride : stride);
  const int from = first ? i->a : i->b;
  set(a, i->target, a->values[from], a->strides[from]);
}

static void wrap(struct attempt* a, const struct qd_instruction* i) {
  const int64_t x = a->values[i->a], m = a->values[i->b], stride = a->strides[i->a];
  if (a->strides[i->b] != 0 || x < -m || x >= 2 * m) {
    a->count = 0;
    return;
  }
  const int64_t wrapped = x < 0 ? x + m : x < m ? x : x - m;
  keep(a, wrapped, stride);
  keep(a, m - 1 - wrapped, -stride);
  set(a, i->target, wrapped, stride);
}

static void locate(struct attempt* a, const struct qd_instruction* i, struct qd_walker* walker) {
  const int64_t* entries = walker->tables->entries[i->immediate];
  const int64_t length = walker->tables->lengths[i->immediate], x = a->values[i->a];
  const int64_t at = walker->located[i->b] =
      qd_locate_near(entries, length, x, walker->located[i->b]);
  int64_t distance;
  if (at >= 0) {
    if (__builtin_sub_overflow(x, entries[at], &distance)) a->count = 0;
    keep(a, distance, a->strides[i->a]);
  }
  if (at + 1 < length) {
    if (__builtin_sub_overflow(entries[at + 1], x, &distance)) a->count = 0;
    keep(a, distance - 1, -a->strides[i->a]);
  }
  set(a, i->target, at, 0);
}

/* Entries may have a stride, too, such as counts that are the same; it looks at so many of them. */
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
    keep(a, index, step);
    keep(a, length - 1 - index, -step);
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

/* Whether a comparison holds; as long as it comes out alike. `kind`: as if of the first kind. */
static int compare(struct attempt* a, const struct qd_instruction* i, int kind) {
  const int64_t difference = a->values[i->a] - a->values[i->b];
  const int64_t stride = a->strides[i->a] - a->strides[i->b];
  if (kind == QD_DO_LESS) return keep_negative(a, difference, stride);
  if (kind == QD_DO_LESS_EQUAL) return keep_negative(a, difference - 1, stride);
  if (difference != 0)
    keep_negative(a, difference > 0 ? difference - 1 : difference, stride);
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

/* Whether the sum and the difference of such values are what they seem. Only values from outside of
 * the loop can be larger. */
static inline int are_small(const struct attempt* a, const struct qd_instruction* i) {
  return is_within(a->values[i->a], most_value) && is_within(a->values[i->b], most_value);
}

/* One instruction; the next one, or NULL where the iteration cannot be a run. */
static inline const struct qd_instruction* walk(struct attempt* a, struct qd_walker* walker,
                                                const struct qd_instruction* i) {
  const int64_t *v = a->values, *s = a->strides;
  const struct qd_piece_registers* pieces = walker->program->pieces;
  const struct qd_instruction* target = walker->program->instructions + i->immediate;
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
    case QD_DO_NEXT: /* of a loop inside, with the same few iterations each time */
      if (s[i->a] != 0 || s[i->b] != 0 || ++a->rounds > most_rounds) return NULL;
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
    case QD_DO_MESSAGE: /* several pieces come one by one, from the plain walk */
      add_whole_message(a, i, pieces);
      if ((i + 1)->operation != QD_DO_MESSAGE_END) return NULL;
      break;
    case QD_DO_MESSAGE_END: break;
    case QD_DO_PIECE: set_piece(a, &pieces[i->immediate], add_message(a)); break;
    default: return NULL; /* an exclusive or, or nothing that comes here */
  }
  return i + 1;
}

int64_t qd_walk_run(struct qd_walker* walker, const struct qd_instruction* i,
                    struct qd_event* event) {
  const struct qd_instruction* const end = walker->program->instructions + i->immediate - 1;
  struct attempt a = {.values = walker->registers, .strides = walker->strides, .run = &event->run};
  memset(walker->strides, 0, (size_t)walker->program->register_count * sizeof *walker->strides);
  a.strides[i->a] = 1;
  /* Less than 2^64, as the loop runs on; what values are is checked as they are set. */
  const uint64_t left = (uint64_t)a.values[i->b] - (uint64_t)a.values[i->a];
  a.count = left < (uint64_t)most_stride ? (int64_t)left : most_stride;
  a.run->step_count = a.run->message_count = 0;
  for (i++; i && i != end;) {
    if (a.count < 2) return 0;
    i = walk(&a, walker, i);
  }
  if (!i || a.count < 2) return 0;
  a.run->count = a.count;
  event->kind = a.run->step_count > 0      ? QD_EVENT_RUN
                : a.run->message_count > 0 ? QD_EVENT_PIECE_RUN
                                           : QD_EVENT_END; /* nothing happens */
  return a.count;
}
