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
/* Frees what belongs to a communicator with that handle. */
void qd_close_channels(MPI_Comm comm);
/* Makes the keys of the runtime's attributes, and the attribute of MPI_COMM_SELF whose end frees all. Otherwise the first binding does
 * that. Returns an MPI error code. */
int qd_make_keyvals(void);
/* Names of files keep to this folder, or else to that in which the runtime was loaded. */
void qd_begin_in(const char* folder);
/* As quadrille_bind, but calls no error handler. `node_of`: the lowest rank on the node of each rank, and as many entries more; NULL
 * if the ranks have to find their nodes. The communicator keeps the array, which is NULL then. */
int qd_bind_quietly(quadrille_schedule schedule, MPI_Comm comm,
                    const quadrille_bind_options* options, int** node_of);
/* stall.c. Completes a request for which all ranks have to run the preload library. Ranks that wait for long say so once. */
void qd_wait_for_library(MPI_Request* request);
#endif /* QUADRILLE_RUNTIME_EXECUTE_API_H_ */
