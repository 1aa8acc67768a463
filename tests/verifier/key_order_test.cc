// The checker in key order beside the general one; TuNA for every number of ranks up to
// 32 and every radix, and at random above.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "tests/support/effort.h"
#include "tests/support/mutants.h"
#include "tests/support/property.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "tests/verifier/reports.h"

namespace quadrille::verifier {
namespace {

const Variant& tuna() {
  for (const Variant& variant : variants_of(Collective::kAlltoall))
    if (variant.name == "tuna") {
      static const Variant kTuna = variant;
      return kTuna;
    }
  std::abort();
}

Job tuna_job(int64_t ranks, int64_t radix) {
  Job job = job_of({ranks});
  job.parameters = {radix};
  return job;
}

// The numbers of digits other than 0 of 1 .. ranks - 1, and of distances with one alone.
struct Digits {
  int64_t others = 0, one_hop = 0;
};

Digits digits_below(int64_t ranks, int64_t radix) {
  Digits digits;
  for (int64_t i = 1; i < ranks; ++i) {
    int64_t others = 0;
    for (int64_t rest = i; rest > 0; rest /= radix) others += rest % radix != 0;
    digits.others += others;
    digits.one_hop += others == 1;
  }
  return digits;
}

// What is wrong with what is said of TuNA; empty where nothing is.
std::string fault(const Report& report, int64_t ranks, int64_t radix) {
  const Digits digits = digits_below(ranks, radix);
  if (report.violation) return verdict(report);
  if (report.steps != digits.one_hop || report.messages != ranks * digits.one_hop) return "steps";
  if (!report.any_counts) return "not for all counts";
  return "";
}

TEST(KeyOrderChecker, SaysOfEveryAllToAllWhatTheGeneralOneSays) {
  for (const Variant& variant : variants_of(Collective::kAlltoall))
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{1}, {2}, {1, 2}, {5}, {1, 2, 3}, {2, 2, 2, 2}, {9}, {1, 3, 6}})
      for (const Job& job : jobs_on(variant, sizes)) {
        const std::string what = fmt::format("{} on {} ({})", variant.name, job.groups[0].text(),
                                             fmt::join(job.parameters, ", "));
        ASSERT_TRUE(fits_key_order(variant.program)) << what;
        const Binding binding = bind(variant.program, job, {}, 0).value();
        const auto report = check_key_order(variant.program, job, binding, {});
        ASSERT_TRUE(report) << what;
        ASSERT_EQ(verdict(*report), "verified") << what;
        expect_same_counts_and_claims(*report, execute(variant.program, job, {}, {binding}, {}),
                                      what);
      }
}

TEST(KeyOrderChecker, FindsTunaRightForEveryRadixOfUpTo32Ranks) {
  const int64_t most = kSanitized ? 12 : 32;
  for (int64_t ranks = 1; ranks <= most; ++ranks)
    for (int64_t radix = 2; radix <= std::max<int64_t>(2, ranks); ++radix) {
      const Job job = tuna_job(ranks, radix);
      const Result<Report> report = check_schedule(tuna().program, job, {}, {});
      ASSERT_EQ(fault(*report, ranks, radix), "") << ranks << " ranks, radix " << radix;
      EXPECT_EQ(report->temporary_blocks, ranks - 1 - digits_below(ranks, radix).one_hop)
          << ranks << " ranks, radix " << radix;
      if (ranks > 12) continue;
      const Binding binding = bind(tuna().program, job, {}, 0).value();
      const Report general = execute(tuna().program, job, {}, {binding}, {});
      ASSERT_EQ(fault(general, ranks, radix), "") << ranks << " ranks, radix " << radix;
      expect_same_counts_and_claims(*report, general, fmt::format("{}, {}", ranks, radix));
    }
}

// With a slot less, somebody names one that is not there.
TEST(KeyOrderChecker, FindsEverySlotOfTunaInUse) {
  Program program = tuna().program;
  program.temporary_blocks =
      apply(Operator::kMaximum,
            {constant(0), apply(Operator::kSubtract, {program.temporary_blocks, constant(1)})});
  for (int64_t ranks = 4; ranks <= 16; ++ranks)
    for (int64_t radix = 2; radix < ranks - 1; ++radix) {
      const Result<Report> report = check_schedule(program, tuna_job(ranks, radix), {}, {});
      ASSERT_TRUE(report->violation) << ranks << " ranks, radix " << radix;
      EXPECT_EQ(report->violation->property, Property::kBlock);
    }
}

