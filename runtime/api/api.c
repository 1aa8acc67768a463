/* The collective entry points: MPI's arguments, checked, as two sides of a call. */
#include <limits.h>

#include "runtime/api/arguments.h"

static const char* const misplaced =
    "MPI_IN_PLACE is the receive buffer; it belongs in place of the send buffer";

static const char* const not_between = "MPI_IN_PLACE means nothing between groups";

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

/* Whether this rank's send buffer and receive buffer mean anything, by QUADRILLE_PIECE_. */
static void find_roles(const struct quadrille_binding* binding, int root, int32_t blocks[2]) {
  const struct quadrille_program* program = &binding->loaded->program;
  struct quadrille_place place = binding->place;
  if (quadrille_is_rooted(program)) {
    const int is_root = program->groups == 2 ? root == MPI_ROOT : root == binding->own;
    place.root = is_root ? place.rank : -1;
    if (program->groups == 2) place.group = !is_root;
  }
  quadrille_block_counts(program, &place, blocks);
}

static const char* check_root(const struct quadrille_binding* binding, int root) {
  const struct quadrille_program* program = &binding->loaded->program;
  const int64_t ranks = program->groups == 2 ? binding->place.remote_ranks : binding->place.ranks;
  if (!quadrille_is_rooted(program) || (root >= 0 && root < ranks)) return NULL;
  if (program->groups == 2 && root == MPI_ROOT) return NULL;
  return program->groups == 2
             ? "the root is neither MPI_ROOT, MPI_PROC_NULL nor a rank of the other group"
             : "the root is no rank of the communicator";
}

/* A side of blocks for which the caller gives counts alone. */
static const char* check_results(struct quadrille_side* side, int ranks, int own,
                                 int* error_class) {
  struct quadrille_side one = *side;
  *error_class = MPI_ERR_ARG;
  if (!side->uniform && !side->counts && !side->large_counts) return "the counts are NULL";
  *error_class = MPI_ERR_COUNT;
  if (!side->uniform && has_negative(side, ranks)) return "a count is negative";
  one.count = quadrille_count_of(side, own);
  one.uniform = 1;
  const char* wrong = check_side(&one, 1, error_class);
  one.uniform = side->uniform;
  *side = one;
  return wrong;
}

/* What can be said of the arguments without communication. What means nothing at this rank is not looked at:
 * it becomes what the other side is. */
static const char* check_arguments(const struct quadrille_binding* binding,
                                   struct quadrille_arguments* a, int* error_class) {
  const int collective = binding->loaded->program.collective;
  int32_t blocks[2];
  *error_class = MPI_ERR_ROOT;
  const char* wrong = check_root(binding, a->root);
  if (wrong) return wrong;
  find_roles(binding, a->root, blocks);
  const int32_t sends = blocks[QUADRILLE_PIECE_SEND], receives = blocks[QUADRILLE_PIECE_RECEIVE];
  *error_class = MPI_ERR_BUFFER;
  if (a->receive.base == MPI_IN_PLACE && receives > 0) return misplaced;
  if (a->in_place && binding->place.remote_ranks > 0) return not_between;
  if (a->in_place && quadrille_is_rooted(&binding->loaded->program) && a->root != binding->own)
    return "MPI_IN_PLACE means something at the root alone";
  const int looks = receives > 0 || a->in_place;
  if (looks && collective == QUADRILLE_REDUCE_SCATTER)
    wrong = check_results(&a->receive, (int)binding->place.ranks, binding->own - binding->first,
                          error_class);
  else if (looks)
    wrong = check_side(&a->receive, receives > 0 ? receives : 1, error_class);
  if (!wrong && sends > 0 && !a->in_place) wrong = check_side(&a->send, sends, error_class);
  if (wrong) return wrong;
  if (a->in_place || sends == 0) a->send = a->receive;
  if (receives == 0) a->receive = a->send;
  return NULL;
}

