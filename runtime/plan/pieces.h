/* Where pieces lie whose length this rank knows: checked, and noted as read or written. For build.c alone, which
 * asks it of every piece. */
#ifndef QUADRILLE_RUNTIME_PLAN_PIECES_H_
#define QUADRILLE_RUNTIME_PLAN_PIECES_H_

#include "runtime/plan/builder.h"

/* Whether nothing has accessed those bytes; from now on something has. */
static inline int access(struct qd_accessed* t, int64_t low, int64_t high) {
  if (t->low == t->high) {
    *t = (struct qd_accessed){low, high};
    return 1;
  }
  const int is_new = high <= t->low || t->high <= low;
  if (low < t->low) t->low = low;
  if (high > t->high) t->high = high;
  return is_new;
}

/* What is done with a piece. */
enum use { READS, WRITES, REDUCES_INTO, COMBINES_WITH };

/* A block of known length. */
struct known_block {
  int32_t region;
  int64_t length, offset; /* in units; in bytes */
  struct qd_accessed* accessed;
};

static inline void set_length(struct qd_builder* b, int64_t block, int64_t length) {
  struct qd_temporary* temporary = &b->temporaries[block];
  int64_t bytes;
  temporary->length = length;
  if (length > QD_MAX_COUNT || __builtin_mul_overflow(length, b->unit, &bytes))
    return qd_builder_refuse(b, "it names a range that is not in its block");
  if (bytes > temporary->capacity) temporary->capacity = bytes;
}

static inline int find_temporary(struct qd_builder* b, const struct qd_piece* piece, enum use use,
                                 struct known_block* found) {
  const int64_t block = piece->block;
  if ((uint64_t)block >= (uint64_t)b->plan->temporaries) {
    qd_builder_refuse(b, "it names a temporary block that is not there");
    return 0;
  }
  const struct qd_temporary* temporary = &b->temporaries[block];
  /* A range may be of what is yet to be written; it makes the block that long, unless it is empty. */
  const int64_t end = piece->low == piece->high ? 0 : piece->high;
  if (use == WRITES && piece->ranged && end > temporary->length) set_length(b, block, end);
  const int64_t length = temporary->length;
  *found = (struct known_block){QD_TEMPORARY_REGIONS + (int32_t)block, length, 0,
                                &b->accessed[b->input.known[QD_PIECE_RECEIVE]->blocks + block]};
  if (length < 0) qd_builder_refuse(b, "it uses a temporary block that holds nothing");
  return length >= 0;
}

/* Where a piece lies. In place, what stands for the send buffer is the receive buffer, in which an
 * allgather's contribution lies before the call begins. */
static inline int find_known(struct qd_builder* b, const struct qd_piece* piece, enum use use,
                             struct known_block* found) {
  int buffer = piece->buffer;
  int64_t block = piece->block;
  if (buffer == QD_PIECE_TEMPORARY) return find_temporary(b, piece, use, found);
  if (buffer == QD_PIECE_SEND && b->in_place && block == 0) {
    buffer = QD_PIECE_RECEIVE;
    block = b->own_block;
  }
  const struct qd_extents* known = b->input.known[buffer];
  if ((uint64_t)block >= (uint64_t)known->blocks || (buffer == QD_PIECE_SEND && use != READS)) {
    qd_builder_refuse(b, "it names a block that is not there");
    return 0;
  }
  found->region = buffer == QD_PIECE_RECEIVE ? QD_RECEIVE_REGION : QD_SEND_REGION;
  found->length = known->lengths[block];
  found->offset = known->offsets[block];
  found->accessed = buffer == QD_PIECE_RECEIVE ? &b->accessed[block] : NULL;
  return 1;
}

/* The bytes of a piece, checked; whether they were accessed before. */
static inline struct qd_part find_part(struct qd_builder* b, const struct qd_piece* piece,
                                       enum use use, int* is_new) {
  const struct qd_part nothing = {0, QD_RANGE, 0, 0};
  struct known_block block;
  *is_new = 1;
  if (!find_known(b, piece, use, &block)) return nothing;
  /* An empty range of a temporary block may be anywhere. */
  const int is_nowhere = piece->ranged && piece->low == piece->high && piece->low > 0 &&
                         block.region >= QD_TEMPORARY_REGIONS;
  const int64_t first = piece->ranged && !is_nowhere ? piece->low : 0;
  const int64_t end = is_nowhere ? 0 : piece->ranged ? piece->high : block.length;
  if (first < 0 || first > end || end > block.length) {
    qd_builder_refuse(b, "it names a range that is not in its block");
    return nothing;
  }
  const int64_t low = block.offset + first * b->unit, high = block.offset + end * b->unit;
  if (low < high && block.accessed) *is_new = access(block.accessed, low, high);
  return (struct qd_part){block.region, QD_RANGE, low, high};
}

#endif /* QUADRILLE_RUNTIME_PLAN_PIECES_H_ */
