// Simulates small scripts whose times a reader can compute by hand.
#include "simulate/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "simulate/export.h"
#include "simulate/path.h"
#include "simulate/queue.h"

namespace quadrille {
namespace {

constexpr int64_t kAlpha = 3, kByte = 10;

constexpr int64_t kNanosecond = 1000, kLatency = kAlpha * kNanosecond;

Machine plain() {
  return {.between = {kAlpha, kByte},
          .inside = {1, 2},
          .copy = {0, 0},
          .gap_ns = 0,
          .gap_inside_ns = 0,
          .eager = 0};
}

// Returns scripts with one process on each node. A test may change `node`.
Scripts processes(int32_t count) {
  Scripts scripts;
  scripts.all.resize(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) scripts.node.push_back(i);
  scripts.nodes = count;
  return scripts;
}

// Adds a message: one process posts the send, the other the receive, each in its own turn. They do not wait.
void message(Scripts& scripts, int32_t from, int32_t to, int64_t bytes) {
  Script &sender = scripts.all[from], &receiver = scripts.all[to];
  sender.sends.push_back({to, static_cast<int32_t>(receiver.receives.size()), 0, 1, bytes});
  receiver.receives.push_back({from, static_cast<int32_t>(sender.sends.size()) - 1, 0, 1, bytes});
  sender.turns.push_back({.sends_posted = 1});
  receiver.turns.push_back({.receives_posted = 1});
}

void wait_for_all(Scripts& scripts) {
  for (Script& script : scripts.all)
    script.turns.push_back({.receives_done = static_cast<int32_t>(script.receives.size()),
                            .sends_done = static_cast<int32_t>(script.sends.size())});
}

struct Sent {
  int32_t from, to;
  int64_t bytes;
};

// Returns scripts of processes that send these messages and then wait for all of them.
Scripts scripts_of(int32_t count, const std::vector<Sent>& messages) {
  Scripts scripts = processes(count);
  for (const auto& [from, to, bytes] : messages) message(scripts, from, to, bytes);
  wait_for_all(scripts);
  return scripts;
}

int64_t time_of(const Scripts& scripts, const Machine& machine) {
  const Result<Outcome> outcome = simulate(scripts, machine);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome.ok() ? outcome->time : -1;
}

class BothSharings : public testing::TestWithParam<Sharing> {
 protected:
  Machine machine() const {
    Machine made = plain();
    made.sharing = GetParam();
    return made;
  }
};

TEST_P(BothSharings, TakeLatencyAndBytesForOneMessage) {
  Scripts scripts = scripts_of(2, {{0, 1, 500}});
  EXPECT_EQ(time_of(scripts, machine()), kLatency + 500 * kByte);
  scripts.node = {0, 0};
  scripts.nodes = 1;
  EXPECT_EQ(time_of(scripts, machine()), kNanosecond + 500 * 2);
}

TEST_P(BothSharings, KeepAPortBusyWithTheBytesOfAllItsMessages) {
  for (const std::vector<Sent>& messages :
       {std::vector<Sent>{{0, 1, 500}, {0, 2, 500}, {0, 3, 500}},
        {{1, 0, 500}, {2, 0, 500}, {3, 0, 500}}})
    EXPECT_EQ(time_of(scripts_of(4, messages), machine()), kLatency + 3 * 500 * kByte);
}

TEST_P(BothSharings, SlowDownAPortToWhichSeveralMessagesAreOnTheirWay) {
  Machine congested = machine();
  constexpr int64_t kMore = 3;
  congested.beta_congestion_ps = 1000 * kMore;
  EXPECT_EQ(time_of(scripts_of(4, {{1, 0, 500}, {2, 0, 500}, {3, 0, 500}}), congested),
            kLatency + 3 * 500 * (kByte + 2 * kMore));
  EXPECT_EQ(time_of(scripts_of(3, {{1, 0, 500}, {2, 0, 0}}), congested),
            kLatency + 500 * (kByte + kMore));
  EXPECT_EQ(time_of(scripts_of(4, {{0, 1, 500}, {0, 2, 500}, {0, 3, 500}}), congested),
            kLatency + 3 * 500 * kByte);
}

TEST_P(BothSharings, SendAndReceiveAtOnceUnlessThePortIsExclusive) {
  const Scripts scripts = scripts_of(2, {{0, 1, 500}, {1, 0, 500}});
  EXPECT_EQ(time_of(scripts, machine()), kLatency + 500 * kByte);
  Machine exclusive = machine();
  exclusive.exclusive = true;
  EXPECT_GE(time_of(scripts, exclusive), 2 * 500 * kByte);
}

TEST_P(BothSharings, GiveARankItsOwnPortOnlyIfItHasOne) {
  Scripts scripts = scripts_of(4, {{0, 2, 500}, {1, 3, 500}});
  scripts.node = {0, 0, 1, 1};
  scripts.nodes = 2;
  EXPECT_EQ(time_of(scripts, machine()), kLatency + 2 * 500 * kByte);
  Machine own = machine();
  own.port = PortScope::kRank;
  EXPECT_EQ(time_of(scripts, own), kLatency + 500 * kByte);
  Machine two = machine();
  two.ports = 2;
  EXPECT_EQ(time_of(scripts, two), kLatency + 500 * kByte);
}

TEST_P(BothSharings, PassThePortsOfASwitchOnTheWayToAnother) {
  const Scripts scripts = scripts_of(6, {{0, 3, 500}, {1, 4, 500}, {2, 5, 500}});
  Machine tree = machine();
  tree.switch_nodes = 3;
  EXPECT_EQ(time_of(scripts, tree), kLatency + 3 * 500 * kByte);
  tree.switch_ports = 3;
  EXPECT_EQ(time_of(scripts, tree), kLatency + 500 * kByte);
  tree.switch_ports = 1;
  tree.switch_nodes = 6;
  EXPECT_EQ(time_of(scripts, tree), kLatency + 500 * kByte);
}

TEST_P(BothSharings, StartMessagesLaterIfThereIsNoise) {
  Scripts scripts = processes(40);
  for (const int32_t from : {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30})
    message(scripts, from, from + 1, 500);
  wait_for_all(scripts);
  Machine noisy = machine();
  noisy.noise_ns = 1000;
  const int64_t once = time_of(scripts, noisy);
  EXPECT_EQ(once, time_of(scripts, noisy));
  EXPECT_GT(once, kLatency + 500 * kByte + 1000 * kNanosecond);
  EXPECT_LT(once, kLatency + 500 * kByte + 20 * 1000 * kNanosecond);
  noisy.seed = 2;
  EXPECT_NE(once, time_of(scripts, noisy));
}

TEST_P(BothSharings, StartALongMessageWhenItsReceiveIsPosted) {
  Scripts late = processes(3);
  message(late, 2, 1, 100);
  late.all[1].turns.push_back({.receives_done = 1});
  message(late, 0, 1, 500);
  for (const int sender : {0, 2}) late.all[sender].turns.push_back({.sends_done = 1});
  late.all[1].turns.push_back({.receives_done = 1});
  const int64_t first = kLatency + 100 * kByte;
  EXPECT_EQ(time_of(late, machine()), first + kLatency + 500 * kByte);
  Machine eager = machine();
  eager.eager = 500;
  EXPECT_EQ(time_of(late, eager), kLatency + 600 * kByte);
}

TEST_P(BothSharings, ReportPlansThatWaitForEachOther) {
  Scripts scripts = processes(2);
  message(scripts, 0, 1, 500);
  message(scripts, 1, 0, 500);
  for (Script& script : scripts.all)
    script.turns = {
        {.sends_posted = 1}, {.sends_done = 1, .receives_posted = 1}, {.receives_done = 1}};
  EXPECT_FALSE(simulate(scripts, machine()).ok());
  Machine eager = machine();
  eager.eager = 500;
  EXPECT_EQ(time_of(scripts, eager), kLatency + 500 * kByte);
}

TEST_P(BothSharings, CountOverheadsAndCopiesOfTheProcess) {
  Scripts scripts = scripts_of(2, {{0, 1, 500}});
  for (Post* end : {&scripts.all[0].sends[0], &scripts.all[1].receives[0]})
    end->parts = end->all_parts = 3;
  scripts.all[1].turns.push_back({.copies = 2, .copied = 50});
  Machine busy = machine();
  busy.overhead = {7, 1};
  busy.copy = {11, 2};
  const int64_t one_end = (7 + 3 * 11) * kNanosecond + 500 * (1 + 2);
  EXPECT_EQ(time_of(scripts, busy),
            2 * one_end + kLatency + 500 * kByte + 2 * 11 * kNanosecond + 50 * 2);
}

INSTANTIATE_TEST_SUITE_P(InTurnAndFair, BothSharings,
                         testing::Values(Sharing::kInTurn, Sharing::kFair));

struct Numbered {
  int64_t time;
  int number;
};

TEST(Queue, GivesEventsByTimeAndThenInTheOrderOfThePushes) {
  std::minstd_rand random(5);
  for (int round = 0; round < 50; ++round) {
    Queue<Numbered> queue;
    std::map<int64_t, std::deque<int>> expected;
    int64_t now = 0;
    for (int i = 0; i < 2000; ++i) {
      if (!expected.empty() && random() % 2 == 0) {
        ASSERT_EQ(queue.time(), expected.begin()->first);
        const Numbered event = queue.pop();
        now = event.time;
        ASSERT_EQ(event.time, expected.begin()->first);
        ASSERT_EQ(event.number, expected.begin()->second.front());
        expected.begin()->second.pop_front();
        if (expected.begin()->second.empty()) expected.erase(expected.begin());
      } else {
        const int64_t time = now + static_cast<int64_t>(random() % (1U << (random() % 20)));
        queue.push({time, i});
        expected[time].push_back(i);
        ASSERT_EQ(queue.time(), expected.begin()->first);
      }
    }
  }
}

TEST(Usage, IsTheShareOfEachPartOfTheTime) {
  Usage usage;
  usage.add(0, 500);
  usage.add(250, 1000, 0.5);
  const std::vector<double> parts = usage.parts(1000, 4), expected = {1, 1.5, 0.5, 0.5};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(parts[i], expected[i], 1e-9);
  usage.add(0, 1'000'000'000'000, 2);  // this widens the bins
  for (const double part : usage.parts(1'000'000'000'000, 10)) EXPECT_NEAR(part, 2, 1e-6);
  std::minstd_rand random(3);
  double sum = 0;
  Usage many;
  int64_t begin = 0, end = 0;
  for (int i = 0; i < 10000; ++i) {
    begin = end - static_cast<int64_t>(random() % 5000);
    begin = std::max<int64_t>(begin, 0);
    end = begin + static_cast<int64_t>(random() % 100000);
    many.add(begin, end);
    sum += static_cast<double>(end - begin);
  }
  double found = 0;
  for (const double part : many.parts(2 * end, 7)) found += part * 2 * static_cast<double>(end) / 7;
  EXPECT_NEAR(found / sum, 1, 1e-9);
}

TEST_P(BothSharings, NoteTheUseOfPorts) {
  const Scripts scripts = scripts_of(3, {{0, 2, 500}, {1, 2, 500}});
  PortUse use{2, true, false, {}, {}};
  const Result<Outcome> outcome = simulate(scripts, machine(), {}, nullptr, &use);
  ASSERT_TRUE(outcome.ok());
  double busiest = 0, all = 0;
  for (const double part : use.busiest.parts(outcome->time, 10)) busiest += part;
  for (const double part : use.all.parts(outcome->time, 10)) all += part;
  const double work = 1000 * kByte;
  EXPECT_NEAR(busiest / 10 * static_cast<double>(outcome->time), work, work / 1000);
  EXPECT_NEAR(all / 10 * static_cast<double>(outcome->time), 2 * work, work / 1000);
}

TEST(InTurn, HoldsUpNoMessageForTheSakeOfAnotherOnesReceiver) {
  // Process 0's second message waits at the port of 2, behind a longer one. Its third message does not wait.
  const Scripts scripts = scripts_of(4, {{1, 2, 5000}, {0, 2, 500}, {0, 3, 500}});
  const Result<Outcome> outcome = simulate(scripts, plain());
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->ends[2], kLatency + 5500 * kByte);
  EXPECT_EQ(outcome->ends[3], kLatency + 1000 * kByte);
}

TEST(InTurn, SendsTheFirstMessageFirst) {
  const Scripts scripts = scripts_of(3, {{0, 1, 500}, {0, 2, 500}});
  const Result<Outcome> outcome = simulate(scripts, plain());
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->ends[1], kLatency + 500 * kByte);
  EXPECT_EQ(outcome->ends[2], kLatency + 1000 * kByte);
}

