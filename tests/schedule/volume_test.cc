// Compares the least volume with the contributions that every receive block requires.
#include "schedule/volume.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/topologies.h"

namespace quadrille::volume_test {

// Consecutive ranks of a group, beginning with `first`.
struct Ranks {
  int64_t group, first, count;
  bool has(int64_t of_group, int64_t rank) const {
    return of_group == group && first <= rank && rank < first + count;
  }
};

// Computes the volume from its definition: the contributions that must enter or leave `some` for the receive blocks.
Volume required_by(Collective collective, const Job& job, const Call& call, const Ranks& some) {
  using Sum = std::set<Contribution>;
  std::set<std::pair<Sum, int64_t>> in, out;  // the sums that move, with their lengths
  const auto groups = static_cast<int64_t>(job.groups.size());
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t rank = 0; rank < job.groups[group].ranks(); ++rank) {
      const Place place{job.groups[group].ranks(), groups == 2 ? job.groups[1 - group].ranks() : 0,
                        group, rank, call.root};
      const bool here = some.has(group, rank);
      for (int64_t block = 0; block < block_count(collective, Buffer::kReceive, place); ++block) {
        Sum brought;
        for (const Contribution& each : required(collective, place, Block{block}))
          if (some.has(each.group, each.rank) != here) brought.insert(each);
        if (brought.empty()) continue;
        const LengthSource source =
            length_source(collective, Buffer::kReceive, place, Block{block});
        const int64_t length =
            call.counts.empty() ? 1 : call.counts[source.remote ? 1 - group : group][source.index];
        (here ? in : out).insert({brought, length});
      }
    }
  Volume volume;
  for (const auto& [sum, length] : in) volume.in += length;
  for (const auto& [sum, length] : out) volume.out += length;
  return volume;
}

void expect_volumes(Collective collective, const Job& job, const Call& call) {
  const LeastVolume least(collective, job, call);
  Volume rank, node;
  for (int64_t group = 0; group < static_cast<int64_t>(job.groups.size()); ++group) {
    const int64_t ranks = job.groups[group].ranks();
    for (int64_t first = 0; first < ranks; ++first)
      for (int64_t count = 1; first + count <= ranks; ++count)
        EXPECT_EQ(least.of(group, first, count),
                  required_by(collective, job, call, {group, first, count}))
            << name_of(collective) << " on " << job.groups[0].text() << ", " << job.groups.size()
            << " groups, root " << call.root << ": " << count << " ranks from " << first
            << " on of group " << group;
    for (int64_t first = 0; first < ranks; ++first) rank.take_greater(least.of(group, first, 1));
    int64_t first = 0;
    for (const int64_t size : job.groups[group].sizes()) {
      node.take_greater(least.of(group, first, size));
      first += size;
    }
  }
  if (collective == Collective::kAllreduce && job.groups.size() == 1) return;
  EXPECT_EQ(least.of_a_rank(), rank) << name_of(collective);
  EXPECT_EQ(least.of_a_node(), node) << name_of(collective);
}

Call call_of(Collective collective, const Job& job, bool counts, int64_t root) {
  Call call{{}, {}, root};
  if (!counts) return call;
  for (const Topology& topology : job.groups) {
    call.counts.emplace_back();
    for (int64_t rank = 0; rank < topology.ranks(); ++rank)
      call.counts.back().push_back(has_one_count(collective) ? 7 : 10 * (rank + 1));
  }
  return call;
}

TEST(LeastVolume, IsWhatTheCollectiveRequires) {
  for (int i = 0; i < kCollectiveCount; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const std::vector<int64_t>& first : {std::vector<int64_t>{1}, {3}, {1, 2}, {2, 2}})
      for (const std::vector<int64_t>& second : {std::vector<int64_t>{}, {1}, {1, 2}}) {
        if (!second.empty() && !exists_between_groups(collective)) continue;
        Job job = job_of(first);
        if (!second.empty()) job.groups.push_back(topology_of(second));
        for (const bool counts : {false, true}) {
          if (counts && collective == Collective::kAlltoall) continue;
          for (int64_t root = 0; root < (rooted(collective) ? job.groups[0].ranks() : 1); ++root)
            expect_volumes(collective, job, call_of(collective, job, counts, root));
        }
      }
  }
}

TEST(LeastVolume, OfAnAllreduceIsTheShareOfTheBusiest) {
  const Call call{{std::vector<int64_t>(4, 100)}, {}, 0};
  const LeastVolume least(Collective::kAllreduce, job_of({1, 3}), call);
  EXPECT_EQ(least.of_a_rank(), (Volume{150, 150}));  // 2*3*100 / 4
  EXPECT_EQ(least.of_a_node(), (Volume{100, 100}));  // 2*1*100 / 2
  const Call of_one{{{100}}, {}, 0};
  EXPECT_EQ(LeastVolume(Collective::kAllreduce, job_of({1}), of_one).of_a_rank(), Volume{});
}

}  // namespace quadrille::volume_test
