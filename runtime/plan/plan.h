/* A plan: the operations of one rank in one call, in their order. It has no MPI type and no address.
 *
 * The builder (builder.h) makes a plan; it is constant from then on. The executor (runtime/exec) follows it,
 * print.h prints it, check.h checks the plans of all ranks together.
 *
 * A region is where something lies. Where the two ends of a message alone know its lengths (all-to-all,
 * gather, scatter), each block has one: those of the send buffer as the user numbers them, then those of
 * the receive buffer, then the temporary blocks. Where all ranks know all counts, the receive buffer
 * is a region, the send buffer one, and each temporary block, and every part of a message is a range of
 * bytes in one of them. Ranks are those of the private communicator.
 *
 * The builder decides everything that can be known before the call: in which order receives and sends
 * are posted, how many steps are in flight, what is waited for when, which messages go through
 * buffers of the runtime and which buffer that is. Where blocks are sent on, receives are posted as early
 * as the window allows; a send is posted as soon as what it waits for has been waited for. Waiting is in
 * the order of the keys, which both ends of a message share: so whoever waits for a message has posted
 * all that comes before it, and no order of
 * ranks can block.
 *
 * A receive is posted straight into the user's buffer where nothing has read or written what it
 * will write; else it arrives in a message buffer and is put away once all reads before it are
 * over. In a call in place the block that a receive overwrites is saved first where it is still to be
 * sent. Temporary blocks stay in the message buffers in which they arrived, which are used again once
 * the last of them has been overwritten. */
#ifndef QUADRILLE_RUNTIME_PLAN_PLAN_H_
#define QUADRILLE_RUNTIME_PLAN_PLAN_H_

#include "runtime/program/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps in flight where nobody says otherwise: measured, see docs/measurements.md. */
#define QD_DEFAULT_WINDOW 16
#define QD_MAX_WINDOW (1 << 16)

enum qd_part_form {
  QD_WHOLE,
  QD_RANGE, /* in bytes */
  QD_SAVED  /* a whole block, sent from where it was saved */
};

/* Of a message. */
struct qd_part {
  int32_t region, form;
  int64_t low, high; /* of a range, in bytes; of a whole block: 0 */
};

enum { QD_NO_BUFFER = -1 };

struct qd_message {
  int32_t peer;
  int32_t buffer;      /* the message buffer that it may need, or QD_NO_BUFFER */
  int32_t count;       /* of parts; 0: an empty message, which travels for its own sake */
  int32_t first;       /* of several parts, in the plan's array */
  struct qd_part part; /* the only one */
  int64_t bytes;       /* of all parts, where all ranks know all counts */
  uint8_t zero_copy; /* it has one part, and nothing is in the way of posting it where that lies */
  uint8_t
      needs_staging; /* it arrives where this rank has read or written before; a send: a copy of its step writes there */
  uint8_t combines; /* a side: what arrives is combined with what is there */
};

/* What is combined stands on that side of the operator. */
enum qd_side_of_operator { QD_REPLACES, QD_ON_THE_LEFT, QD_ON_THE_RIGHT };

/* At this rank. */
struct qd_copy {
  struct qd_part from, to;
  int32_t buffer, combines;
  int needs_staging; /* it writes where sends may still read */
};

/* The regions where all ranks know all counts: these, then the temporary blocks. */
enum { QD_RECEIVE_REGION, QD_SEND_REGION, QD_TEMPORARY_REGIONS };

enum qd_operation_kind {
  QD_PLAN_MESSAGES,
  QD_PLAN_COPY,     /* copies[what] */
  QD_PLAN_COPY_OWN, /* this rank's block of an all-to-all to itself */
  QD_PLAN_SAVE,     /* the block at region `what` of the send buffer, in a buffer */
  QD_PLAN_END
};

/* Messages that are waited for and posted, in their order. */
struct qd_progress {
  int32_t receives_done, sends_done, receives_posted, sends_posted;
};

/* So many messages more, in the order that stands there; what has arrived is put away when it has been
 * waited for. */
struct qd_operation {
  int32_t kind;
  union {
    struct qd_progress more;
    struct {
      int32_t what, buffer;
    };
  };
};

struct qd_messages {
  struct qd_message* all;
  int32_t count, capacity;
};

struct qd_plan {
  struct qd_messages receives, sends;
  struct qd_part* parts;
  struct qd_operation* operations;
  struct qd_copy* copies;
  int32_t part_count, part_capacity, operation_count, operation_capacity, copy_count, copy_capacity;
  int32_t most_parts, buffer_count;
  /* Where lengths are known to both ends alone, temporary blocks follow the regions of so many blocks. */
  int32_t send_blocks, receive_blocks, temporaries, regions;
  int32_t own_send, own_receive; /* the regions of this rank's block to itself; or -1 */
  int is_typed; /* every message is one whole block, which travels as what the user's types say */
  int is_whole; /* the plan of a whole call, else of some steps in a row */
  int lacks_memory; /* only how many bytes come, from where and to where, is right */
};

/* The blocks of a buffer of which all ranks know the lengths, by block of the schedule. */
struct qd_extents {
  int32_t blocks;
  int64_t *lengths, *offsets; /* in units of the call; in bytes from the buffer's address */
};

/* What a plan is made of. The ranks of `real` and `remote_real` are those of the private communicator, by rank in
 * the schedule; `user` holds, by block of the schedule, the user's number of the block. */
struct qd_plan_input {
  const struct qd_program* program;
  const struct qd_tables* tables;
  const struct qd_context* context;
  const int *real, *remote_real, *user;
  const struct qd_extents* known[2]; /* by QD_PIECE_SEND and _RECEIVE */
  int own;                           /* this rank in the private communicator */
  int window;                        /* steps in flight, at least 1 */
  int has_block_size;                /* the user gave one */
  int keeps_steps;                   /* the keys of steps stay known until the plan ends */
};

void qd_plan_destroy(struct qd_plan* plan);

/* Whether a block of its own memory lies there, where the lengths are known to both ends alone. */
static inline int qd_is_temporary(const struct qd_plan* plan, int32_t region) {
  return region >= plan->send_blocks + plan->receive_blocks;
}

static inline const struct qd_part* qd_parts_of(const struct qd_plan* plan,
                                                const struct qd_message* m) {
  return m->count == 1 ? &m->part : plan->parts + m->first;
}

/* Where all ranks know all counts: whether a message goes from, or to, where its several parts lie, by a datatype;
 * shorter ones are copied together. */
static inline int qd_is_described(const struct qd_message* m) {
  enum { COPIED_TOGETHER = 1 << 18 };
  return m->count > 1 && m->bytes > COPIED_TOGETHER && !m->needs_staging;
}

/* Doubles an array. 0 where memory ran out; then it is as it was. */
int qd_grow(void** array, int32_t* room, size_t size);
/* Makes it as long as that, where it is shorter; the same. */
int qd_lengthen(void** array, int32_t* room, int64_t length, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_PLAN_PLAN_H_ */
