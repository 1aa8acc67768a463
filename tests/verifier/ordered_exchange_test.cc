// The exchange of segment-map-ordered, compared with the bytes that must cross. It takes as many steps as some rank
// has messages to send, or to receive. So no schedule with one send and one receive of a rank per step takes fewer. In
// bytes it takes up to nearly twice the minimum, which the order of Kang et al. 2019, section 4.1, takes: that of
// segment-map-blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/verifier/walks.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

using Counts = std::vector<int64_t>;
using Pairs = std::set<std::pair<int64_t, int64_t>>;

// The messages between groups of all ranks of a group: key, sender, receiver.
class Crossing : public Listener {
 public:
  std::multiset<std::tuple<int64_t, int64_t, int64_t>> sent, received;

  void start(int64_t rank) { rank_ = rank; }
  void step(int64_t key, std::optional<int64_t>) { key_ = key; }
  void message(const MessageHead& head) {
    if (!head.remote) return;
    if (head.direction == Direction::kSend)
      sent.insert({key_, rank_, head.peer});
    else
      received.insert({key_, head.peer, rank_});
  }

 private:
  int64_t rank_ = 0, key_ = 0;
};

int64_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

// The number of bytes of each contribution in each segment, if all bytes are cut into that many segments.
std::map<std::pair<int64_t, int64_t>, int64_t> overlaps(const Counts& counts, int64_t segments) {
  const int64_t total = sum_of(counts);
  int64_t begin = 0;
  const auto start = [&](int64_t k) {
    return k * (total / segments) + std::min(k, total % segments);
  };
  std::map<std::pair<int64_t, int64_t>, int64_t> result;
  for (size_t i = 0; i < counts.size(); begin += counts[i++])
    for (int64_t k = 0; k < segments; ++k) {
      const int64_t bytes = std::min(begin + counts[i], start(k + 1)) - std::max(begin, start(k));
      if (bytes > 0) result[{i, k}] = bytes;
    }
  return result;
}

Pairs meetings(const Counts& counts, int64_t segments) {
  Pairs result;
  for (const auto& [pair, bytes] : overlaps(counts, segments)) result.insert(pair);
  return result;
}

// The most messages that one rank must send, or must receive.
int64_t most_at_a_rank(const Pairs& pairs) {
  std::map<int64_t, int64_t> sent, received;
  int64_t most = 0;
  for (const auto& [i, k] : pairs) most = std::max({most, ++sent[i], ++received[k]});
  return most;
}

Job job_of(const Counts& first, const Counts& second) {
  const auto group = [](const Counts& counts) {
    return topology_of({static_cast<int64_t>(counts.size())});
  };
  return {{group(first), group(second)}, {}};
}

// The error in the exchange in one direction; empty if there is none.
std::string fault(const Crossing& from, const Crossing& to, const Pairs& wanted) {
  if (from.sent != to.received) return "what is sent is not what is received";
  Pairs pairs, senders, receivers;
  std::set<int64_t> keys;
  for (const auto& [key, source, target] : from.sent) {
    pairs.insert({source, target});
    if (!senders.insert({key, source}).second) return "two sends of a rank in a step";
    if (!receivers.insert({key, target}).second) return "two receives of a rank in a step";
    keys.insert(key);
  }
  if (pairs != wanted || pairs.size() != from.sent.size()) return "not the messages that it wants";
  const int64_t steps = most_at_a_rank(wanted);
  if (static_cast<int64_t>(keys.size()) != steps) return "not so many steps";
  if (steps > 0 && (*keys.begin() != 0 || *keys.rbegin() != steps - 1)) return "a step is left out";
  return "";
}

std::string fault(const Program& program, const Counts& first, const Counts& second) {
  const Job job = job_of(first, second);
  const Call call{{first, second}, {}};
  const Crossing one = walk_all<Crossing>(program, *bind(program, job, call, 0)),
                 two = walk_all<Crossing>(program, *bind(program, job, call, 1));
  const std::string there = fault(one, two, meetings(first, second.size()));
  return there.empty() ? fault(two, one, meetings(second, first.size())) : there;
}

Program program_of(const std::string& name) {
  return make_program(*find_algorithm(Collective::kAllgather, name, 2), {});
}

// Calls the function for every list of that length over these values.
void each_counts(size_t ranks, const Counts& values, const std::function<void(const Counts&)>& f) {
  std::vector<size_t> wheels(ranks);
  for (;;) {
    Counts counts;
    for (const size_t wheel : wheels) counts.push_back(values[wheel]);
    f(counts);
    size_t at = 0;
    while (at < ranks && wheels[at] + 1 == values.size()) wheels[at++] = 0;
    if (at == ranks) return;
    ++wheels[at];
  }
}