int quadrille_run(quadrille_schedule schedule, int collective, struct quadrille_arguments* a,
                  MPI_Comm comm) {
  struct quadrille_binding* binding;
  int error_class = MPI_SUCCESS;
  const int code = quadrille_find_binding(schedule, comm, collective, &binding);
  if (code != MPI_SUCCESS) return code;
  const struct quadrille_program* program = &binding->loaded->program;
  if (program->groups == 2 && quadrille_is_rooted(program) && a->root == MPI_PROC_NULL)
    return binding->compares && quadrille_is_counted(program)
               ? quadrille_compare_calls(binding, comm, a, MPI_SUCCESS, NULL)
               : MPI_SUCCESS;
  const char* wrong = check_arguments(binding, a, &error_class);
  if (!wrong && !quadrille_root_fits(binding, a->root)) {
    wrong =
        "the schedule is for other nodes in the root's group; generate one for these or for any";
    error_class = MPI_ERR_TOPOLOGY;
  }
  if (quadrille_is_counted(program)) {
    /* What one rank's arguments are wrong in, all ranks may have to agree on: so this is left to the call. */
    a->error = wrong;
    a->error_class = error_class;
    return quadrille_counted_run(binding, a, comm);
  }
  if (wrong) return quadrille_error(comm, error_class, "%s", wrong);
  return quadrille_uncounted_run(binding, a, comm);
}

/* An all-to-all or an allgather. */
static int call(quadrille_schedule schedule, int collective, struct quadrille_side send,
                struct quadrille_side receive, MPI_Comm comm) {
  struct quadrille_arguments a = {.send = send, .receive = receive};
  a.is_regular = send.uniform && receive.uniform;
  a.in_place = send.base == MPI_IN_PLACE;
  return quadrille_run(schedule, collective, &a, comm);
}

int quadrille_alltoall_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm) {
  return call(schedule, QUADRILLE_ALLTOALL, equal(sendbuf, sendcount, sendtype),
              equal(recvbuf, recvcount, recvtype), comm);
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
  return call(schedule, QUADRILLE_ALLTOALL, counted(sendbuf, sendcounts, sdispls, sendtype),
              counted(recvbuf, recvcounts, rdispls, recvtype), comm);
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
  return call(schedule, QUADRILLE_ALLTOALL,
              typed(counted(sendbuf, sendcounts, sdispls, MPI_BYTE), sendtypes),
              typed(counted(recvbuf, recvcounts, rdispls, MPI_BYTE), recvtypes), comm);
}

int quadrille_alltoallw_c(quadrille_schedule schedule, const void* sendbuf,
                          const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return call(schedule, QUADRILLE_ALLTOALL,
              typed(counted_large(sendbuf, sendcounts, sdispls, MPI_BYTE), sendtypes),
              typed(counted_large(recvbuf, recvcounts, rdispls, MPI_BYTE), recvtypes), comm);
}

int quadrille_alltoallv_c(quadrille_schedule schedule, const void* sendbuf,
                          const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                          MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                          const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return call(schedule, QUADRILLE_ALLTOALL, counted_large(sendbuf, sendcounts, sdispls, sendtype),
              counted_large(recvbuf, recvcounts, rdispls, recvtype), comm);
}

/* All ranks come to an agreement, so nothing is refused before it. */
static int make_persistent(quadrille_schedule schedule, struct quadrille_side* send,
                           struct quadrille_side* receive, MPI_Comm comm,
                           quadrille_request* request) {
  int ranks = 0, inter = 0, error_class = MPI_SUCCESS;
  if (!quadrille_mpi_is_usable() || comm == MPI_COMM_NULL)
    return quadrille_bind(schedule, comm, NULL);
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    MPI_Comm_remote_size(comm, &ranks);
  else
    MPI_Comm_size(comm, &ranks);
  const int in_place = send->base == MPI_IN_PLACE;
  const char* wrong = check_side(receive, ranks, &error_class);
  if (!wrong && !in_place) wrong = check_side(send, ranks, &error_class);
  if (receive->base == MPI_IN_PLACE) {
    error_class = MPI_ERR_BUFFER;
    wrong = misplaced;
  } else if (in_place && inter) {
    error_class = MPI_ERR_BUFFER;
    wrong = not_between;
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

int quadrille_allgather_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                          MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm) {
  return call(schedule, QUADRILLE_ALLGATHER, equal(sendbuf, sendcount, sendtype),
              equal(recvbuf, recvcount, recvtype), comm);
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
  return call(schedule, QUADRILLE_ALLGATHER, equal(sendbuf, sendcount, sendtype),
              counted(recvbuf, recvcounts, displs, recvtype), comm);
}

int quadrille_allgatherv_c(quadrille_schedule schedule, const void* sendbuf, MPI_Count sendcount,
                           MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                           const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return call(schedule, QUADRILLE_ALLGATHER, equal(sendbuf, sendcount, sendtype),
              counted_large(recvbuf, recvcounts, displs, recvtype), comm);
}
