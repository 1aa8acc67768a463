/* The MPI functions that are served, and MPI_Finalize: each once by MPI's name and once by the profiling interface's, by
 * which the Fortran interfaces of Open MPI call. What a call inside another asks for, be it the runtime's or a
 * tool's, goes on to the next definition of the same name. Tested by tests/preload. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/preload.h"

/* This thread is inside such a function. */
static _Thread_local int is_inside;

/* What a family of arguments hands on, its receive buffer, and both as sides of a call. */
#define EQUAL_BLOCKS_ARGUMENTS(receive) sendbuf, sendcount, sendtype, receive, recvcount, recvtype
#define EQUAL_BLOCKS_RECEIVE recvbuf
#define EQUAL_BLOCKS_SIDES \
  .send = EQUAL(sendbuf, sendcount, sendtype), .receive = EQUAL(recvbuf, recvcount, recvtype)
#define EQUAL_BLOCKS_OF_ROOT_ARGUMENTS(receive) EQUAL_BLOCKS_ARGUMENTS(receive), root
#define EQUAL_BLOCKS_OF_ROOT_RECEIVE recvbuf
#define EQUAL_BLOCKS_OF_ROOT_SIDES EQUAL_BLOCKS_SIDES, .root = root
#define COUNTED_BLOCKS_ARGUMENTS(receive) \
  sendbuf, sendcounts, sdispls, sendtype, receive, recvcounts, rdispls, recvtype
#define COUNTED_BLOCKS_RECEIVE recvbuf
#define COUNTED_BLOCKS_SIDES                                        \
  .send = {BLOCKS(sendbuf, sendcounts, sdispls), .type = sendtype}, \
  .receive = {BLOCKS(recvbuf, recvcounts, rdispls), .type = recvtype}
#define TYPED_BLOCKS_ARGUMENTS(receive) \
  sendbuf, sendcounts, sdispls, sendtypes, receive, recvcounts, rdispls, recvtypes
#define TYPED_BLOCKS_RECEIVE recvbuf
#define TYPED_BLOCKS_SIDES                                                              \
  .send = {BLOCKS(sendbuf, sendcounts, sdispls), .type = MPI_BYTE, .types = sendtypes}, \
  .receive = {BLOCKS(recvbuf, recvcounts, rdispls), .type = MPI_BYTE, .types = recvtypes}
#define GATHERED_BLOCKS_ARGUMENTS(receive) \
  sendbuf, sendcount, sendtype, receive, recvcounts, displs, recvtype
#define GATHERED_BLOCKS_RECEIVE recvbuf
#define GATHERED_BLOCKS_SIDES                  \
  .send = EQUAL(sendbuf, sendcount, sendtype), \
  .receive = {BLOCKS(recvbuf, recvcounts, displs), .type = recvtype}
#define GATHERED_BLOCKS_OF_ROOT_ARGUMENTS(receive) GATHERED_BLOCKS_ARGUMENTS(receive), root
#define GATHERED_BLOCKS_OF_ROOT_RECEIVE recvbuf
#define GATHERED_BLOCKS_OF_ROOT_SIDES GATHERED_BLOCKS_SIDES, .root = root
#define SCATTERED_BLOCKS_OF_ROOT_ARGUMENTS(receive) \
  sendbuf, sendcounts, displs, sendtype, receive, recvcount, recvtype, root
#define SCATTERED_BLOCKS_OF_ROOT_RECEIVE recvbuf
#define SCATTERED_BLOCKS_OF_ROOT_SIDES                             \
  .send = {BLOCKS(sendbuf, sendcounts, displs), .type = sendtype}, \
  .receive = EQUAL(recvbuf, recvcount, recvtype), .root = root
#define BUFFER_OF_ROOT_ARGUMENTS(receive) receive, count, datatype, root
#define BUFFER_OF_ROOT_RECEIVE buffer
#define BUFFER_OF_ROOT_SIDES \
  .send = EQUAL(buffer, count, datatype), .receive = EQUAL(buffer, count, datatype), .root = root
#define ELEMENTS_ARGUMENTS(receive) sendbuf, receive, count, datatype, op
#define ELEMENTS_RECEIVE recvbuf
#define ELEMENTS_SIDES                                                                 \
  .send = EQUAL(sendbuf, count, datatype), .receive = EQUAL(recvbuf, count, datatype), \
  .operation = op
#define ELEMENTS_OF_ROOT_ARGUMENTS(receive) ELEMENTS_ARGUMENTS(receive), root
#define ELEMENTS_OF_ROOT_RECEIVE recvbuf
#define ELEMENTS_OF_ROOT_SIDES ELEMENTS_SIDES, .root = root
#define COUNTED_ELEMENTS_ARGUMENTS(receive) sendbuf, receive, recvcounts, datatype, op
#define COUNTED_ELEMENTS_RECEIVE recvbuf
#define COUNTED_ELEMENTS_SIDES         \
  .send = EQUAL(sendbuf, 0, datatype), \
  .receive = {BLOCKS(recvbuf, recvcounts, (const int*)NULL), .type = datatype}, .operation = op

