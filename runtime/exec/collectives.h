/* The collectives, as api.c calls them. */
#ifndef QUADRILLE_RUNTIME_EXEC_COLLECTIVES_H_
#define QUADRILLE_RUNTIME_EXEC_COLLECTIVES_H_

#include "runtime/internal.h"

/* alltoall.c: runs a whole call. In place, `send` means nothing. An MPI error code, after the handler was
 * called. */
int quadrille_alltoall_run(struct quadrille_binding* binding, const struct quadrille_side* send,
                           const struct quadrille_side* receive, int in_place, MPI_Comm comm);

/* Makes a persistent call, of which something may be wrong already. Collective: all
 * ranks return the same class of error, after the handler was called. */
int quadrille_persistent_make(quadrille_schedule schedule, const struct quadrille_side* send,
                              const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                              int error_class, const char* error, quadrille_request* request);

/* allgather.c: as quadrille_alltoall_run; `error` may be wrong already. */
int quadrille_allgather_run(struct quadrille_binding* binding, const struct quadrille_side* send,
                            const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                            int error_class, const char* error);
/* Memory and tables for calls. NULL, or what is wrong. */
const char* quadrille_allgather_open(struct quadrille_binding* binding);
/* As before the first call; the same. */
const char* quadrille_allgather_restart(struct quadrille_binding* binding);

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

/* Collective. NULL, or a text where the length of a block to this rank is not what that has room for;
 * `lengths`: two a rank; `code`: of MPI. */
const char* quadrille_compare_pairs(const struct quadrille_binding* binding,
                                    const struct quadrille_side* send,
                                    const struct quadrille_side* receive, int64_t* lengths,
                                    char text[QUADRILLE_TEXT], int* code);

#endif /* QUADRILLE_RUNTIME_EXEC_COLLECTIVES_H_ */
