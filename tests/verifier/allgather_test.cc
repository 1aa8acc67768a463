// Checks every allgather algorithm that knows the counts on all small jobs and counts, and on random larger ones. The
// checker ensures that every byte arrives once at its place, that no empty piece travels, and that no rank receives data
// that it has. This test also compares the checker's figures with the algorithms' closed forms. The checker of large
// allgathers and the general checker give the same verdict on every algorithm and on mutants. cases/allgathers.cases has
// schedules that could mislead the former.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "schedule/text.h"
#include "tests/support/distributions.h"
#include "tests/support/effort.h"
#include "tests/support/mutants.h"
#include "tests/support/plain_walk.h"
#include "tests/support/property.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "tests/verifier/reports.h"
#include "verifier/check.h"

namespace quadrille::verifier::allgather_test {

// Returns those that know the counts. Others have the same steps for all counts, and tests of all programs check them.
const std::vector<Variant>& allgathers() {
  static const std::vector<Variant> kAll = [] {
    std::vector<Variant> all = variants_of(Collective::kAllgather);
    std::erase_if(all, [](const Variant& variant) { return !uses_counts(variant.program); });
    return all;
  }();
  return kAll;
}

int64_t blocks_of(int64_t count, int64_t block) { return (count + block - 1) / block; }

// Compares the figures of a correct schedule with the closed forms. Returns what is wrong, or "".
std::string fault(const Variant& variant, const Case& c, const Report& report) {
  if (report.violation) return verdict(report);
  const std::vector<int64_t>& counts = c.call.counts[0];
  const auto ranks = static_cast<int64_t>(counts.size());
  if (!report.in_place) return "in place";
  if (report.port == PortVerdict::kNotClaimed) return "no port";
  const bool blocked = variant.name.starts_with("blocked-ring");
  if (!blocked && variant.name != "linear-ring") return "";
  // Every block that is not empty reaches each rank except its own, by one message.
  int64_t full = 0, all = 0, least = INT64_MAX;
  for (const int64_t count : counts) {
    const int64_t blocks = blocked ? blocks_of(count, c.call.parameters[0]) : count > 0;
    full += blocks;
    all += std::max<int64_t>(1, blocks);
    least = std::min(least, std::max<int64_t>(1, blocks));
  }
  if (report.messages != full * (ranks - 1)) return "messages";
  const int64_t rounds = ranks == 1 ? 0 : all - 1;
  if (report.steps > (variant.name == "blocked-ring-blocking" ? 3 * rounds : rounds))
    return "steps";
  // The data that rank i sends arrived b_i rounds ago, so at most b_i rounds may be in flight there. The window is
  // the least b_i, or unlimited (0) if there are no more rounds than that.
  int64_t window = report.messages > 0 ? 1 : 0;
  if (variant.name != "linear-ring" && variant.name != "blocked-ring-blocking")
    window = least < rounds ? least : 0;
  if (report.messages > 0 && report.safe_window != window) return "window";
  return "";
}

// Checks the case. Returns what is wrong, with the case's name, or "".
std::string fault_of(const Variant& variant, const Case& c) {
  const Result<Report> report = check_schedule(variant.program, c.job, c.call, {});
  const std::string found = report.ok() ? fault(variant, c, *report) : report.error().message;
  return found.empty() ? "" : c.text + ": " + found;
}

// Returns all vectors of `ranks` numbers from 0 to limit - 1.
std::vector<std::vector<int64_t>> all_counts(int64_t ranks, int64_t limit) {
  std::vector<std::vector<int64_t>> result = {{}};
  for (int64_t i = 0; i < ranks; ++i) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& counts : result)
      for (int64_t count = 0; count < limit; ++count) {
        longer.push_back(counts);
        longer.back().push_back(count);
      }
    result = std::move(longer);
  }
  return result;
}

// Returns the topologies of `ranks` ranks; only one if the program does not depend on nodes.
std::vector<std::vector<int64_t>> topologies(const Variant& variant, int64_t ranks) {
  if (!uses_nodes(variant.program)) return {std::vector<int64_t>(ranks, 1)};
  std::vector<std::vector<int64_t>> result;
  for (const std::vector<int64_t>& sizes : ascending_node_vectors(ranks))
    if (topology_of(sizes).ranks() == ranks) result.push_back(sizes);
  return result;
}

TEST(Allgather, IsRightForAllSmallCountsAndBlockSizes) {
  for (const Variant& variant : allgathers()) {
    int64_t checked = 0;
    for (int64_t ranks = 1; ranks <= 5; ++ranks)
      for (const std::vector<int64_t>& sizes : topologies(variant, ranks))
        for (const Job& job : jobs_on(variant, sizes))
          for (const std::vector<int64_t>& counts : all_counts(ranks, ranks <= 4 ? 4 : 3)) {
            const bool blocked = !plain_call(variant.program, job).parameters.empty();
            for (int64_t block = 1; block <= (blocked ? 3 : 1); ++block) {
              if (++checked % kThinning != 0) continue;
              ASSERT_EQ(fault_of(variant, case_of(variant, job, counts, block)), "");
            }
          }
    EXPECT_GE(checked, 250) << variant.name;
  }
}

