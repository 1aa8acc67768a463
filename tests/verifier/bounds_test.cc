// Compares the lower bound of times with its definition and with known times, and the bound of volumes with all
// algorithms. Also tests numbers of rounds that papers state.
#include "verifier/port_accounting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "generator/registry.h"
#include "tests/support/variants.h"
#include "tests/verifier/walks.h"
#include "verifier/check.h"

namespace quadrille::verifier::bounds_test {

struct Known {
  std::vector<int64_t> sizes;
  int64_t bound, factor, circle;
};

// Returns bounds, and times of the two hierarchical algorithms, that were worked out by hand.
const std::vector<Known>& known() {
  static const std::vector<Known> kKnown = {{{1, 2, 3}, 27, 29, 29},
                                            {{1, 2, 3, 4}, 64, 70, 67},
                                            {{2, 2, 2, 2}, 28, 32, 28},
                                            {{1, 1, 4, 4}, 64, 68, 64},
                                            {{1, 2, 3, 4, 5, 6, 7, 8}, 512, 554, 533}};
  return kKnown;
}

int64_t time_of(const std::string& name, const std::vector<int64_t>& sizes) {
  const Algorithm& algorithm = *find_algorithm(Collective::kAlltoall, name);
  const Program program = make_program(algorithm, all_choices(algorithm)[0]);
  const Report report = check_schedule(program, job_of(sizes), {}, {}).value();
  EXPECT_EQ(report.lower_bound, alltoall_lower_bound(topology_of(sizes)));
  return report.time;
}

// The times of hierarchical-factor show that it is not optimal, as Sanders and Traeff 2002 state.
TEST(Bounds, AreTheKnownOnesAndSoAreTheTimesOfTheAlgorithms) {
  for (const Known& known : known()) {
    const std::string nodes = topology_of(known.sizes).text();
    EXPECT_EQ(alltoall_lower_bound(topology_of(known.sizes)), known.bound) << nodes;
    EXPECT_EQ(time_of("hierarchical-factor", known.sizes), known.factor) << nodes;
    EXPECT_GT(known.factor, known.bound) << nodes;
    EXPECT_EQ(time_of("hierarchical-circle", known.sizes), known.circle) << nodes;
  }
}

// Returns the bound by its definition: the greatest over every node, and every odd set of three nodes or more.
int64_t bound_by_all_sets(const std::vector<int64_t>& sizes) {
  int64_t ranks = 0, bound = 0;
  for (const int64_t size : sizes) ranks += size;
  for (const int64_t size : sizes) bound = std::max(bound, 2 * size * (ranks - size) + size * size);
  for (unsigned set = 0; set < 1u << sizes.size(); ++set) {
    int64_t members = 0, pairs = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (!(set >> i & 1)) continue;
      ++members;
      for (size_t j = 0; j < i; ++j)
        if (set >> j & 1) pairs += sizes[i] * sizes[j];
    }
    if (members < 3 || members % 2 == 0) continue;
    const int64_t at_a_time = (members - 1) / 2;
    bound = std::max(bound, 2 * ((pairs + at_a_time - 1) / at_a_time));
  }
  return bound;
}

TEST(Bounds, TheLargestNodesDecideAmongAllOddSets) {
  for (const std::vector<int64_t>& sizes : ascending_node_vectors(12))
    EXPECT_EQ(alltoall_lower_bound(topology_of(sizes)), bound_by_all_sets(sizes))
        << topology_of(sizes).text();
}

// Sanders and Traeff 2002, Theorem 1 and the end of its proof. With p ranks, n of them on the largest node, the
// algorithm takes p n steps. In at most n^2 of these the largest node sends inside while others exchange. So the time
// is at most n^2 above that node's work. Self-copies before all steps add n.
void expect_near_the_bound(const Algorithm& algorithm, const std::vector<int64_t>& sizes) {
  const int64_t ranks = topology_of(sizes).ranks(), most = *std::ranges::max_element(sizes);
  for (const Choices& choices : all_choices(algorithm)) {
    const Report report =
        check_schedule(make_program(algorithm, choices), job_of(sizes), {}, {}).value();
    const std::string what = full_name(algorithm, choices) + " on " + topology_of(sizes).text();
    ASSERT_TRUE(!report.violation && report.timed) << what;
    const bool drop = choices.at("self-loops") == "drop";
    EXPECT_GE(report.time, report.lower_bound) << what;
    EXPECT_LE(report.time, report.lower_bound + most * most + (drop ? most : 0)) << what;
    EXPECT_LE(report.steps + report.copy_steps, ranks * most) << what;
    if (full_name(algorithm, choices) == "hierarchical-factor") {
      EXPECT_EQ(report.steps + report.copy_steps, ranks * most) << what;
    }
  }
}

