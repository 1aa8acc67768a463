// The checker of large allgathers beside the general one: what both say of every algorithm, of every
// mutant, and of schedules on which the one could go astray where the other does not.
#include <gtest/gtest.h>

#include "tests/support/distributions.h"
#include "tests/support/effort.h"
#include "tests/support/mutants.h"
#include "tests/support/property.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "tests/verifier/reports.h"

namespace quadrille::verifier {
namespace {

void expect_verified(const Report& gather, const Report& general, const std::string& what) {
  ASSERT_EQ(verdict(gather), "verified") << what;
  ASSERT_EQ(verdict(general), "verified") << what;
  expect_same_counts_and_claims(gather, general, what);
}

TEST(RankByRankChecker, ServesEveryAllgatherAndSaysWhatTheGeneralOneSays) {
  for (const Variant& variant : variants_of(Collective::kAllgather))
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{1}, {2}, {1, 2}, {1, 1, 2}, {5}, {1, 2, 3}, {4, 4}, {9}})
      for (const Job& job : jobs_on(variant, sizes))
        for (const Distribution& distribution : distributions())
          for (const int64_t block : {1, 4, 1000}) {
            const Case c =
                case_of(variant, job, distribution.counts(job.groups[0].ranks(), 60), block);
            const Binding binding = bind(variant.program, c.job, c.call, 0).value();
            const auto gather = check_rank_by_rank(variant.program, c.job, c.call, binding);
            ASSERT_TRUE(gather) << c.text;
            expect_verified(*gather, execute(variant.program, c.job, c.call, {binding}, {}),
                            c.text);
          }
}

TEST(RankByRankChecker, SaysWhatTheGeneralOneSaysOfMutantsOverLongBatches) {
  for (const char* name : {"linear-ring", "blocked-ring", "blocked-ring-nodes"})
    for (const Variant& variant : variants_of(Collective::kAllgather)) {
      if (variant.name != name) continue;
      int64_t refuted = 0;
      const std::vector<Mutant> all = mutants(variant.program);
      for (size_t i = 0; i < all.size(); i += kThinning)
        for (const std::vector<int64_t>& counts :
             {std::vector<int64_t>{8, 8, 8, 8, 8}, {3, 17, 0, 9, 6}, {12, 1, 1, 12, 5}}) {
          // Loops up to a limit take long; tests/mutation has some of them.
          if (all[i].description.starts_with("limit")) continue;
          const Case c = case_of(variant, jobs_on(variant, {2, 3})[0], counts, 1);
          const Result<Binding> binding = bind(all[i].program, c.job, c.call, 0);
          if (!binding.ok()) continue;
          const auto gather = check_rank_by_rank(all[i].program, c.job, c.call, *binding);
          if (!gather) continue;
          const Report general = execute(all[i].program, c.job, c.call, {*binding}, {});
          EXPECT_EQ(gather->violation.has_value(), general.violation.has_value())
              << c.text << ": " << all[i].description << ": " << verdict(*gather) << "; general "
              << verdict(general);
          EXPECT_TRUE(general.violation || gather->safe_window == general.safe_window)
              << c.text << ": " << all[i].description;
          refuted += gather->violation.has_value();
        }
      EXPECT_GE(refuted, 50 / kThinning) << name;
    }
}

TEST(RankByRankChecker, SaysWhatTheGeneralOneSaysOfRandomJobs) {
  const std::vector<Variant> all = variants_of(Collective::kAllgather);
  EXPECT_TRUE(holds("both checkers agree", [&] {
    const Variant& variant = all[drawn(0, all.size())];
    const auto sizes = drawn_list(drawn(1, 11), 1, 6);
    const std::vector<Job> jobs = jobs_on(variant, sizes);
    if (jobs.empty()) return;
    const Job& job = jobs[drawn(0, jobs.size())];
    const auto counts = drawn_list(job.groups[0].ranks(), 0, 30);
    const Case c = case_of(variant, job, counts, drawn(1, 12));
    const Binding binding = bind(variant.program, c.job, c.call, 0).value();
    const auto gather = check_rank_by_rank(variant.program, c.job, c.call, binding);
    REQUIRE(gather.has_value());
    expect_verified(*gather, execute(variant.program, c.job, c.call, {binding}, {}), c.text);
    REQUIRE(!testing::Test::HasFailure());
  }));
}

