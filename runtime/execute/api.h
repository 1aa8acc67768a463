/* The common path of all entry points, and functions for the preload library. Functions that return an MPI error code
 * call the error handler first, unless they say otherwise. */
#pragma once

#include "runtime/execute/arguments.h"
#include "runtime/quadrille.h"

/* A call that can be made again with other buffers. Other calls may replace it: then, or if `call` is NULL, it cannot
 * be made again. It lives as long as the communicator. */
enum { QD_KEPT_CALLS = 4 }; /* the most kept calls of a schedule on a communicator */
struct qd_kept {
  struct qd_binding* call;
  unsigned serial;
};
/* Checks the arguments of a call, and makes the call. Writes `kept`, which may be NULL, if the call is kept. */
int qd_run(quadrille_schedule schedule, struct qd_arguments* arguments, MPI_Comm comm,
           struct qd_kept* kept);
/* Makes a kept call again with these buffers. Does nothing and returns QD_LEFT_TO_MPI if that is not possible. */
int qd_repeat(const struct qd_kept* kept, const void* sendbuf, const void* recvbuf, MPI_Comm comm);
/* Returns whether the kept call has these counts and displacements: of the send side, then of the receive side. */
int qd_has_arrays(const struct qd_kept* kept, const int* const arrays[4]);
/* Collective. Makes a persistent call. After an error `request` is QUADRILLE_REQUEST_NULL. */
int qd_make(quadrille_schedule schedule, struct qd_arguments* arguments, MPI_Comm comm,
            quadrille_request* request);

/* The result of a call that does nothing, because its arguments are wrong. MPI will report the error. */
enum { QD_LEFT_TO_MPI = -1 };
/* From now on calls with wrong arguments return QD_LEFT_TO_MPI, unless QUADRILLE_DEBUG compares calls. Freeing a
 * communicator frees nothing of the runtime: qd_close_channels does. */
void qd_serve_preload(void);
/* Says that memory ran out, and ends the job. Otherwise other ranks of the communicator would wait for ever. */
_Noreturn void qd_end_without_memory(MPI_Comm comm);
/* Frees all memory that no call uses. */
void qd_trim_arena(void);
/* Frees the bindings to all communicators with this handle, except those of persistent calls. */
void qd_close_channels(MPI_Comm comm);
/* Creates the runtime's attribute keys, and an attribute of MPI_COMM_SELF: when MPI_Finalize deletes it, everything
 * is freed. The first binding does this if it has not been done. Returns an MPI error code, and calls no error
 * handler. */
int qd_make_keyvals(void);
/* From now on relative names of files are in this folder, instead of that in which the runtime was loaded. */
void qd_begin_in(const char* folder);
/* Writes which settings this process has. Processes agree on the greatest number of each. QD_NO_DEBUG: 1 if
 * QUADRILLE_DEBUG is unset; QD_NO_TRACE: what qd_trace_ask returns; QD_TRACE_SPEAKER: what qd_trace_speaker
 * returns. */
enum { QD_NO_DEBUG, QD_NO_TRACE, QD_TRACE_SPEAKER, QD_WISHES };
void qd_wish(uint64_t wishes[QD_WISHES]);
/* trace.c. Reports, on one process, why nothing is traced. Takes the greatest QD_NO_TRACE and QD_TRACE_SPEAKER of all
 * processes. */
void qd_trace_refuse(uint64_t answer, uint64_t speaker);
/* The ranks of a communicator that the preload library serves, numbered from 0. In an intercommunicator, the ranks of
 * one group follow those of the other. The library keeps this until it has called qd_close_channels. */
struct qd_members {
  MPI_Comm carrier; /* a private communicator of these and other ranks, for all messages */
  int own, count;   /* own: the number of this rank; count: how many ranks there are */
  int* ranks;       /* ranks[n]: the rank in the carrier of the rank numbered n */
  int* node_of;     /* by number: the lowest number on the node; then `count` entries to use */
  uint64_t wishes[QD_WISHES];
};
/* Binds as quadrille_bind does, but sends no message and calls no error handler. If the schedule is bound, changes
 * its options. No call may use the schedule before qd_bound. Returns an error class. */
int qd_bind_members(quadrille_schedule schedule, MPI_Comm comm,
                    const quadrille_bind_options* options, const struct qd_members* members);
/* Must follow once all ranks have bound the schedule. Its messages use tags from `tag` on. Collective if traced. */
void qd_bound(quadrille_schedule schedule, MPI_Comm comm, int tag);
enum { QD_DATA_TAG, QD_COUNTS_TAG, QD_LENGTH_TAG, QD_TAGS };
/* Collective. Makes a communicator of the same processes in the same order, without the user's attributes. The ranks
 * of one group follow those of the other if there are two. Its error handler is MPI_ERRORS_RETURN. Returns an MPI
 * error code, and calls no error handler. */
int qd_private_communicator(MPI_Comm comm, MPI_Comm* result);
/* Collective. Does MPI_Allreduce over the ranks of both groups if there are two. Elements have at most 8 bytes. */
int qd_allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op operation,
                 MPI_Comm comm);
/* stall.c. Waits for a request that completes only if all ranks run the preload library. Reports a long wait once. */
void qd_wait_for_library(MPI_Request* request);
