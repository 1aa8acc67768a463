/* Definitions of functions that intercept MPI's. Each is defined under MPI's name and under the name of the
 * profiling interface. A call that is not served goes unchanged to the next definition of the same name. */
#ifndef QUADRILLE_PRELOAD_INTERPOSE_H_
#define QUADRILLE_PRELOAD_INTERPOSE_H_

#include <mpi.h>
#include <stdint.h>

/* A handle of any MPI library, so that calls of a program with another MPI pass through unchanged. */
#ifdef OPEN_MPI
typedef void* preload_any_handle;
#else
typedef intptr_t preload_any_handle;
#endif

/* This thread is inside such a function. Its further calls, for the runtime or a tool, pass through at once. */
extern _Thread_local int preload_is_inside;

/* The next definition of a function, looked up once. */
void* preload_next(void** next, const char* name);
/* Whether the program has another MPI library than this library is for. The first call reports that. */
int preload_is_foreign(void);

/* The communicators that this thread is freeing. The attributes of one may free another. */
struct preload_leaving {
  MPI_Comm comm;
  const struct preload_leaving* outer;
};
extern _Thread_local const struct preload_leaving* preload_leaving;

/* Defines `function` to return the expression `does`, which may use `next`, the next definition. `types` are the
 * parameters, and `arguments` passes them on. */
#define PRELOAD_DEFINE(function, does, types, arguments)                           \
  int exported_##function types __asm__(#function);                                \
  __attribute__((visibility("default"))) int exported_##function types {           \
    static void* found;                                                            \
    __typeof__(exported_##function)* const next = preload_next(&found, #function); \
    return preload_is_foreign() ? next arguments : (does);                         \
  }

#endif /* QUADRILLE_PRELOAD_INTERPOSE_H_ */
