/* A plan lists the operations of one rank in one call, in order. It has no MPI type and no address.
 *
 * The builder (builder.h) makes a plan, which is constant from then on. The executor (runtime/execute) follows it.
 * The verifier prints it, and checks the plans of all ranks together.
 *
 * Each part of a message is in one region: a buffer or a block. There are two ways to number regions:
 * - If only the two ends of a message know its lengths (all-to-all, gather, scatter), each block is a region: first
 *   the blocks of the send buffer as the user numbers them, then those of the receive buffer, then the temporary
 *   blocks.
 * - If all ranks know all counts, the receive buffer, the send buffer and each temporary block is a region. Each part
 *   of a message is a range of bytes in one region.
 * Ranks in a plan are those of the private communicator.
 *
 * The builder decides all that can be known before the call: the order of posts, the number of steps in flight, the
 * waits, and which messages use which buffers of the runtime. When a schedule forwards blocks, receives are posted as
 * early as the window allows. Each rank waits in the order of the keys, which both ends of a message share. So a rank
 * that waits for a message has posted all messages before it, and no order of ranks can deadlock.
 *
 * A send depends on the receives of the earlier steps that the program names: those up to the key after `after`, or
 * all of them. It is posted as soon as these receives are complete. The verifier has checked that they bring all that
 * the send forwards. The plan has no list of dependencies: the wait stands before the post in the order of
 * operations.
 *
 * A receive is posted straight into the user's buffer if this rank has not read or written there before. Otherwise it
 * arrives in a message buffer, and is delivered after all earlier reads. Temporary blocks stay in the message buffers
 * in which they arrived. A buffer is used again once the last of its blocks has been overwritten. */
#pragma once

#include "runtime/program/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most steps in flight for a program that does not say how many. docs/measurements.md has the measurements. */
#define QD_DEFAULT_WINDOW 16
/* While a send of at least QD_LONG_SEND bytes is in flight, an allgather posts up to QD_SENT_AHEAD sends early. */
#define QD_LONG_SEND (1 << 12)
#define QD_SENT_AHEAD 4
/* The most bytes of data in a message that begins with lengths. All ranks must use the same value. */
#define QD_EAGER_BYTES (1 << 14)
/* Bytes of a length, and of the word before the lengths: short if the data follows in the same message, else long. */
#define QD_SHORT_WORD 2
#define QD_LONG_WORD 8
static inline int qd_default_window(const struct qd_program* program) {
  return program->window > 0 ? program->window : QD_DEFAULT_WINDOW;
}

enum qd_part_form {
  QD_WHOLE, /* a whole block */
  QD_RANGE  /* bytes of a region */
};

/* A part of a message. */
struct qd_part {
  int32_t region, form;
  int64_t low, high; /* of a range, in bytes; of a whole block: 0 */
};

enum { QD_NO_BUFFER = -1 };

/* What arriving or copied data does to its target: it replaces it, or is the left or right operand of a reduction. */
enum qd_side_of_operator { QD_REPLACES, QD_ON_THE_LEFT, QD_ON_THE_RIGHT };

struct qd_message {
  int32_t peer;
  int32_t buffer;      /* the message buffer that it may need, or QD_NO_BUFFER */
  int32_t count;       /* of parts; 0: an empty message, which is sent nevertheless */
  int32_t first;       /* if there are several: the first part in the plan's array */
  struct qd_part part; /* the only part */
  int64_t bytes;       /* of all parts, if all ranks know all counts */
  uint8_t zero_copy;   /* it has one part, and is posted where that part is */
  uint8_t combines;    /* enum qd_side_of_operator, of the data that arrives */
  /* A receive: this rank has read or written its target before. A send: a copy of its step overwrites its data. */
  uint8_t needs_staging;
};

/* A copy or a reduction of blocks at this rank. */
struct qd_copy {
  struct qd_part from, to;
  int32_t buffer, combines; /* combines: enum qd_side_of_operator, of `from` */
  int needs_staging;        /* it writes where sends may still read */
};

/* The first regions if all ranks know all counts. The next regions are the temporary blocks. */
enum { QD_RECEIVE_REGION, QD_SEND_REGION, QD_TEMPORARY_REGIONS };

