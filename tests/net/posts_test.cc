// The check of posts accepts correct posts, and refuses each kind of error.
#include <gtest/gtest.h>

#include <numeric>

extern "C" {
#include "runtime/execute/nodes.h"
}
#include "tests/net/jobs.h"
#include "tests/net/oracle.h"
#include "tests/net/runs.h"

namespace quadrille::net {
namespace {

constexpr int kOwn = 0;

Event message(bool receives, int peer, int64_t bytes) {
  return {.kind = receives ? Event::Kind::kReceive : Event::Kind::kSend,
          .peer = peer,
          .bytes = bytes,
          .comm = 99,
          .arrived = bytes};
}

// Builds a call's list between two marks.
class Call {
 public:
  Call() { listing_.push_back({Event::Kind::kMark}); }
  size_t post(bool receives, int peer, int64_t bytes) {
    listing_.push_back(message(receives, peer, bytes));
    return listing_.size() - 1;
  }
  size_t receive(int peer, int64_t bytes) { return post(true, peer, bytes); }
  size_t send(int peer, int64_t bytes) { return post(false, peer, bytes); }
  Call& wait(size_t place) {
    listing_[place].waited = listing_.size();
    listing_.push_back({Event::Kind::kWait});
    return *this;
  }
  Event& at(size_t place) { return listing_[place]; }
  std::string check(const std::vector<ExpectedStep>& expected, const Manner& manner) {
    Listing all = listing_;
    all.push_back({Event::Kind::kMark});
    all.back().tag = 1;
    return check_posts(expected, all, 0, 1, kOwn, manner);
  }

