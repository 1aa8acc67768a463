// Every collective, on one group and on two: calls one after the other on one binding, which keeps what it can of each
// for the next. From call to call everything may change, or nothing; so may the way that the schedule is bound.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/net/collective_programs.h"
#include "tests/support/effort.h"

namespace quadrille::net {
namespace {

// One binding.
struct Run {
  const CollectiveProgram& program;
  Groups groups;
  CollectiveWays ways;
  std::vector<CollectiveCall> calls;
  std::vector<CollectiveWays> bound;  // for each call
  std::vector<int> entered;           // by so many ranks

  std::string text() const {
    std::string text = program.name + "\n";
    for (size_t i = 0; i < calls.size(); ++i)
      text += calls[i].text() + "; " + bound[i].text() + "\n";
    return text;
  }
};

Run draw(const CollectiveProgram& program, const Groups& groups, const CollectiveWays& ways) {
  constexpr int64_t kBlockSizes[] = {0, 61, 500, 5000};
  std::mt19937 random(ways.seed);
  const Allowed allowed{program.program.commutative, program.takes_equal_counts,
                        program.takes_block_size};
  Run run{program, groups, ways, {}, {}, {}};
  run.calls = draw_calls(program.program.collective, groups, allowed, random, 7);
  run.entered.resize(run.calls.size());
  for (size_t i = 0; i < run.calls.size(); ++i) {
    run.bound.push_back(i > 0 ? run.bound.back() : ways);
    if (i > 0 && random() % 6 != 0) continue;
    run.bound.back().block_size = kBlockSizes[random() % 4];
    if (i > 0) run.bound.back().window = static_cast<int>(1 + random() % 5);
  }
  return run;
}

void expect_success(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char text[256] = "";
  quadrille_last_error(text, sizeof text);
  ADD_FAILURE() << what << ": " << text;
}

void at_rank(Run& run, MPI_Comm comm) {
  const int place = this_rank();
  quadrille_schedule schedule;
  expect_success(quadrille_load_memory(run.program.file.data(), run.program.file.size(), &schedule),
                 "load");
  for (size_t i = 0; i < run.calls.size() && !testing::Test::HasFailure(); ++i) {
    const quadrille_bind_options options = options_of(run.program, run.bound[i]);
    if (i == 0 || run.bound[i].text() != run.bound[i - 1].text())
      expect_success(run.ways.are_ranges
                         ? quadrille_bind_groups(schedule, comm, run.groups.ranks, &options)
                         : quadrille_bind(schedule, comm, &options),
                     "bind");
    const std::string what = fmt::format("call {}, place {}", i, place);
    CollectivePart part(run.calls[i], place);
    expect_success(part.run(schedule, comm, run.entered[i]), what);
    EXPECT_TRUE(mark(static_cast<int>(i))) << what << ": requests are left";
    EXPECT_TRUE(part.is_right()) << what;
    part.expect_rest_untouched(what);
  }
  EXPECT_EQ(quadrille_free(&schedule), MPI_SUCCESS);
}

void expect_right(const CollectiveProgram& program, const Groups& groups,
                  const CollectiveWays& ways) {
  Run run = draw(program, groups, ways);
  testing::ScopedTrace trace(__FILE__, __LINE__, run.text());
  const Outcome outcome =
      simulate(machine_of(program, groups, ways), [&](MPI_Comm comm) { at_rank(run, comm); });
  EXPECT_TRUE(outcome.problems.empty()) << outcome.text();
}

std::vector<Groups> all_groups(int groups) {
  if (groups == 1) return {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}};
  std::vector<Groups> all;
  for (int ranks = 1; ranks <= 3; ++ranks)
    for (int remote = 1; remote <= 3; ++remote) all.push_back({ranks, remote});
  all.insert(all.end(), {{1, 4}, {4, 1}});
  return all;
}

class Collectives : public testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(All, Collectives, testing::Range<size_t>(0, collective_programs().size()),
                         [](const auto& each) { return test_name(each.param); });

unsigned next_seed = 1;
size_t way_number = 0;

TEST_P(Collectives, BringEveryByteWhereItBelongs) {
  const CollectiveProgram& program = collective_programs()[GetParam()];
  for (const Groups& groups : all_groups(program.program.groups)) {
    if (!program.serves(groups)) continue;
    for (const int window : {1, 2, 16})
      for (const bool is_synchronous : {false, true})
        for (const bool is_eager : {false, true})
          for (int round = 0; round < 3; ++round) {
            const unsigned seed = next_seed++;
            if (way_number++ % (one_in(19) * kThinning) != 0) continue;
            const bool are_ranges = groups.remote > 0 && seed % 3 == 0;
            expect_right(program, groups, {window, is_synchronous, is_eager, 0, seed, are_ranges});
            if (HasFailure()) return;
          }
  }
}

// A rank that forwards is called with the same arguments, while others' lengths travel in one call and are known in
// the next.
TEST(CollectiveLengths, ThatTravelledAreNotTakenForThoseOfTheNextCall) {
  const CollectiveProgram& program = collective_program("gather binomial");
  const Groups groups{4, 0};
  const Outcome outcome = simulate(machine_of(program, groups, {}), [&](MPI_Comm comm) {
    quadrille_schedule schedule;
    quadrille_load_memory(program.file.data(), program.file.size(), &schedule);
    const std::vector<int> sent(9, 10 + this_rank()), counts = {2, 2, 2, 9}, places = {0, 2, 4, 6};
    std::vector<int> all(15);
    const std::vector<int> equal = {10, 10, 11, 11, 12, 12, 13, 13};
    for (int round = 0; round < 2; ++round) {
      all.assign(15, -1);
      EXPECT_EQ(
          quadrille_gather(schedule, sent.data(), 2, MPI_INT, all.data(), 2, MPI_INT, 0, comm),
          MPI_SUCCESS);
      EXPECT_TRUE(this_rank() != 0 || std::equal(equal.begin(), equal.end(), all.begin()));
      const int own = counts[static_cast<size_t>(this_rank())];
      EXPECT_EQ(quadrille_gatherv(schedule, sent.data(), own, MPI_INT, all.data(), counts.data(),
                                  places.data(), MPI_INT, 0, comm),
                MPI_SUCCESS);
      EXPECT_TRUE(this_rank() != 0 || all.back() == 13);
    }
    quadrille_free(&schedule);
  });
  EXPECT_EQ(outcome.text(), "");
}

// The rule of a ring, in which all ranks contribute as much, would choose one block.
TEST(CollectiveBlocks, OfAPipelineAreChosenForAChain) {
  const CollectiveProgram& program = collective_program("broadcast pipeline");
  Job job = program.job;
  job.parameters = {kRuleAuto};
  job.models = {{2000, 100}};
  const Bytes file = encode(program.program, job);
  const Outcome outcome = simulate(machine_of(program, {4, 0}, {}), [&](MPI_Comm comm) {
    quadrille_schedule schedule;
    quadrille_load_memory(file.data(), file.size(), &schedule);
    std::vector<char> bytes(1 << 20, static_cast<char>(this_rank() == 0));
    EXPECT_EQ(quadrille_bcast(schedule, bytes.data(), 1 << 20, MPI_BYTE, 0, comm), MPI_SUCCESS);
    EXPECT_EQ(bytes.back(), 1);
    quadrille_free(&schedule);
  });
  EXPECT_EQ(outcome.text(), "");
  const Listing& posted = outcome.listings[0];
  EXPECT_GT(std::count_if(posted.begin(), posted.end(),
                          [](const Event& event) { return event.kind == Event::Kind::kSend; }),
            4);
}

}  // namespace
}  // namespace quadrille::net
