// Exchanges, which the checker in key order takes by loops: the loops say what the walk says, and
// schedules on which it could go astray where the general checker does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "schedule/text.h"
#include "schedule/walk.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/check.h"
#include "verifier/exchange_loop.h"

namespace quadrille::verifier {
namespace {

// "verified", or the property that is violated; both checkers must say so.
std::string verdict(const std::string& body, int64_t ranks) {
  const Program program = parse_program("algorithm a for alltoall\n" + body, "exchanges").value();
  const Job job = job_of({ranks});
  const Binding binding = bind(program, job, {}, 0).value();
  const auto name = [](const Report& report) {
    return report.violation ? std::string(property_name(report.violation->property)) : "verified";
  };
  const std::optional<Report> streamed = check_key_order(program, job, binding, {});
  if (!streamed) return "unclear";
  EXPECT_EQ(name(*streamed), name(execute(program, job, {}, {binding}, {}))) << body;
  return name(*streamed);
}

const std::string kCopy = "copy send[rank] to recv[rank]\n";

// Every rank exchanges with all others in one step, in the order of their ranks.
std::string one_long_step(const std::string& more) {
  return kCopy +
         "step 0\n"
         "  for j in 0 .. ranks\n"
         "    if j != rank\n"
         "      send send[j] to j\n"
         "      receive recv[j] from j\n" +
         more;
}

TEST(KeyOrderChecker, MatchesStepsOfAnyLength) {
  for (int64_t ranks = 1; ranks <= 20; ++ranks)
    EXPECT_EQ(verdict(one_long_step(""), ranks), "verified") << ranks;
}

TEST(KeyOrderChecker, FindsASecondMessageInALongStep) {
  const std::string again =
      "  if rank = 0\n    send send[1] to 1\n  if rank = 1\n    receive "
      "recv[0] from 0\n";
  for (const int64_t ranks : {2, 3, 5, 6, 9})
    EXPECT_EQ(verdict(one_long_step(again), ranks), verdict(one_long_step(again), 2)) << ranks;
  EXPECT_NE(verdict(one_long_step(again), 5), "verified");
}

TEST(KeyOrderChecker, CountsTheStepsOfALoopInFull) {
  // 2^32 + 1 exchanges of the same block, of which 32 bits show one.
  const std::string loop = kCopy +
                           "for i in 0 .. 4294967297\n"
                           "  step i after -1\n"
                           "    receive recv[1 - rank] from 1 - rank\n"
                           "    send send[1 - rank] to 1 - rank\n";
  EXPECT_EQ(verdict(loop, 2), "once");
}

TEST(KeyOrderChecker, TakesNoBlockForAToken) {
  const std::string right = kCopy +
                            "step 0\n"
                            "  send send[1 - rank] to 1 - rank\n"
                            "  receive recv[1 - rank] from 1 - rank\n";
  EXPECT_EQ(verdict(right, 2), "verified");
  const std::string no_block = right +
                               "step 1\n"
                               "  send send[-1] to 1 - rank\n"
                               "  receive recv[-1] from 1 - rank\n";
  EXPECT_NE(verdict(no_block, 2), "verified");
}

// 2^60 is where it leaves keys to the general checker.
TEST(KeyOrderChecker, WalksKeysFromTheLeastToTheGreatest) {
  const auto with_keys = [](const std::string& least, const std::string& greatest) {
    return verdict(kCopy + "for i in 0 .. 2\n  step i = 0 ? " + least + " : " + greatest +
                       "\n"
                       "    if i = rank\n"
                       "      send send[1 - rank] to 1 - rank\n"
                       "    else\n"
                       "      receive recv[1 - rank] from 1 - rank\n",
                   2);
  };
  EXPECT_EQ(with_keys("-1152921504606846975", "1152921504606846975"), "verified");
  EXPECT_EQ(with_keys("-1152921504606846976", "1"), "unclear");
  EXPECT_EQ(with_keys("1", "9223372036854775807"), "unclear");
}

// What each block message of a walk is, the key first.
struct BlockMessages {
  void message(const MessageHead&) {}
  void piece(const PieceValue&) {}
  void message_end() {}
  void copy(const PieceValue&, const PieceValue&) {}
  void reduce(Side, const PieceValue&, const PieceValue&) {}
  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    all.push_back(
        {key, head.direction == Direction::kSend, head.peer, static_cast<int64_t>(buffer), block});
  }
  int64_t key = 0;
  std::vector<std::array<int64_t, 5>> all;
};

// The messages of a rank; loops of exchanges are told by their strides where `by_loops` is set.
struct LoopedWalk {
  LoopedWalk(const Program& program, const Binding& binding, int64_t rank, bool by_loops) {
    const Code code = Code::compile(program).value();
    std::vector<int64_t> registers(code.registers());
    Walker walker;
    BlockMessages found;
    StridedBatch batch;
    code.start(binding, rank, walker, registers.data());
    Pause pause;
    do {
      pause = code.run<PauseAtLoops>(binding, walker, registers.data(), found);
      found.key = walker.key;
      if (pause != Pause::kLoop || !by_loops) continue;
      for (batch.more = true; batch.more && code.batch(binding, walker, registers.data(), batch);) {
        const auto loop = ExchangeLoop::of(batch, rank, binding.place.ranks);
        if (!loop) break;
        code.take(walker, registers.data(), batch);
        tell(*loop, found);
      }
    } while (pause != Pause::kEnd);
    messages = std::move(found.all);
    std::sort(messages.begin(), messages.end());
  }

