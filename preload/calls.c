/* The MPI functions that are served, and MPI_Finalize: each once by MPI's name and once by the profiling interface's, by
 * which the Fortran interfaces of Open MPI call. What a call inside another asks for, be it the runtime's or a
 * tool's, goes on to the next definition of the same name. Tested by tests/preload. */
#include "preload/interpose.h"
#include "preload/preload.h"

/* What a family of arguments hands on, and as sides of a call. */
#define EQUAL_BLOCKS_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define EQUAL_BLOCKS_SIDES \
  .send = EQUAL(sendbuf, sendcount, sendtype), .receive = EQUAL(recvbuf, recvcount, recvtype)
#define EQUAL_BLOCKS_OF_ROOT_ARGUMENTS EQUAL_BLOCKS_ARGUMENTS, root
#define EQUAL_BLOCKS_OF_ROOT_SIDES EQUAL_BLOCKS_SIDES, .root = root
#define COUNTED_BLOCKS_ARGUMENTS \
  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define COUNTED_BLOCKS_SIDES                                        \
  .send = {BLOCKS(sendbuf, sendcounts, sdispls), .type = sendtype}, \
  .receive = {BLOCKS(recvbuf, recvcounts, rdispls), .type = recvtype}
#define TYPED_BLOCKS_ARGUMENTS                                                        \
  sendbuf, sendcounts, sdispls, (const void*)sendtypes, recvbuf, recvcounts, rdispls, \
      (const void*)recvtypes
#define TYPED_BLOCKS_SIDES                                                              \
  .send = {BLOCKS(sendbuf, sendcounts, sdispls), .type = MPI_BYTE, .types = sendtypes}, \
  .receive = {BLOCKS(recvbuf, recvcounts, rdispls), .type = MPI_BYTE, .types = recvtypes}
#define GATHERED_BLOCKS_ARGUMENTS \
  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
#define GATHERED_BLOCKS_SIDES                  \
  .send = EQUAL(sendbuf, sendcount, sendtype), \
  .receive = {BLOCKS(recvbuf, recvcounts, displs), .type = recvtype}
#define GATHERED_BLOCKS_OF_ROOT_ARGUMENTS GATHERED_BLOCKS_ARGUMENTS, root
#define GATHERED_BLOCKS_OF_ROOT_SIDES GATHERED_BLOCKS_SIDES, .root = root
#define SCATTERED_BLOCKS_OF_ROOT_ARGUMENTS \
  sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root
#define SCATTERED_BLOCKS_OF_ROOT_SIDES                             \
  .send = {BLOCKS(sendbuf, sendcounts, displs), .type = sendtype}, \
  .receive = EQUAL(recvbuf, recvcount, recvtype), .root = root
#define BUFFER_OF_ROOT_ARGUMENTS buffer, count, datatype, root
#define BUFFER_OF_ROOT_SIDES \
  .send = EQUAL(buffer, count, datatype), .receive = EQUAL(buffer, count, datatype), .root = root
#define ELEMENTS_ARGUMENTS sendbuf, recvbuf, count, datatype, op
#define ELEMENTS_SIDES                                                                 \
  .send = EQUAL(sendbuf, count, datatype), .receive = EQUAL(recvbuf, count, datatype), \
  .operation = op
#define ELEMENTS_OF_ROOT_ARGUMENTS ELEMENTS_ARGUMENTS, root
#define ELEMENTS_OF_ROOT_SIDES ELEMENTS_SIDES, .root = root
#define COUNTED_ELEMENTS_ARGUMENTS sendbuf, recvbuf, recvcounts, datatype, op
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

/* Whether more can be said of a call than that it falls through. */
static inline int is_looked_at(struct preload_turn* turn, int collective, MPI_Comm comm) {
  if (preload_is_leaving(comm)) return 0;
  turn->of = preload_communicator_of(comm);
  turn->collective = collective;
  return turn->of &&
         (turn->of->first[collective] < turn->of->first[collective + 1] || turn->of->is_watched);
}