// A linear ring of 300 ranks, so many that what is wrong is told by this checker alone.
constexpr const char* kRing = R"(algorithm ring for allgather
port one+one per rank
table m = counts
copy send[0] to recv[rank]
for k in 0 .. ranks - 1
  let x = wrap(rank - k, ranks)
  let y = wrap(rank - 1 - k, ranks)
  step k after k - 1
    if 0 < m[y]
      receive recv[y]@0..m[y] from wrap(rank - 1, ranks)
    if 0 < m[x]
      send recv[x]@0..m[x] to wrap(rank + 1, ranks)
)";

TEST(RankByRankChecker, NamesWhatIsWrongInALargeJob) {
  const std::vector<int64_t> counts(300, 2);
  const Job job = job_of({300});
  ASSERT_FALSE(
      check_schedule(parse_program(kRing, "ring").value(), job, {{counts}, {}, 0}, {})->violation);
  const std::vector<Mistake> mistakes = {
      {"step k after", "step k div 2 after", "order: rank 0 goes on to step 0"},
      {"step k after", "step 5 - k after", "order: rank 0 goes on to step 4"},
      {"recv[x]@0", "recv[wrap(x - 1, ranks)]@0",
       "held: rank 0 uses block 299 of its receive buffer, which holds nothing there yet"},
      {"copy send[0] to recv[rank]\n", "",
       "held: rank 0 uses block 0 of its receive buffer, which holds nothing there yet"},
      {"after k - 1", "after k - 2",
       "overlap: rank 0 sends of block 299 what an earlier step brings that may be in flight "
       "together with this one"},
      {"0 .. ranks - 1", "0 .. ranks",
       "once: rank 0 gets into block 0 of its receive buffer what is there already"},
      {"recv[y]@0", "recv[wrap(rank - 1, ranks)]@0",  // told by the general checker
       "held: rank 298 uses block 296 of its receive buffer, which holds nothing there yet"},
      {"0 .. ranks - 1", "0 .. ranks - 2",
       "coverage: block 1 of rank 0's receive buffer is not filled"},
      {"@0..m[y]", "@0..m[y] - 1",
       "held: rank 0 uses block 299 of its receive buffer, which holds nothing there yet"},
      {"@0..m[x]", "@0..m[x] - 1",
       "length: rank 0 sends 0..1 of block 0, rank 1 receives 0..2 of block 0"},
      {"@0..m[x]", "@m[x]..m[x]", "empty: rank 0 has nothing of block 0 in a message"},
      {"@0..m[x]", "@0..m[x] + 1",
       "block: rank 0 names 0..3 of block 0 of its receive buffer, which is 2 long"},
      {"@0..m[x]", "@-1..m[x] - 1",
       "block: rank 0 names -1..1 of block 0 of its receive buffer, which is 2 long"},
      {"recv[y]@0", "recv[y + 1]@0",
       "block: rank 0 names block 300 of its receive buffer, which has 300"},
      {"recv[x]@0", "recv[rank]@0",
       "place: rank 0 sends 0..2 of block 0, rank 1 receives 0..2 of block 299"},
      {"send recv[x]@0..m[x] to wrap(rank + 1, ranks)", "send recv[x]@0..m[x] to rank + 1",
       "peer: rank 299 names rank 300 of 300"},
      {"to wrap(rank + 1, ranks)", "to rank", "self-message: rank 0 sends to itself"},
      {"to wrap(rank + 1, ranks)", "to wrap(rank + 2, ranks)",
       "match: rank 1 receives from rank 0, which sends it nothing in this step"},
      {"if 0 < m[x]", "if 0 < m[x] and rank != 7",
       "match: rank 8 receives from rank 7, which sends it nothing in this step"},
      {"for k", "step -5\n  if rank = 17\n    send nothing to 3\nfor k",
       "match: rank 17 sends to rank 3, which receives nothing from it in this step"},
      {"for k", "step -5\n  if rank = 17\n    send nothing to 200\nfor k",
       "match: rank 17 sends to rank 200, which receives nothing from it in this step"},
      {"for k", "step -5\n  if rank = 17\n    receive nothing from 200\nfor k",
       "match: rank 17 receives from rank 200, which sends it nothing in this step"},
      {"for k",
       "step -5\n  if rank = 1\n    send nothing to 2\nstep -4\n  if rank = 2\n    receive nothing "
       "from 1\nfor k",
       "match: rank 1 sends to rank 2, which receives nothing from it in this step"},
      {"to wrap(rank + 1, ranks)", "to wrap(rank + 1 + 600*k, ranks)", "defined: rank 0 meets"},
      {"    if 0 < m[x]\n", "    send nothing to wrap(rank + 2, ranks)\n    if 0 < m[x]\n",
       "port: the message from rank 0 to rank 1 is one too many for the port of rank 0"},
      {"port one+one per rank\n", "port exchange per rank\n",
       "port: the message from rank 0 to rank 1 is one too many for the port of rank 0"},
  };
  expect_verdicts(kRing, mistakes,
                  [](const Program& program) { return fits_rank_by_rank(program, {}); }, job,
                  {{counts}, {}, 0});
}