TEST(KeyOrderChecker, FindsTunaRightForRandomRanksAndRadices) {
  EXPECT_TRUE(holds("verified", [] {
    const auto ranks = drawn(33, kSanitized ? 60 : 300);
    const auto radix = drawn(2, ranks + 1);
    const auto report = check_schedule(tuna().program, tuna_job(ranks, radix), {}, {});
    REQUIRE(fault(*report, ranks, radix) == "");
  }));
}

// Nodes of random sizes, for those that have stages inside nodes and between them.
TEST(KeyOrderChecker, SaysWhatTheGeneralOneSaysOnRandomNodes) {
  std::vector<Variant> some;
  for (const Variant& variant : variants_of(Collective::kAlltoall))
    if (variant.program.temporary_blocks != constant(0)) some.push_back(variant);
  EXPECT_TRUE(holds("both checkers agree", [&] {
    const auto sizes = drawn_list(drawn(1, 7), 1, 7);
    const Variant& variant = some[drawn(0, some.size())];
    const std::vector<Job> jobs = jobs_on(variant, sizes);
    const Job& job = jobs[drawn(0, jobs.size())];
    const Binding binding = bind(variant.program, job, {}, 0).value();
    const auto report = check_key_order(variant.program, job, binding, {});
    REQUIRE(report.has_value());
    REQUIRE(verdict(*report) == "verified");
    expect_same_counts_and_claims(*report, execute(variant.program, job, {}, {binding}, {}), "");
    REQUIRE(!testing::Test::HasFailure());
  }));
}

TEST(KeyOrderChecker, SaysWhatTheGeneralOneSaysOfMutants) {
  const std::vector<Mutant> all = mutants(tuna().program);
  int served = 0, refuted = 0;
  for (size_t i = 0; i < all.size(); i += kThinning)
    for (const auto& [ranks, radix] : {std::pair<int64_t, int64_t>{6, 4}, {7, 2}, {9, 3}}) {
      const Program& program = all[i].program;
      const Job job = tuna_job(ranks, radix);
      const Result<Binding> binding = bind(program, job, {}, 0);
      if (!binding.ok() || !fits_key_order(program)) continue;
      const auto report = check_key_order(program, job, *binding, {});
      if (!report) continue;
      ++served;
      const Report general = execute(program, job, {}, {*binding}, {});
      const std::string what =
          fmt::format("{} ranks, radix {}: {}", ranks, radix, all[i].description);
      ASSERT_EQ(report->violation.has_value(), general.violation.has_value())
          << what << ": " << verdict(*report) << "; general: " << verdict(general);
      refuted += report->violation.has_value();
      if (!report->violation) expect_same_counts_and_claims(*report, general, what);
    }
  EXPECT_GE(served, 900 / kThinning);
  EXPECT_GE(refuted, 500 / kThinning);
}

