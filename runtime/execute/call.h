/* A call: a plan with the memory and the blocks that it is followed with.
 *
 * run.c makes and ends calls; executor.c follows the operations; messages.c posts and puts away whatever is not one block at one
 * address; blocks.c copies blocks.
 *
 * Blocks of which the two ends of a message alone know how long they are travel as what the user's types
 * say where each is a message of its own; else, and where all ranks know all counts, as bytes: of their
 * packed forms, or, where they are combined, of their elements in memory. A block is packed when it
 * leaves the send buffer and unpacked when it reaches the receive buffer.
 *
 * Where this rank does not know how long blocks are that come, each message begins with their lengths: a
 * word that says how it goes on, then a length for each part. Up to QD_EAGER_BYTES of data follow
 * in the same message, so that a step of small blocks is one message; longer data follows in a second
 * one on a tag of its own.
 *
 * Errors do not stop a call: the other ranks are served, and the first error is returned. A rank that
 * lacks blocks, because memory ran out or messages failed, sends empty messages from then on; whoever
 * expects bytes and gets none lacks them, too. So no rank waits for ever, and none that misses a byte
 * returns MPI_SUCCESS. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_CALL_H_
#define QUADRILLE_RUNTIME_EXECUTE_CALL_H_

#include <limits.h>
#include <string.h>

#include "runtime/internal.h"
#include "runtime/plan/builder.h"

/* The same at all ranks. */
enum { QD_EAGER_BYTES = 1 << 14 };

enum qd_lengths {
  QD_LENGTHS_KNOWN,
  QD_LENGTHS_AHEAD, /* they travel with the blocks */
  QD_LENGTHS_ALONE  /* they travel, and no blocks */
};

/* Memory that grows. */
struct qd_buffer {
  char* address;
  int64_t size;
};

/* How the data of a received message came. */
enum qd_arrival {
  QD_DATA_INLINE,   /* behind its lengths */
  QD_DATA_SEPARATE, /* in its buffer, without lengths */
  QD_DATA_ZERO_COPY
};

/* What changes of a message while its call runs. */
struct qd_transfer {
  MPI_Request request, data; /* data: of what follows the lengths */
  int64_t bytes;             /* of all parts, where the plan does not know them */
  uint8_t has_arrived;       /* something has arrived, and how: */
  uint8_t arrival;
  uint8_t zero_copy; /* received where it belongs: when it has arrived, nothing is left to do */
};

/* A message of the plan, and its transfer. */
struct qd_posting {
  const struct qd_message* message;
  struct qd_transfer* transfer;
};

/* A block that is not as long as its receiver says. */
struct qd_mismatch {
  int source; /* rank in the communicator; -1: there is none */
  int64_t sent, expected;
};

struct qd_call {
  struct qd_binding* binding;
  struct qd_builder builder;
  struct qd_plan plan;
  int in_place, whole; /* as it was opened */
  int is_planned;      /* the plan is the whole call's, for these counts */
  int is_watched;      /* by QUADRILLE_STALL */

  struct qd_side send, receive; /* in place, `send` is `receive` */
  struct qd_block* blocks;      /* by region; of elements where the plan is typed, else of bytes */
  struct qd_buffer* buffers;    /* by number in the plan */
  int32_t buffer_count;
  struct qd_buffer* temporaries; /* where all ranks know all counts */
  MPI_Datatype type;             /* of the elements that are combined, and by what; */
  MPI_Op operation;
  int commutes; /* it does */
  int is_packed; /* elements travel, and are kept, in packed form: in memory they reach into each other */
  int send_is_contiguous, receive_is_contiguous; /* in memory as it is packed */
  int send_zero_copy, receive_zero_copy; /* a straight message is posted from there, or there */
  MPI_Datatype send_type, receive_type;  /* as which it travels */
  int lacks_memory; /* where all ranks know all counts: nothing is kept of what comes */
  /* Receives before that one keep their data; the data of others is received when it is waited for. */
  const struct qd_transfer* kept;
  int64_t each; /* the length of all blocks, which the transfers have; or -1 */

