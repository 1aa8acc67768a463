/* The common path of all entry points, and what the preload library takes from the runtime beside them. Functions that return an MPI
 * error code have called the error handler, unless they say otherwise. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_API_H_
#define QUADRILLE_RUNTIME_EXECUTE_API_H_

#include "runtime/execute/arguments.h"
#include "runtime/quadrille.h"

/* A call that can be made again with other buffers. It may be forgotten, and is while `call` is NULL. It lives as long as the
 * communicator. */
enum { QD_KEPT_CALLS = 4 }; /* of a schedule on a communicator */
struct qd_kept {
  struct qd_binding* call;
  unsigned serial;
};
/* Checks the arguments of a call, and makes the call. `kept` may be NULL. */
int qd_run(quadrille_schedule schedule, struct qd_arguments* arguments, MPI_Comm comm,
           struct qd_kept* kept);
/* Makes a kept call again with these buffers. Returns QD_LEFT_TO_MPI if that is not possible. */
int qd_repeat(const struct qd_kept* kept, const void* sendbuf, const void* recvbuf, MPI_Comm comm);
/* Whether these are the counts and displacements of the kept call: those of the send side, then those of the receive side. */
int qd_has_arrays(const struct qd_kept* kept, const int* const arrays[4]);
/* Makes a persistent call. */
int qd_make(quadrille_schedule schedule, struct qd_arguments* arguments, MPI_Comm comm,
            quadrille_request* request);

/* The code of a call that did nothing, since its arguments are wrong. MPI reports the error if it gets the same arguments. */
enum { QD_LEFT_TO_MPI = -1 };
/* From now on such calls return that code. Calls that QUADRILLE_DEBUG compares report their errors as before. Nothing is freed with
 * a communicator, but by qd_close_channels. */
void qd_serve_preload(void);
/* Says that memory ran out, and ends the job: the other ranks of the communicator wait for this one. */
_Noreturn void qd_end_without_memory(MPI_Comm comm);
/* Frees what belongs to a communicator with that handle. */
void qd_close_channels(MPI_Comm comm);
/* Makes the keys of the runtime's attributes, and the attribute of MPI_COMM_SELF whose end frees all. Otherwise the first binding does
 * that. Returns an MPI error code. */
int qd_make_keyvals(void);
/* Names of files keep to this folder, or else to that in which the runtime was loaded. */
void qd_begin_in(const char* folder);
/* What a process wishes for its calls; of several processes, the greatest numbers hold. QD_NO_DEBUG: whether QUADRILLE_DEBUG is unset;
 * QD_NO_TRACE: the answer of qd_trace_ask; QD_TRACE_SPEAKER: that of qd_trace_speaker. */
enum { QD_NO_DEBUG, QD_NO_TRACE, QD_TRACE_SPEAKER, QD_WISHES };
void qd_wish(uint64_t wishes[QD_WISHES]);
/* The ranks of a communicator that the preload library serves. They have numbers from 0 on. Of two groups, the one follows the other.
 * The library keeps this until it has called qd_close_channels. */
struct qd_members {
  MPI_Comm carrier; /* all messages travel on it: a private communicator of more processes */
  int own, count;   /* the number of this rank; the ranks */
  int* ranks;       /* by number: the rank in the carrier */
  int* node_of;     /* by number: the lowest number on the node; and as many entries more */
  uint64_t wishes[QD_WISHES];
};
/* As quadrille_bind, but without a message, and calls no error handler. Changes the options of a schedule that is bound. No call may
 * follow the schedule before qd_bound. Returns an error class. */
int qd_bind_members(quadrille_schedule schedule, MPI_Comm comm,
                    const quadrille_bind_options* options, const struct qd_members* members);
/* All ranks have bound the schedule. Its messages on the carrier have tags from this one on. Collective if it is traced. */
void qd_bound(quadrille_schedule schedule, MPI_Comm comm, int tag);
enum { QD_DATA_TAG, QD_COUNTS_TAG, QD_LENGTH_TAG, QD_TAGS };
/* Collective. A communicator of the same processes in the same order, without the user's attributes. For two
 * groups, the one follows the other. Errors on it return. */
int qd_private_communicator(MPI_Comm comm, MPI_Comm* result);
/* Collective. As MPI_Allreduce, but over the ranks of both groups if there are two. Values have at most 8 bytes. */
int qd_allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op operation,
                 MPI_Comm comm);
/* stall.c. Completes a request for which all ranks have to run the preload library. Ranks that wait for long say so once. */
void qd_wait_for_library(MPI_Request* request);
#endif /* QUADRILLE_RUNTIME_EXECUTE_API_H_ */
