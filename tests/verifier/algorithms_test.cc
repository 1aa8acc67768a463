// Checks every all-to-all algorithm with every choice of its options on every vector of node sizes with at most 8
// ranks, and on random larger ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "generator/registry.h"
#include "tests/support/effort.h"
#include "tests/support/property.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "tests/verifier/reports.h"
#include "verifier/check.h"

namespace quadrille::verifier::algorithms_test {

const std::vector<Variant>& alltoalls() {
  static const std::vector<Variant> kAll = variants_of(Collective::kAlltoall);
  return kAll;
}

// Returns the number of distances z*radix^x below `ranks`, with 1 <= z < radix. Each is a round of TuNA, in which
// every rank sends one message.
int64_t one_hop_distances(int64_t ranks, int64_t radix) {
  int64_t distances = 0;
  for (int64_t power = 1; power < ranks; power *= radix)
    for (int64_t z = 1; z < radix && z * power < ranks; ++z) ++distances;
  return distances;
}

// Whether ranks forward blocks of other ranks.
bool forwards(const Variant& variant) { return variant.program.temporary_blocks != constant(0); }

// Returns the number of keys with messages or copies, if Sanders and Traeff 2002 or Fan et al. 2024 have a formula.
std::optional<int64_t> closed_form(const std::string& name, const Job& job) {
  const Topology& topology = job.groups[0];
  const int64_t ranks = topology.ranks();
  if (name == "factor" || name == "factor-even" || name == "xor") return ranks;
  if (name == "factor-even+drop" || name == "xor+drop") return ranks - 1;
  if (name == "spread-out" || name.starts_with("scattered") || name == "pairwise") return ranks - 1;
  if (name == "linear") return std::max<int64_t>(0, 2 * ranks - 3);  // sums of two ranks are keys
  if (name == "tuna" || name == "bruck") return one_hop_distances(ranks, job.parameters[0]);
  if (name.starts_with("hierarchical-factor") && name.find("drop") == std::string::npos &&
      name.find("exchange") == std::string::npos)
    return topology.runs().back().size * ranks;  // Sanders and Traeff 2002, Theorem 1
  if (name == "hierarchical-permutation" && job.parameters[0] == 1) {
    const std::vector<int64_t> sizes = topology.sizes();
    const int64_t longest = sizes.back(), next = sizes.size() > 1 ? sizes[sizes.size() - 2] : 0;
    return longest * (ranks - next) - (longest - next);
  }
  return std::nullopt;
}

// Returns the number of messages of TuNA inside each node and of the exchange between nodes.
int64_t messages_of_tuna(const Topology& topology, int64_t radix, bool staggered) {
  int64_t count = 0;
  for (const int64_t size : topology.sizes())
    count += size * one_hop_distances(size, radix) +
             size * (staggered ? topology.ranks() - size : topology.nodes() - 1);
  return count;
}

int64_t modulo(int64_t number, int64_t divisor) { return (number % divisor + divisor) % divisor; }

// Returns how many ranks of node `of` the rank serves. The rank's own node has `size` ranks.
int64_t served(const std::vector<int64_t>& sizes, size_t of, int64_t rank, int64_t size) {
  const int64_t first =
      std::accumulate(sizes.begin(), sizes.begin() + static_cast<long>(of), int64_t{0});
  int64_t count = 0;
  for (int64_t other = first; other < first + sizes[of]; ++other)
    count += modulo(other - rank, size) == 0;
  return count;
}

// Returns the number of messages. Each rank sends one to each other rank of its node, and one to each early node. To
// any other node it sends one to each rank that it serves. It forwards what it serves of each early node inside its
// own node, if any, with one message to each rank.
int64_t messages_of_overlapped(const Topology& topology, int64_t early) {
  const std::vector<int64_t> sizes = topology.sizes();
  const auto nodes = static_cast<int64_t>(sizes.size());
  int64_t count = 0, rank = 0;
  for (int64_t a = 0; a < nodes; ++a)
    for (int64_t i = 0; i < sizes[a]; ++i, ++rank) {
      count += sizes[a] - 1;
      for (int64_t m = 1; m < nodes; ++m) {
        const auto to = static_cast<size_t>((a + m) % nodes),
                   from = static_cast<size_t>(modulo(a - m, nodes));
        count += m <= early ? 1 : served(sizes, to, rank, sizes[a]);
        if (m <= early && served(sizes, from, rank, sizes[a]) > 0) count += sizes[a] - 1;
      }
    }
  return count;
}

std::optional<int64_t> messages_of(const Variant& variant, const Job& job) {
  const int64_t ranks = job.groups[0].ranks();
  const std::string& name = variant.name;
  if (!forwards(variant)) return ranks * (ranks - 1);
  if (name == "tuna-coalesced" || name == "tuna-staggered")
    return messages_of_tuna(job.groups[0], job.parameters[0], name == "tuna-staggered");
  if (name == "hierarchical-overlapped")
    return messages_of_overlapped(job.groups[0], job.parameters[0]);
  if (name == "tuna" || name == "bruck") return ranks * one_hop_distances(ranks, job.parameters[0]);
  return std::nullopt;
}

// Compares the report of a correct schedule with the formulas. Returns what is wrong, or "".
std::string fault(const Variant& variant, const Job& job, const Report& report) {
  if (report.violation) return verdict(report);
  const Topology& topology = job.groups[0];
  const auto messages = messages_of(variant, job);
  if (messages && report.messages != *messages) return "messages";
  const auto steps = closed_form(variant.name, job);
  if (steps && report.steps + report.copy_steps != *steps) return "steps";
  if (report.uneven) return "not for all counts";
  if (report.timed && report.time < report.lower_bound) return "time";
  // Only some programs have a time. In flat algorithms the ranks of a node deal with several nodes at once. In
  // programs without exchanges, a rank deals with two.
  const bool exchanges = variant.program.port.kind == PortKind::kExchange;
  const bool paired = topology.runs().back().size == 1 || variant.name.starts_with("hierarchical");
  if (!report.timed && exchanges && paired) return "no time";
  const bool paced = variant.name.find("token") != std::string::npos;
  if (paced && report.port != PortVerdict::kEveryTiming) return "port";
  // In these, ranks of a small node send to several ranks of a large one at once.
  const bool unclaimed =
      variant.name.starts_with("tuna-") || variant.name == "hierarchical-overlapped";
  if (report.port == PortVerdict::kNotClaimed && !unclaimed) return "no port";
  return "";
}

std::string text_of(const Variant& variant, const Job& job) {
  return fmt::format("{} on {} ({})", variant.name, job.groups[0].text(),
                     fmt::join(job.parameters, ", "));
}

void expect_equal(const Report& a, const Report& b, const std::string& what) {
  expect_same_counts_and_claims(a, b, what);
  EXPECT_EQ(a.time, b.time) << what;
  EXPECT_EQ(a.lower_bound, b.lower_bound) << what;
}

TEST(Algorithms, AreRightByBothExecutorsOnEveryNodeVectorOfAtMostEightRanksAndTwoLargerOnes) {
  std::vector<std::vector<int64_t>> vectors = all_node_vectors(8);
  vectors.insert(vectors.end(), {{9}, {1, 3, 6}});
  for (const Variant& variant : alltoalls()) {
    int checked = 0, number = 0;
    ASSERT_TRUE(fits_key_order(variant.program)) << variant.name;
    for (const std::vector<int64_t>& sizes : vectors)
      for (const Job& job : jobs_on(variant, sizes)) {
        if (++number % kThinning != 0) continue;
        const Binding binding = bind(variant.program, job, {}, 0).value();
        ++checked;
        const std::string what = text_of(variant, job);
        const Report general = execute(variant.program, job, {}, {binding}, {});
        ASSERT_EQ(fault(variant, job, general), "") << what << ", general executor";
        const auto streamed = check_key_order(variant.program, job, binding, {});
        ASSERT_TRUE(streamed) << what;
        ASSERT_EQ(fault(variant, job, *streamed), "") << what;
        expect_equal(*streamed, general, what);
      }
    // The strictest programs require a power of two of ranks.
    EXPECT_GE(checked, (128 + 8 + 2 + 1) / kThinning) << variant.name;
  }
}

// Runs the property for random node sizes and a random variant that serves them.
bool holds_for_random_topologies(
    const std::string& what, int64_t most_nodes, int64_t largest,
    const std::function<std::string(const Variant&, const Job&, const Binding&)>& property) {
  return holds(what, [&] {
    const auto sizes = drawn_list(drawn(1, most_nodes + 1), 1, largest + 1);
    const Variant& variant = alltoalls()[drawn(0, alltoalls().size())];
    const std::vector<Job> jobs = jobs_on(variant, sizes);
    if (jobs.empty()) return;
    const Job& job = jobs[drawn(0, jobs.size())];
    const Binding binding = bind(variant.program, job, {}, 0).value();
    const std::string fault = property(variant, job, binding);
    require(fault.empty(), (text_of(variant, job) + ": " + fault).c_str(), __FILE__, __LINE__);
  });
}

TEST(Algorithms, AreRightOnRandomTopologies) {
  EXPECT_TRUE(holds_for_random_topologies(
      "verified, with the closed form's steps, in no less than the bound's time", 12, 12,
      [](const Variant& variant, const Job& job, const Binding&) {
        return fault(variant, job, *check_schedule(variant.program, job, {}, {}));
      }));
}

TEST(Algorithms, AreRightByBothExecutorsOnRandomTopologies) {
  EXPECT_TRUE(holds_for_random_topologies(
      "verified by both executors", 6, 6,
      [](const Variant& variant, const Job& job, const Binding& binding) {
        const Report general = execute(variant.program, job, {}, {binding}, {});
        const auto streamed = check_key_order(variant.program, job, binding, {});
        if (!streamed) return std::string("not in key order");
        expect_equal(*streamed, general, text_of(variant, job));
        if (testing::Test::HasFailure()) return std::string("the executors differ");
        return fault(variant, job, general) + fault(variant, job, *streamed);
      }));
}

// Compares TuNA's report with the formulas, also that of the general executor on few ranks.
void expect_tuna_right(int64_t ranks, int64_t radix) {
  const Variant& tuna = variant_named(Collective::kAlltoall, "tuna");
  const Job job{{topology_of({ranks})}, {radix}, {}};
  const Report report = *check_schedule(tuna.program, job, {}, {});
  ASSERT_EQ(fault(tuna, job, report), "") << text_of(tuna, job);
  EXPECT_EQ(report.temporary_blocks, ranks - 1 - one_hop_distances(ranks, radix))
      << text_of(tuna, job);
  if (ranks > 12) return;
  const Binding binding = bind(tuna.program, job, {}, 0).value();
  const Report general = execute(tuna.program, job, {}, {binding}, {});
  ASSERT_EQ(fault(tuna, job, general), "") << text_of(tuna, job);
  expect_equal(report, general, text_of(tuna, job));
}

TEST(Tuna, IsRightForEveryRadixOfUpTo32Ranks) {
  for (int64_t ranks = 1; ranks <= (kSanitized ? 12 : 32); ++ranks)
    for (int64_t radix = 2; radix <= std::max<int64_t>(2, ranks); ++radix)
      expect_tuna_right(ranks, radix);
}

TEST(Tuna, IsRightForRandomRanksAndRadices) {
  EXPECT_TRUE(holds("verified", [] {
    const auto ranks = drawn(33, kSanitized ? 60 : 300);
    expect_tuna_right(ranks, drawn(2, ranks + 1));
    REQUIRE(!testing::Test::HasFailure());
  }));
}

}  // namespace quadrille::verifier::algorithms_test
