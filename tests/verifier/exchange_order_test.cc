// The exchange of Kang et al. 2019, Theorem 3: a rank sends one message and receives one at a time, in the order of the
// program's statements. It sends by ascending receiver and receives by descending sender. So a sender's first message
// is also the first that its receiver takes, or the only one of that sender. Some rank must send the longest
// contribution, and some rank must receive at least an equal part of all data. No exchange takes less.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "generator/registry.h"
#include "tests/verifier/walks.h"

namespace quadrille::exchange_order_test {

using Counts = std::vector<int64_t>;
constexpr int64_t kMebibyte = 1 << 20;

struct Message {
  int64_t peer;
  int64_t bytes = 0;
};

// The messages of a rank with the other group, in their order.
struct Chain {
  std::vector<Message> messages;
  size_t done = 0;
  int64_t free_at = 0;

  const Message* head() const { return done < messages.size() ? &messages[done] : nullptr; }
};

// Lists the messages between the groups for each rank of one group.
class Chains : public Listener {
 public:
  std::vector<Chain> sends, receives;

  void start(int64_t) {
    sends.emplace_back();
    receives.emplace_back();
  }
  void message(const MessageHead& head) {
    current_ = nullptr;
    if (!head.remote) return;
    current_ = head.direction == Direction::kSend ? &sends.back() : &receives.back();
    current_->messages.push_back({head.peer});
  }
  void piece(const PieceValue& piece) {
    if (current_ != nullptr) current_->messages.back().bytes += piece.high - piece.low;
  }

 private:
  Chain* current_ = nullptr;
};

// Returns the time of all messages from `sends` to `receives`. A message keeps both its ends for `start_up` and the time
// of its bytes.
int64_t time_of(std::vector<Chain> sends, std::vector<Chain> receives, int64_t start_up,
                int64_t byte) {
  int64_t time = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < sends.size(); ++i) {
      while (const Message* message = sends[i].head()) {
        Chain& receiver = receives[static_cast<size_t>(message->peer)];
        if (!receiver.head() || receiver.head()->peer != static_cast<int64_t>(i)) break;
        EXPECT_EQ(receiver.head()->bytes, message->bytes);
        const int64_t end =
            std::max(sends[i].free_at, receiver.free_at) + start_up + message->bytes * byte;
        sends[i].free_at = receiver.free_at = end;
        ++sends[i].done;
        ++receiver.done;
        time = std::max(time, end);
        moved = true;
      }
    }
  }
  for (const std::vector<Chain>& chains : {sends, receives})
    for (const Chain& chain : chains) EXPECT_EQ(chain.head(), nullptr);
  return time;
}

int64_t least_of(const Counts& counts, size_t receivers) {
  const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const auto n = static_cast<int64_t>(receivers);
  return std::max(*std::max_element(counts.begin(), counts.end()), (all + n - 1) / n);
}

// The chains of both groups for contributions of these lengths.
std::array<Chains, 2> chains_of(const std::string& algorithm, const Counts& first,
                                const Counts& second) {
  const Program program = make_program(*find_algorithm(Collective::kAllgather, algorithm, 2), {});
  const auto group = [](const Counts& counts) {
    return topology_of({static_cast<int64_t>(counts.size())});
  };
  const Job job{{group(first), group(second)}, {}};
  const auto walk = [&](int64_t number) {
    return walk_all<Chains>(program, *bind(program, job, {{first, second}, {}}, number));
  };
  return {walk(0), walk(1)};
}

// Returns the time over the least time without start-ups.
double ratio(std::array<Chains, 2> groups, const Counts& first, const Counts& second,
             int64_t start_up = 0, int64_t byte = 1) {
  const int64_t time = std::max(time_of(groups[0].sends, groups[1].receives, start_up, byte),
                                time_of(groups[1].sends, groups[0].receives, start_up, byte));
  const int64_t least = std::max(least_of(first, second.size()), least_of(second, first.size()));
  return static_cast<double>(time) / static_cast<double>(least * byte);
}

// Returns contributions that grow linearly with the rank.
Counts arithmetic(int64_t ranks, int64_t average) {
  Counts counts;
  for (int64_t i = 1; i <= ranks; ++i) counts.push_back(2 * average * i / (ranks + 1));
  return counts;
}

Counts equal(size_t ranks, int64_t count) { return Counts(ranks, count); }

struct Setting {
  Counts first, second;
};

std::vector<Setting> settings(int64_t average) {
  return {{equal(32, average), equal(32, average)},
          {equal(50, average), equal(14, average)},
          {equal(50, average), equal(14, average / 4)},
          {equal(50, average / 4), equal(14, average)},
          {arithmetic(32, average), arithmetic(32, average)},
          {arithmetic(50, average), arithmetic(14, average)}};
}

TEST(ExchangeOrder, TakesTheLeastTimeInTheSettingsOfThePaper) {
  for (const Setting& s : settings(kMebibyte))
    EXPECT_EQ(ratio(chains_of("segment-map-v", s.first, s.second), s.first, s.second), 1);
  for (const Setting& s : {settings(kMebibyte)[1], settings(kMebibyte)[3]})
    EXPECT_EQ(ratio(chains_of("segment-map", s.first, s.second), s.first, s.second), 1);
}

TEST(ExchangeOrder, TakesTheLeastTimeForAnyContributions) {
  std::mt19937_64 random(2019);
  for (int i = 0; i < 2000; ++i) {
    Counts counts[2];
    for (Counts& group : counts) {
      group.resize(1 + random() % 12);
      const uint64_t most = std::vector<uint64_t>{2, 5, 1000, kMebibyte}[random() % 4];
      for (int64_t& count : group) count = static_cast<int64_t>(random() % 2 * (random() % most));
      group[0] += 1;
    }
    EXPECT_EQ(ratio(chains_of("segment-map-v", counts[0], counts[1]), counts[0], counts[1]), 1)
        << testing::PrintToString(counts[0]) << " and " << testing::PrintToString(counts[1]);
  }
}

// 1.3 us to start a message, 100 ps a byte: the settings 8, of 1 MiB on average, and 2, of 64 KiB.
TEST(ExchangeOrder, TakesLittleMoreIfMessagesTakeTimeToStart) {
  const Setting eighth = settings(kMebibyte)[5], second = settings(64 << 10)[1];
  EXPECT_LE(ratio(chains_of("segment-map-v", eighth.first, eighth.second), eighth.first,
                  eighth.second, 1'300'000, 100),
            1.06);
  EXPECT_LE(ratio(chains_of("segment-map-v", second.first, second.second), second.first,
                  second.second, 1'300'000, 100),
            1.28);
}

TEST(ExchangeOrder, OtherOrdersTakeLonger) {
  const auto [first, second] = settings(kMebibyte)[5];
  auto groups = chains_of("segment-map-v", first, second);
  for (const auto chains : {&Chains::receives, &Chains::sends}) {
    auto other = groups;
    for (Chains& group : other)
      for (Chain& chain : group.*chains) std::ranges::reverse(chain.messages);
    EXPECT_GE(ratio(other, first, second), 1.3);
  }
}

}  // namespace quadrille::exchange_order_test
