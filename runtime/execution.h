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

/* A message of the current step. */
struct quadrille_message {
  int receives, is_token, peer; /* rank in the communicator */
  int first, count;             /* of the step's segments */
  int64_t bytes;
};

/* The messages of the current step: gathered, then posted together. */
struct quadrille_step {
  int64_t key, after;
  int has_after, is_open;
  int message_count, message_room, segment_count, segment_room;
  struct quadrille_message* messages;
  struct quadrille_segment* segments;
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
  struct quadrille_step step;
  char broken[QUADRILLE_TEXT]; /* why the schedule cannot be followed; empty: it can */
};

/* execution.c: makes and tries what does not depend on a call. Returns NULL, or what is wrong: a
 * static string. */
const char* quadrille_execution_open(struct quadrille_binding* binding, int64_t block_size);
void quadrille_execution_close(struct quadrille_execution* execution);
/* Chooses parameters and fills tables, after counts changed. */
const char* quadrille_execution_prepare(struct quadrille_binding* binding);
/* Follows the walk of this rank, up to what is in flight at its end. Returns NULL or what is wrong
 * with the schedule. `post`: post messages; else only try. */
const char* quadrille_execution_follow(struct quadrille_binding* binding, int post);

/* step.c */
void quadrille_step_open(struct quadrille_step* step, const struct quadrille_event* event);
/* A message begins: pieces follow, and its end. */
int quadrille_step_message(struct quadrille_step* step, int receives, int peer);
int quadrille_step_piece(struct quadrille_step* step, char* address, int64_t bytes);
void quadrille_step_message_end(struct quadrille_step* step);
/* Waits for what the step waits for, and posts its messages. */
void quadrille_step_post(struct quadrille_binding* binding);
void quadrille_step_close(struct quadrille_step* step);

/* allgather.c: runs a whole call, in which `error` may be wrong already. Returns an MPI error code,
 * after the handler was called. */
int quadrille_allgather_run(quadrille_schedule schedule, const struct quadrille_side* send,
                            const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                            int error_class, const char* error);

/* compare.c: collective. Whether all ranks come without an error and with the same counts; `own` is
 * what this one contributes, in bytes, and `direct` says that blocks lie where they are received.
 * An MPI error code, the same class everywhere, after the handler was called. */
int quadrille_compare_calls(struct quadrille_binding* binding, MPI_Comm comm, int64_t own,
                            int direct, int error_class, const char* error);

#endif /* QUADRILLE_RUNTIME_EXECUTION_H_ */
