/* Defines MPI's collectives as this library serves them, each under MPI's name and under the name of the profiling
 * interface. Open MPI's Fortran interfaces call the latter. The runtime describes a call by its two sides, so serve.c
 * need not know MPI's signatures. Tested by tests/preload. */
#include "preload/interpose.h"
#include "preload/preload.h"
#include "runtime/execute/api.h"

/* The arguments of each family, as the next definition takes them. */
#define EQUAL_BLOCKS_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define EQUAL_BLOCKS_OF_ROOT_ARGUMENTS EQUAL_BLOCKS_ARGUMENTS, root
#define COUNTED_BLOCKS_ARGUMENTS \
  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define TYPED_BLOCKS_ARGUMENTS                                                        \
  sendbuf, sendcounts, sdispls, (const void*)sendtypes, recvbuf, recvcounts, rdispls, \
      (const void*)recvtypes
#define GATHERED_BLOCKS_ARGUMENTS \
  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
#define GATHERED_BLOCKS_OF_ROOT_ARGUMENTS GATHERED_BLOCKS_ARGUMENTS, root
#define SCATTERED_BLOCKS_OF_ROOT_ARGUMENTS \
  sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root
#define BUFFER_OF_ROOT_ARGUMENTS buffer, count, datatype, root
#define ELEMENTS_ARGUMENTS sendbuf, recvbuf, count, datatype, op
#define ELEMENTS_OF_ROOT_ARGUMENTS ELEMENTS_ARGUMENTS, root
#define COUNTED_ELEMENTS_ARGUMENTS sendbuf, recvbuf, recvcounts, datatype, op
#define NOTHING_ARGUMENTS
#define QUADRILLE_NOTHING(Count, Displacement)

/* Expands to the arguments and a comma, or to nothing if there are none. */
#define LISTED(...) __VA_ARGS__ __VA_OPT__(, )

/* Returns whether a schedule may serve calls of the collective, or they are watched. Canonical sums need no rule. */
static inline int is_considered(const struct preload_communicator* of, int collective) {
  return of->adapts || of->first[collective] < of->first[collective + 1] || of->is_watched ||
         (preload_settings()->sums == PRELOAD_CANONICAL_SUMS && preload_reduces(collective));
}

#define GIVEN(Name, family) \
  (struct qd_arguments) { .function = QD_##Name, QD_SIDES_OF_##family }

/* Whether a call's arrays differ from the decision's. The program may have changed them, even to wrong values. */
#define HAS_OTHER_ARRAYS(Name, family)                                           \
  (!(GIVEN(Name, family).send.uniform && GIVEN(Name, family).receive.uniform) && \
   !decision->is_native &&                                                       \
   !qd_has_arrays(&decision->kept,                                               \
                  (const int* const[]){GIVEN(Name, family).send.counts,          \
                                       GIVEN(Name, family).send.displacements,   \
                                       GIVEN(Name, family).receive.counts,       \
                                       GIVEN(Name, family).receive.displacements}))

/* Makes a call by MPI's function `next`, by a schedule, or by both to compare their results. */
#define CALL(entry, Name, family, Count, Displacement)                                             \
  static inline __attribute__((always_inline)) int call_##entry(                                   \
      void* next_one, LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm comm) {             \
    typedef int signature(LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm);               \
    signature* const next = (signature*)next_one;                                                  \
    int code = MPI_SUCCESS;                                                                        \
    preload_is_inside = 1;                                                                         \
    struct preload_communicator* const of = preload_quickly(comm);                                 \
    const struct preload_key key = preload_key_of(&GIVEN(Name, family));                           \
    struct preload_decision* decision = of ? of->decisions[QD_##Name].latest : NULL;               \
    int is_left = 0;                                                                               \
    if (of &&                                                                                      \
        !(decision && preload_has_buffers(decision, &key) && preload_is_like(decision, &key))) {   \
      const struct preload_key other = key; /* so that only this path has a key in memory */       \
      is_left = !is_considered(of, QD_##Name);                                                     \
      decision = is_left ? NULL : preload_find_decision(of, QD_##Name, &other);                    \
    }                                                                                              \
    if (decision && (HAS_OTHER_ARRAYS(Name, family) || !preload_follows(decision)))                \
      decision = NULL;                                                                             \
    if (decision ? decision->is_native : is_left) {                                                \
      code = next(LISTED(family##_ARGUMENTS) comm);                                                \
    } else if (!decision || (code = qd_repeat(&decision->kept, key.sendbuf, key.recvbuf, comm)) == \
                                QD_LEFT_TO_MPI) {                                                  \
      struct preload_call call = {.given = GIVEN(Name, family), .decision = decision};             \
      code = MPI_SUCCESS;                                                                          \
      if (preload_begin(&call, comm)) code = next(LISTED(family##_ARGUMENTS) comm);                \
      code = preload_serve(&call, code);                                                           \
      if (code == QD_LEFT_TO_MPI) code = next(LISTED(family##_ARGUMENTS) comm);                    \
      code = preload_end(&call, code);                                                             \
    }                                                                                              \
    preload_is_inside = 0;                                                                         \
    return code;                                                                                   \
  }

/* The function that the program calls. */
#define DEFINE(function, Name, family, Count, Displacement)                                  \
  PRELOAD_DEFINE(function,                                                                   \
                 preload_is_inside ? next(LISTED(family##_ARGUMENTS) comm)                   \
                                   : call_##function(next, LISTED(family##_ARGUMENTS) comm), \
                 (LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm comm))

/* MPI 4 has functions with large counts. A program may call them even if this library was built with an older MPI. */
#define ALL(DO, Name, family)                           \
  DO(MPI_##Name, Name, family, int, int)                \
  DO(PMPI_##Name, Name, family, int, int)               \
  DO(MPI_##Name##_c, Name, family, MPI_Count, MPI_Aint) \
  DO(PMPI_##Name##_c, Name, family, MPI_Count, MPI_Aint)

/* A barrier has no large counts. */
#define BARRIER(DO)                           \
  DO(MPI_Barrier, Barrier, NOTHING, int, int) \
  DO(PMPI_Barrier, Barrier, NOTHING, int, int)

#define CALL_ALL(Name, name, scheduled, family, direction, size) ALL(CALL, Name, family)
PRELOAD_COLLECTIVES_WITH_DATA(CALL_ALL)
BARRIER(CALL)
#define DEFINE_ALL(Name, name, scheduled, family, direction, size) ALL(DEFINE, Name, family)
PRELOAD_COLLECTIVES_WITH_DATA(DEFINE_ALL)
BARRIER(DEFINE)
