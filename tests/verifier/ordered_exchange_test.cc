// The exchange of segment-map-ordered beside the bytes that have to cross: as many steps as one rank has to
// send, or to receive, messages, so that no schedule with one send and one receive a rank in each takes fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
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

// The messages between groups of all ranks of a group: key, who sends, who receives.
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

// Which contributions have bytes of which segments, where all bytes are cut into that many.
Pairs meetings(const Counts& counts, int64_t segments) {
  int64_t total = 0, begin = 0;
  for (const int64_t count : counts) total += count;
  const auto start = [&](int64_t k) {
    return k * (total / segments) + std::min(k, total % segments);
  };
  Pairs result;
  for (size_t i = 0; i < counts.size(); begin += counts[i++])
    for (int64_t k = 0; k < segments; ++k)
      if (std::max(begin, start(k)) < std::min(begin + counts[i], start(k + 1)))
        result.insert({i, k});
  return result;
}

// The most that one rank has to send, or to receive.
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

// What is wrong with the exchange in one direction; nothing where it is as it should be.
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

// Every list of so many of these.
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

// The checker counts the steps of the exchange and of the rings behind it.
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

TEST(OrderedExchange, IsToldFromOthers) {
  EXPECT_EQ(fault(program_of("segment-map-v"), {5}, {1, 1}), "two sends of a rank in a step");
  EXPECT_EQ(fault(program_of("segment-map-v"), {5, 5}, {0}), "two receives of a rank in a step");
  std::string slower = print(program_of("segment-map-ordered"));
  slower.replace(slower.find("step t\n"), 6, "step t + t");
  EXPECT_EQ(fault(parse_program(slower, "slower").value(), {5, 5}, {0}), "a step is left out");
}

}  // namespace
}  // namespace quadrille::verifier