  enum qd_lengths lengths;
  int tag, length_tag;
  MPI_Comm comm;
  int (*isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  MPI_Status status, *asked;               /* asked: &status, where empty messages mean something */
  struct qd_transfer *receiving, *sending; /* by message of the plan */
  int64_t* lengths_of_parts; /* where the plan does not know them, by part of the plan's array */
  int32_t block_capacity, temporary_capacity, receiving_capacity, sending_capacity,
      part_capacity; /* how long arrays are */

  const struct qd_operation* next;
  /* The messages to post next, and their transfers. */
  const struct qd_message *next_receive, *next_send;
  struct qd_transfer *receive_transfer, *send_transfer;
  struct qd_transfer *receive_to_wait, *send_to_wait; /* to wait for next */
  struct qd_transfer* next_to_read;                   /* the next receive to read the lengths of */
  /* What is sent before its turn: whether anything is; the operation whose sends are next, the next of its
   * receives, and how many have arrived; and how many sends were posted. */
  int sends_early;
  const struct qd_operation* ahead;
  struct qd_transfer* ahead_receive;
  int32_t ahead_received, sent_ahead;
  const struct qd_message* message_to_wait; /* that of `send_to_wait` */
  _Alignas(
      16) char scratch[1 << 12]; /* where bytes go that are not kept; a part of what is combined */
  int error;                     /* the first MPI error, or MPI_SUCCESS */
  int is_lost;                   /* blocks are missing */
  struct qd_mismatch mismatch;
};

/* Takes memory and makes the plan, or, where it follows the counts of a call, tries that of one without
 * any. `whole`: see qd_builder_open. Returns NULL, or what is wrong: qd_no_memory, or with
 * the schedule. */
const char* qd_call_open(struct qd_call* call, struct qd_binding* binding, int in_place, int whole);
/* The same of a call that was opened before, after the root or the tables changed. Takes only the memory that is
 * lacking; where there is none, the call is to be reopened before it is made. */
const char* qd_call_reopen(struct qd_call* call);
/* Gives back what it has, and itself; NULL is none. */
void qd_call_destroy(struct qd_call* call);
/* Where blocks lie of which the two ends alone know how long they are, and how long. Returns NULL, or what is wrong, with its
 * class. */
const char* qd_call_load(struct qd_call* call, const struct qd_side* send,
                         const struct qd_side* receive, enum qd_lengths lengths, int* error_class);
/* Plans all of the schedule's walk, of which a plan is kept that is one, and takes the memory that it needs. The
 * same as of opening. */
const char* qd_call_plan(struct qd_call* call);
/* Buffers for all that the plan needs, of which all lengths are known; 0 where memory ran out. */
int qd_call_reserve(struct qd_call* call);
/* Gives back what buffers have. */
void qd_call_release(struct qd_call* call);
/* Begins a call, up to where it would wait, and goes through the rest. `lacks_memory`: this rank brings
 * none of its blocks. */
void qd_call_begin(struct qd_call* call, int lacks_memory);
void qd_call_finish(struct qd_call* call);
/* What is wrong with the schedule, found in a call, as an error; or that this library does not serve it. */
int qd_broken_error(MPI_Comm comm, const char* error);
/* What it came to: an MPI error code, after the communicator's handler was called. */
int qd_call_report(const struct qd_call* call, MPI_Comm comm);

/* executor.c: goes on in the plan up to its end, or up to where it would wait. */
void qd_call_progress(struct qd_call* call, int waits);

/* messages.c: posts any message. */
void qd_message_receive(struct qd_call* call, struct qd_posting posting);
void qd_message_send(struct qd_call* call, struct qd_posting posting);
/* Waits, where lengths travel. Who receives what this rank sends may itself wait for something to go: so
 * the beginnings of messages that come are read meanwhile, in their order, and their data is awaited.
 * Returns an MPI error code. */
int qd_wait_and_read(struct qd_call* call, MPI_Request* request);
/* Puts a message away that has arrived. */
void qd_message_deliver(struct qd_call* call, struct qd_posting posting);
/* A buffer in which a message that begins with its lengths can arrive without data that follows apart. */
int64_t qd_lengths_capacity(const struct qd_message* message);

/* stall.c: in a call that is watched, waits until the request, or the other one where that is not null, is over; where that
 * takes long, it says what `request` waits for, which is of a message of the plan or of data that follows it. Both are
 * still to be waited for. */
void qd_watch(const struct qd_call* call, const MPI_Request* request, MPI_Request other);

/* blocks.c: makes a buffer at least that large, without what was there; 0 where memory ran out, which is
 * noted. */
int qd_reserve_buffer(struct qd_call* call, int buffer, int64_t size, char** address);
/* Copies the parts of a message together; returns where they end. */
char* qd_gather_parts(struct qd_call* call, const struct qd_message* message, char* to);
/* Puts the parts of a message to where they belong. A temporary block stays where it is. */
void qd_scatter_parts(struct qd_call* call, struct qd_posting posting, char* from);
/* What did not come is not sent on. */
void qd_forget_parts(struct qd_call* call, const struct qd_message* message);
/* This rank's block to itself. */
void qd_copy_own(struct qd_call* call);
/* Memory for the temporary blocks of the plan, which keep what they hold; 0 where memory ran out. */
int qd_make_temporaries(struct qd_call* call);
/* A block to a temporary block, which may just stay where it is, or one to the receive buffer; or a range
 * to another, or combined with it. */
void qd_copy(struct qd_call* call, const struct qd_copy* copy);
/* All of the block at a region of the user's buffers, whatever its type, in bytes. */
int64_t qd_packed_size(const struct qd_call* call, int region);
/* The block at a region of the send buffer, from where it may be overwritten. */
void qd_save(struct qd_call* call, int region, int buffer);

/* Whether the message is posted with a datatype of its parts. */
static inline int qd_uses_type_of_parts(const struct qd_call* call,
                                        const struct qd_message* message) {
  return call->builder.has_global_counts && qd_is_described(message);
}

static inline void qd_call_check(struct qd_call* call, int code) {
  if (code != MPI_SUCCESS && call->error == MPI_SUCCESS) call->error = code;
}

/* From now on, sends are empty. */
static inline void qd_call_lose(struct qd_call* call, int code) {
  qd_call_check(call, code);
  call->is_lost = 1;
  call->send_zero_copy = 0;
}

/* There is no memory for that receive, and so none for those after it, whose order is the senders'. */
static inline void qd_keep_nothing(struct qd_call* call, const struct qd_transfer* receive) {
  if (receive < call->kept) call->kept = receive;
  call->receive_zero_copy = 0;
}

static inline struct qd_posting qd_receive_of(const struct qd_call* call, int32_t number) {
  return (struct qd_posting){&call->plan.receives.all[number], &call->receiving[number]};
}

static inline struct qd_posting qd_send_of(const struct qd_call* call, int32_t number) {
  return (struct qd_posting){&call->plan.sends.all[number], &call->sending[number]};
}

/* The receive whose transfer that is. */
static inline struct qd_posting qd_received_by(const struct qd_call* call,
                                               struct qd_transfer* transfer) {
  return qd_receive_of(call, (int32_t)(transfer - call->receiving));
}

/* Of all parts; where all ranks know all counts, the plan says it. */
static inline int64_t qd_bytes_of(const struct qd_call* call, struct qd_posting posting) {
  return call->builder.has_global_counts ? posting.message->bytes : posting.transfer->bytes;
}

static inline struct qd_block qd_block_at(const struct qd_call* call, const struct qd_part* part) {
  struct qd_block block = call->blocks[part->region];
  if (part->form == QD_RANGE) {
    block.address += part->low;
    block.count = part->high - part->low;
  }
  return block;
}

#endif /* QUADRILLE_RUNTIME_EXECUTE_CALL_H_ */
