/* Functions that stand before MPI's, each once by MPI's name and once by the profiling interface's. A call that is not
 * served goes on, unchanged, to the next definition of the same name. */
#ifndef QUADRILLE_PRELOAD_INTERPOSE_H_
#define QUADRILLE_PRELOAD_INTERPOSE_H_

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define PRELOAD_SHOWN __attribute__((visibility("default")))

/* A handle of any MPI library, as it is passed: in a program of another MPI, calls pass through here as they are. */
#ifdef OPEN_MPI
typedef void* preload_any_handle;
#else
typedef intptr_t preload_any_handle;
#endif

/* This thread is inside such a function: what it calls there goes on at once, be it the runtime's, a tool's or MPI's own. */
extern _Thread_local int preload_is_inside;

/* The next definition of a function, looked up once. */
void* preload_next(void** next, const char* name);
/* Whether the program has another MPI library than this library is for; says so once. */
int preload_is_foreign(void);
/* The communicators that this thread is freeing. */
struct preload_leaving {
  MPI_Comm comm;
  const struct preload_leaving* outer; /* one whose attributes' functions free this one */
};
extern _Thread_local const struct preload_leaving* preload_leaving;
static inline int preload_is_leaving(MPI_Comm comm) {
  const struct preload_leaving* one = preload_leaving;
  while (one && one->comm != comm) one = one->outer;
  return one != NULL;
}

#endif /* QUADRILLE_PRELOAD_INTERPOSE_H_ */
