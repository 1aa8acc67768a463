/* Errors as MPI error codes with a text, and the debug log. */
#pragma once

#include "runtime/execute/state.h"

/* Formats a text, calls the error handler of `comm` unless that is MPI_COMM_NULL, and returns a code of the class. */
int qd_error(MPI_Comm comm, int error_class, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports an error code that MPI returned, in the same way, and returns it. */
int qd_mpi_error(MPI_Comm comm, int code);
/* Reports an error code of a call's messages, and returns a code of its class. */
int qd_call_error(MPI_Comm comm, int code);
/* Reports that the schedule is broken, or that this library does not serve it, and returns a code. */
int qd_broken_error(MPI_Comm comm, const char* error);
/* Writes a text that says that the two ends of a message disagree on its length in bytes. */
void qd_describe_mismatch(char text[QD_TEXT], int source, int64_t sent, int target,
                          int64_t expected);

/* ---- bind.c: problems of a rank at binding, on which all ranks agree. */

/* The reason why this rank cannot continue. The class MPI_SUCCESS means that it can. */
struct qd_problem {
  int error_class;
  char text[QD_TEXT];
};
void qd_refuse(struct qd_problem* problem, int error_class, const char* text);
/* Sets the problem for a schedule that could not be planned. `error` is a text of the builder. */
void qd_refuse_broken(struct qd_problem* problem, const char* error);

/* Collective. Returns whether no rank has a problem. If another rank has one, this rank gets one too. */
int qd_all_succeeded(MPI_Comm comm, struct qd_problem* problem);

/* Returns whether MPI_Init was called, and MPI_Finalize was not. */
int qd_mpi_is_usable(void);

/* Writes a line to the standard error stream if QUADRILLE_DEBUG is set. */
void qd_log(const char* format, ...) __attribute__((format(printf, 1, 2)));
