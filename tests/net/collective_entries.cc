// The entry points, with what means nothing at a rank left out.
#include "tests/net/collective_calls.h"

namespace quadrille::net {
namespace {

std::vector<int> ints(const std::vector<int64_t>& values) { return mpi::as<int>(values); }
std::vector<MPI_Count> counts(const std::vector<int64_t>& v) { return mpi::as<MPI_Count>(v); }
std::vector<MPI_Aint> places(const std::vector<int64_t>& v) { return mpi::as<MPI_Aint>(v); }

}  // namespace

// As MPI names it.
int CollectivePart::root_argument() const {
  const Groups& g = call_.groups;
  if (g.remote == 0) return call_.root;
  if (g.group_of(call_.root) == group_) return is_root_ ? MPI_ROOT : MPI_PROC_NULL;
  return call_.root - g.first(1 - group_);
}

int CollectivePart::run_gather(quadrille_schedule schedule, MPI_Comm comm) {
  const void* const from = in_place_ ? MPI_IN_PLACE : from_.address();
  const int root = root_argument(), sent = static_cast<int>(from_.count());
  if (call_.form == 0 && call_.seed % 2)
    return quadrille_gather_c(schedule, from, from_.count(), from_.type(), to_.address(),
                              to_.count(), to_.type(), root, comm);
  if (call_.form == 0)
    return quadrille_gather(schedule, from, sent, from_.type(), to_.address(),
                            static_cast<int>(to_.count()), to_.type(), root, comm);
  if (call_.form == 1)
    return quadrille_gatherv(schedule, from, sent, from_.type(), to_.address(),
                             ints(to_.side.counts).data(), ints(to_.side.displacements).data(),
                             to_.type(), root, comm);
  return quadrille_gatherv_c(schedule, from, from_.count(), from_.type(), to_.address(),
                             counts(to_.side.counts).data(), places(to_.side.displacements).data(),
                             to_.type(), root, comm);
}

int CollectivePart::run_scatter(quadrille_schedule schedule, MPI_Comm comm) {
  void* const to = in_place_ ? MPI_IN_PLACE : to_.address();
  const int root = root_argument(), received = static_cast<int>(to_.count());
  if (call_.form == 0 && call_.seed % 2)
    return quadrille_scatter_c(schedule, from_.address(), from_.count(), from_.type(), to,
                               to_.count(), to_.type(), root, comm);
  if (call_.form == 0)
    return quadrille_scatter(schedule, from_.address(), static_cast<int>(from_.count()),
                             from_.type(), to, received, to_.type(), root, comm);
  if (call_.form == 1)
    return quadrille_scatterv(schedule, from_.address(), ints(from_.side.counts).data(),
                              ints(from_.side.displacements).data(), from_.type(), to, received,
                              to_.type(), root, comm);
  return quadrille_scatterv_c(schedule, from_.address(), counts(from_.side.counts).data(),
                              places(from_.side.displacements).data(), from_.type(), to,
                              to_.count(), to_.type(), root, comm);
}

int CollectivePart::run_allgather(quadrille_schedule schedule, MPI_Comm comm) {
  const void* const from = in_place_ ? MPI_IN_PLACE : from_.address();
  const int sent = static_cast<int>(from_.count());
  if (call_.form == 0 && call_.seed % 2)
    return quadrille_allgather_c(schedule, from, from_.count(), from_.type(), to_.address(),
                                 to_.count(), to_.type(), comm);
  if (call_.form == 0)
    return quadrille_allgather(schedule, from, sent, from_.type(), to_.address(),
                               static_cast<int>(to_.count()), to_.type(), comm);
  if (call_.form == 1)
    return quadrille_allgatherv(schedule, from, sent, from_.type(), to_.address(),
                                ints(to_.side.counts).data(), ints(to_.side.displacements).data(),
                                to_.type(), comm);
  return quadrille_allgatherv_c(schedule, from, from_.count(), from_.type(), to_.address(),
                                counts(to_.side.counts).data(),
                                places(to_.side.displacements).data(), to_.type(), comm);
}

int CollectivePart::run_alltoall(quadrille_schedule schedule, MPI_Comm comm) {
  if (call_.form == 0)
    return quadrille_alltoall(schedule, from_.address(), static_cast<int>(from_.count()),
                              from_.type(), to_.address(), static_cast<int>(to_.count()),
                              to_.type(), comm);
  if (call_.form == 1)
    return quadrille_alltoallv(schedule, from_.address(), ints(from_.side.counts).data(),
                               ints(from_.side.displacements).data(), from_.type(), to_.address(),
                               ints(to_.side.counts).data(), ints(to_.side.displacements).data(),
                               to_.type(), comm);
  return quadrille_alltoallv_c(schedule, from_.address(), counts(from_.side.counts).data(),
                               places(from_.side.displacements).data(), from_.type(), to_.address(),
                               counts(to_.side.counts).data(),
                               places(to_.side.displacements).data(), to_.type(), comm);
}

int CollectivePart::run_reduce_scatter(quadrille_schedule schedule, MPI_Comm comm) {
  const void* const from = in_place_ ? MPI_IN_PLACE : from_.address();
  const std::vector<int64_t> lengths = results();
  const MPI_Datatype type = element_->shape.type;
  if (call_.form == 0 && call_.seed % 2)
    return quadrille_reduce_scatter_block_c(schedule, from, to_.address(), lengths[0], type,
                                            element_->operation, comm);
  if (call_.form == 0)
    return quadrille_reduce_scatter_block(schedule, from, to_.address(),
                                          static_cast<int>(lengths[0]), type, element_->operation,
                                          comm);
  if (call_.form == 1)
    return quadrille_reduce_scatter(schedule, from, to_.address(), ints(lengths).data(), type,
                                    element_->operation, comm);
  return quadrille_reduce_scatter_c(schedule, from, to_.address(), counts(lengths).data(), type,
                                    element_->operation, comm);
}

// The count is one at all ranks.
int CollectivePart::run_combining(quadrille_schedule schedule, MPI_Comm comm) {
  const void* const from = in_place_ ? MPI_IN_PLACE : from_.address();
  void* const to = to_.address();
  const int64_t count = std::max(from_.count(), to_.count());
  const int small = static_cast<int>(count);
  const MPI_Datatype type = element_->shape.type;
  const MPI_Op op = element_->operation;
  const bool is_large = call_.form == 2;
  switch (call_.collective) {
    case Collective::kReduce:
      return is_large
                 ? quadrille_reduce_c(schedule, from, to, count, type, op, root_argument(), comm)
                 : quadrille_reduce(schedule, from, to, small, type, op, root_argument(), comm);
    case Collective::kAllreduce:
      return is_large ? quadrille_allreduce_c(schedule, from, to, count, type, op, comm)
                      : quadrille_allreduce(schedule, from, to, small, type, op, comm);
    case Collective::kScan:
      return is_large ? quadrille_scan_c(schedule, from, to, count, type, op, comm)
                      : quadrille_scan(schedule, from, to, small, type, op, comm);
    default:
      return is_large ? quadrille_exscan_c(schedule, from, to, count, type, op, comm)
                      : quadrille_exscan(schedule, from, to, small, type, op, comm);
  }
}

int CollectivePart::run(quadrille_schedule schedule, MPI_Comm comm, int& entered) {
  ++entered;
  Blocks& one = from_.buffer ? from_ : to_;
  int code = MPI_SUCCESS;
  switch (call_.collective) {
    case Collective::kBroadcast:
      return quadrille_bcast(schedule, one.address(), static_cast<int>(one.count()), one.type(),
                             root_argument(), comm);
    case Collective::kGather: return run_gather(schedule, comm);
    case Collective::kScatter: return run_scatter(schedule, comm);
    case Collective::kAllgather: return run_allgather(schedule, comm);
    case Collective::kAlltoall: return run_alltoall(schedule, comm);
    case Collective::kReduceScatter: return run_reduce_scatter(schedule, comm);
    case Collective::kBarrier:
      code = quadrille_barrier(schedule, comm);
      EXPECT_EQ(entered, call_.groups.all()) << "a barrier lets a rank go too early";
      return code;
    default: return run_combining(schedule, comm);
  }
}

}  // namespace quadrille::net
