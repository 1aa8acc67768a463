/* Errors as MPI error codes with a text, the debug log. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_ERRORS_H_
#define QUADRILLE_RUNTIME_EXECUTE_ERRORS_H_

#include "runtime/execute/state.h"

/* Formats a text, calls the error handler of the communicator unless that is MPI_COMM_NULL, and returns a code of
 * that class. */
int qd_error(MPI_Comm comm, int error_class, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error that MPI returned. */
int qd_mpi_error(MPI_Comm comm, int code);
/* The same for an error of a call's messages. */
int qd_call_error(MPI_Comm comm, int code);
/* The same for a fault of the schedule, or a schedule that this library does not serve. */
int qd_broken_error(MPI_Comm comm, const char* error);
/* Writes that the two ends of a message disagree on its length. */
void qd_describe_mismatch(char text[QD_TEXT], int source, int64_t sent, int target,
                          int64_t expected);

/* Whether MPI_Init was called, and MPI_Finalize was not. */
int qd_mpi_is_usable(void);

/* Writes a line to the standard error stream if QUADRILLE_DEBUG is set. */
void qd_log(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif /* QUADRILLE_RUNTIME_EXECUTE_ERRORS_H_ */
