// Checks the depth of known schedules, and compares all algorithms with the definition of depth.
#include "schedule/depth.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "schedule/text.h"
#include "schedule/walk.h"
#include "tests/support/oracle_log.h"
#include "tests/support/plain_walk.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille::depth_test {

std::optional<int64_t> depth_of_text(const std::string& text, const std::string& nodes,
                                     int64_t most = kMostMessagesOfDepth) {
  const Result<Program> program = parse_program(text, "text");
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message);
  const Job job{{*parse_nodes(nodes)}, {}};
  return depth(*program, job, plain_call(*program, job), most);
}

const char* const kRing = R"(algorithm ring for allgather
copy send[0] to recv[rank]
for k in 0 .. ranks - 1
  step k
    send recv[wrap(rank - k, ranks)] to wrap(rank + 1, ranks)
    receive recv[wrap(rank - k - 1, ranks)] from wrap(rank - 1, ranks)
)";

TEST(Depth, ARingIsAsDeepAsItHasSteps) {
  EXPECT_EQ(depth_of_text(kRing, "5"), 4);
  EXPECT_EQ(depth_of_text(kRing, "1"), 0);
}

const char* const kAtOnce = R"(algorithm spread for alltoall
copy send[rank] to recv[rank]
for k in 1 .. ranks
  step k after -1
    send send[wrap(rank + k, ranks)] to wrap(rank + k, ranks)
    receive recv[wrap(rank - k, ranks)] from wrap(rank - k, ranks)
)";

TEST(Depth, StepsThatWaitForNothingAreOneDeep) { EXPECT_EQ(depth_of_text(kAtOnce, "6"), 1); }

TEST(Depth, ACopyOutsideStepsWaitsForAllBeforeIt) {
  std::string text = kAtOnce;
  text +=
      "copy send[rank] to recv[rank]\nstep ranks after -1\n"
      "  send to wrap(rank + 1, ranks)\n  receive from wrap(rank - 1, ranks)\n";
  EXPECT_EQ(depth_of_text(text, "6"), 2);
}

TEST(Depth, AStepWaitsForThoseThatItNames) {
  const std::string chain =
      "algorithm chain for barrier\n"
      "for k in 0 .. 6\n  step k after k - 3\n"
      "    send to 1 - rank\n    receive from 1 - rank\n";
  EXPECT_EQ(depth_of_text(chain, "2"), 2);  // steps 0, 1 and 2 at once, then 3, 4 and 5
}

// Rank 2 waits for no other message. But rank 0 sends to it only after its message to rank 1.
TEST(Depth, AMessageWaitsForBothItsEnds) {
  const std::string text =
      "algorithm ends for barrier\n"
      "if rank = 0\n  step 0\n    send to 1\n  step 1\n    send to 2\n"
      "if rank = 1\n  step 0\n    receive from 0\n"
      "if rank = 2\n  step 1\n    receive from 0\n";
  EXPECT_EQ(depth_of_text(text, "3"), 2);
}

TEST(Depth, ManyMessagesAreNotCounted) {
  EXPECT_EQ(depth_of_text(kRing, "5", 20), 4);
  EXPECT_EQ(depth_of_text(kRing, "5", 19), std::nullopt);
}

TEST(Depth, WhatIsNotRightHasNone) {
  EXPECT_EQ(depth_of_text("algorithm a for barrier\nstep 0\n  send to ranks\n", "2"), std::nullopt);
  EXPECT_EQ(depth_of_text("algorithm a for barrier\nstep 1\n  send to 1 - rank\n"
                          "step 0\n  receive from 1 - rank\n",
                          "2"),
            std::nullopt);
}

// ---- Compared with the definition

struct StepOfRank {
  std::optional<int64_t> after;
  bool after_outside = false;                      // a copy outside steps comes just before it
  std::vector<std::pair<int64_t, int64_t>> peers;  // group and rank of each peer of a message
  int64_t start = 0, end = 0;
};
using StepsOfRank = std::map<int64_t, StepOfRank>;  // by key

StepsOfRank steps_of(const Program& program, const Binding& binding, int64_t rank) {
  oracle::Recorder recorder;
  EXPECT_EQ(PlainWalk(program, binding, rank, recorder).run(), WalkEnd::kEnd);
  StepsOfRank steps;
  bool outside = false;
  for (const oracle::Action& action : recorder.trace) {
    outside |= !action.key;
    if (!action.key) continue;
    StepOfRank& step = steps[*action.key];
    step.after = action.after;
    step.after_outside = std::exchange(outside, false);
    const int64_t group = binding.place.group;
    for (const oracle::Letter& letter : action.letters)
      step.peers.emplace_back(letter.head.remote ? 1 - group : group, letter.head.peer);
  }
  return steps;
}

// Computes the depth from its definition: raises levels until every step is at the least that its dependencies allow.
int64_t depth_by_definition(const Program& program, const std::vector<Binding>& bindings) {
  std::map<std::pair<int64_t, int64_t>, StepsOfRank> ranks;
  for (int64_t group = 0; group < program.groups; ++group)
    for (int64_t rank = 0; rank < bindings[group].place.ranks; ++rank)
      ranks[{group, rank}] = steps_of(program, bindings[group], rank);
  int64_t deepest = 0;
  for (bool grows = true; grows;) {
    grows = false;
    const auto raise = [&](int64_t& level, int64_t to) {
      if (level >= to) return;
      level = to;
      grows = true;
    };
    for (auto& [process, steps] : ranks)
      for (auto step = steps.begin(); step != steps.end(); ++step) {
        bool waited = false;  // a copy outside steps is between `earlier` and `step`
        for (auto later = step; later != steps.begin(); --later) {
          waited |= later->second.after_outside;
          const auto earlier = std::prev(later);
          if (waited || !step->second.after || earlier->first <= *step->second.after)
            raise(step->second.start, earlier->second.end);
        }
        raise(step->second.end, step->second.start);
        for (const auto& peer : step->second.peers)
          raise(step->second.end,
                1 + std::max(step->second.start, ranks.at(peer).at(step->first).start));
        deepest = std::max(deepest, step->second.end);
      }
  }
  return deepest;
}

TEST(Depth, IsByDefinitionThatOfEveryAlgorithm) {
  int compared = 0;
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{1}, {2}, {1, 2}, {5}, {1, 2, 3}, {4, 4}})
      for (const Job& job : jobs_on(variant, sizes)) {
        const Program& program = variant.program;
        const Call call = plain_call(program, job);
        EXPECT_EQ(depth(program, job, call),
                  depth_by_definition(program, bind_all(program, job, call)))
            << variant.name << " on " << job.groups[0].text();
        ++compared;
      }
  EXPECT_GT(compared, 300);
}

}  // namespace quadrille::depth_test