#define EQUAL(address, number, datatype) \
  { .base = (void*)(address), .count = (number), .type = (datatype) }
#define BLOCKS(address, numbers, places)                                                    \
  .base = (void*)(address), .counts = IF_INTS(numbers), .large_counts = IF_COUNTS(numbers), \
  .displacements = IF_INTS(places), .large_displacements = IF_ADDRESSES(places)
#define IF_INTS(array) _Generic((array), const int* : (array), default : NULL)
#define IF_COUNTS(array) _Generic((array), const MPI_Count* : (array), default : NULL)
#define IF_ADDRESSES(array) _Generic((array), const MPI_Aint* : (array), default : NULL)

/* The next definition of a function, looked up once. */
static void* next_of(void** next, const char* name) {
  void* found = __atomic_load_n(next, __ATOMIC_RELAXED);
  if (found) return found;
  found = dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "quadrille: no MPI library behind this one has %s\n", name);
    abort();
  }
  __atomic_store_n(next, found, __ATOMIC_RELAXED);
  return found;
}

/* Whether more can be said of a call than that it falls through. */
static int is_looked_at(struct preload_turn* turn, int collective, MPI_Comm comm) {
  turn->of = preload_communicator_of(comm);
  turn->collective = collective;
  return turn->of &&
         (turn->of->first[collective] < turn->of->first[collective + 1] || turn->of->is_watched);
}

#define SERVED __attribute__((visibility("default")))

#define DEFINE(function, served, number, family, Count, Displacement)                   \
  SERVED int function(QUADRILLE_##family(Count, Displacement), MPI_Comm comm) {         \
    typedef int signature(QUADRILLE_##family(Count, Displacement), MPI_Comm);           \
    static void* found;                                                                 \
    signature* const next = (signature*)next_of(&found, #function);                     \
    struct preload_turn turn;                                                           \
    if (is_inside) return next(family##_ARGUMENTS(family##_RECEIVE), comm);             \
    is_inside = 1;                                                                      \
    int code = MPI_SUCCESS, is_taken = is_looked_at(&turn, number, comm);               \
    struct preload_arguments a;                                                         \
    if (is_taken) {                                                                     \
      a = (struct preload_arguments){family##_SIDES};                                   \
      is_taken = preload_begin(&turn, &a);                                              \
    }                                                                                   \
    if (!is_taken) {                                                                    \
      code = next(family##_ARGUMENTS(family##_RECEIVE), comm);                          \
    } else {                                                                            \
      if (turn.is_verified) code = next(family##_ARGUMENTS(turn.native_receive), comm); \
      if (turn.schedule == QUADRILLE_SCHEDULE_NULL)                                     \
        code = next(family##_ARGUMENTS(family##_RECEIVE), comm);                        \
      else if (code == MPI_SUCCESS)                                                     \
        code = served(turn.schedule, family##_ARGUMENTS(family##_RECEIVE), comm);       \
      code = preload_end(&turn, &a, code);                                              \
    }                                                                                   \
    is_inside = 0;                                                                      \
    return code;                                                                        \
  }

#if MPI_VERSION >= 4
#define DEFINE_ALL(Name, name, scheduled, family)                                           \
  DEFINE(MPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int)                    \
  DEFINE(PMPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int)                   \
  DEFINE(MPI_##Name##_c, quadrille_##name##_c, PRELOAD_##Name, family, MPI_Count, MPI_Aint) \
  DEFINE(PMPI_##Name##_c, quadrille_##name##_c, PRELOAD_##Name, family, MPI_Count, MPI_Aint)
#else
#define DEFINE_ALL(Name, name, scheduled, family)                        \
  DEFINE(MPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int) \
  DEFINE(PMPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int)
#endif

PRELOAD_COLLECTIVES(DEFINE_ALL)

/* Before MPI ends: what was learned is written, and what happened is told. */
static void finish(void) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized) return;
  preload_learn_write();
  preload_report();
  preload_forget_communicators();
}

#define DEFINE_FINALIZE(function)                                        \
  SERVED int function(void) {                                            \
    static void* found;                                                  \
    int (*const next)(void) = (int (*)(void))next_of(&found, #function); \
    const int is_outermost = !is_inside;                                 \
    is_inside = 1;                                                       \
    if (is_outermost) finish();                                          \
    const int code = next();                                             \
    if (is_outermost) is_inside = 0;                                     \
    return code;                                                         \
  }
DEFINE_FINALIZE(MPI_Finalize)
DEFINE_FINALIZE(PMPI_Finalize)