/* Makes a call, which is MPI's `function`, with the next definition of it at hand. */
#define TAKE(function, served, number, family, Count, Displacement)                \
  static inline __attribute__((always_inline)) int take_##function(                \
      void* next_one, QUADRILLE_##family(Count, Displacement), MPI_Comm comm) {    \
    typedef int signature(QUADRILLE_##family(Count, Displacement), MPI_Comm);      \
    signature* const next = (signature*)next_one;                                  \
    struct preload_turn turn;                                                      \
    struct preload_arguments a;                                                    \
    int code = MPI_SUCCESS, is_taken = is_looked_at(&turn, number, comm);          \
    if (is_taken) {                                                                \
      a = (struct preload_arguments){family##_SIDES};                              \
      is_taken = preload_begin(&turn, &a);                                         \
    }                                                                              \
    if (!is_taken || turn.schedule == QUADRILLE_SCHEDULE_NULL || turn.is_verified) \
      code = next(family##_ARGUMENTS, comm);                                       \
    if (!is_taken) return code;                                                    \
    if (turn.is_verified) preload_verify_native(&turn, &a);                        \
    if (turn.schedule != QUADRILLE_SCHEDULE_NULL && code == MPI_SUCCESS)           \
      code = served(turn.schedule, family##_ARGUMENTS, comm);                      \
    return preload_end(&turn, &a, code);                                           \
  }

#if MPI_VERSION >= 4
#define OF_ALL(DO, Name, name, family)                                                  \
  DO(MPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int)                    \
  DO(PMPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int)                   \
  DO(MPI_##Name##_c, quadrille_##name##_c, PRELOAD_##Name, family, MPI_Count, MPI_Aint) \
  DO(PMPI_##Name##_c, quadrille_##name##_c, PRELOAD_##Name, family, MPI_Count, MPI_Aint)
#else
#define OF_ALL(DO, Name, name, family)                               \
  DO(MPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int) \
  DO(PMPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int)
#endif

#define TAKE_ALL(Name, name, scheduled, family) OF_ALL(TAKE, Name, name, family)
PRELOAD_COLLECTIVES(TAKE_ALL)

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

#define DEFINE_FINALIZE(function)                                             \
  PRELOAD_SHOWN int function(void) {                                          \
    static void* found;                                                       \
    int (*const next)(void) = (int (*)(void))preload_next(&found, #function); \
    if (preload_is_inside || preload_is_foreign()) return next();             \
    preload_is_inside = 1;                                                    \
    finish();                                                                 \
    const int code = next();                                                  \
    preload_is_inside = 0;                                                    \
    return code;                                                              \
  }
DEFINE_FINALIZE(MPI_Finalize)
DEFINE_FINALIZE(PMPI_Finalize)

/* The functions that programs call, with handles of any MPI library. */
#define MPI_Datatype preload_any_handle
#define MPI_Op preload_any_handle
#define DEFINE(function, served, number, family, Count, Displacement)                   \
  PRELOAD_SHOWN int exported_##function(QUADRILLE_##family(Count, Displacement),        \
                                        preload_any_handle comm) __asm__(#function);    \
  PRELOAD_SHOWN int exported_##function(QUADRILLE_##family(Count, Displacement),        \
                                        preload_any_handle comm) {                      \
    typedef int signature(QUADRILLE_##family(Count, Displacement), preload_any_handle); \
    static void* found;                                                                 \
    void* const next = preload_next(&found, #function);                                 \
    if (preload_is_inside || preload_is_foreign())                                      \
      return ((signature*)next)(family##_ARGUMENTS, comm);                              \
    preload_is_inside = 1;                                                              \
    const int code = take_##function(next, family##_ARGUMENTS, (MPI_Comm)comm);         \
    preload_is_inside = 0;                                                              \
    return code;                                                                        \
  }
#define DEFINE_ALL(Name, name, scheduled, family) OF_ALL(DEFINE, Name, name, family)
PRELOAD_COLLECTIVES(DEFINE_ALL)