TEST(Allgather, IsRightForEveryDistributionAndBlockSizesUpToTheGreatest) {
  for (const Variant& variant : allgathers())
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{8}, {1, 1, 1, 1, 1, 1}, {1, 2, 3}, {4, 4, 4, 4}, {1, 1, 7}})
      for (const Job& job : jobs_on(variant, sizes))
        for (const Distribution& distribution : distributions())
          for (const int64_t block : {7, 100, 1000, INT32_MAX})
            ASSERT_EQ(
                fault_of(variant, case_of(variant, job,
                                          distribution.counts(job.groups[0].ranks(), 1000), block)),
                "")
                << distribution.name;
}

// Returns the verdict of the checker of large allgathers. Expects that the general one agrees.
std::string verdict_of(const Program& program, const Case& c, const Binding& binding,
                       const std::string& what) {
  return verdict_beside([&] { return execute(program, c.job, c.call, {binding}, {}); },
                        check_rank_by_rank(program, c.job, c.call, binding), what);
}

// Expects that both checkers verify the call. Only the general checker serves some calls of hypercube, whose blocks
// may come out of order, and whose messages may have no pieces.
void expect_agreement(const Variant& variant, const Case& c) {
  const Binding binding = bind(variant.program, c.job, c.call, 0).value();
  const std::string found = verdict_of(variant.program, c, binding, c.text);
  if (found == "verified") return;
  EXPECT_EQ(found, "unclear") << c.text;
  EXPECT_EQ(variant.name, "hypercube") << c.text;
  EXPECT_EQ(verdict(execute(variant.program, c.job, c.call, {binding}, {})), "verified") << c.text;
}

TEST(RankByRankChecker, ServesEveryAllgatherAndSaysWhatTheGeneralOneSays) {
  for (const Variant& variant : allgathers())
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{1}, {2}, {1, 2}, {1, 1, 2}, {5}, {1, 2, 3}, {4, 4}, {9}})
      for (const Job& job : jobs_on(variant, sizes))
        for (const Distribution& distribution : distributions())
          for (const int64_t block : {1, 4, 1000})
            expect_agreement(
                variant,
                case_of(variant, job, distribution.counts(job.groups[0].ranks(), 60), block));
}

TEST(RankByRankChecker, SaysWhatTheGeneralOneSaysOfMutantsOverLongBatches) {
  for (const char* name : {"linear-ring", "blocked-ring", "blocked-ring-nodes"}) {
    const Variant& variant = variant_named(Collective::kAllgather, name);
    int64_t refuted = 0;
    const std::vector<Mutant> all = mutants(variant.program);
    for (size_t i = 0; i < all.size(); i += kThinning)
      for (const std::vector<int64_t>& counts :
           {std::vector<int64_t>{8, 8, 8, 8, 8}, {3, 17, 0, 9, 6}, {12, 1, 1, 12, 5}}) {
        // Mutants whose loops go up to a limit take long. tests/mutation has some of them.
        if (all[i].description.starts_with("limit")) continue;
        const Case c = case_of(variant, jobs_on(variant, {2, 3})[0], counts, 1);
        const Result<Binding> binding = bind(all[i].program, c.job, c.call, 0);
        if (!binding.ok()) continue;
        const std::string found =
            verdict_of(all[i].program, c, *binding, c.text + ": " + all[i].description);
        refuted += found != "unclear" && found != "verified";
      }
    EXPECT_GE(refuted, 50 / kThinning) << name;
  }
}

TEST(Allgather, IsRightByBothCheckersForRandomJobsAndCounts) {
  EXPECT_TRUE(holds("verified, with the closed forms' figures", [] {
    const auto sizes = drawn_list(drawn(1, 13), 1, 7);
    const Variant& variant = allgathers()[drawn(0, allgathers().size())];
    const std::vector<Job> jobs = jobs_on(variant, sizes);
    if (jobs.empty()) return;
    const Job& job = jobs[drawn(0, jobs.size())];
    const int64_t ranks = job.groups[0].ranks();
    const auto counts = drawn_bool() ? drawn_list(ranks, 0, 30)
                                     : distributions()[drawn(0, distributions().size())].counts(
                                           ranks, drawn(0, 400));
    const auto block = drawn_of<int64_t>(drawn(1, 12), drawn(1, 30), INT32_MAX);
    const Case c = case_of(variant, job, counts, block);
    const std::string found = fault_of(variant, c);
    require(found.empty(), found.c_str(), __FILE__, __LINE__);
    expect_agreement(variant, c);
    REQUIRE(!testing::Test::HasFailure());
  }));
}

