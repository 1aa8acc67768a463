/* The collective entry points: MPI's arguments, checked, as two sides of a call. */
#include <limits.h>

#include "runtime/internal.h"

static const char* const misplaced =
    "MPI_IN_PLACE is the receive buffer; it belongs in place of the send buffer";

static int has_negative(const struct quadrille_side* side, int ranks) {
  int64_t all = 0;
  if (side->counts)
    for (int rank = 0; rank < ranks; rank++) all |= side->counts[rank];
  else
    for (int rank = 0; rank < ranks; rank++) all |= side->large_counts[rank];
  return all < 0;
}

static const char* check_counts(const struct quadrille_side* side, int ranks, int* error_class) {
  *error_class = MPI_ERR_COUNT;
  if (side->uniform) return side->count < 0 ? "a count is negative" : NULL;
  *error_class = MPI_ERR_ARG;
  if (!side->counts && !side->large_counts) return "the counts are NULL";
  if (!side->displacements && !side->large_displacements) return "the displacements are NULL";
  *error_class = MPI_ERR_COUNT;
  return has_negative(side, ranks) ? "a count is negative" : NULL;
}

/* Whether a block lies where no memory is. MPI_BOTTOM may be a null pointer: its types bring addresses. */
static int is_nowhere(const struct quadrille_side* side, int rank) {
  enum { NO_MEMORY = 4096 };
  const struct quadrille_side own = quadrille_side_of(side, rank);
  MPI_Aint lower = 0, extent = 0;
  if (quadrille_count_of(side, rank) == 0 || own.type_size == 0) return 0;
  MPI_Type_get_true_extent(own.type, &lower, &extent);
  return (uintptr_t)quadrille_block_of(side, rank).address + (uintptr_t)lower < NO_MEMORY;
}

/* What can be said of one side's arguments without communication; a side of no ranks is one block. */
static const char* check_side(struct quadrille_side* side, int ranks, int* error_class) {
  *error_class = MPI_ERR_TYPE;
  if (side->type == MPI_DATATYPE_NULL)
    return "a datatype is MPI_DATATYPE_NULL, or the datatypes are NULL";
  const char* wrong = check_counts(side, ranks, error_class);
  if (wrong) return wrong;
  *error_class = MPI_ERR_TYPE;
  if (quadrille_side_describe(side, ranks) != MPI_SUCCESS) return "a datatype is not valid";
  *error_class = MPI_ERR_BUFFER;
  for (int rank = 0; !side->base && rank < (side->uniform ? 1 : ranks); rank++)
    if (is_nowhere(side, rank)) return "a buffer is NULL, and its count is not 0";
  return NULL;
}

static int call(quadrille_schedule schedule, struct quadrille_side* send,
                struct quadrille_side* receive, MPI_Comm comm) {
  /* Without a communicator, or without MPI, binding says what is wrong. */
  int ranks = 0, error_class = MPI_SUCCESS;
  if (!quadrille_mpi_is_usable() || comm == MPI_COMM_NULL)
    return quadrille_bind(schedule, comm, NULL);
  MPI_Comm_size(comm, &ranks);
  if (receive->base == MPI_IN_PLACE) return quadrille_error(comm, MPI_ERR_BUFFER, "%s", misplaced);
  const int in_place = send->base == MPI_IN_PLACE;
  const char* wrong = check_side(receive, ranks, &error_class);
  if (!wrong && in_place)
    *send = *receive;
  else if (!wrong)
    wrong = check_side(send, ranks, &error_class);
  if (wrong) return quadrille_error(comm, error_class, "%s", wrong);
  struct quadrille_binding* binding;
  const int code = quadrille_find_binding(schedule, comm, QUADRILLE_ALLTOALL, &binding);
  if (code != MPI_SUCCESS) return code;
  return quadrille_alltoall_run(binding, send, receive, in_place, comm);
}

static struct quadrille_side equal(const void* base, MPI_Count count, MPI_Datatype type) {
  return (struct quadrille_side){.base = (char*)base, .type = type, .uniform = 1, .count = count};
}

static struct quadrille_side counted(const void* base, const int counts[],
                                     const int displacements[], MPI_Datatype type) {
  return (struct quadrille_side){
      .base = (char*)base, .type = type, .counts = counts, .displacements = displacements};
}

static struct quadrille_side counted_large(const void* base, const MPI_Count counts[],
                                           const MPI_Aint displacements[], MPI_Datatype type) {
  return (struct quadrille_side){.base = (char*)base,
                                 .type = type,
                                 .large_counts = counts,
                                 .large_displacements = displacements};
}

int quadrille_alltoall_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm) {
  struct quadrille_side send = equal(sendbuf, sendcount, sendtype);
  struct quadrille_side receive = equal(recvbuf, recvcount, recvtype);
  return call(schedule, &send, &receive, comm);
}

int quadrille_alltoall(quadrille_schedule schedule, const void* sendbuf, int sendcount,
                       MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm) {
  return quadrille_alltoall_c(schedule, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                              comm);
}

int quadrille_alltoallv(quadrille_schedule schedule, const void* sendbuf, const int sendcounts[],
                        const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm) {
  struct quadrille_side send = counted(sendbuf, sendcounts, sdispls, sendtype);
  struct quadrille_side receive = counted(recvbuf, recvcounts, rdispls, recvtype);
  return call(schedule, &send, &receive, comm);
}