std::string gather_verdict(const Program& program, const Job& job, const Call& call,
                           const std::string& what) {
  const Binding binding = bind(program, job, call, 0).value();
  return verdict_beside([&] { return execute(program, job, call, {binding}, {}); },
                        check_rank_by_rank(program, job, call, binding), what);
}

// Messages of which the pieces arrive in another order than they are sent on, and in other cuts.
TEST(RankByRankChecker, FollowsPiecesThatAreCutAnew) {
  const char* const program = R"(algorithm cuts for allgather
copy send[0] to recv[rank]
let right = wrap(rank + 1, 3)
let left = wrap(rank - 1, 3)
for k in 0 .. 4
  step k after -1
    send recv[rank]@3*k..3*k + 3 to right
    receive recv[left]@3*k..3*k + 3 from left
step 4 after 2
  send recv[left]@0..8 to right
  receive recv[wrap(rank - 2, 3)]@0..8 from left
step 5 after 3
  send recv[left]@8..12 to right
  receive recv[wrap(rank - 2, 3)]@8..12 from left
)";
  const auto check = [&](const std::string& right, const std::string& wrong) {
    std::string text = program;
    text.replace(text.find(right), right.size(), wrong);
    const Program changed = parse_program(text, "cuts").value();
    const Call call{{{12, 12, 12}}, {}, 0};
    return gather_verdict(changed, job_of({3}), call, text);
  };
  EXPECT_EQ(check("after 2", "after 2"), "verified");
  EXPECT_EQ(check("after 2", "after 1"), "overlap");
  EXPECT_EQ(check("step 5 after 3", "step 5 after 2"), "overlap");
  EXPECT_EQ(check("step 5 after 3", "step 5"), "verified");
  EXPECT_EQ(check("after -1", "after k - 1"), "verified");
  EXPECT_EQ(check("0 .. 4", "0 .. 3"), "held");
  EXPECT_EQ(check("send recv[left]@8..12 to right\n  receive recv[wrap(rank - 2, 3)]@8..12",
                  "send recv[left]@7..12 to right\n  receive recv[wrap(rank - 2, 3)]@7..12"),
            "once");
}

// Of a small allgather with counts of 12.
std::string gather_verdict(const std::string& body, int64_t ranks, int64_t count = 12) {
  const Program program = parse_program("algorithm a for allgather\n" + body, "gather").value();
  return gather_verdict(program, job_of({ranks}), {{std::vector<int64_t>(ranks, count)}, {}, 0},
                        body);
}

