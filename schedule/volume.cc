// Computes the volume of consecutive ranks from prefix sums of counts, with a case for each collective. Tested by
// tests/schedule/volume_test.cc against the requirements of collectives, block by block.
#include "schedule/volume.h"

namespace quadrille {
namespace {

std::vector<std::vector<int64_t>> sizes_of(const Job& job) {
  std::vector<std::vector<int64_t>> sizes;
  for (const Topology& topology : job.groups) sizes.push_back(topology.sizes());
  return sizes;
}

}  // namespace

LeastVolume::LeastVolume(Collective collective, const Job& job, const Call& call)
    : collective_(collective), node_sizes_(sizes_of(job)), root_(call.root) {
  for (size_t group = 0; group < job.groups.size(); ++group) {
    sums_.push_back({0});
    for (int64_t rank = 0; rank < job.groups[group].ranks(); ++rank)
      sums_.back().push_back(sums_.back().back() +
                             (call.counts.empty() ? 1 : call.counts[group][rank]));
  }
}

Volume LeastVolume::of(int64_t group, int64_t first, int64_t count) const {
  const bool two = sums_.size() == 2;
  const auto ranks = static_cast<int64_t>(sums_[group].size()) - 1;
  const int64_t other = two ? 1 - group : 0;
  if (!two && count == ranks) return {};  // there are no other ranks
  const bool has_root = group == 0 && first <= root_ && root_ < first + count;
  const bool has_leaves = !two || group == 1;
  const int64_t own = sum(group, first, count);
  const int64_t others = total(other) - (two ? 0 : own);
  const int64_t one = sums_[group][1];  // for collectives with equal counts
  const Volume from_root = has_root ? Volume{0, one} : Volume{has_leaves ? one : 0, 0};
  switch (collective_) {
    case Collective::kAlltoall: {
      const auto peers = two ? static_cast<int64_t>(sums_[other].size()) - 1 : ranks - count;
      const int64_t pairs = count * peers * one;
      return {pairs, pairs};
    }
    case Collective::kAllgather: return {others, own};
    case Collective::kReduceScatter: return {own, others};
    case Collective::kBroadcast: return from_root;
    case Collective::kReduce: return {from_root.out, from_root.in};
    case Collective::kScatter:
      return has_root ? Volume{0, others} : Volume{has_leaves ? own : 0, 0};
    case Collective::kGather: return has_root ? Volume{others, 0} : Volume{0, has_leaves ? own : 0};
    case Collective::kAllreduce: return {one, one};
    case Collective::kScan:
    case Collective::kExscan: return {first > 0 ? one : 0, first + count < ranks ? one : 0};
    case Collective::kBarrier: return {};
  }
  return {};
}

Volume LeastVolume::busiest(const std::vector<std::vector<int64_t>>& sizes) const {
  Volume most;
  for (size_t group = 0; group < sizes.size(); ++group) {
    int64_t first = 0;
    for (const int64_t size : sizes[group]) {
      most.take_greater(of(static_cast<int64_t>(group), first, size));
      first += size;
    }
  }
  const auto parties = static_cast<int64_t>(sizes[0].size());
  if (collective_ == Collective::kAllreduce && sizes.size() == 1 && parties > 1) {
    const int64_t share = (2 * (parties - 1) * sums_[0][1] + parties - 1) / parties;
    most.take_greater({share, share});
  }
  return most;
}

Volume LeastVolume::of_a_node() const { return busiest(node_sizes_); }

Volume LeastVolume::of_a_rank() const {
  std::vector<std::vector<int64_t>> ones;
  for (const std::vector<int64_t>& sums : sums_) ones.emplace_back(sums.size() - 1, 1);
  return busiest(ones);
}

}  // namespace quadrille
