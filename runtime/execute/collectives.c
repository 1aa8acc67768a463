/* The entry points of collectives. They turn MPI's arguments into the two sides of a call. */
#include "runtime/execute/api.h"

/* Defines the function `call` of MPI's collective `Name`, and the function `make`, which makes a persistent call. */
#define DEFINE_TWO(call, make, Name, family, Count, Displacement)                           \
  int call(quadrille_schedule schedule,                                                     \
           QD_LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm comm) {              \
    struct qd_arguments a = {.function = QD_##Name, QD_SIDES_OF_##family};                  \
    return qd_run(schedule, &a, comm, NULL);                                                \
  }                                                                                         \
  int make(quadrille_schedule schedule,                                                     \
           QD_LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm comm, MPI_Info info, \
           quadrille_request* request) {                                                    \
    struct qd_arguments a = {.function = QD_##Name, QD_SIDES_OF_##family};                  \
    (void)info;                                                                             \
    return qd_make(schedule, &a, comm, request);                                            \
  }
#define DEFINE(Name, name, scheduled, family)                                   \
  DEFINE_TWO(quadrille_##name, quadrille_##name##_init, Name, family, int, int) \
  DEFINE_TWO(quadrille_##name##_c, quadrille_##name##_init_c, Name, family, MPI_Count, MPI_Aint)

QD_FUNCTIONS(DEFINE)
DEFINE_TWO(quadrille_barrier, quadrille_barrier_init, Barrier, NOTHING, int, int)