TEST(RankByRankChecker, SendsFromTheSendBufferWithoutACopyOfItsOwn) {
  const std::string body =
      "step 0\n  send send[0] to 1 - rank\n  receive recv[1 - rank] from 1 - rank\n";
  EXPECT_EQ(gather_verdict("copy send[0] to recv[rank]\n" + body, 2), "verified");
  EXPECT_EQ(gather_verdict(body + "copy send[0] to recv[rank]\n", 2), "verified");
  EXPECT_EQ(gather_verdict(body, 2), "coverage");
  EXPECT_EQ(
      gather_verdict("step 0\n  send recv[rank] to 1 - rank\n  receive recv[1 - rank] from 1 - "
                     "rank\ncopy send[0] to recv[rank]\n",
                     2),
      "held");
}

// A copy waits for all earlier steps, whatever the steps behind it wait for.
TEST(RankByRankChecker, TakesStepsBeforeACopyForOver) {
  const std::string first =
      "step 0 after -1\n  send send[0] to wrap(rank + 1, 3)\n"
      "  receive recv[wrap(rank - 1, 3)] from wrap(rank - 1, 3)\n";
  const std::string second =
      "step 1 after -1\n  send recv[wrap(rank - 1, 3)] to wrap(rank + 1, 3)\n"
      "  receive recv[wrap(rank - 2, 3)] from wrap(rank - 1, 3)\n";
  EXPECT_EQ(gather_verdict(first + "copy send[0] to recv[rank]\n" + second, 3), "verified");
  EXPECT_EQ(gather_verdict("copy send[0] to recv[rank]\n" + first + second, 3), "overlap");
}

// Rank 2 gets a block to the wrong place, sends it on from there, and gets the right one later: right
// in the end, and therefore for the general checker to say.
TEST(RankByRankChecker, LeavesOtherPlacesToTheGeneralChecker) {
  const std::string detour =
      "copy send[0] to recv[rank]\n"
      "step 0\n"
      "  if rank = 0\n    send recv[0] to 2\n"
      "  if rank = 2\n    receive recv[1] from 0\n"
      "step 1\n"
      "  if rank = 2\n    send recv[1] to 1\n"
      "  if rank = 1\n    receive recv[0] from 2\n"
      "step 2\n"
      "  if rank = 1\n    send recv[1] to 0\n    send recv[1] to 2\n"
      "  if rank = 0\n    receive recv[1] from 1\n"
      "  if rank = 2\n    receive recv[1] from 1\n"
      "step 3\n"
      "  if rank = 0\n    receive recv[2] from 2\n    send recv[0] to 2\n"
      "  if rank = 1\n    receive recv[2] from 2\n"
      "  if rank = 2\n    send recv[2] to 0\n    send recv[2] to 1\n    receive recv[0] from 0\n";
  const Program program = parse_program("algorithm a for allgather\n" + detour, "detour").value();
  EXPECT_FALSE(check_schedule(program, job_of({3}), {}, {})->violation);
  EXPECT_EQ(gather_verdict(detour, 3), "unclear");
}

// A token that no rank of this job comes to counts as well: the general checker follows the port for every timing.
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

TEST(RankByRankChecker, LeavesGreatNumbersToTheGeneralChecker) {
  const std::string exchange =
      "  send send[0] to 1 - rank\n  receive recv[1 - rank] from 1 - rank\n";
  const std::string copy = "copy send[0] to recv[rank]\n";
  for (const std::string key : {"9223372036854775807", "-9223372036854775807 - 1"})
    EXPECT_EQ(gather_verdict(fmt::format("{}step {}\n{}", copy, key, exchange), 2), "unclear");
  EXPECT_EQ(gather_verdict(copy + "step 0 after 9223372036854775807\n" + exchange, 2), "unclear");
  EXPECT_EQ(
      gather_verdict(copy + "step 0\n  send send[0]@-9223372036854775807..9223372036854775807 "
                            "to 1 - rank\n  receive recv[1 - rank] from 1 - rank\n",
                     2),
      "unclear");
}

}  // namespace
}  // namespace quadrille::verifier