// Collects the data that crosses the border of one node, from the walks of the node's ranks.
struct Crossings : Listener {
  Crossings(const std::vector<int64_t>& nodes, int64_t of) : node_of(nodes), node(of) {}

  const std::vector<int64_t>& node_of;
  int64_t node;
  int64_t rank = 0, received = 0;
  std::set<int64_t> receivers, senders;
  std::set<std::pair<int64_t, int64_t>> pieces;  // block and offset
  MessageHead head{};

  void message(const MessageHead& message) { head = message; }
  void piece(const PieceValue& piece) {
    if (node_of[head.peer] == node) return;
    if (head.direction == Direction::kSend) {
      senders.insert(rank);
      return;
    }
    receivers.insert(rank);
    ++received;
    pieces.emplace(piece.block, piece.low);
  }
};

TEST(Allgather, BlockedRingOnNodesBringsEveryBlockOnceToANodeByOneRank) {
  const Variant& variant = variant_named(Collective::kAllgather, "blocked-ring-nodes");
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{1, 2, 3}, {4, 4}, {1, 1, 1, 5}, {2, 3, 4}}) {
    const int64_t ranks = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    std::vector<int64_t> node_of;
    for (size_t node = 0; node < sizes.size(); ++node)
      node_of.insert(node_of.end(), sizes[node], static_cast<int64_t>(node));
    const Case c = case_of(variant, jobs_on(variant, sizes)[0], std::vector<int64_t>(ranks, 6), 2);
    const Binding binding = bind(variant.program, c.job, c.call, 0).value();
    for (size_t node = 0; node < sizes.size(); ++node) {
      Crossings crossings(node_of, static_cast<int64_t>(node));
      for (crossings.rank = 0; crossings.rank < ranks; ++crossings.rank) {
        if (node_of[crossings.rank] != crossings.node) continue;
        EXPECT_EQ(PlainWalk(variant.program, binding, crossings.rank, crossings).run(),
                  WalkEnd::kEnd);
      }
      EXPECT_EQ(crossings.receivers.size(), 1u) << c.text;
      EXPECT_EQ(crossings.senders.size(), 1u) << c.text;
      EXPECT_EQ(crossings.received, 3 * (ranks - sizes[node])) << c.text;
      EXPECT_EQ(crossings.received, static_cast<int64_t>(crossings.pieces.size())) << c.text;
    }
  }
}

// Returns the shipped blocking ring, changed so that every rank sends first.
Program send_first() {
  std::string text = print(variant_named(Collective::kAllgather, "blocked-ring-blocking").program);
  const std::string turn = "if turn = rank mod 2";
  const size_t at = text.find(turn);
  check(at != std::string::npos, "the program takes turns in another way");
  return parse_program(text.replace(at, turn.size(), "if turn = 0"), "send-first").value();
}

TEST(Allgather, BlockingCallsThatAllSendFirstDeadlock) {
  const Program program = send_first();
  for (int64_t ranks = 2; ranks <= 4; ++ranks)
    for (std::vector<int64_t> counts : all_counts(ranks, 3)) {
      for (int64_t& count : counts) ++count;
      for (int64_t block = 1; block <= 3; ++block) {
        const Result<Report> report =
            check_schedule(program, {{topology_of(std::vector<int64_t>(ranks, 1))}, {kRuleNone}},
                           {{counts}, {block}, 0}, {});
        ASSERT_TRUE(report.ok() && report->violation);
        EXPECT_EQ(report->violation->property, Property::kProgress);
        EXPECT_EQ(report->violation->processes.size(), static_cast<size_t>(ranks));
      }
    }
}

// Only the general checker follows tokens, which decide whether a port of nodes holds for every timing.
TEST(RankByRankChecker, LeavesTokensOfAProgramWithAPortOfNodesToTheGeneralChecker) {
  const auto quick = [](const std::string& port) {
    const Program program = parse_program("algorithm a for allgather\nport " + port +
                                              "\ncopy send[0] to recv[rank]\nif 1 < ranks\n"
                                              "  step 0\n    send nothing to 1 - rank\n",
                                          "token")
                                .value();
    const Job job = job_of({1});
    const Binding binding = bind(program, job, {}, 0).value();
    EXPECT_EQ(execute(program, job, {}, {binding}, {}).port,
              port == "exchange per node" ? PortVerdict::kEveryTiming : PortVerdict::kLockStep);
    return check_rank_by_rank(program, job, {}, binding);
  };
  EXPECT_FALSE(quick("exchange per node"));
  EXPECT_EQ(quick("exchange per rank")->port, PortVerdict::kLockStep);
}

}  // namespace quadrille::verifier::allgather_test
