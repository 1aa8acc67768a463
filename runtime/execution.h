/* A program that is followed at each call: its counts, its parameters and what it forwards are
 * known only then.
 *
 * Every block travels as the bytes of its packed form (MPI_BYTE), at all ranks: so ranges mean the
 * same everywhere, whatever the types are. The receive buffer is addressed directly where its type
 * lies in memory as it packs, else through a copy that is unpacked in the end. */
#ifndef QUADRILLE_RUNTIME_EXECUTION_H_
#define QUADRILLE_RUNTIME_EXECUTION_H_

#include "runtime/record.h"

struct quadrille_execution {
  struct quadrille_tables tables;
  int tables_are_good; /* for these counts and parameters */
  int64_t block_size;  /* the option */
  int64_t parameters[QUADRILLE_MAX_PARAMETERS];
  int64_t *counts, *offsets; /* of the blocks, by rank in the schedule: bytes, and from the base */
  int64_t total;             /* of all counts */
  int64_t each, stride;      /* where all are the same, and lie evenly: bytes; else -1 */
  uintptr_t base;            /* of the receive buffer, or of its packed copy */
  char* copy;
  int64_t copy_room;
  int64_t last_key;
  struct quadrille_pipeline pipeline;
  struct quadrille_record record; /* of the last call */
  char broken[QUADRILLE_TEXT];    /* why the schedule cannot be followed; empty: it can */
};

/* prepare.c: makes and tries what does not depend on a call. Returns NULL, or what is wrong: a
 * static string. */
const char* quadrille_execution_open(struct quadrille_binding* binding, int64_t block_size,
                                     int window);
void quadrille_execution_close(struct quadrille_execution* execution);
/* Chooses parameters and fills tables, after counts changed. */
const char* quadrille_execution_prepare(struct quadrille_binding* binding);
/* execution.c: follows the walk of this rank, up to what is in flight at its end. Returns NULL or what is wrong
 * with the schedule. `post`: post messages; else only try. */
const char* quadrille_execution_follow(struct quadrille_binding* binding, int post);

/* allgather.c: runs a whole call, in which `error` may be wrong already. Returns an MPI error code,
 * after the handler was called. */
int quadrille_allgather_run(struct quadrille_binding* binding, const struct quadrille_side* send,
                            const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                            int error_class, const char* error);

/* compare.c: collective. Whether all ranks come without an error and with the same counts, and no
 * blocks of `receive` overlap. An MPI error code, the same class everywhere, after the handler was
 * called. */
int quadrille_compare_calls(struct quadrille_binding* binding, MPI_Comm comm,
                            const struct quadrille_side* receive, int error_class,
                            const char* error);

/* The same of the lengths of all blocks of an all-to-all. In place, both sides are one. */
int quadrille_compare_lengths(struct quadrille_binding* binding, MPI_Comm comm,
                              const struct quadrille_side* send,
                              const struct quadrille_side* receive);

#endif /* QUADRILLE_RUNTIME_EXECUTION_H_ */
