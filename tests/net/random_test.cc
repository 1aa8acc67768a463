// Runs random programs. If the checker calls a program correct, it brings every byte to its place with every kind of
// call, window and timing, or the runtime refuses it as not served. If the checker refutes a program, it may be
// refused, fail, wait forever or give a wrong result. But binding ends, and nothing beside the blocks is touched.
//
// The same holds for schedule files with one byte changed and a corrected checksum.
//
// PROGRAMS sets how many programs are drawn, and SEED the first. A failure names its seed, and SEED repeats it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/program/table_format.h"
#include "tests/net/trials.h"
#include "tests/support/effort.h"
#include "tests/support/program_kinds.h"
#include "tests/support/reseal.h"

namespace quadrille::net::random_test {

struct Tally {
  int drawn = 0, right = 0, not_served = 0, wrong = 0, unbound = 0;
  int refused = 0, failed = 0, waiting = 0, elsewhere = 0;
  int persistent = 0, long_blocks = 0, runs = 0, in_place = 0, uneven = 0;  // of correct programs
  KindTally kinds;
};

// Binding plans for root 0. For another root, a rank that needs an unserved feature reports it in the call.
bool is_not_served(const Fate& fate, const Program& program) {
  const auto says_so = [](int code) { return code == MPI_ERR_UNSUPPORTED_OPERATION; };
  return says_so(fate.bound[0]) ||
         (rooted(program.collective) && std::ranges::any_of(fate.called, says_so));
}

void expect_right(const Fate& fate, const Program& program, Tally& tally) {
  if (is_not_served(fate, program)) {
    ++tally.not_served;
    return;
  }
  EXPECT_TRUE(fate.problems.empty()) << fmt::format("{}", fmt::join(fate.problems, "\n"));
  ++tally.right;
  EXPECT_TRUE(fate.succeeds()) << fmt::format("bind {}, call {}", fmt::join(fate.bound, " "),
                                              fmt::join(fate.called, " "));
  EXPECT_TRUE(fate.right);
}

// Returns whether a program may cause this: it waits forever, receives twice into one place, or names a huge range.
bool is_of_the_program(const std::string& problem) {
  for (const char* const part : {"nobody can go on", "overlaps that of", "before it was over",
                                 "more bytes than the simulation takes"})
    if (problem.find(part) != std::string::npos) return true;
  return false;
}

void expect_harmless(const Fate& fate, Tally& tally) {
  ++tally.wrong;
  for (const std::string& problem : fate.problems)
    EXPECT_TRUE(is_of_the_program(problem)) << problem;
  // Binding ends on every rank.
  EXPECT_EQ(std::ranges::count(fate.bound, -1), 0)
      << fmt::format("{}", fmt::join(fate.problems, "\n"));
  if (!fate.is_bound())
    ++tally.refused;
  else if (fate.waits())
    ++tally.waiting;
  else if (!fate.succeeds())
    ++tally.failed;
  else if (!fate.right)
    ++tally.elsewhere;
}

void judge(const std::optional<verifier::Report>& report, const Fate& fate, const Program& program,
           Tally& tally) {
  if (!report) {
    ++tally.unbound;
    EXPECT_FALSE(fate.is_bound() && fate.succeeds());
    return;
  }
  report->violation ? expect_harmless(fate, tally) : expect_right(fate, program, tally);
}

// Runs the call with all windows and timings, in place and not.
void expect_right_every_way(CollectiveTrial& trial, Tally& tally) {
  const bool may_be_in_place = can_be_in_place(trial.call.collective, trial.call.groups);
  for (const bool in_place : {false, true})
    for (const int window : {1, 2, 16})
      for (const bool is_eager : {false, true}) {
        if (in_place && !may_be_in_place) continue;
        trial.call.in_place = in_place;
        trial.ways.window = window;
        trial.ways.is_eager = is_eager;
        const testing::ScopedTrace trace(__FILE__, __LINE__, trial.text());
        const Fate fate = trial.run();
        EXPECT_TRUE(fate.problems.empty()) << fmt::format("{}", fmt::join(fate.problems, "\n"));
        EXPECT_TRUE(fate.succeeds() && fate.right);
        ++tally.runs;
        tally.in_place += in_place;
      }
}

// Returns whether the checker accepts the call with blocks of all sizes. The program must have no counts.
bool serves_all_sizes(const RandomCase& drawn) {
  Program program = drawn.program;
  program.port = {};  // ports have no effect on data
  Call call = drawn.call;
  if (!blocks_may_differ(program.collective) || !call.counts.empty()) return false;
  const Result<verifier::Report> report = verifier::check_all_sizes(program, drawn.job, call, {});
  return report.ok() && !report->violation;
}

void expect_right_with_uneven_blocks(CollectiveTrial& trial, Tally& tally) {
  trial.call.lengths = LengthKind::kUneven;
  trial.call.form = 1;
  const testing::ScopedTrace trace(__FILE__, __LINE__, trial.text());
  const Fate fate = trial.run();
  if (is_not_served(fate, trial.drawn.program)) return;
  EXPECT_TRUE(fate.problems.empty()) << fmt::format("{}", fmt::join(fate.problems, "\n"));
  EXPECT_TRUE(fate.succeeds() && fate.right);
  ++tally.uneven;
}

void add_call(const RandomCase& drawn, uint64_t seed, bool is_in_order, Tally& tally) {
  CollectiveTrial trial(drawn, seed, is_in_order);
  std::optional<verifier::Report> report = trial.report();
  if (report && !report->violation && report->uneven) {
    trial.call.lengths = LengthKind::kOne;
    report = trial.report();
  }
  trial.is_right = report && !report->violation;
  const testing::ScopedTrace trace(__FILE__, __LINE__, trial.text());
  tally.kinds.add(drawn, trial.is_right);
  tally.persistent += trial.is_right && trial.is_persistent;
  tally.long_blocks += trial.is_right && trial.call.lengths == LengthKind::kLong;
  const Fate fate = trial.run();
  if (trial.is_right && fate.bound[0] == MPI_ERR_INTERN) report = trial.report_of_binding();
  judge(report, fate, drawn.program, tally);
  if (is_in_order && trial.is_right && fate.succeeds()) expect_right_every_way(trial, tally);
  if (trial.is_right && serves_all_sizes(drawn)) expect_right_with_uneven_blocks(trial, tally);
}

void print(const Tally& tally) {
  fmt::print(
      "{} drawn: {} right, {} right and not served, {} do not bind, {} wrong: {} refused, {} fail, "
      "{} wait, {} bring something else\n",
      tally.drawn, tally.right, tally.not_served, tally.unbound, tally.wrong, tally.refused,
      tally.failed, tally.waiting, tally.elsewhere);
}

TEST(RandomPrograms, RunAsTheCheckerSays) {
  const uint64_t programs = from_environment("PROGRAMS", 1500 / kThinning);
  const uint64_t first = from_environment("SEED", 1);
  Tally tally;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed) {
    ++tally.drawn;
    std::optional<RandomCase> drawn = random_case(seed);
    if (!drawn) continue;
    for (int64_t& block_size : drawn->call.parameters)
      block_size = 1 + static_cast<int64_t>(seed % 20);
    add_call(*drawn, seed, false, tally);
  }
  print(tally);
  if (programs < 100) return;  // too few programs for statistics
  EXPECT_GT(tally.right, tally.drawn / 5);
  EXPECT_GT(tally.uneven, tally.drawn / 100);
  for (const int some :
       {tally.unbound, tally.refused, tally.failed, tally.waiting, tally.elsewhere})
    EXPECT_GT(some, tally.drawn / 100);
}