  void tell(ExchangeLoop loop, BlockMessages& found) {
    for (++loops; loop.left > 0; --loop.left, loop.next()) {
      found.key = loop.key;
      found.block_message({Direction::kReceive, false, false, loop.peer}, Buffer::kReceive,
                          loop.peer);
      found.block_message({Direction::kSend, false, false, loop.peer}, Buffer::kSend, loop.peer);
    }
  }

  std::vector<std::array<int64_t, 5>> messages;
  int loops = 0;
};

TEST(LoopsOfExchanges, HoldTheMessagesOfTheWalk) {
  int with_loops = 0;
  for (const Variant& variant : variants_of(Collective::kAlltoall)) {
    const Program& program = variant.program;
    int loops = 0;
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 4, 5}, {4, 4, 4, 4}}) {
      for (const Job& job : jobs_on(variant, sizes)) {
        const Binding binding = bind(program, job, {}, 0).value();
        for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
          const LoopedWalk walk(program, binding, rank, true);
          EXPECT_EQ(walk.messages, LoopedWalk(program, binding, rank, false).messages)
              << program.algorithm.text << ", rank " << rank;
          loops += walk.loops;
        }
      }
    }
    with_loops += loops > 0;
    const bool direct = variant.name == "factor" || (variant.name.starts_with("hierarchical") &&
                                                     variant.name != "hierarchical-overlapped");
    EXPECT_TRUE(loops > 0 || !direct) << program.algorithm.text;
  }
  EXPECT_GE(with_loops, 5);
}

TEST(LoopsOfExchanges, HoldOneBlockEachWayOfThePeerAndNothingElse) {
  const auto loops = [](const std::string& step) {
    const Program program =
        parse_program("algorithm a for alltoall\nfor i in 1 .. ranks\n" + step, "loop").value();
    const Binding binding = bind(program, job_of({5}), {}, 0).value();
    return LoopedWalk(program, binding, 0, true).loops;
  };
  EXPECT_EQ(loops("  step i after -1\n    send send[i] to i\n    receive recv[i] from i\n"), 1);
  EXPECT_EQ(loops("  step 3*i\n    receive recv[i] from i\n    send send[i] to i\n"), 1);
  EXPECT_EQ(loops("  step i after i - 2\n    send send[i] to i\n    receive recv[i] from i\n"), 1);
  for (const char* other :
       {"  step i\n    send send[i] to i\n", "  step i\n    receive recv[i] from i\n",
        "  step i\n    send send[i] to i\n    send send[i] to i\n",
        "  step i\n    send send[i - 1] to i\n    receive recv[i] from i\n",
        "  step i\n    send send[i] to i\n    receive recv[i] from i - 1\n",
        "  step i\n    send send[i] to i\n    receive recv[ranks - i] from ranks - i\n",
        "  step i\n    send send[1] to i\n    receive recv[i] from i\n",
        "  step i\n    send recv[i] to i\n    receive recv[i] from i\n",
        "  step 9 - i\n    send send[i] to i\n    receive recv[i] from i\n",
        "  step i\n    send send[i + 1] to i + 1\n    receive recv[i + 1] from i + 1\n",
        "  step i\n    send sized to i\n      send[i]\n    receive recv[i] from i\n"})
    EXPECT_EQ(loops(other), 0) << other;
}

}  // namespace
}  // namespace quadrille::verifier
