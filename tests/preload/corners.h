/* Declarations that the files of the program corners share. */
#pragma once

#include <mpi.h>

enum { MOST = 16 }; /* ranks at most */
extern int me, ranks;
extern int (*agreements)(void); /* the tool's count of agreements; NULL without the tool */

void expect(int holds, const char* what);
/* Returns a duplicate of MPI_COMM_WORLD with that error handler. */
MPI_Comm duplicate(MPI_Errhandler handler);
void expect_alltoall(MPI_Comm comm);

void attributes(void);
void nested(void);
void dying(void);
void lingering(void);
void late_calls(void);

void many(void);
void overlaps(void);
void firsts(void);
void persistent(void);
void session(void);

void rounded(void);
void overflows(void);
void tenths(void);
void pairs(void);
void own_operator(void);

/* With the path of a GPU's driver. */
void device_later(const char* path);
void device_passed(const char* path);
