// The least volume of a call of a collective, with any schedule.
#ifndef QUADRILLE_SCHEDULE_VOLUME_H_
#define QUADRILLE_SCHEDULE_VOLUME_H_

#include <cstdint>
#include <vector>

#include "schedule/binding.h"
#include "schedule/collective.h"

namespace quadrille {

// The data that enters and leaves, in the units of counts.
struct Volume {
  int64_t in = 0, out = 0;
  void take_greater(const Volume& other) {
    if (in < other.in) in = other.in;
    if (out < other.out) out = other.out;
  }
  friend bool operator==(const Volume&, const Volume&) = default;
};

// The least data that must enter and leave some ranks in a call. Each contribution of others that they need enters
// once, and so does each sum that others contribute to. The same holds in reverse for the data that leaves. A barrier
// moves nothing.
class LeastVolume {
 public:
  // If the call has no counts, every block has length 1.
  LeastVolume(Collective collective, const Job& job, const Call& call);

  // For `count` ranks of that group, from `first` on.
  Volume of(int64_t group, int64_t first, int64_t count) const;
  // For the busiest rank, and for the busiest node. In an allreduce of one group p parties need 2(p - 1) messages
  // until each knows the contributions of all. So the busiest one has at least its share of these, which is more than
  // each needs by itself.
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
  std::vector<std::vector<int64_t>> sums_;  // sums of the counts of a group's first ranks
};

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_VOLUME_H_
