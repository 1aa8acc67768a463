// The checker of large allgathers and the general checker give the same verdict on every algorithm and on mutants.
// cases/allgathers.cases has schedules that could mislead the former.
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

// Expects that both checkers verify the call and report the same figures. Only the general checker serves some calls
// of hypercube, whose blocks may come out of order, and whose messages may have no pieces.
void expect_agreement(const Variant& variant, const Case& c) {
  const Binding binding = bind(variant.program, c.job, c.call, 0).value();
  const auto gather = check_rank_by_rank(variant.program, c.job, c.call, binding);
  const Report general = execute(variant.program, c.job, c.call, {binding}, {});
  if (gather)
    expect_verified(*gather, general, c.text);
  else
    EXPECT_EQ(variant.name, "hypercube") << c.text;
  EXPECT_EQ(verdict(general), "verified") << c.text;
}

TEST(RankByRankChecker, ServesEveryAllgatherAndSaysWhatTheGeneralOneSays) {
  for (const Variant& variant : variants_of(Collective::kAllgather))
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
  for (const char* name : {"linear-ring", "blocked-ring", "blocked-ring-nodes"})
    for (const Variant& variant : variants_of(Collective::kAllgather)) {
      if (variant.name != name) continue;
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
    expect_agreement(variant, case_of(variant, job, counts, drawn(1, 12)));
    REQUIRE(!testing::Test::HasFailure());
  }));
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

}  // namespace
}  // namespace quadrille::verifier