TEST(RandomSteps, RunAsTheCheckerSays) {
  const uint64_t programs = from_environment("PROGRAMS", 1000 / kThinning);
  const uint64_t first = from_environment("SEED", 1);
  Tally tally;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed) {
    ++tally.drawn;
    if (const auto drawn = random_step_case(seed)) add_call(*drawn, seed, true, tally);
  }
  print(tally);
  fmt::print("{} right ones are called persistently, {} with long blocks; {} runs, {} in place\n{}",
             tally.persistent, tally.long_blocks, tally.runs, tally.in_place, tally.kinds.text());
  if (programs < 1000) return;  // too few programs for statistics
  EXPECT_GT(tally.right, tally.drawn / 5);
  EXPECT_LT(tally.not_served, tally.right / 10);
  for (const int some : {tally.refused, tally.waiting, tally.elsewhere})
    EXPECT_GT(some, tally.drawn / 100);
  for (const int some : {tally.persistent, tally.long_blocks}) EXPECT_GT(some, tally.drawn / 20);
  EXPECT_GT(tally.runs, 3 * tally.drawn);
  EXPECT_GT(tally.uneven, tally.drawn / 100);
  EXPECT_GT(tally.in_place, tally.drawn);
  EXPECT_THAT(tally.kinds.rare(50), testing::IsEmpty());
}

