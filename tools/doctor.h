/* `doctor`: what a job would get from Quadrille here, and what is wrong with the environment. */
#ifndef QUADRILLE_TOOLS_DOCTOR_H_
#define QUADRILLE_TOOLS_DOCTOR_H_

#include <limits.h>

enum { DOCTOR_TEXT = 600 };

/* A fact is a line of the screen; a finding is something wrong, told below all facts. Both take the text of printf. */
__attribute__((format(printf, 2, 3))) void doctor_fact(const char* name, const char* format, ...);
__attribute__((format(printf, 1, 2))) void doctor_finding(const char* format, ...);

/* ---- doctor_environment.c, which knows no MPI */

/* The MPI libraries that are served. */
enum doctor_mpi { DOCTOR_OPENMPI, DOCTOR_MPICH, DOCTOR_UNKNOWN };
/* "Open MPI". */
const char* doctor_mpi_name(enum doctor_mpi mpi);

struct doctor_environment {
  enum doctor_mpi mpi;    /* of the job; at first, the one that this program is for */
  int is_started;         /* by a launcher of MPI */
  const char* version;    /* of the MPI library, if it is started */
  const char* program;    /* the user's program, or NULL */
  char library[PATH_MAX]; /* the preload library for `mpi` */
  int is_preloaded;       /* LD_PRELOAD has that library */
};

/* The first entry of PATH that has this program; 0 if there is none. */
int doctor_find_in_path(const char* name, char found[PATH_MAX]);
/* Facts on the MPI library, the program and the preload library. Sets `mpi`, `library` and `is_preloaded`. */
void doctor_look_at_mpi(struct doctor_environment* environment);
/* Facts on mode and rules, and findings on all variables. */
void doctor_look_at_variables(void);

/* ---- doctor_served.c */

/* The layout, and a table of the schedules that calls on MPI_COMM_WORLD would follow, unless nothing `is_served`. Rank 0 prints
 * them. Collective. */
void doctor_look_at_calls(int is_served);

#endif /* QUADRILLE_TOOLS_DOCTOR_H_ */
