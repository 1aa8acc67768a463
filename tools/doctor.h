/* Functions of `doctor`, which says what a job would get from Quadrille here, and what is wrong. */
#ifndef QUADRILLE_TOOLS_DOCTOR_H_
#define QUADRILLE_TOOLS_DOCTOR_H_

#include <limits.h>

enum { DOCTOR_TEXT = 600 };

/* Report, with printf's arguments, a fact, which rank 0 prints at once, or a finding: something wrong, which it
 * prints
 * below all facts. */
__attribute__((format(printf, 2, 3))) void doctor_fact(const char* name, const char* format, ...);
__attribute__((format(printf, 1, 2))) void doctor_finding(const char* format, ...);

/* ---- doctor_environment.c, which uses no MPI */

/* The MPI libraries that Quadrille serves, or another one. */
enum doctor_mpi { DOCTOR_OPENMPI, DOCTOR_MPICH, DOCTOR_UNKNOWN };
/* Returns the name of the library, such as "Open MPI". */
const char* doctor_mpi_name(enum doctor_mpi mpi);

struct doctor_environment {
  enum doctor_mpi mpi;    /* of the job; before it is known, the one that this program is for */
  int is_started;         /* whether a launcher started this program */
  const char* version;    /* of the MPI library, if is_started */
  const char* program;    /* the user's program, or NULL */
  char library[PATH_MAX]; /* the preload library for `mpi` */
  int is_preloaded;       /* LD_PRELOAD has that library */
};

/* Finds a program in PATH, and sets `found` to its full name. Returns 0 if it is not there. */
int doctor_find_in_path(const char* name, char found[PATH_MAX]);
/* Reports on the MPI library, the program and the preload library. Sets `mpi`, `library` and `is_preloaded`. */
void doctor_look_at_mpi(struct doctor_environment* environment);
/* Reports the mode and the rules, and what is wrong with Quadrille's variables. */
void doctor_look_at_variables(void);

/* ---- doctor_served.c */

/* Prints the layout and, if `is_served`, the schedules that calls on MPI_COMM_WORLD would follow. Collective. */
void doctor_look_at_calls(int is_served);

#endif /* QUADRILLE_TOOLS_DOCTOR_H_ */