enum qd_operation_kind {
  QD_PLAN_MESSAGES,
  QD_PLAN_COPY,     /* copies[what] */
  QD_PLAN_COPY_OWN, /* copies this rank's block to itself */
  QD_PLAN_END
};

/* Numbers of messages: receives and sends whose wait is over, and receives and sends that were posted. */
struct qd_progress {
  int32_t receives_done, sends_done, receives_posted, sends_posted;
};

/* QD_PLAN_MESSAGES waits for `more` receives, then for `more` sends, and then posts `more` receives and sends. A
 * receive is delivered as soon as the wait for it is over. A send that depends on a receive is posted by the
 * operation that waits for the receive, or by a later one. */
struct qd_operation {
  int32_t kind;
  union {
    struct qd_progress more;
    int32_t what;
  };
};

struct qd_messages {
  struct qd_message* all;
  int32_t count, capacity;
};

/* The numbers of blocks and regions. If all ranks know all counts, send_blocks and the own blocks are not used. */
struct qd_regions {
  int32_t send_blocks, receive_blocks, temporaries, count;
  int32_t own_send, own_receive; /* the regions of this rank's block to itself, or -1 */
};

struct qd_plan {
  struct qd_messages receives, sends;
  struct qd_part* parts;
  struct qd_operation* operations;
  struct qd_copy* copies;
  int32_t part_count, part_capacity, operation_count, operation_capacity, copy_count, copy_capacity;
  int32_t buffer_count;
  struct qd_regions regions;
  int is_typed; /* every message is one whole block, which travels with the user's datatype */
  int is_whole; /* it is the plan of a whole call, else of some of its steps */
};

/* The lengths and offsets of the blocks of a buffer, by block of the schedule, if all ranks know them. */
struct qd_extents {
  int32_t blocks;
  int64_t *lengths, *offsets; /* in units of the call; in bytes from the buffer's address */
};

/* The input of the builder. real[r] and remote_real[r] are the ranks in the private communicator of rank r of the
 * schedule. user[b] is the user's number of the schedule's block b. */
struct qd_plan_input {
  const struct qd_program* program;
  const struct qd_tables* tables;
  const struct qd_context* context;
  const int *real, *remote_real, *user;
  const struct qd_extents* known[2]; /* by QD_PIECE_SEND and _RECEIVE */
  int own;                           /* this rank in the private communicator */
  int window;                        /* steps in flight, at least 1 */
  int has_block_size;                /* the user chose the block size */
  int keeps_steps;                   /* the keys of all steps are kept until the plan ends */
  int64_t most_iterations;           /* the result of qd_most_iterations() for another rank, or 0 */
};

void qd_plan_destroy(struct qd_plan* plan);

/* Returns whether the region is a temporary block. Only for a plan in which only the two ends know the lengths. */
static inline int qd_is_temporary(const struct qd_plan* plan, int32_t region) {
  return region >= plan->regions.send_blocks + plan->regions.receive_blocks;
}

static inline const struct qd_part* qd_parts_of(const struct qd_plan* plan,
                                                const struct qd_message* m) {
  return m->count == 1 ? &m->part : plan->parts + m->first;
}

/* Returns whether a message of several parts is posted with a datatype that describes them. Otherwise it is packed.
 * Only for a plan in which all ranks know all counts. */
static inline int qd_is_described(const struct qd_message* m) {
  enum { MOST_PACKED = 1 << 18 };
  return m->count > 1 && m->bytes > MOST_PACKED && !m->needs_staging;
}

static inline enum qd_side_of_operator qd_side_of_message(unsigned flags) {
  return flags & QD_MESSAGE_LEFT    ? QD_ON_THE_LEFT
         : flags & QD_MESSAGE_RIGHT ? QD_ON_THE_RIGHT
                                    : QD_REPLACES;
}

static inline enum qd_side_of_operator qd_side_of_event(enum qd_event_kind kind) {
  return kind == QD_EVENT_REDUCE_LEFT    ? QD_ON_THE_LEFT
         : kind == QD_EVENT_REDUCE_RIGHT ? QD_ON_THE_RIGHT
                                         : QD_REPLACES;
}

#ifdef __cplusplus
}
#endif