// ---- Files with one byte changed

struct Outcomes {
  int not_loaded = 0, not_bound = 0, run = 0;
  std::string refusals;  // the errors of binding
};

void expect_harmless(const Scheduled& original, const Bytes& file, unsigned seed,
                     Outcomes& outcomes) {
  const RandomCase drawn{original.program, original.job, {}, original.name};
  for (const bool in_place : {false, true}) {
    CollectiveTrial trial(drawn, seed);
    trial.scheduled.file = file;
    trial.is_right = trial.ways.are_ranges = false;
    trial.call.in_place = in_place;
    trial.call.lengths = LengthKind::kUneven;
    const testing::ScopedTrace trace(__FILE__, __LINE__, trial.text());
    const Fate fate = trial.run();
    for (const std::string& problem : fate.problems)
      EXPECT_TRUE(is_of_the_program(problem)) << problem;
    // Either all ranks refuse the file, or none does.
    EXPECT_EQ(fate.bound, std::vector<int>(fate.bound.size(), fate.bound[0]));
    ++(fate.is_bound()                 ? outcomes.run
       : fate.bound[0] == MPI_ERR_FILE ? outcomes.not_loaded
                                       : outcomes.not_bound);
    if (!fate.is_bound()) outcomes.refusals += last_error() + "\n";
  }
}

TEST(FileMutants, AreRefusedOrStayWithinTheUsersBuffers) {
  std::vector<std::pair<Scheduled, Bytes>> all;
  for (const Scheduled& given :
       {exchanging("hierarchical-factor", {1, 2}), exchanging("factor", {3}),
        exchanging("linear", {3}), exchanging("tuna", {3}, {2}),
        exchanging("tuna-coalesced", {1, 2}, {2, 1}), exchanging("tuna-staggered", {1, 3}, {2, 1}),
        exchanging("hierarchical-overlapped", {1, 2}, {64})})
    all.emplace_back(given, given.file);
  // Files for any nodes: one has a formula, one has words that say what it needs, and one uses nodes.
  all.emplace_back(exchanging("hierarchical-factor", {1, 2}),
                   program_named("alltoall hierarchical-factor").file);
  all.emplace_back(exchanging("tuna", {3}, {2}), program_named("alltoall tuna").file);
  all.emplace_back(exchanging("xor", {2}), program_named("alltoall xor").file);
  Outcomes outcomes;
  unsigned seed = 1;
  for (const auto& [given, original] : all) {
    // Changes bytes from the code to the job. The names behind them have no effect.
    const uint8_t names[] = {'N', 'A', 'M', 0};
    const auto end = std::search(original.begin(), original.end(), names, names + 4);
    const uint8_t changes[] = {1, 2, 255, 4, 16, 128};
    for (size_t i = QD_SECTIONS_OFFSET; i < static_cast<size_t>(end - original.begin()); ++i)
      for (const size_t k : {i, i + 1}) {
        if (!takes_next_of_many()) continue;
        Bytes file = original;
        file[i] ^= changes[k % 6];
        quadrille_reseal(file.data(), file.size());
        expect_harmless(given, file, seed++, outcomes);
        if (HasFailure()) FAIL() << given.name << ": byte " << i << " xor " << int{changes[k % 6]};
      }
  }
  // Many mutants pass the checksum and are refused later, or run.
  EXPECT_GT(outcomes.not_loaded, 100);
  EXPECT_GT(outcomes.not_bound, 20);
  EXPECT_GT(outcomes.run, 20);
  for (const char* part : {"does not serve", "not in order", "outside its table", "divisor"})
    EXPECT_NE(outcomes.refusals.find(part), std::string::npos) << part;
}

}  // namespace quadrille::net::random_test
