/* Definitions of functions that intercept MPI's. Each is defined under MPI's name and under the name of the
 * profiling interface. A call that is not served goes unchanged to the next definition of the same name. */
#ifndef QUADRILLE_PRELOAD_INTERPOSE_H_
#define QUADRILLE_PRELOAD_INTERPOSE_H_

#include <mpi.h>

/* This thread is inside such a function. Its further calls, for the runtime or a tool, pass through at once. */
extern _Thread_local int preload_is_inside;

/* Finds the definition of a function behind the library's. Set by front.c, and NULL where the program itself has this file. */
extern __attribute__((visibility("default"))) void* (*preload_next_of)(const char* name);
/* front.c says in which folder the process began. */
__attribute__((visibility("default"))) void preload_begin_in(const char* folder);
/* world.c. Learns what all ranks of MPI_COMM_WORLD bring, and their nodes. Collective. MPI_Init does it unless this thread is inside. */
void preload_know_world(void);
/* The next definition of a function, looked up once. */
void* preload_next(void** next, const char* name);

/* Defines `function` to return the expression `does`, which may use `next`, the next definition. `types` are the
 * parameters. */
#define PRELOAD_DEFINE(function, does, types)                                                      \
  int exported_##function types __asm__(#function);                                                \
  __attribute__((visibility("default"))) int exported_##function types {                           \
    static void* found;                                                                            \
    void* const known = __atomic_load_n(&found, __ATOMIC_RELAXED);                                 \
    __typeof__(exported_##function)* const next = known ? known : preload_next(&found, #function); \
    return does;                                                                                   \
  }

#endif /* QUADRILLE_PRELOAD_INTERPOSE_H_ */