// On so many ranks that what is wrong is told by this checker alone.
TEST(KeyOrderChecker, NamesWhatIsWrongInALargeJob) {
  const std::string copy = "copy send[rank] to recv[rank]\n";
  const std::string early =
      copy + "step -5\n  send send[wrap(rank - 1, ranks)] to wrap(rank - 1, ranks)\n" +
      "  receive temp[0] from wrap(rank + 1, ranks)\n";
  const std::string empty = copy + "step -5\n  send temp[0] to wrap(rank - 1, ranks)\n" +
                            "  receive recv[wrap(rank + 1, ranks)] from wrap(rank + 1, ranks)\n";
  const std::string later =
      copy + "step -5\n  if rank = 17\n    send nothing to 200\nstep -4\n  if rank = 200\n" +
      "    receive nothing from 17\n";
  const std::string twice = copy + "step -5\n  if rank = 3\n    send nothing to 4\n" +
                            "    send nothing to 4\n  if rank = 4\n    receive nothing from 3\n" +
                            "    receive nothing from 3\n";
  const std::vector<Mistake> mistakes = {
      {"step h after w - 1", "step h after w - 2",
       "overlap: rank 0 touches block 2 of its temporary buffer in a step, and in an earlier one"},
      {"step h after", "step 1000 - h after", "order: rank 299 goes on to step 998"},
      {"temporary ranks - 2", "temporary ranks - 3",
       "block: rank 299 names block 285 of its temporary buffer, which has 285"},
      {"recv[wrap(rank + i, ranks)]", "recv[rank + i]",
       "block: rank 299 names block 300 of its receive buffer, which has 300"},
      {"recv[wrap(rank + i, ranks)]", "recv[wrap(rank + i + 1, ranks)]",
       "place: rank 299 gets into block 1 of its receive buffer what belongs elsewhere: rank 0's "
       "block for rank 299"},
      {"if q = 0", "if q <= 1",
       "place: rank 299 gets into block 4 of its receive buffer what belongs elsewhere: rank 0's "
       "block for rank 295"},
      {"receive sized", "receive",
       "length: rank 0 and rank 299 disagree whether lengths travel ahead"},
      {"if i = f", "if i < f",
       "block: rank 299 names block -1 of its temporary buffer, which has 286"},
      {copy.c_str(), "", "coverage: rank 0's block never arrives at rank 0"},
      {copy.c_str(), "copy send[rank] to recv[rank]\ncopy send[rank] to recv[rank]\n",
       "once: rank 0's block arrives again at rank 0"},
      {copy.c_str(), "copy send[0] to recv[0]\n",
       "place: rank 1 gets into block 0 of its receive buffer what belongs elsewhere: rank 1's "
       "block "
       "for rank 0"},
      {copy.c_str(), early.c_str(), "overwrite: rank 0 overwrites block 0 of its temporary buffer"},
      {copy.c_str(), empty.c_str(),
       "held: rank 299 uses block 0 of its temporary buffer, which holds nothing there yet"},
      {copy.c_str(), later.c_str(),
       "match: rank 17 sends to rank 200, which receives nothing from it in this step"},
      {copy.c_str(), twice.c_str(), "order: rank 4 receives twice from rank 3 in a step"},
      {"to wrap(rank - h, ranks)", "to wrap(rank - h - 1, ranks)",
       "match: rank 299 receives from rank 0, which sends it nothing in this step"},
      {"to wrap(rank - h, ranks)", "to rank - h", "peer: rank 0 names rank -1 of 300"},
      {"to wrap(rank - h, ranks)", "to rank", "self-message: rank 299 sends to itself"},
      {"port one+one per rank\n", "port exchange per rank\n",
       "port: the message from rank 299 to rank 298 is one too many for the port of rank 298"},
      {"port one+one per rank\n", "port one+one per rank\nin_place\n",
       "in-place: rank 299 reads block 0 of its send buffer"},
      {"hop[k in", "hop[k in", "verified"},
  };
  expect_verdicts(tuna().algorithm->program({}), mistakes, fits_key_order, tuna_job(300, 4), {});
}

// Of a small all-to-all.
std::string key_order_verdict(const std::string& body, int64_t ranks) {
  const Program program = parse_program("algorithm a for alltoall\n" + body, "key order").value();
  const Job job = job_of({ranks});
  const Binding binding = bind(program, job, {}, 0).value();
  return verdict_beside([&] { return execute(program, job, {}, {binding}, {}); },
                        check_key_order(program, job, binding, {}), body);
}

// Two ranks that exchange their blocks by way of slots of their own.
std::string detour(const std::string& second_key, const std::string& more = "") {
  return "temporary 1 blocks\ncopy send[rank] to recv[rank]\n"
         "step 0\n  send send[1 - rank] to 1 - rank\n  receive temp[0] from 1 - rank\n"
         "step 1\n  send temp[0] to 1 - rank\n  receive temp[0] from 1 - rank\n" +
         second_key + "\n  send temp[0] to 1 - rank\n  receive recv[1 - rank] from 1 - rank\n" +
         more;
}