/* Displacements are bytes. */
static struct quadrille_side typed(struct quadrille_side side, const MPI_Datatype types[]) {
  side.type = types ? MPI_BYTE : MPI_DATATYPE_NULL;
  side.types = types;
  return side;
}

int quadrille_alltoallw(quadrille_schedule schedule, const void* sendbuf, const int sendcounts[],
                        const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                        const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                        MPI_Comm comm) {
  struct quadrille_side send = typed(counted(sendbuf, sendcounts, sdispls, MPI_BYTE), sendtypes);
  struct quadrille_side receive = typed(counted(recvbuf, recvcounts, rdispls, MPI_BYTE), recvtypes);
  return call(schedule, &send, &receive, comm);
}

int quadrille_alltoallw_c(quadrille_schedule schedule, const void* sendbuf,
                          const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm) {
  struct quadrille_side send =
      typed(counted_large(sendbuf, sendcounts, sdispls, MPI_BYTE), sendtypes);
  struct quadrille_side receive =
      typed(counted_large(recvbuf, recvcounts, rdispls, MPI_BYTE), recvtypes);
  return call(schedule, &send, &receive, comm);
}

int quadrille_alltoallv_c(quadrille_schedule schedule, const void* sendbuf,
                          const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                          MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                          const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  struct quadrille_side send = counted_large(sendbuf, sendcounts, sdispls, sendtype);
  struct quadrille_side receive = counted_large(recvbuf, recvcounts, rdispls, recvtype);
  return call(schedule, &send, &receive, comm);
}

/* All ranks come to an agreement, so nothing is refused before it. */
static int make_persistent(quadrille_schedule schedule, struct quadrille_side* send,
                           struct quadrille_side* receive, MPI_Comm comm,
                           quadrille_request* request) {
  int ranks = 0, error_class = MPI_SUCCESS;
  if (!quadrille_mpi_is_usable() || comm == MPI_COMM_NULL)
    return quadrille_bind(schedule, comm, NULL);
  MPI_Comm_size(comm, &ranks);
  const int in_place = send->base == MPI_IN_PLACE;
  const char* wrong = check_side(receive, ranks, &error_class);
  if (!wrong && !in_place) wrong = check_side(send, ranks, &error_class);
  if (receive->base == MPI_IN_PLACE) {
    error_class = MPI_ERR_BUFFER;
    wrong = misplaced;
  }
  if (!request) {
    error_class = MPI_ERR_ARG;
    wrong = "the place for the request is NULL";
  } else {
    *request = QUADRILLE_REQUEST_NULL;
  }
  return quadrille_persistent_make(schedule, send, receive, in_place, comm, error_class, wrong,
                                   request);
}

int quadrille_alltoallv_init(quadrille_schedule schedule, const void* sendbuf,
                             const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int rdispls[],
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                             quadrille_request* request) {
  (void)info;
  struct quadrille_side send = counted(sendbuf, sendcounts, sdispls, sendtype);
  struct quadrille_side receive = counted(recvbuf, recvcounts, rdispls, recvtype);
  return make_persistent(schedule, &send, &receive, comm, request);
}

int quadrille_alltoallv_init_c(quadrille_schedule schedule, const void* sendbuf,
                               const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                               MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                               MPI_Info info, quadrille_request* request) {
  (void)info;
  struct quadrille_side send = counted_large(sendbuf, sendcounts, sdispls, sendtype);
  struct quadrille_side receive = counted_large(recvbuf, recvcounts, rdispls, recvtype);
  return make_persistent(schedule, &send, &receive, comm, request);
}

/* What one rank's arguments are wrong in, all ranks may have to agree on: so this is left to the
 * call. */
static int gather(quadrille_schedule schedule, struct quadrille_side* send,
                  struct quadrille_side* receive, MPI_Comm comm) {
  struct quadrille_binding* binding;
  int error_class = MPI_SUCCESS;
  const int code = quadrille_find_binding(schedule, comm, QUADRILLE_ALLGATHER, &binding);
  if (code != MPI_SUCCESS) return code;
  const int in_place = send->base == MPI_IN_PLACE;
  const char* wrong = check_side(receive, (int)binding->place.ranks, &error_class);
  if (!wrong && !in_place) wrong = check_side(send, 0, &error_class);
  if (receive->base == MPI_IN_PLACE) {
    error_class = MPI_ERR_BUFFER;
    wrong = misplaced;
  }
  return quadrille_allgather_run(binding, send, receive, in_place, comm, error_class, wrong);
}

int quadrille_allgather_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                          MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm) {
  struct quadrille_side send = equal(sendbuf, sendcount, sendtype);
  struct quadrille_side receive = equal(recvbuf, recvcount, recvtype);
  return gather(schedule, &send, &receive, comm);
}

int quadrille_allgather(quadrille_schedule schedule, const void* sendbuf, int sendcount,
                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                        MPI_Comm comm) {
  return quadrille_allgather_c(schedule, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                               comm);
}

int quadrille_allgatherv(quadrille_schedule schedule, const void* sendbuf, int sendcount,
                         MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                         const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  struct quadrille_side send = equal(sendbuf, sendcount, sendtype);
  struct quadrille_side receive = counted(recvbuf, recvcounts, displs, recvtype);
  return gather(schedule, &send, &receive, comm);
}

int quadrille_allgatherv_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                           MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                           const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  struct quadrille_side send = equal(sendbuf, sendcount, sendtype);
  struct quadrille_side receive = counted_large(recvbuf, recvcounts, displs, recvtype);
  return gather(schedule, &send, &receive, comm);
}