TEST(Fair, GivesEqualSharesAndTheRestToThoseThatCanUseIt) {
  // Two messages share the port of 0, and two that of 3. The message from 1 to 3 shares no port at its sender. The
  // one from 0 to 3 is longer, and has both ports alone at the end.
  const Scripts scripts = scripts_of(4, {{0, 2, 300}, {0, 3, 500}, {1, 3, 300}});
  Machine fair = plain();
  fair.sharing = Sharing::kFair;
  Trace trace;
  const Result<Outcome> outcome = simulate(scripts, fair, {}, &trace);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(trace.messages[0][0].arrived, kLatency + 600 * kByte);
  EXPECT_EQ(trace.messages[1][0].arrived, kLatency + 600 * kByte);
  EXPECT_EQ(trace.messages[0][1].arrived, kLatency + 800 * kByte);
}

TEST(CriticalPath, IsAChainWithoutGapsThatEndsLast) {
  // Process 0 sends to 1, which copies and then sends to 2.
  Scripts scripts = processes(4);
  message(scripts, 0, 1, 100);
  scripts.all[1].turns.push_back({.receives_done = 1});
  scripts.all[1].turns.push_back({.copies = 1, .copied = 0});
  message(scripts, 1, 2, 200);
  message(scripts, 3, 2, 10);
  wait_for_all(scripts);
  scripts.all[1].turns.back().receives_done = 0;
  Machine copying = plain();
  copying.copy = {50, 0};
  Trace trace;
  const Result<Outcome> outcome = simulate(scripts, copying, {}, &trace);
  ASSERT_TRUE(outcome.ok());
  const std::vector<Leg> path = critical_path(scripts, copying, *outcome, trace);
  ASSERT_EQ(path.size(), 3U);
  EXPECT_TRUE(path[0].is_message && path[0].process == 0);
  EXPECT_TRUE(!path[1].is_message && path[1].process == 1);
  EXPECT_TRUE(path[2].is_message && path[2].process == 1);
  EXPECT_EQ(path[1].end - path[1].begin, 50 * kNanosecond);
  int64_t end = 0;
  for (const Leg& leg : path) {
    EXPECT_EQ(leg.begin, end);
    end = leg.end;
  }
  EXPECT_EQ(end, outcome->time);
}

