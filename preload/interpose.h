/* Defines functions that intercept MPI's, each under MPI's name and under the name of the profiling interface. A call
 * that is not served goes unchanged to the next definition of the same name. */
#pragma once

#include <mpi.h>

/* Set while this thread is inside an intercepting function. Calls that it makes there pass through at once. */
extern _Thread_local int preload_is_inside;

/* Finds the definition of a function behind this library's. front.c sets it. NULL if the program has this file. */
extern __attribute__((visibility("default"))) void* (*preload_next_of)(const char* name);
/* Takes the folder in which the process began. front.c calls it. */
__attribute__((visibility("default"))) void preload_begin_in(const char* folder);
/* Learns the settings and nodes of all ranks of MPI_COMM_WORLD (communicator.c). Collective. Runs at the end of
 * MPI_Init. */
void preload_know_world(void);
/* Returns the next definition of a function, which it looks up once and keeps in *next. */
void* preload_next(void** next, const char* name);

/* Defines `function`, with the parameters `types`, to return the expression `does`, which may use `next`. */
#define PRELOAD_DEFINE(function, does, types)                                                      \
  int exported_##function types __asm__(#function);                                                \
  __attribute__((visibility("default"))) int exported_##function types {                           \
    static void* found;                                                                            \
    void* const known = __atomic_load_n(&found, __ATOMIC_RELAXED);                                 \
    __typeof__(exported_##function)* const next = known ? known : preload_next(&found, #function); \
    return does;                                                                                   \
  }