 private:
  Listing listing_;
};

constexpr Key kNone{-1};

// Returns exchanges with ranks 1, 2 and 3. None waits for another.
std::vector<ExpectedStep> three_exchanges() {
  std::vector<ExpectedStep> steps;
  for (const int peer : {1, 2, 3})
    steps.push_back({{peer}, kNone, {{true, peer, 8, 1}, {false, peer, 8, 1}}});
  return steps;
}

Manner window_of(int window) { return {.window = window}; }

void expect_refusal(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << "said: " << said;
}

// Returns a call with two steps in flight, which it waits for in order.
Call right_call() {
  Call call;
  const size_t r1 = call.receive(1, 8), s1 = call.send(1, 8);
  const size_t r2 = call.receive(2, 8), s2 = call.send(2, 8);
  call.wait(r1).wait(s1);
  const size_t r3 = call.receive(3, 8), s3 = call.send(3, 8);
  call.wait(r2).wait(s2).wait(r3).wait(s3);
  return call;
}

TEST(Posts, WhatIsRightIsAccepted) {
  EXPECT_EQ(right_call().check(three_exchanges(), window_of(2)), "");
}

TEST(Posts, MoreStepsInFlightThanTheWindowAreRefused) {
  expect_refusal(right_call().check(three_exchanges(), window_of(1)),
                 "is posted while step 1 is under way");
}

TEST(Posts, OnlySendsThatAreOverMakeRoomForSends) {
  Call call;
  const size_t r1 = call.receive(1, 8), s1 = call.send(1, 8);
  call.wait(r1);
  const size_t r2 = call.receive(2, 8);
  const std::vector<ExpectedStep> steps = {three_exchanges()[0], three_exchanges()[1]};
  Manner manner = window_of(1);
  Call late = call;
  call.wait(s1);
  const size_t s2 = call.send(2, 8);
  call.wait(r2).wait(s2);
  expect_refusal(call.check(steps, manner), "the receive from rank 2");
  manner.has_whole_steps = false;
  EXPECT_EQ(call.check(steps, manner), "");
  const size_t early = late.send(2, 8);
  late.wait(s1).wait(r2).wait(early);
  expect_refusal(late.check(steps, manner), "the send to rank 2");
}

TEST(Posts, AMessageThatIsMissingOrTooMuchOrTooLongIsRefused) {
  std::vector<ExpectedStep> steps = three_exchanges();
  steps.pop_back();
  expect_refusal(right_call().check(steps, window_of(2)), "rank 3: posted are messages of 8 bytes");
  steps = three_exchanges();
  steps.push_back({{4}, kNone, {{false, 1, 8, 1}}});
  expect_refusal(right_call().check(steps, window_of(2)), "to be posted are 8 8");
  steps = three_exchanges();
  steps[1].messages[0].bytes = 7;
  expect_refusal(right_call().check(steps, window_of(2)), "to be posted are 7");
}

TEST(Posts, MessagesOfAPairInAnotherOrderAreRefused) {
  const std::vector<ExpectedStep> steps = {{{1}, kNone, {{false, 1, 8, 1}}},
                                           {{2}, kNone, {{false, 1, 4, 1}}}};
  Call call;
  const size_t a = call.send(1, 4), b = call.send(1, 8);
  call.wait(a).wait(b);
  expect_refusal(call.check(steps, window_of(2)), "posted are messages of 4 8 bytes");
}

TEST(Posts, EmptyMessagesAreLeftOutAndTokensAreNot) {
  const std::vector<ExpectedStep> steps = {{{1}, kNone, {{false, 1, 0, 1}, {false, 2, 0, 0}}}};
  Call call;
  expect_refusal(call.check(steps, window_of(1)), "to rank 2");
  call.wait(call.send(2, 0));
  EXPECT_EQ(call.check(steps, window_of(1)), "");
  call.wait(call.send(1, 0));
  expect_refusal(call.check(steps, window_of(1)), "to rank 1");
}

TEST(Posts, ASendBeforeWhatItWaitsForIsRefusedAndAReceiveIsNot) {
  const std::vector<ExpectedStep> steps = {{{1}, kNone, {{true, 1, 8, 1}}},
                                           {{2}, {1}, {{true, 2, 8, 1}, {false, 2, 8, 1}}}};
  Call call;
  const size_t first = call.receive(1, 8), second = call.receive(2, 8);
  Call early = call;
  call.wait(first);
  call.wait(call.send(2, 8)).wait(second);
  EXPECT_EQ(call.check(steps, window_of(2)), "");
  const size_t sent = early.send(2, 8);
  early.wait(first).wait(second).wait(sent);
  expect_refusal(early.check(steps, window_of(2)), "before steps up to 1 are over");
}

TEST(Posts, WhatIsNotWaitedForIsRefused) {
  Call call;
  call.send(1, 8);
  const std::vector<ExpectedStep> steps = {{{1}, kNone, {{false, 1, 8, 1}}}};
  expect_refusal(call.check(steps, window_of(1)), "not waited for");
}

TEST(Posts, TheUsersCommunicatorAndTheWrongKindOfSendAreRefused) {
  Manner manner = window_of(2);
  manner.users = 17;
  Call call = right_call();
  EXPECT_EQ(call.check(three_exchanges(), manner), "");
  call.at(1).comm = 17;
  expect_refusal(call.check(three_exchanges(), manner), "the user's communicator");
  manner.is_synchronous = true;
  expect_refusal(right_call().check(three_exchanges(), manner), "is not synchronous");
}

TEST(Posts, LengthsMayTravelAheadInTheMessageOrInOneOfTheirOwnAndAreFew) {
  const std::vector<ExpectedStep> steps = {{{1}, kNone, {{false, 1, 100, 2}, {false, 2, 0, 1}}}};
  Manner manner = window_of(1);
  manner.has_heads = true;
  const auto check = [&](std::vector<int64_t> posted) {
    Call call;
    std::vector<size_t> all;
    for (size_t i = 0; i < posted.size(); ++i) {
      all.push_back(call.send(1, posted[i]));
      call.at(all.back()).tag = static_cast<int>(i);
    }
    for (const size_t place : all) call.wait(place);
    return call.check(steps, manner);
  };
  EXPECT_EQ(check({100}), "");
  EXPECT_EQ(check({106}), "");
  EXPECT_EQ(check({24, 100}), "");
  for (const std::vector<int64_t>& wrong :
       std::vector<std::vector<int64_t>>{{}, {99}, {133}, {33, 100}, {24, 99}, {24, 100, 100}})
    expect_refusal(check(wrong), "to be posted are 100");
}

TEST(Posts, AListWithoutItsLastMarkIsNoCallThatEnded) {
  EXPECT_EQ(check_posts({}, {{Event::Kind::kMark}}, 0, 1, kOwn, {}), "the call did not end");
}

// The expected messages are written by hand, for the hierarchical 1-factorization of two ranks.
TEST(Expected, TwoRanksExchangeTheirBlocks) {
  const Scheduled pair = exchanging("factor+drop", {2});
  const Walked walked(pair.program, pair.job, plain_call(pair.program, pair.job));
  const Expected expected = expect_posts(
      walked, {1, 0}, [](Rank source, Rank target) { return 10 * source.value + target.value; });
  ASSERT_EQ(expected.size(), 2u);
  // Rank 1 of the communicator is rank 0 of the schedule.
  std::vector<ExpectedMessage> messages;
  for (const ExpectedStep& step : expected[1])
    messages.insert(messages.end(), step.messages.begin(), step.messages.end());
  ASSERT_EQ(messages.size(), 2u);
  for (const ExpectedMessage& message : messages) {
    EXPECT_EQ(message.peer, 0);
    EXPECT_EQ(message.bytes, message.receives ? 10 : 1);
  }
}

TEST(Layout, NodesAreSortedBySizeAndLowestRank) {
  const Program& program = exchanging("hierarchical-factor", {1, 2, 2}).program;
  EXPECT_EQ(real_ranks(program, {7, 3, 5, 7, 3}), (std::vector<int>{2, 0, 3, 1, 4}));
  const Program& flat = exchanging("factor", {5}).program;
  EXPECT_EQ(real_ranks(flat, {7, 3, 5, 7, 3}), (std::vector<int>{0, 1, 2, 3, 4}));
}

// Returns the ranks to which each rank sends, in order.
std::vector<std::vector<int>> targets(const Scheduled& scheduled, const Machine& machine) {
  const Outcome outcome =
      simulate(machine, [&](MPI_Comm comm) { mpi::expect_works(Schedule(scheduled.file), comm); });
  EXPECT_EQ(outcome.text(), "");
  std::vector<std::vector<int>> all;
  for (const Listing& listing : outcome.listings) {
    all.emplace_back();
    for (const Event& event : listing)
      if (event.kind == Event::Kind::kSend) all.back().push_back(event.peer);
  }
  return all;
}

TEST(Layout, OfAScheduleForAnyNodesIsThatOfOneForThese) {
  for (const char* const name : {"hierarchical-factor", "hierarchical-circle"})
    for (const auto& sizes : all_sizes(2, 8)) {
      const Scheduled given = exchanging(name, sizes);
      const auto found = targets(given, machine_of(given, {.seed = 40}));
      EXPECT_GE(found[0].size(), static_cast<size_t>(given.groups.ranks - 1));
      EXPECT_EQ(found, targets(program_named("alltoall " + std::string(name)),
                               machine_of(given, {.seed = 40})))
          << given.name;
    }
}

// Counting all ranks for each node would take hours.
TEST(Layout, OfAMillionNodesIsCounted) {
  constexpr int kRanks = 1 << 20;
  std::vector<int> node_of(kRanks), sizes(kRanks, 7);
  std::iota(node_of.begin(), node_of.end(), 0);
  for (const int rank : {2, 5, kRanks - 1}) node_of[static_cast<size_t>(rank)] = 1;
  int nodes = 0, least = 0, most = 0;
  qd_measure_nodes(node_of.data(), kRanks, sizes.data(), &nodes, &least, &most);
  EXPECT_EQ(std::tuple(nodes, least, most), std::tuple(kRanks - 3, 1, 4));
  const std::vector<int> two = {0, 0, 2, 0, 2};
  qd_measure_nodes(two.data(), 5, sizes.data(), &nodes, &least, &most);
  EXPECT_EQ(std::tuple(nodes, least, most), std::tuple(2, 2, 3));
}

}  // namespace
}  // namespace quadrille::net
