/* The collectives of MPI, as this library serves them. Each is defined under MPI's name and under the name of the profiling
 * interface, which the Fortran interfaces of Open MPI call. A macro per family of arguments describes the two sides of a
 * call, so serve.c need not know MPI's signatures. Tested by tests/preload. */
#include "preload/interpose.h"
#include "preload/preload.h"
#include "runtime/execute/preloaded.h"

/* For each family: the arguments that are passed on, and the sides of the call. */
#define EQUAL_BLOCKS_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define EQUAL_BLOCKS_SIDES \
  .send = EQUAL(sendbuf, sendcount, sendtype), .receive = EQUAL(recvbuf, recvcount, recvtype)
#define EQUAL_BLOCKS_OF_ROOT_ARGUMENTS EQUAL_BLOCKS_ARGUMENTS, root
#define EQUAL_BLOCKS_OF_ROOT_SIDES EQUAL_BLOCKS_SIDES, .root = root
#define COUNTED_BLOCKS_ARGUMENTS \
  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define COUNTED_BLOCKS_SIDES                              \
  .send = BLOCKS(sendbuf, sendcounts, sdispls, sendtype), \
  .receive = BLOCKS(recvbuf, recvcounts, rdispls, recvtype)
#define TYPED_BLOCKS_ARGUMENTS                                                        \
  sendbuf, sendcounts, sdispls, (const void*)sendtypes, recvbuf, recvcounts, rdispls, \
      (const void*)recvtypes
#define TYPED_BLOCKS_SIDES                                                    \
  .send = BLOCKS(sendbuf, sendcounts, sdispls, MPI_BYTE, .types = sendtypes), \
  .receive = BLOCKS(recvbuf, recvcounts, rdispls, MPI_BYTE, .types = recvtypes)
#define GATHERED_BLOCKS_ARGUMENTS \
  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
#define GATHERED_BLOCKS_SIDES                  \
  .send = EQUAL(sendbuf, sendcount, sendtype), \
  .receive = BLOCKS(recvbuf, recvcounts, displs, recvtype)
#define GATHERED_BLOCKS_OF_ROOT_ARGUMENTS GATHERED_BLOCKS_ARGUMENTS, root
#define GATHERED_BLOCKS_OF_ROOT_SIDES GATHERED_BLOCKS_SIDES, .root = root
#define SCATTERED_BLOCKS_OF_ROOT_ARGUMENTS \
  sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root
#define SCATTERED_BLOCKS_OF_ROOT_SIDES                   \
  .send = BLOCKS(sendbuf, sendcounts, displs, sendtype), \
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
  .receive = BLOCKS(recvbuf, recvcounts, (const int*)NULL, datatype), .operation = op

#define NOTHING_ARGUMENTS
#define NOTHING_SIDES .send = EQUAL(NULL, 0, MPI_BYTE), .receive = EQUAL(NULL, 0, MPI_BYTE)
#define QUADRILLE_NOTHING(Count, Displacement)

/* The words and a comma, unless there are none. */
#define LISTED(...) __VA_ARGS__ __VA_OPT__(, )

#define EQUAL(address, number, datatype) \
  { .base = (void*)(address), .count = (number), .type = (datatype) }
#define BLOCKS(address, numbers, places, ...)                                                 \
  {                                                                                           \
    .base = (void*)(address), .counts = IF_INTS(numbers), .large_counts = IF_COUNTS(numbers), \
    .displacements = IF_INTS(places), .large_displacements = IF_ADDRESSES(places),            \
    .type = __VA_ARGS__                                                                       \
  }
#define IF_INTS(array) _Generic((array), const int* : (array), default : NULL)
#define IF_COUNTS(array) _Generic((array), const MPI_Count* : (array), default : NULL)
#define IF_ADDRESSES(array) _Generic((array), const MPI_Aint* : (array), default : NULL)

static inline int is_leaving(MPI_Comm comm) {
  const struct preload_leaving* one = preload_leaving;
  while (one && one->comm != comm) one = one->outer;
  return one != NULL;
}

/* Whether schedules may serve calls of the collective, or are watched. */
static inline int is_considered(const struct preload_communicator* of, int collective) {
  return of->adapts || of->first[collective] < of->first[collective + 1] || of->is_watched;
}

/* Whether an equal call went to MPI, and this one does so too. */
static inline __attribute__((always_inline)) int is_left_to_mpi(struct preload_communicator* of,
                                                                int collective,
                                                                const struct preload_call* call) {
  struct preload_decision* const decision = &of->decisions[collective];
  return decision->is_native && preload_follows(decision, call);
}

