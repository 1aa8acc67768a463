/* The arguments of one call of any collective: its two sides, and whether MPI allows them. */
#ifndef QUADRILLE_RUNTIME_EXECUTE_ARGUMENTS_H_
#define QUADRILLE_RUNTIME_EXECUTE_ARGUMENTS_H_

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
  int in_place;      /* then `send` is `receive` */
  int is_regular;    /* all blocks of all ranks are equally long */
  int is_idle;       /* two groups: this rank is beside the root, and makes no call */
  int lacks_type; /* all counts are 0 and the type is null: the call is made, then it returns an error */
  int commutes; /* the operator does */
};

/* The sides and the root of a call, from arguments with the names in quadrille.h, by family of arguments. */
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
/* Equal counts at all ranks. For a reduce-scatter, each rank's result. */
#define QD_SIDES_OF_ELEMENTS                                                                 \
  .send = QD_EQUAL(sendbuf, count, datatype), .receive = QD_EQUAL(recvbuf, count, datatype), \
  .operation = op
#define QD_SIDES_OF_ELEMENTS_OF_ROOT QD_SIDES_OF_ELEMENTS, .root = root
#define QD_SIDES_OF_COUNTED_ELEMENTS      \
  .send = QD_EQUAL(sendbuf, 0, datatype), \
  .receive = QD_COUNTED(recvbuf, recvcounts, (const int*)NULL, datatype), .operation = op
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
/* The array if its elements have that type, else NULL. */
#define QD_INTS(array) _Generic((array), const int* : (array), default : NULL)
#define QD_COUNTS(array) _Generic((array), const MPI_Count* : (array), default : NULL)
#define QD_ADDRESSES(array) _Generic((array), const MPI_Aint* : (array), default : NULL)

/* The ranks of a communicator as MPI counts them. */
struct qd_ranks {
  int ranks, remote_ranks; /* remote_ranks: of the other group; 0: there is one group */
  int rank;
};

extern const char qd_no_type[]; /* the error if `lacks_type` */

/* Checks the arguments of a call whose role is known, without communication. Describes the sides that mean something. A side that
 * means nothing becomes equal to the other one. */
void qd_check_arguments(const struct qd_ranks* ranks, struct qd_arguments* arguments);

#endif /* QUADRILLE_RUNTIME_EXECUTE_ARGUMENTS_H_ */
