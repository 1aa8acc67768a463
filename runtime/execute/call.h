/* A call: a plan, and the memory and blocks that the executor uses while it follows the plan.
 *
 * run.c makes, begins and ends calls. executor.c follows the operations. messages.c posts and delivers every message
 * that is not one block at one address, and copies and reduces blocks.
 *
 * How blocks travel. If only the two ends of a message know its lengths, and every message is one block, a block
 * travels with the user's datatype. Otherwise blocks travel as bytes: packed, or in a reduction as the elements are
 * in memory. A block is packed when it leaves the send buffer, and unpacked when it reaches the receive buffer.
 *
 * Lengths. If the receiver does not know how long blocks are, each message begins with their lengths: a word that
 * says where the data is, and one length for each part. Up to QD_EAGER_BYTES of data follow in the same message.
 * Longer data follows in a second message with a tag of its own.
 *
 * Errors. A call does not stop at an error: it serves the other ranks and returns its first error. A rank that lacks
 * blocks, since messages failed, sends empty messages from then on. A rank that expects bytes and gets none lacks
 * them too. So no rank waits for ever, and no rank that misses a byte returns MPI_SUCCESS. If memory runs out, the
 * job ends. */
#pragma once

#include <limits.h>
#include <string.h>

#include "runtime/execute/binding.h"
#include "runtime/plan/builder.h"

enum qd_lengths {
  QD_LENGTHS_KNOWN, /* both ends know them */
  QD_LENGTHS_AHEAD, /* messages carry the lengths and the blocks */
  QD_LENGTHS_ALONE  /* messages carry the lengths, but not the blocks */
};

/* Where the data of a received message is. */
enum qd_arrival {
  QD_DATA_INLINE,   /* in the buffer, after its lengths */
  QD_DATA_SEPARATE, /* in the buffer, from its beginning */
  QD_DATA_ZERO_COPY /* in the user's buffer */
};

/* The state of a message during a call. */
struct qd_transfer {
  MPI_Request request, data; /* data: of the second message, whose lengths are in the first */
  int64_t bytes;             /* of all parts, if the plan does not know them */
  uint8_t has_arrived;       /* the message has arrived and is not empty */
  uint8_t arrival;           /* enum qd_arrival */
  uint8_t zero_copy;         /* it is received into the user's buffer and needs no delivery */
};

/* A message of the plan, and its transfer. */
struct qd_posting {
  const struct qd_message* message;
  struct qd_transfer* transfer;
};

/* A block whose two ends disagree on its length. */
struct qd_mismatch {
  int source; /* rank in the communicator; -1: there is none */
  int64_t sent, expected;
};

/* The blocks of a call, and their datatypes. */
struct qd_call_data {
  struct qd_side send, receive; /* in place, `send` is `receive` */
  struct qd_block* blocks;      /* by region; in elements if the plan is typed, else in bytes */
  int32_t block_capacity;
  int64_t each; /* the length of every block, if all transfers have this one; else -1 */

  int send_is_contiguous, receive_is_contiguous; /* memory holds the packed form */
  int send_zero_copy, receive_zero_copy;         /* a zero-copy message uses the user's buffer */
  MPI_Datatype send_type, receive_type;          /* the datatypes of such messages */

  /* Only for a reduction. */
  MPI_Datatype type; /* of the elements */
  MPI_Op operation;
  int commutes;
};

/* The memory of a call. */
struct qd_call_memory {
  struct qd_buffer* buffers; /* by number in the plan */
  struct qd_buffer aside;    /* a copy of the blocks that an all-to-all in place sends */
  int32_t buffer_count;
  struct qd_buffer* temporaries; /* temporary blocks, if all ranks know all counts */
  int32_t temporary_capacity;
  struct qd_transfer *receiving, *sending; /* by message of the plan */
  int64_t* lengths_of_parts; /* by part of the plan's array, if the plan does not know them */
  int32_t receiving_capacity, sending_capacity, part_capacity;
  int has_long;                       /* a buffer or temporary block has more than QD_KEPT bytes */
  _Alignas(16) char scratch[1 << 12]; /* for copies of operands of a reduction */
};

/* An action of the executor, with one message or copy of the plan. */
struct qd_action {
  uint8_t kind;     /* executor.c names them */
  uint8_t combines; /* enum qd_side_of_operator; of a send: how many of its operation are left */
  uint8_t is_late;  /* its operation waits for sends, and then posts some */
  int32_t number;   /* of the message, copy or operation in the plan */
  int32_t peer;     /* of a message; of a copy or delivery: the number of elements */
  int32_t region;   /* of the message or of the target; of RECEIVE_STAGED: the buffer */
  int64_t low;      /* the first byte in the region */
  int64_t bytes;
};

