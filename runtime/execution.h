/* A program that is followed at each call: its counts, its parameters and what it forwards are
 * known only then.
 *
 * Every block travels as the bytes of its packed form (MPI_BYTE), at all ranks: so ranges mean the
 * same everywhere, whatever the types are. The receive buffer is addressed directly where its type
 * lies in memory as it packs, else through a copy that is unpacked in the end. */
#ifndef QUADRILLE_RUNTIME_EXECUTION_H_
#define QUADRILLE_RUNTIME_EXECUTION_H_

#include "runtime/internal.h"

/* Contiguous bytes of a message. */
struct quadrille_segment {
  char* address;
  int64_t bytes;
};

struct quadrille_message {
  int receives, is_token, peer; /* rank in the communicator */
  int first, count;             /* of the step's segments */
  int64_t bytes;
  char* aside; /* where it is copied together; NULL: nowhere */
};

/* A step: gathered from the walk, then in the pipeline until all of it is over. */
struct quadrille_step {
  int64_t key, after, sent_bytes;
  int receives_waited, sends_waited; /* how far waiting for its receives, and sends, has come */
  int message_count, message_room, segment_count, segment_room;
  struct quadrille_message* messages;
  struct quadrille_segment* segments;
  MPI_Request* requests; /* of the messages */
  char* room;            /* for copies, kept for later steps */
  int64_t room_size;
};

/* Steps by their number in the call, modulo a power of two that is no less than the window:
 * received <= next, gone <= sent <= next. */
struct quadrille_pipeline {
  struct quadrille_step* steps;
  uint64_t window, mask;
  uint64_t received; /* the first that lacks a message */
  uint64_t gone;     /* the first whose sends are not over */
  uint64_t sent;     /* the first whose sends are not posted */
  uint64_t next;     /* that is being gathered */
  int64_t going;     /* bytes of the sends that are not over */
  int error;         /* the first MPI error, or MPI_SUCCESS */
};

struct quadrille_execution {
  struct quadrille_tables tables;
  int tables_are_good; /* for these counts and parameters */
  int64_t block_size;  /* the option */
  int64_t parameters[QUADRILLE_MAX_PARAMETERS];
  int64_t *counts, *offsets; /* of the blocks, by rank in the schedule: bytes, and from the base */
  int64_t total;             /* of all counts */
  uintptr_t base;            /* of the receive buffer, or of its packed copy */
  char* copy;
  int64_t copy_room;
  int64_t last_key;
  struct quadrille_pipeline pipeline;
  char broken[QUADRILLE_TEXT]; /* why the schedule cannot be followed; empty: it can */
};

/* execution.c: makes and tries what does not depend on a call. Returns NULL, or what is wrong: a
 * static string. */
const char* quadrille_execution_open(struct quadrille_binding* binding, int64_t block_size,
                                     int window);
void quadrille_execution_close(struct quadrille_execution* execution);
/* Chooses parameters and fills tables, after counts changed. */
const char* quadrille_execution_prepare(struct quadrille_binding* binding);
/* Follows the walk of this rank, up to what is in flight at its end. Returns NULL or what is wrong
 * with the schedule. `post`: post messages; else only try. */
const char* quadrille_execution_follow(struct quadrille_binding* binding, int post);

/* step.c: gathers a step from the walk. Where these return 0, memory ran out. */
void quadrille_step_open(struct quadrille_step* step, const struct quadrille_event* event);
/* A message begins: pieces follow, and its end. */
int quadrille_step_message(struct quadrille_step* step, int receives, int peer);
int quadrille_step_piece(struct quadrille_step* step, char* address, int64_t bytes);
void quadrille_step_message_end(struct quadrille_step* step);
void quadrille_step_close(struct quadrille_step* step);

/* transfer.c: posts messages of a step. */
void quadrille_transfer_make_room(struct quadrille_step* step);
void quadrille_transfer_receives(struct quadrille_binding* binding, struct quadrille_step* step);
void quadrille_transfer_sends(struct quadrille_binding* binding, struct quadrille_step* step);
/* Everything has arrived: puts copies where they belong. */
void quadrille_transfer_land(const struct quadrille_step* step);

/* pipeline.c */
int quadrille_pipeline_open(struct quadrille_pipeline* pipeline, int window);
void quadrille_pipeline_close(struct quadrille_pipeline* pipeline);
/* Room for the next step; waits where the window is full. */
struct quadrille_step* quadrille_pipeline_step(struct quadrille_binding* binding);
/* Takes in that step. */
void quadrille_pipeline_add(struct quadrille_binding* binding);
/* Waits for all steps. */
void quadrille_pipeline_finish(struct quadrille_binding* binding);
/* Gives up what is under way, without waiting. */
void quadrille_pipeline_abandon(struct quadrille_pipeline* pipeline);
/* Notes the first error. */
static inline void quadrille_pipeline_check(struct quadrille_pipeline* pipeline, int code) {
  if (code != MPI_SUCCESS && pipeline->error == MPI_SUCCESS) pipeline->error = code;
}

/* allgather.c: runs a whole call, in which `error` may be wrong already. Returns an MPI error code,
 * after the handler was called. */
int quadrille_allgather_run(quadrille_schedule schedule, const struct quadrille_side* send,
                            const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                            int error_class, const char* error);

/* compare.c: collective. Whether all ranks come without an error and with the same counts, and no
 * blocks of `receive` overlap. An MPI error code, the same class everywhere, after the handler was
 * called. */
int quadrille_compare_calls(struct quadrille_binding* binding, MPI_Comm comm,
                            const struct quadrille_side* receive, int error_class,
                            const char* error);

#endif /* QUADRILLE_RUNTIME_EXECUTION_H_ */