/* The same call with this rank's role. */
static inline __attribute__((always_inline)) struct preload_call with_role(
    struct preload_call call, struct preload_communicator* of, int collective) {
  call.of = of;
  call.collective = collective;
  call.role = qd_role_of((enum qd_function)collective, of->shape.groups == 2, of->rank, call.root,
                         call.send.base, call.receive.base);
  return call;
}

/* Makes a call: by MPI's function `next`, by the runtime's function `served`, or by both to compare them. */
#define CALL(function, served, number, family, Count, Displacement)                    \
  static inline __attribute__((always_inline)) int call_##function(                    \
      void* next_one, LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm comm) { \
    typedef int signature(LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm);   \
    signature* const next = (signature*)next_one;                                      \
    struct preload_call call;                                                          \
    int code = MPI_SUCCESS;                                                            \
    preload_is_inside = 1;                                                             \
    struct preload_communicator* const of =                                            \
        is_leaving(comm) ? NULL : preload_communicator_of(comm);                       \
    if (of) call = with_role((struct preload_call){family##_SIDES}, of, number);       \
    const int is_looked_at = of && !is_left_to_mpi(of, number, &call) &&               \
                             is_considered(of, number) && preload_begin(&call);        \
    if (is_looked_at && preload_compares(&call)) {                                     \
      code = served(call.schedule | QD_ONLY_CHECKED, LISTED(family##_ARGUMENTS) comm); \
      preload_verify_begin(&call, code == MPI_SUCCESS);                                \
    }                                                                                  \
    code = MPI_SUCCESS;                                                                \
    if (!is_looked_at || call.schedule == QUADRILLE_SCHEDULE_NULL || call.is_verified) \
      code = next(LISTED(family##_ARGUMENTS) comm);                                    \
    if (is_looked_at) {                                                                \
      if (call.is_verified) preload_verify_native(&call);                              \
      if (call.schedule != QUADRILLE_SCHEDULE_NULL && code == MPI_SUCCESS)             \
        code = served(call.schedule, LISTED(family##_ARGUMENTS) comm);                 \
      if (code == QD_LEFT_TO_MPI) {                                                    \
        preload_leave(&call);                                                          \
        code = next(LISTED(family##_ARGUMENTS) comm);                                  \
      }                                                                                \
      code = preload_end(&call, code);                                                 \
    }                                                                                  \
    preload_is_inside = 0;                                                             \
    return code;                                                                       \
  }

/* The function that the program calls. Where it expands, MPI_Datatype and MPI_Op stand for handles of any MPI library. */
#define DEFINE(function, served, number, family, Count, Displacement)                       \
  PRELOAD_DEFINE(function,                                                                  \
                 preload_is_inside                                                          \
                     ? next(LISTED(family##_ARGUMENTS) comm)                                \
                     : call_##function(next, LISTED(family##_ARGUMENTS)(MPI_Comm) comm),    \
                 (LISTED(QUADRILLE_##family(Count, Displacement)) preload_any_handle comm), \
                 (LISTED(family##_ARGUMENTS) comm))

#if MPI_VERSION >= 4
#define LARGE(DO, Name, name, family)                                                   \
  DO(MPI_##Name##_c, quadrille_##name##_c, PRELOAD_##Name, family, MPI_Count, MPI_Aint) \
  DO(PMPI_##Name##_c, quadrille_##name##_c, PRELOAD_##Name, family, MPI_Count, MPI_Aint)
#else
#define LARGE(DO, Name, name, family)
#endif
#define ALL(DO, Name, name, family)                                   \
  DO(MPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int)  \
  DO(PMPI_##Name, quadrille_##name, PRELOAD_##Name, family, int, int) \
  LARGE(DO, Name, name, family)

/* A barrier has no large counts. */
#define BARRIER(DO)                                                      \
  DO(MPI_Barrier, quadrille_barrier, PRELOAD_Barrier, NOTHING, int, int) \
  DO(PMPI_Barrier, quadrille_barrier, PRELOAD_Barrier, NOTHING, int, int)

#define CALL_ALL(Name, name, scheduled, family, direction, size) ALL(CALL, Name, name, family)
PRELOAD_COLLECTIVES_WITH_DATA(CALL_ALL)
BARRIER(CALL)
#define MPI_Datatype preload_any_handle
#define MPI_Op preload_any_handle
#define DEFINE_ALL(Name, name, scheduled, family, direction, size) ALL(DEFINE, Name, name, family)
PRELOAD_COLLECTIVES_WITH_DATA(DEFINE_ALL)
BARRIER(DEFINE)