/* The executor's position in the plan. */
struct qd_position {
  const struct qd_action* next;
  struct qd_transfer* receive_transfer; /* of the next receive to post; set only if it is used */
  struct qd_transfer* next_to_read;     /* the next receive whose lengths are read */
};

/* Sends that are posted before their turn, while an earlier send of an allgather is in flight. */
struct qd_early_sends {
  const struct qd_action* next;
  int32_t posted;
};

/* The errors of a call. */
struct qd_outcome {
  int error;   /* the first MPI error, or MPI_SUCCESS */
  int is_lost; /* blocks are missing */
  struct qd_mismatch mismatch;
};

struct qd_call {
  struct qd_binding* binding;
  struct qd_builder builder;
  struct qd_plan plan;
  struct qd_action* actions;
  int32_t action_capacity;
  int in_place, whole; /* whole: see qd_call_open */
  int is_persistent;   /* has a tag of its own, and keeps its memory */
  int is_planned;      /* there is a plan of the whole call for these counts */
  int is_ready;        /* the last call can be made again without qd_call_begin */
  int is_watched;      /* QUADRILLE_STALL is set: long waits are reported */
  int is_observed;     /* it is watched, or may be traced */
  int sends_early;     /* sends may be posted before their turn */
  enum qd_lengths lengths;
  int tag, length_tag;
  MPI_Comm comm;
  int (*isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  MPI_Status status, *asked; /* asked: &status if an empty message tells of lost blocks */
  struct qd_call_data data;
  struct qd_call_memory memory;
  struct qd_position at;
  struct qd_early_sends early;
  struct qd_outcome outcome;
  struct qd_traced_call trace;
};

/* Takes memory and makes the plan. If the plan depends on counts, makes that of an empty call. `whole`: see
 * qd_builder_open. Returns NULL, qd_no_memory, or a text that says what is wrong with the schedule. */
const char* qd_call_open(struct qd_call* call, struct qd_binding* binding, int whole);
/* Adapts an open call after the root or the tables changed. Takes only memory that is missing. Returns as
 * qd_call_open. After a failure the call must be reopened before it is made. */
const char* qd_call_reopen(struct qd_call* call);
/* Frees the call; NULL is allowed. */
void qd_call_destroy(struct qd_call* call);
/* Only if the two ends alone know lengths: sets address and length of each block. Returns NULL or an error text. */
const char* qd_call_load(struct qd_call* call, const struct qd_side* send,
                         const struct qd_side* receive, enum qd_lengths lengths, int* error_class);
/* Plans the whole walk and takes the memory. If one plan is enough, the call keeps it. Returns as qd_call_open. */
const char* qd_call_plan(struct qd_call* call);
/* Takes buffers for all messages of the plan, whose lengths are known. Returns 0 if memory ran out. */
int qd_call_reserve(struct qd_call* call);
/* Gives back the buffers of all messages. */
void qd_call_release(struct qd_call* call);
/* Begins a call, but posts nothing. */
void qd_call_begin(struct qd_call* call);
/* Posts and completes all messages, after qd_call_begin. */
void qd_call_finish(struct qd_call* call);
/* Makes the last call again with the current blocks. Returns as qd_call_report. */
int qd_call_again(struct qd_call* call, MPI_Comm comm);
/* Returns the MPI error code of a call that is over. Calls the error handler first if there is an error. */
int qd_call_report(const struct qd_call* call, MPI_Comm comm);

/* executor.c. Makes the list of actions from the plan. If all ranks know all counts, the buffers must have been
 * reserved. Returns 0 if memory ran out. */
int qd_call_list(struct qd_call* call);
/* Follows the plan to its end, or only to the first wait if `waits` is 0. */
void qd_call_progress(struct qd_call* call, int waits);

/* messages.c. These post any message. */
void qd_message_receive(struct qd_call* call, struct qd_posting posting);
void qd_message_send(struct qd_call* call, struct qd_posting posting);
/* Waits for a request while lengths travel. Meanwhile it reads the lengths of messages that arrive, in order, and
 * receives their data: the peer may need that to proceed. Returns an MPI error code. */
int qd_wait_and_read(struct qd_call* call, MPI_Request* request);
/* Copies or reduces a message that has arrived into its blocks, if it is in a buffer. */
void qd_message_deliver(struct qd_call* call, struct qd_posting posting);
/* Returns the bytes of a buffer in which a message that begins with its lengths fits. */
int64_t qd_lengths_capacity(const struct qd_message* message);

/* stall.c. In a watched call, waits until one of two requests is complete; `other` may be null. Reports a long wait
 * for `request`, which belongs to a message of the plan. Completes neither. */
void qd_watch(const struct qd_call* call, const MPI_Request* request, MPI_Request other);
/* Waits until a request is complete: a message with counts between groups. Reports a long wait. */
void qd_watch_counts(const struct qd_binding* binding, MPI_Request request, int peer,
                     int is_receive);

/* messages.c, too. Makes a buffer at least `size` bytes large; its contents are lost. Returns 0 if memory ran out. */
int qd_reserve_buffer(struct qd_call* call, int buffer, int64_t size);
/* Copies this rank's block to itself from the send buffer to the receive buffer. */
void qd_copy_own(struct qd_call* call);
/* Takes memory for the temporary blocks of the plan. They keep their contents. Returns 0 if memory ran out. */
int qd_make_temporaries(struct qd_call* call);
/* Copies or reduces a block or a range. A temporary block may refer to its source instead of getting a copy. */
void qd_copy(struct qd_call* call, const struct qd_copy* copy);
/* Returns the bytes of the packed form of a block of the user's buffers. */
int64_t qd_packed_size(const struct qd_call* call, int region);
/* In an all-to-all in place, copies the blocks to be sent, since receives overwrite them. Else does nothing. */
void qd_set_aside(struct qd_call* call);

/* Returns whether the message is posted with a datatype that describes its parts. */
static inline int qd_uses_type_of_parts(const struct qd_call* call,
                                        const struct qd_message* message) {
  return call->builder.traits.has_global_counts && qd_is_described(message);
}

static inline void qd_call_check(struct qd_call* call, int code) {
  if (code != MPI_SUCCESS && call->outcome.error == MPI_SUCCESS) call->outcome.error = code;
}

static inline int qd_call_is_right(const struct qd_call* c) {
  return c->outcome.error == MPI_SUCCESS && !c->outcome.is_lost && c->outcome.mismatch.source < 0;
}

/* Reduces `count` elements at `from` into those at `to`. `side`: where `from` stands. May overwrite `from`. */
static inline void qd_combine(struct qd_call* call, int side, char* from, char* to, int count,
                              int64_t bytes) {
  const int is_right = side == QD_ON_THE_RIGHT && !call->data.commutes;
  qd_call_check(call, PMPI_Reduce_local(is_right ? to : from, is_right ? from : to, count,
                                        call->data.type, call->data.operation));
  if (is_right) memcpy(to, from, (size_t)bytes);
}

/* Notes that blocks are missing. From now on the call sends only empty messages. */
static inline void qd_call_lose(struct qd_call* call, int code) {
  qd_call_check(call, code);
  call->outcome.is_lost = 1;
  call->data.send_zero_copy = 0;
}

static inline struct qd_posting qd_receive_of(const struct qd_call* call, int32_t number) {
  return (struct qd_posting){&call->plan.receives.all[number], &call->memory.receiving[number]};
}

static inline struct qd_posting qd_send_of(const struct qd_call* call, int32_t number) {
  return (struct qd_posting){&call->plan.sends.all[number], &call->memory.sending[number]};
}

/* Returns the receive that has this transfer. */
static inline struct qd_posting qd_received_by(const struct qd_call* call,
                                               struct qd_transfer* transfer) {
  return qd_receive_of(call, (int32_t)(transfer - call->memory.receiving));
}

/* Returns the bytes of all parts, once they are known. */
static inline int64_t qd_bytes_of(const struct qd_call* call, struct qd_posting posting) {
  return call->builder.traits.has_global_counts ? posting.message->bytes : posting.transfer->bytes;
}

static inline struct qd_block qd_block_at(const struct qd_call* call, const struct qd_part* part) {
  struct qd_block block = call->data.blocks[part->region];
  if (part->form == QD_RANGE) {
    block.address += part->low;
    block.count = part->high - part->low;
  }
  return block;
}

/* Returns the bytes of a message whose lengths are known. */
static inline int64_t qd_message_bytes(const struct qd_call* call, struct qd_posting p) {
  const struct qd_message* m = p.message;
  if (m->count == 0) return 0;
  return call->plan.is_typed ? qd_packed_size(call, m->part.region) : qd_bytes_of(call, p);
}

/* Notes that a receive of a traced call is complete. */
static inline void qd_trace_received(struct qd_call* call, struct qd_posting p) {
  if (!call->trace.part) return;
  const int64_t number = p.transfer - call->memory.receiving;
  qd_trace_completed(&call->trace, &call->trace.receives[number], qd_message_bytes(call, p));
}
