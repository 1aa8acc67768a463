// Blocks of different lengths, and how the lengths travel, in scripts small enough to count the bytes by hand.
#include "simulate/lengths.h"

#include <gtest/gtest.h>

#include "runtime/plan/plan.h"
#include "simulate/engine.h"
#include "simulate/script.h"

namespace quadrille {
namespace {

constexpr int64_t kLong = QD_EAGER_BYTES + 1;

// Process 0 sends blocks 1 and 2 in one message. Process 1 keeps them in temporary blocks, and forwards block 2
// first.
std::vector<Script> forwarding() {
  std::vector<Script> all(3);
  all[0].sends = {{.peer = 1, .parts = 2, .all_parts = 2}};
  all[0].turns = {{.sends_posted = 1}, {.sends_done = 1}};
  all[1].receives = {{.peer = 0, .all_parts = 2}};
  all[1].sends = {{.peer = 2, .parts = 1, .all_parts = 1},
                  {.peer = 2, .partner = 1, .parts = 1, .all_parts = 1}};
  all[1].turns = {{.receives_posted = 1},
                  {.receives_done = 1, .sends_posted = 1},
                  {.sends_posted = 1, .copies = 1},
                  {.sends_done = 2}};
  all[2].receives = {{.peer = 1, .parts = 1, .all_parts = 1},
                     {.peer = 1, .partner = 1, .parts = 1, .all_parts = 1}};
  all[2].turns = {{.receives_posted = 2}, {.receives_done = 2}};
  for (Script& script : all) script.reads_lengths = true;
  return all;
}

// Each process has three send regions, three receive regions, then temporary ones.
std::vector<Parts> parts_of_forwarding() {
  std::vector<Parts> parts(3);
  for (Parts& one : parts) one.send_blocks = one.receive_blocks = 3, one.regions = 9;
  parts[0].sent = {1, 2};
  parts[1].received = {6, 7};
  parts[1].sent = {7, 8};
  parts[1].copies = {{2, 6, 8}};  // copies region 6 to 8 before the last send
  parts[2].received = {3, 4};
  return parts;
}

BlockLengths lengths(const std::string& text, size_t processes) {
  Result<BlockLengths> read = BlockLengths::read(text, processes);
  EXPECT_TRUE(read.ok()) << read.error().message;
  return read.ok() ? *read : BlockLengths();
}

TEST(Lengths, FollowBlocksThroughTemporaryOnesAndCopies) {
  std::vector<Script> all = forwarding();
  follow_blocks(all, parts_of_forwarding(), lengths("0,100,7\n0,0,0\n0,0,0\n", 3));
  EXPECT_EQ(all[0].sends[0].bytes, 107);
  EXPECT_EQ(all[1].receives[0].bytes, 107);
  EXPECT_EQ(all[1].sends[0].bytes, 7);
  EXPECT_EQ(all[1].sends[1].bytes, 100);
  EXPECT_EQ(all[1].turns[2].copied, 100);
  EXPECT_EQ(all[2].receives[1].bytes, 100);
}

TEST(Lengths, GoBeforeTheBytesOfAShortMessageAndAheadOfALongOne) {
  std::vector<Script> all = forwarding();
  follow_blocks(all, parts_of_forwarding(), lengths("0,16384,1\n0,0,0\n0,0,0\n", 3));
  send_lengths(all);
  ASSERT_EQ(all[0].sends.size(), 2U);
  EXPECT_EQ(all[0].sends[0].kind, Kind::kLengths);
  EXPECT_EQ(all[0].sends[0].bytes, 3 * QD_LONG_WORD);
  EXPECT_EQ(all[0].sends[1].kind, Kind::kData);
  EXPECT_EQ(all[0].sends[1].bytes, kLong);
  EXPECT_EQ(all[0].sends[1].partner, 1);
  EXPECT_EQ(all[0].turns[1].sends_done, 2);
  EXPECT_EQ(all[1].receives[1].partner, 1);
  EXPECT_EQ(all[1].turns[1].receives_done, 2);
  EXPECT_EQ(all[1].turns[1].sends_posted, 1);
  ASSERT_EQ(all[1].sends.size(), 2U);
  EXPECT_EQ(all[1].sends[0].bytes, 1 + 2 * QD_SHORT_WORD);
  EXPECT_EQ(all[1].sends[1].bytes, QD_EAGER_BYTES + 2 * QD_SHORT_WORD);
}

TEST(Lengths, KeepEmptyMessagesOnlyIfTheyTravel) {
  std::vector<Script> all = forwarding();
  follow_blocks(all, parts_of_forwarding(), lengths("0,5,0\n0,0,0\n0,0,0\n", 3));
  std::vector<Script> known = all;
  for (Script& script : known) script.reads_lengths = false;
  send_lengths(all);
  EXPECT_EQ(all[1].sends[0].bytes, 2 * QD_SHORT_WORD);
  send_lengths(known);
  ASSERT_EQ(known[1].sends.size(), 1U);
  EXPECT_EQ(known[1].sends[0].bytes, 5);
  EXPECT_EQ(known[1].sends[0].partner, 0);
  EXPECT_EQ(known[2].turns[1].receives_done, 1);
  EXPECT_EQ(known[1].turns[1].sends_posted, 0);
}

// The receiver reads the lengths while it waits for another message. Then it posts the receive of the data.
TEST(Lengths, AreReadWhileTheReceiverWaitsForAnotherMessage) {
  Scripts scripts;
  scripts.all.resize(2);
  scripts.node = {0, 1};
  scripts.nodes = 2;
  Script &sender = scripts.all[0], &receiver = scripts.all[1];
  const int64_t bytes[] = {kLong, kLong};
  for (int32_t i = 0; i < 2; ++i) {
    sender.sends.push_back(
        {.peer = 1, .partner = i, .parts = 1, .all_parts = 1, .bytes = bytes[i], .straight = true});
    receiver.receives.push_back(
        {.peer = 0, .partner = i, .parts = 1, .all_parts = 1, .bytes = bytes[i], .straight = true});
  }
  sender.turns = {{.sends_posted = 2}, {.sends_done = 2}};
  receiver.turns = {{.receives_posted = 2}, {.receives_done = 1}, {.receives_done = 1}};
  sender.reads_lengths = receiver.reads_lengths = true;
  send_lengths(scripts.all);
  const Machine machine{.between = {1000, 1}, .gap_ns = 0, .eager = 0};
  Trace trace;
  const Result<Outcome> outcome = simulate(scripts, machine, {}, &trace);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const int64_t alpha = 1000 * kNanosecond, head = 2 * QD_LONG_WORD;
  const std::vector<Times>& times = trace.messages[0];
  EXPECT_EQ(times[0].arrived, alpha + head);
  EXPECT_EQ(times[1].receive_posted, alpha + head);  // when the first lengths arrived
  EXPECT_EQ(times[2].arrived, alpha + 2 * head);
  EXPECT_EQ(times[3].receive_posted, alpha + 2 * head);  // while it waits for the first data
  EXPECT_EQ(outcome->time, alpha + head + alpha + 2 * kLong);
}

TEST(Lengths, OfDistributionsStayInTheirLimitsAndDependOnTheSeed) {
  const Result<BlockLengths> one = BlockLengths::drawn("uniform:100", 1),
                             other = BlockLengths::drawn("uniform:100", 2),
                             power = BlockLengths::drawn("power:0.95:1024", 1),
                             normal = BlockLengths::drawn("normal:1000:240", 1);
  ASSERT_TRUE(one.ok() && other.ok() && power.ok() && normal.ok());
  int64_t sum = 0, differ = 0, normals = 0;
  constexpr int64_t kRanks = 200;
  for (int64_t from = 0; from < kRanks; ++from)
    for (int64_t to = 0; to < kRanks; ++to) {
      EXPECT_TRUE(one->of(from, to) >= 0 && one->of(from, to) <= 100);
      EXPECT_TRUE(power->of(from, to) >= 1 && power->of(from, to) <= 1024);
      sum += one->of(from, to);
      normals += normal->of(from, to);
      differ += one->of(from, to) != other->of(from, to);
    }
  EXPECT_NEAR(static_cast<double>(sum) / (kRanks * kRanks), 50, 1);
  EXPECT_NEAR(static_cast<double>(normals) / (kRanks * kRanks), 1000, 10);
  EXPECT_GT(differ, kRanks * kRanks / 2);
}

TEST(Lengths, RefuseWhatIsNoDistributionAndNoMatrix) {
  for (const char* text : {"uniform:", "uniform:-1", "uniform:9:9", "normal:5", "power:1:9",
                           "power:2:0", "even:3", "uniform:1e12"})
    EXPECT_FALSE(BlockLengths::drawn(text, 1).ok()) << text;
  const auto refusal = [](const char* text) {
    const Result<BlockLengths> read = BlockLengths::read(text, 2);
    return read.ok() ? std::string() : read.error().message;
  };
  EXPECT_EQ(refusal("1 2\n3 4"), "");
  EXPECT_EQ(refusal("1 2\n3\n"), "line 2: it has 1 numbers; the call has 2 ranks");
  EXPECT_EQ(refusal("1 2\n"), "it has 1 lines; the call has 2 ranks, and each has one line");
  EXPECT_EQ(refusal("1 2\n3 4\n5 6\n"), "line 3: the call has 2 ranks, and each has one line");
  EXPECT_EQ(refusal("1 2\n3 x\n"), "line 2: 'x' is not a number of bytes from 0 to 2147483647");
  EXPECT_EQ(refusal("1 2\n3 -4\n"), "line 2: '-4' is not a number of bytes from 0 to 2147483647");
}

}  // namespace
}  // namespace quadrille