std::string text(const Counts& first, const Counts& second) {
  return testing::PrintToString(first) + " and " + testing::PrintToString(second);
}

// The checker counts the steps of the exchange and of the rings after it.
void expect_fewest_steps(const Program& program, const Counts& first, const Counts& second) {
  const std::string what = text(first, second);
  ASSERT_EQ(fault(program, first, second), "") << what;
  const Pairs there = meetings(first, second.size()), back = meetings(second, first.size());
  const Result<Report> report =
      check_schedule(program, job_of(first, second), {{first, second}, {}}, {});
  ASSERT_TRUE(report.ok() && !report->violation) << what;
  EXPECT_EQ(report->port, PortVerdict::kLockStep) << what;
  const int64_t ring =
      std::max<int64_t>(there.empty() ? 0 : second.size() - 1, back.empty() ? 0 : first.size() - 1);
  EXPECT_EQ(report->steps, std::max(most_at_a_rank(there), most_at_a_rank(back)) + ring) << what;
}

TEST(OrderedExchange, TakesTheFewestStepsOnAllSmallGroups) {
  const Program program = program_of("segment-map-ordered");
  for (size_t first = 1; first <= 3; ++first)
    for (size_t second = 1; second <= 3; ++second)
      each_counts(first, {0, 1, 5}, [&](const Counts& one) {
        each_counts(second, {0, 1, 5},
                    [&](const Counts& two) { expect_fewest_steps(program, one, two); });
      });
}

TEST(OrderedExchange, TakesTheFewestStepsOnLargerGroupsAndWithLargeCounts) {
  const Program program = program_of("segment-map-ordered");
  std::mt19937_64 random(2019);
  for (int i = 0; i < 300; ++i) {
    Counts counts[2];
    for (Counts& group : counts) {
      group.resize(1 + random() % 24);
      const int64_t most = std::vector<int64_t>{1, 2, 30, 1000, kMaxCount}[random() % 5];
      for (int64_t& count : group) count = random() % 3 == 0 ? 0 : random() % most + 1;
    }
    EXPECT_EQ(fault(program, counts[0], counts[1]), "") << text(counts[0], counts[1]);
  }
}

// The time, in bytes, at which the last message from the first group has crossed. Every rank takes its messages in the
// order of the steps, sends one at a time and receives one at a time, and waits for nothing else.
int64_t bytes_to_cross(const Counts& counts, int64_t segments) {
  const Program program = program_of("segment-map-ordered");
  const Counts none(static_cast<size_t>(segments), 0);
  const Binding binding = *bind(program, job_of(counts, none), Call{{counts, none}, {}}, 0);
  std::map<std::pair<int64_t, int64_t>, int64_t> lengths = overlaps(counts, segments);
  std::map<int64_t, int64_t> sent, received;  // the time at which a rank is done
  int64_t last = 0;
  for (const auto& [key, from, to] : walk_all<Crossing>(program, binding).sent) {
    const int64_t end = std::max(sent[from], received[to]) + lengths.at({from, to});
    sent[from] = received[to] = end;
    last = std::max(last, end);
  }
  return last;
}

// The time of the longest contribution or the longest segment.
int64_t least_bytes(const Counts& counts, int64_t segments) {
  return std::max(*std::max_element(counts.begin(), counts.end()),
                  (sum_of(counts) + segments - 1) / segments);
}

TEST(OrderedExchange, MayTakeNearlyTwiceTheBytesOfThePapersOrder) {
  Counts arithmetic;  // the paper's setting 8, 50 and 14 ranks
  for (int64_t i = 1; i <= 50; ++i) arithmetic.push_back(2048 * i / 51);
  EXPECT_EQ(least_bytes(arithmetic, 14), 3656);
  EXPECT_EQ(bytes_to_cross(arithmetic, 14), 5058);
  const Counts worst = {1, 2999, 2, 3000, 4};
  EXPECT_EQ(least_bytes(worst, 2), 3003);
  EXPECT_EQ(bytes_to_cross(worst, 2), 6001);
  std::mt19937_64 random(2020);
  for (int i = 0; i < 500; ++i) {
    Counts counts(1 + random() % 9);
    for (int64_t& count : counts) count = std::vector<int64_t>{0, 1, 5, 100, 300}[random() % 5];
    const int64_t segments = 1 + static_cast<int64_t>(random() % 8);
    EXPECT_LE(bytes_to_cross(counts, segments), 2 * least_bytes(counts, segments))
        << testing::PrintToString(counts) << " in " << segments;
  }
}

