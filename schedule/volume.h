// Computes the least data that a call of a collective moves, whatever its schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/binding.h"
#include "schedule/collective.h"

namespace quadrille {

// The data that enters and leaves a set of ranks, in the units of counts.
struct Volume {
  int64_t in = 0, out = 0;
  void take_greater(const Volume& other) {
    if (in < other.in) in = other.in;
    if (out < other.out) out = other.out;
  }
  friend bool operator==(const Volume&, const Volume&) = default;
};

// Computes the least data that must enter and leave a set of ranks in a call. Each contribution that they need from
// other ranks enters once, and so does each sum that other ranks contribute to. Likewise, what other ranks need
// leaves once. A barrier moves nothing.
class LeastVolume {
 public:
  // If the call has no counts, every block has length 1.
  LeastVolume(Collective collective, const Job& job, const Call& call);

  // Returns the volume of `count` ranks of a group, from `first` on.
  Volume of(int64_t group, int64_t first, int64_t count) const;
  // Returns the volume of the busiest rank, and of the busiest node. In an allreduce of one group, p ranks (or nodes)
  // together need 2(p - 1) messages until each knows the contributions of all. So the busiest one has at least
  // 2(p - 1)/p of them, which is more than each needs by itself.
  Volume of_a_rank() const;
  Volume of_a_node() const;

 private:
  Volume busiest(const std::vector<std::vector<int64_t>>& sizes) const;
  int64_t sum(int64_t group, int64_t first, int64_t count) const {
    return sums_[group][first + count] - sums_[group][first];
  }
  int64_t total(int64_t group) const { return sums_[group].back(); }

  const Collective collective_;
  const std::vector<std::vector<int64_t>> node_sizes_;  // per group
  const int64_t root_;
  std::vector<std::vector<int64_t>> sums_;  // by group: prefix sums of its counts
};

}  // namespace quadrille