TEST(KeyOrderChecker, FollowsBlocksThroughOneSlotTwice) {
  EXPECT_EQ(key_order_verdict(detour("step 2"), 2), "verified");
  EXPECT_EQ(key_order_verdict(detour("step 2 after 1"), 2), "verified");
  EXPECT_EQ(key_order_verdict(detour("step 2 after 0"), 2), "overlap");
  EXPECT_EQ(key_order_verdict(detour("step 2",
                                     "step 3\n  send temp[0] to 1 - rank\n"
                                     "  receive temp[0] from 1 - rank\n"),
                              2),
            "once");
  EXPECT_EQ(key_order_verdict("temporary 1 blocks\ncopy send[rank] to recv[rank]\n"
                              "step 0\n  send send[1 - rank] to 1 - rank\n"
                              "  receive recv[1 - rank] from 1 - rank\n"
                              "step 1\n  send send[1 - rank] to 1 - rank\n"
                              "  receive temp[0] from 1 - rank\n",
                              2),
            "left-over");
}

// A copy waits for all earlier steps, whatever the steps behind it wait for.
TEST(KeyOrderChecker, TakesStepsBeforeACopyForOver) {
  const std::string slot = "temporary 1 blocks\n";
  const std::string first =
      "step 0 after -1\n  send send[1 - rank] to 1 - rank\n"
      "  receive temp[0] from 1 - rank\n";
  const std::string copy = "copy send[rank] to recv[rank]\n";
  const std::string back =
      "step 1 after -1\n  send temp[0] to 1 - rank\n"
      "  receive temp[0] from 1 - rank\n"
      "step 2\n  send temp[0] to 1 - rank\n"
      "  receive recv[1 - rank] from 1 - rank\n";
  EXPECT_EQ(key_order_verdict(slot + first + copy + back, 2), "verified");
  EXPECT_EQ(key_order_verdict(slot + copy + first + back, 2), "overlap");
}

// Into a slot and out of it, before, between and behind steps.
TEST(KeyOrderChecker, FollowsBlocksThroughCopies) {
  const std::string in =
      "temporary 2 blocks\ncopy send[rank] to recv[rank]\n"
      "copy send[1 - rank] to temp[0]\n";
  const std::string step =
      "step 0 after -1\n  send temp[0] to 1 - rank\n"
      "  receive temp[0] from 1 - rank\n";
  const std::string out = "copy temp[0] to recv[1 - rank]\n";
  EXPECT_EQ(key_order_verdict(in + step + out, 2), "verified");
  EXPECT_EQ(key_order_verdict(in + "copy temp[0] to temp[1]\ncopy temp[1] to temp[0]\n" + step, 2),
            "once");  // the slot holds it still
  EXPECT_EQ(
      key_order_verdict(in + step + "copy temp[0] to temp[1]\ncopy temp[1] to recv[1 - rank]\n", 2),
      "verified");
  EXPECT_EQ(key_order_verdict(in + step + "copy temp[0] to temp[1]\n", 2), "coverage");
  EXPECT_EQ(key_order_verdict(in + step + out + out, 2), "once");
  EXPECT_EQ(key_order_verdict(in + out + step, 2), "place");
  EXPECT_EQ(key_order_verdict(in + "copy send[rank] to temp[0]\n" + step + out, 2), "overwrite");
  EXPECT_EQ(key_order_verdict(in + "copy temp[1] to temp[0]\n" + step + out, 2), "held");
  EXPECT_EQ(key_order_verdict(in + step + "step 1 after 1\n  copy temp[0] to recv[1 - rank]\n", 2),
            "unclear");
}

TEST(KeyOrderChecker, LeavesGreatNumbersToTheGeneralChecker) {
  for (const std::string key : {"9223372036854775807", "9223372036854775807 after -1",
                                "2 after 9223372036854775807", "2 after -9223372036854775807"})
    EXPECT_EQ(key_order_verdict(detour("step " + key), 2), "unclear") << key;
  EXPECT_EQ(check_key_order(tuna().program, tuna_job(65536, 2),
                            bind(tuna().program, tuna_job(65536, 2), {}, 0).value(), {})
                .has_value(),
            false);
}

}  // namespace
}  // namespace quadrille::verifier
