// The model of a call's time that walks every rank: times computed by hand.
#include "generator/timing.h"

#include <gtest/gtest.h>

#include "schedule/text.h"
#include "tests/support/topologies.h"

namespace quadrille {
namespace {

const Machine kMachine{{2000, 100}, {500, 50}, {50, 60}, 400, 300, PortScope::kNode};

Result<Timing> timed(const std::string& text, const std::vector<std::vector<int64_t>>& nodes,
                     const Call& call, const Machine& machine = kMachine,
                     int64_t longest = INT64_MAX) {
  const Result<Program> program = parse_program("algorithm a for " + text, "a program");
  if (!program.ok()) ADD_FAILURE() << program.error().message;
  Job job;
  for (const std::vector<int64_t>& sizes : nodes) job.groups.push_back(topology_of(sizes));
  job.parameters.assign(program->parameters.size(), kRuleAuto);
  job.models.assign(program->parameters.size(), {2000, 100});
  std::vector<Binding> bindings;
  for (int group = 0; group < program->groups; ++group)
    bindings.push_back(bind(*program, job, call, group).value());
  return call_timing(*program, job, call, bindings, 1000, machine, longest);
}

// Rank 0 to rank 1, which forwards to rank 2.
constexpr const char* kChain =
    "broadcast\n"
    "step rank\n"
    "  if 0 < rank\n"
    "    receive recv[0] from rank - 1\n"
    "step rank + 1\n"
    "  if rank < ranks - 1\n"
    "    send recv[0] to rank + 1\n";

const Call kThousandBytes{{{1000, 1000, 1000}}, {}, 0};

TEST(CallTiming, FollowsMessagesFromRankToRank) {
  // Between nodes: 2 us, and 0.4 us and 0.1 us for the port; inside: 0.5 us, and 0.3 and 0.05.
  EXPECT_EQ(timed(kChain, {{1, 1, 1}}, kThousandBytes)->time, 2 * (2000 + 400 + 100));
  EXPECT_EQ(timed(kChain, {{1, 2}}, kThousandBytes)->time, 2500 + 850);
  EXPECT_EQ(timed(kChain, {{3}}, kThousandBytes)->time, 2 * 850);
  const Timing timing = *timed(kChain, {{1, 2}}, kThousandBytes);
  EXPECT_EQ(timing.most, (Work{1, 1, 1000, 1000, 0}));
}

TEST(CallTiming, GivesUpWhatTakesTooLong) {
  EXPECT_TRUE(timed(kChain, {{1, 1, 1}}, kThousandBytes, kMachine, 5000).ok());
  EXPECT_EQ(timed(kChain, {{1, 1, 1}}, kThousandBytes, kMachine, 4999).error().message,
            "a call takes more than 4999 ns");
}

TEST(CallTiming, RefusesWhatCannotBeFollowed) {
  const auto refusal = [](const std::string& text) {
    const Result<Timing> timing = timed(text, {{2}}, {});
    return timing.ok() ? "followed" : timing.error().message;
  };
  EXPECT_EQ(refusal("alltoall\nstep 0\n  send send[0] to rank + 1\n"),
            "rank 1 sends to rank 2, which there is not");
  EXPECT_EQ(refusal("alltoall\nstep 0\n  send send[0] to rank - 1\n"),
            "rank 0 sends to rank -1, which there is not");
  const Result<Timing> beyond =
      timed("allgather\nstep 0\n  send recv[2] to 1 - rank\n", {{2}}, {{{1, 1}}, {}, 0});
  EXPECT_EQ(beyond.error().message, "rank 1 names block 2, which there is not");
  EXPECT_EQ(refusal("alltoall\nlet x = 1 div rank\n"),
            "rank 0 meets a divisor that is not positive");
}

// All to rank 0 at the same time.
constexpr const char* kStar =
    "gather\n"
    "step 0\n"
    "  if rank = 0\n"
    "    for i in 1 .. ranks\n"
    "      receive recv[i] from i\n"
    "  else\n"
    "    send send[0] to 0\n";

TEST(CallTiming, QueuesMessagesAtThePortsThatTheyLeaveAndArriveBy) {
  const Call call{{{0, 1000, 1000, 1000}}, {}, 0};
  // Three arrive at one port, one after another.
  EXPECT_EQ(timed(kStar, {{1, 1, 1, 1}}, call)->time, 2000 + 3 * 500);
  // Two leave through one port; a third is in the memory of the node meanwhile.
  EXPECT_EQ(timed(kStar, {{2, 2}}, call)->time, 2000 + 2 * 500);
  // Three messages on one node use the memory in turn.
  EXPECT_EQ(timed(kStar, {{4}}, call)->time, 500 + 3 * 350);
  Machine machine = kMachine;
  machine.port = PortScope::kRank;
  EXPECT_EQ(timed(kStar, {{4}}, call, machine)->time, 500 + 3 * 350);
  EXPECT_EQ(timed(kStar, {{2, 2}}, call, machine)->time, 2000 + 2 * 500);
  EXPECT_EQ(timed(kStar, {{2, 2}}, call, machine)->most, (Work{2, 1, 2000, 1000, 0}));
  // Uneven lengths are those of the call. Without counts each block has the given length.
  EXPECT_EQ(timed(kStar, {{1, 1, 1, 1}}, {{{0, 0, 5000, 0}}, {}, 0})->time, 2000 + 400 + 500);
  EXPECT_EQ(timed(kStar, {{1, 1, 1, 1}}, {})->time, 2000 + 3 * 500);
}

TEST(CallTiming, ChargesAMessageInsideWhatItTakesAlone) {
  const Call call{{{0, 1000, 1000, 1000}}, {}, 0};
  Machine machine = kMachine;
  machine.beta_alone_ps = 2000;
  EXPECT_EQ(timed(kStar, {{4}}, call, machine)->time, 500 + 2000);
  machine.beta_alone_ps = 1040;  // less than the memory's time for all three
  EXPECT_EQ(timed(kStar, {{4}}, call, machine)->time, 500 + 3 * 350);
}

TEST(CallTiming, KnowsHowLongATemporaryBlockIs) {
  const auto bytes = [](const std::string& text, std::vector<int64_t> counts) {
    return timed(text, {{1, 1, 1, 1}}, {{std::move(counts)}, {}, 0})->most.bytes_between;
  };
  EXPECT_EQ(bytes("scatter\ntemporary 1 blocks\nif rank = 0\n  copy send[2] to temp[0]\n"
                  "step 0\n  if rank = 0\n    send temp[0] to 2\n"
                  "  if rank = 2\n    receive recv[0] from 0\n",
                  {1, 2, 5000, 1}),
            5000);
  // If ranks copy different lengths, the average counts.
  EXPECT_EQ(bytes("gather\ntemporary 1 blocks\ncopy send[0] to temp[0]\n"
                  "step 0\n  if rank = 2\n    send temp[0] to 0\n"
                  "  if rank = 0\n    receive recv[2] from 2\n",
                  {0, 0, 4000, 0}),
            1000);
}

// Rank 0 sends to rank 1, then to rank 2.
std::string in_turn(const std::string& heading, const std::string& piece) {
  return heading + "step 0\n  if rank = 0\n    send " + piece +
         " to 1\n  if rank = 1\n    receive recv[0] from 0\n"
         "step 1\n  if rank = 0\n    send " +
         piece + " to 2\n  if rank = 2\n    receive recv[0] from 0\n";
}

TEST(CallTiming, AwaitsMessagesThatAreNotEagerWhereTheRuntimeDoes) {
  const auto time = [](const std::string& text, int64_t eager, const Call& call) {
    Machine machine = kMachine;
    machine.eager = eager;
    return timed(text, {{1, 1, 1}}, call, machine)->time;
  };
  // The second starts when the first has left, after 0.5 us, or when it has arrived, 2 us later.
  const std::string scatter = in_turn("scatter\n", "send[0]");
  EXPECT_EQ(time(scatter, 1000, kThousandBytes), 500 + 2500);
  EXPECT_EQ(time(scatter, 999, kThousandBytes), 2500 + 2500);
  EXPECT_EQ(time(in_turn("broadcast\n", "send[0]"), 999, kThousandBytes), 500 + 2500);
  // If the model of messages chose the block size, one block is in flight at a time.
  const Call blocks{kThousandBytes.counts, {1000}, 0};
  const std::string blocked = in_turn("broadcast\nparameter B at call\n", "send[0]");
  EXPECT_EQ(time(blocked, 999, blocks), 2500 + 2500);
}

TEST(CallTiming, ChargesWhatIsCopiedAndCombined) {
  const std::string sum =
      "reduce\ntemporary 1 blocks\n"
      "if rank = 0\n"
      "  copy send[0] to recv[0]\n"
      "step 0\n"
      "  if rank = 0\n"
      "    receive right recv[0] from 1\n"
      "  else\n"
      "    send send[0] to 0\n";
  const Call call{{{1000, 1000}}, {}, 0};
  // The copy of 0.05 us, and 0.06 us per thousand bytes, is complete when the message to combine arrives.
  EXPECT_EQ(timed(sum, {{1, 1}}, call)->time, 2500 + 110);
  EXPECT_EQ(timed(sum, {{1, 1}}, call)->most.bytes_copied, 2000);
  // A broadcast sends and receives in one buffer.
  EXPECT_EQ(timed("broadcast\nif rank = 0\n  copy send[0] to recv[0]\n", {{1, 1}}, call)->time, 0);
  EXPECT_EQ(timed("gather\nif rank = 0\n  copy send[0] to recv[0]\n", {{1, 1}}, call)->time, 110);
  // Each of several pieces is copied into the message and out of it.
  const std::string pieces =
      "scatter\ntemporary ranks blocks\n"
      "step 0\n"
      "  if rank = 0\n"
      "    send sized to 1\n      send[1]\n      send[2]\n"
      "  if rank = 1\n"
      "    receive sized from 0\n      recv[0]\n      temp[2]\n";
  EXPECT_EQ(timed(pieces, {{1, 1, 1}}, kThousandBytes)->time,
            2 * (2 * 50 + 120) + 2000 + 400 + 200);
  // A statement outside steps waits for all before it, and all after it wait.
  const std::string outside =
      "reduce\ntemporary 1 blocks\n"
      "step 0 after -1\n"
      "  if rank = 0\n    send send[0] to 1\n"
      "  if rank = 1\n    receive temp[0]@0..1000 from 0\n"
      "if rank = 1\n  reduce left send[0] into temp[0]\n"
      "step 1 after -1\n"
      "  if rank = 1\n    send temp[0]@0..1000 to 0\n"
      "  if rank = 0\n    receive recv[0] from 1\n";
  EXPECT_EQ(timed(outside, {{1, 1}}, call)->time, 2500 + 110 + 2500);
}

TEST(CallTiming, LetsStepsOverlapThatDoNotWait) {
  const auto exchange = [](const std::string& after) {
    return "alltoall\n"
           "for i in 1 .. ranks\n"
           "  step i" +
           after +
           "\n"
           "    send send[wrap(rank + i, ranks)] to wrap(rank + i, ranks)\n"
           "    receive recv[wrap(rank - i, ranks)] from wrap(rank - i, ranks)\n";
  };
  EXPECT_EQ(timed(exchange(" after -1"), {{1, 1, 1}}, {})->time, 2000 + 2 * 500);
  EXPECT_EQ(timed(exchange(""), {{1, 1, 1}}, {})->time, 2 * 2500);
  // The third waits only for the first, which has arrived before the second.
  EXPECT_EQ(timed(exchange(" after i - 2"), {{1, 1, 1, 1}}, {})->time, 2500 + 2500);
}

TEST(CallTiming, IsOfBothGroups) {
  const std::string both =
      "allgather between groups\n"
      "step 0\n"
      "  if rank = 0\n"
      "    for i in 0 .. remote_ranks\n      receive recv[i] from remote i\n"
      "  send send[0] to remote 0\n";
  const Call call{{{1000, 1000, 1000}, {9000}}, {}, 0};
  // Three arrive at the second group's rank 0; one of 9000 bytes leaves it.
  EXPECT_EQ(timed(both, {{1, 1, 1}, {1}}, call)->time, 2000 + 3 * 500);
  EXPECT_EQ(timed(both, {{1, 1, 1}, {1}}, {{{100, 100, 100}, {90000}}, {}, 0})->time,
            2000 + 400 + 9000);
}

TEST(CallTiming, TakesWholeTemporaryBlocksToBeOfAverageLength) {
  const std::string block =
      "temporary 1 blocks\nstep 0\n  if rank = 0\n    send sized to ranks - 1\n      temp[0]\n";
  EXPECT_EQ(timed("gather\n" + block, {{1, 1, 1}}, {{{100, 200, 600}}, {}, 0})->time,
            2000 + 400 + 30);
  const std::string across =
      "temporary 1 blocks\nstep 0\n  if group = 0\n    send temp[0] to remote 0\n";
  EXPECT_EQ(
      timed("reduce-scatter between groups\n" + across, {{1}, {1, 1}}, {{{200}, {50, 150}}, {}, 0})
          ->time,
      2000 + 400 + 10);
  EXPECT_EQ(
      timed("gather between groups\n" + across, {{1}, {1, 1}}, {{{200}, {50, 150}}, {}, 0})->time,
      2000 + 400 + 20);
}

TEST(CallTiming, OfEmptyBlocksSendsNothingAndOfTokensAMessage) {
  EXPECT_EQ(timed(kChain, {{1, 1, 1}}, {{{0, 0, 0}}, {}, 0})->time, 0);
  const std::string barrier = "barrier\nstep 0\n  send to 1 - rank\n  receive from 1 - rank\n";
  EXPECT_EQ(timed(barrier, {{1, 1}}, {})->time, 2400);
}

TEST(CallTiming, IsTheGreatestNumberWhereItIsMore) {
  const LinearModel most = {kMaxCost, kMaxCost};
  const Machine slow{most, most, most, kMaxCost, kMaxCost, PortScope::kNode};
  const Call call{{std::vector<int64_t>(10, kMaxCount)}, {}, 0};
  EXPECT_EQ(timed(kStar, {std::vector<int64_t>(10, 1)}, call, slow)->time, INT64_MAX);
}

}  // namespace
}  // namespace quadrille