TEST(CriticalPath, NamesTheMessagesThatAreBeforeTheLastOneAtItsPorts) {
  // The last message waits at its receiver's port, behind a message that waited at its sender's port behind another.
  Scripts scripts = processes(4);
  message(scripts, 0, 3, 500);
  message(scripts, 0, 1, 1000);
  message(scripts, 2, 1, 100);
  scripts.all[2].turns = {{.copies = 1, .copied = 500 * kByte}, {.sends_posted = 1}};
  wait_for_all(scripts);
  Trace trace;
  Machine machine = plain();
  machine.copy.beta_ps = 2;  // so the last message starts late
  machine.eager = 1000;      // the others start in the order of their posts
  const Result<Outcome> outcome = simulate(scripts, machine, {}, &trace);
  ASSERT_TRUE(outcome.ok());
  const std::vector<Leg> path = critical_path(scripts, machine, *outcome, trace);
  ASSERT_EQ(path.size(), 3U);
  const int64_t sent = 500 * kByte, received = sent + kLatency + 1000 * kByte;
  const std::vector<int64_t> ends = {sent, received, received + 100 * kByte};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(path[i].begin, i > 0 ? ends[i - 1] : 0);
    EXPECT_EQ(path[i].end, ends[i]);
  }
  EXPECT_EQ(path[0].index, 0);
  EXPECT_EQ(path[1].index, 1);
  EXPECT_EQ(path[2].process, 2);
}

TEST(Goal, ListsTheMessagesAndWhatEachWaitsFor) {
  const Scripts scripts = scripts_of(2, {{0, 1, 100}});
  EXPECT_EQ(goal_text(scripts),
            "num_ranks 2\n\nrank 0 {\ns0: send 100b to 1\nm1: calc 0\nm1 requires s0\n}\n"
            "\nrank 1 {\nr0: recv 100b from 0\nm1: calc 0\nm1 requires r0\n}\n");
}

}  // namespace
}  // namespace quadrille
