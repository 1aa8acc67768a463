/* The arguments of one call of any collective: its two sides, and whether MPI allows them. */
#pragma once

#include "runtime/execute/datatypes.h"
#include "runtime/execute/significance.h"

struct qd_arguments {
  enum qd_function function;
  enum qd_role role;
  struct qd_side send, receive;
  int root; /* a rank or MPI_ROOT; 0 if the collective has no root */
  MPI_Op operation;

  /* Set by qd_check_arguments. */
  const char* error; /* what is wrong with the arguments, or NULL */
  int error_class;   /* of `error` */
  int in_place;      /* MPI_IN_PLACE was passed, or is implied; `send` equals `receive` */
  int is_regular;    /* all blocks of all ranks are equally long */
  int is_idle;       /* two groups: this rank is in the root's group, but is not the root */
  int lacks_type;    /* all counts are 0 and a type is null: the call is made, then fails */
  int commutes;      /* the operator is commutative */
};

/* Expands to the arguments and a comma, or to nothing if there are none. */
#define QD_LISTED(...) __VA_ARGS__ __VA_OPT__(, )

/* For each family of arguments: sides, root and operator, from arguments with the names in quadrille.h. */
#define QD_SIDES_OF_EQUAL_BLOCKS \
  .send = QD_EQUAL(sendbuf, sendcount, sendtype), .receive = QD_EQUAL(recvbuf, recvcount, recvtype)
#define QD_SIDES_OF_EQUAL_BLOCKS_OF_ROOT QD_SIDES_OF_EQUAL_BLOCKS, .root = root
#define QD_SIDES_OF_COUNTED_BLOCKS                            \
  .send = QD_COUNTED(sendbuf, sendcounts, sdispls, sendtype), \
  .receive = QD_COUNTED(recvbuf, recvcounts, rdispls, recvtype)
#define QD_SIDES_OF_TYPED_BLOCKS                             \
  .send = QD_TYPED(sendbuf, sendcounts, sdispls, sendtypes), \
  .receive = QD_TYPED(recvbuf, recvcounts, rdispls, recvtypes)
#define QD_SIDES_OF_GATHERED_BLOCKS               \
  .send = QD_EQUAL(sendbuf, sendcount, sendtype), \
  .receive = QD_COUNTED(recvbuf, recvcounts, displs, recvtype)
#define QD_SIDES_OF_GATHERED_BLOCKS_OF_ROOT QD_SIDES_OF_GATHERED_BLOCKS, .root = root
#define QD_SIDES_OF_SCATTERED_BLOCKS_OF_ROOT                 \
  .send = QD_COUNTED(sendbuf, sendcounts, displs, sendtype), \
  .receive = QD_EQUAL(recvbuf, recvcount, recvtype), .root = root
#define QD_SIDES_OF_BUFFER_OF_ROOT                                                         \
  .send = QD_EQUAL(buffer, count, datatype), .receive = QD_EQUAL(buffer, count, datatype), \
  .root = root
/* The count is equal at all ranks. In MPI_Reduce_scatter_block it is the count of each rank's result. */
#define QD_SIDES_OF_ELEMENTS                                                                 \
  .send = QD_EQUAL(sendbuf, count, datatype), .receive = QD_EQUAL(recvbuf, count, datatype), \
  .operation = op
#define QD_SIDES_OF_ELEMENTS_OF_ROOT QD_SIDES_OF_ELEMENTS, .root = root
#define QD_SIDES_OF_COUNTED_ELEMENTS      \
  .send = QD_EQUAL(sendbuf, 0, datatype), \
  .receive = QD_COUNTED(recvbuf, recvcounts, (const int*)NULL, datatype), .operation = op
#define QUADRILLE_NOTHING(Count, Displacement)
#define QD_SIDES_OF_NOTHING \
  .send = QD_EQUAL(NULL, 0, MPI_BYTE), .receive = QD_EQUAL(NULL, 0, MPI_BYTE)

#define QD_EQUAL(address, number, datatype) \
  { .base = (char*)(address), .type = (datatype), .uniform = 1, .count = (number) }
#define QD_COUNTED(address, numbers, offsets, datatype) \
  { QD_BLOCKS(address, numbers, offsets), .type = (datatype) }
/* Displacements are in bytes. */
#define QD_TYPED(address, numbers, offsets, datatypes)                                       \
  {                                                                                          \
    QD_BLOCKS(address, numbers, offsets), .types = (datatypes),                              \
                                          .type = (datatypes) ? MPI_BYTE : MPI_DATATYPE_NULL \
  }
#define QD_BLOCKS(address, numbers, offsets)                                                \
  .base = (char*)(address), .counts = QD_INTS(numbers), .large_counts = QD_COUNTS(numbers), \
  .displacements = QD_INTS(offsets), .large_displacements = QD_ADDRESSES(offsets)
/* Each is the array if its elements have the type in its name, else NULL. */
#define QD_INTS(array) _Generic((array), const int* : (array), default : NULL)
#define QD_COUNTS(array) _Generic((array), const MPI_Count* : (array), default : NULL)
#define QD_ADDRESSES(array) _Generic((array), const MPI_Aint* : (array), default : NULL)

/* The size of a communicator, and this rank in it, as MPI tells. */
struct qd_ranks {
  int ranks, remote_ranks; /* remote_ranks: of the other group; 0: there is one group */
  int rank;
};

extern const char qd_no_type[]; /* the error if `lacks_type` */

/* Checks the arguments of a call, whose function and role are set, without communication. Reads the datatypes of
 * significant sides. A side that is not significant becomes equal to the other side. */
void qd_check_arguments(const struct qd_ranks* ranks, struct qd_arguments* arguments);
/* errors.c. Returns whether the MPI library of this process is Open MPI. */
int qd_is_open_mpi(void);