TEST(Times, OfTheHierarchicalAlgorithmsAreNearTheBound) {
  std::mt19937_64 random(2002);
  std::vector<std::vector<int64_t>> all = all_node_vectors(7);
  for (int i = 0; i < 40; ++i) {
    const uint64_t most = 1 + random() % 12;  // on a node
    all.emplace_back(2 + random() % 12);
    for (int64_t& size : all.back()) size = static_cast<int64_t>(1 + random() % most);
  }
  for (const char* name : {"hierarchical-factor", "hierarchical-circle"})
    for (const std::vector<int64_t>& sizes : all)
      expect_near_the_bound(*find_algorithm(Collective::kAlltoall, name), sizes);
}

// The bound is exact: for n = 2 the time is n^2 above the lower bound, and n more if copies come before all steps.
TEST(Times, OfTheHierarchicalAlgorithmsAreAsFarFromTheBoundAsThat) {
  const std::vector<int64_t> sizes = {2, 2, 2, 2};
  const Algorithm& factor = *find_algorithm(Collective::kAlltoall, "hierarchical-factor");
  EXPECT_EQ(time_of("hierarchical-factor", sizes), alltoall_lower_bound(topology_of(sizes)) + 4);
  const Program dropped =
      make_program(factor, {{"self-loops", "drop"}, {"intra", "one-way"}, {"pacing", "free"}});
  EXPECT_EQ(check_schedule(dropped, job_of(sizes), {}, {})->time,
            alltoall_lower_bound(topology_of(sizes)) + 4 + 2);
}

TEST(Rounds, OfTheExclusiveScanAreThoseOfItsPaper) {
  const Program program = make_program(*find_algorithm(Collective::kExscan, "one-two-three"), {});
  int64_t rounds = 0;
  for (int64_t ranks = 2; ranks <= 100; ++ranks) {
    while (3 << rounds < 4 * (ranks - 1)) ++rounds;  // ceil(log2(4 (ranks - 1) / 3))
    const Call call{{std::vector<int64_t>(ranks, 1)}, {}, 0};
    const Report report = check_schedule(program, job_of({ranks}), call, {}).value();
    EXPECT_FALSE(report.violation) << ranks;
    EXPECT_EQ(report.steps, rounds) << ranks;
  }
}

// Returns the volumes of the busiest rank and of the busiest node.
std::pair<Volume, Volume> volumes_of(const Program& program, const Job& job, const Call& call) {
  const Report report = execute(program, job, call, bind_all(program, job, call), {});
  EXPECT_FALSE(report.violation) << program.algorithm.text;
  return report.volumes.value();
}

TEST(Volumes, AreOfNoAlgorithmLessThanMustTravel) {
  const auto is_less = [](const Volume& a, const Volume& b) {
    return a.in < b.in || a.out < b.out;
  };
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 2, 3}, {4}})
      for (const Case& c : cases_on(variant, sizes)) {
        const LeastVolume least(variant.program.collective, c.job, c.call);
        const auto [rank, node] = volumes_of(variant.program, c.job, c.call);
        EXPECT_FALSE(is_less(rank, least.of_a_rank())) << c.text;
        EXPECT_FALSE(is_less(node, least.of_a_node())) << c.text;
      }
}

TEST(Volumes, AreThoseOfTheProgramAndReachTheLeastWhereItDoes) {
  const auto volumes = [](Collective collective, const char* name,
                          const std::vector<int64_t>& sizes, const std::vector<int64_t>& counts) {
    const Program program = make_program(*find_algorithm(collective, name), {});
    const Call call{{counts}, {}, 0};
    return std::pair(volumes_of(program, job_of(sizes), call),
                     LeastVolume(collective, job_of(sizes), call));
  };
  const std::vector<int64_t> alike(4, 100);
  const auto [ring, of_sum] = volumes(Collective::kAllreduce, "ring", {1, 3}, alike);
  EXPECT_EQ(ring, std::pair(Volume{150, 150}, Volume{150, 150}));
  EXPECT_EQ(ring.first, of_sum.of_a_rank());
  const auto [doubling, same] = volumes(Collective::kAllreduce, "doubling", {1, 3}, alike);
  EXPECT_EQ(doubling.first, (Volume{200, 200}));
  // In the tree, rank 0 receives 2 from rank 1, and 7 from rank 2, which forwards 4 from rank 3.
  const auto [tree, of_gather] = volumes(Collective::kGather, "binomial", {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(tree, std::pair(Volume{9, 7}, Volume{7, 7}));
  EXPECT_EQ(of_gather.of_a_rank(), (Volume{9, 4}));
  EXPECT_EQ(of_gather.of_a_node(), (Volume{7, 7}));
}

}  // namespace quadrille::verifier::bounds_test