TEST(OrderedExchange, IsToldFromOthers) {
  EXPECT_EQ(fault(program_of("segment-map-v"), {5}, {1, 1}), "two sends of a rank in a step");
  EXPECT_EQ(fault(program_of("segment-map-v"), {5, 5}, {0}), "two receives of a rank in a step");
  std::string slower = print(program_of("segment-map-ordered"));
  slower.replace(slower.find("step t\n"), 6, "step t + t");
  EXPECT_EQ(fault(parse_program(slower, "slower").value(), {5, 5}, {0}), "a step is left out");
}

// ---- Blocks: in the model of Kang et al. 2019 a rank sends to one rank and receives from one at a time, in both
// directions at once. Some rank has to send the longest contribution, and some rank has to receive an equal part of
// all. So no exchange takes less time, and the order of the paper takes no more (proof of Theorem 3).

constexpr int64_t kMebibyte = 1 << 20;

// The longest message between the groups in each step.
class Longest : public Listener {
 public:
  std::map<int64_t, int64_t> of_step;

  void start(int64_t) {}
  void step(int64_t key, std::optional<int64_t>) { key_ = key; }
  void message(const MessageHead& head) { remote_ = head.remote; }
  void piece(const PieceValue& piece) {
    if (remote_) of_step[key_] = std::max(of_step[key_], piece.high - piece.low);
  }

 private:
  int64_t key_ = 0;
  bool remote_ = false;
};

// The time if all ranks keep step, in parts of the least time. The ranks of a group tell of all messages, as senders or
// receivers.
double ratio(const std::string& algorithm, const Counts& first, const Counts& second) {
  const Program program = program_of(algorithm);
  const Longest longest =
      walk_all<Longest>(program, *bind(program, job_of(first, second), {{first, second}, {}}, 0));
  int64_t time = 0;
  for (const auto& [key, bytes] : longest.of_step) time += bytes;
  const int64_t least = std::max(least_bytes(first, static_cast<int64_t>(second.size())),
                                 least_bytes(second, static_cast<int64_t>(first.size())));
  return static_cast<double>(time) / static_cast<double>(least);
}

// The ranks' contributions grow by rank, and are a mebibyte on average.
Counts arithmetic(int64_t ranks) {
  Counts counts;
  for (int64_t i = 1; i <= ranks; ++i) counts.push_back(2 * kMebibyte * i / (ranks + 1));
  return counts;
}

Counts equal(size_t ranks, int64_t count) { return Counts(ranks, count); }

TEST(BlockExchange, TakesTheLeastTimeInTheSettingsOfThePaper) {
  const std::string blocks = "segment-map-blocks";
  EXPECT_LE(ratio(blocks, equal(32, kMebibyte), equal(32, kMebibyte)), 1.0001);
  EXPECT_LE(ratio(blocks, equal(50, kMebibyte), equal(14, kMebibyte)), 1.001);
  EXPECT_LE(ratio(blocks, equal(50, kMebibyte), equal(14, kMebibyte / 4)), 1.001);
  EXPECT_LE(ratio(blocks, equal(50, kMebibyte / 4), equal(14, kMebibyte)), 1.005);
  EXPECT_LE(ratio(blocks, arithmetic(32), arithmetic(32)), 1.0001);
  EXPECT_LE(ratio(blocks, arithmetic(50), arithmetic(14)), 1.014);
}

TEST(BlockExchange, TakesLittleMoreThanTheLeastTimeForAnyLongContributions) {
  std::mt19937_64 random(2019);
  for (int i = 0; i < 200; ++i) {
    Counts counts[2];
    for (Counts& group : counts) {
      group.resize(1 + random() % 24);
      for (int64_t& count : group)
        count = std::vector<int64_t>{0, 1, 1000, 100000}[random() % 4] *
                static_cast<int64_t>(random() % 10000);
      group[0] += 100 * kMebibyte;
    }
    EXPECT_LE(ratio("segment-map-blocks", counts[0], counts[1]), 1.04)
        << testing::PrintToString(counts[0]) << " and " << testing::PrintToString(counts[1]);
  }
}

TEST(BlockExchange, IsToldFromTheOneOfTheFewestSteps) {
  EXPECT_GE(ratio("segment-map-ordered", arithmetic(50), arithmetic(14)), 1.38);
}

}  // namespace
}  // namespace quadrille::verifier
