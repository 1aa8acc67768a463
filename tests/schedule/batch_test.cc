// A walk in batches reports the same messages as a plain walk.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/text.h"
#include "schedule/walk.h"
#include "tests/support/distributions.h"
#include "tests/support/property.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille::batch_test {

std::string piece_text(Buffer buffer, int64_t block, bool ranged, int64_t low, int64_t high) {
  return fmt::format(" {}[{}]{}", static_cast<int>(buffer), block,
                     ranged ? fmt::format("@{}..{}", low, high) : "");
}

std::string head_text(const MessageHead& head) {
  return fmt::format("{} {}{}{}", head.direction == Direction::kSend ? "send" : "receive",
                     head.peer, head.remote ? " remote" : "", head.sized ? " sized" : "");
}

// Records one line for each step, message and copy.
struct Told : SinkOf<Told> {
  std::vector<std::string> lines;
  int64_t batches = 0;

  void step(int64_t key, bool has_after, int64_t after) {
    lines.push_back(fmt::format("step {}{}", key, has_after ? fmt::format(" {}", after) : ""));
  }
  void message(const MessageHead& head) { lines.push_back(head_text(head)); }
  void piece(const PieceValue& p) {
    lines.back() += piece_text(p.buffer, p.block, p.ranged, p.low, p.high);
  }
  void copy(const PieceValue&, const PieceValue&) { lines.push_back("copy"); }
  void reduce(Side, const PieceValue&, const PieceValue&) { lines.push_back("reduce"); }

  void batch(const StridedBatch& batch) {
    batches += batch.count > 1;
    ASSERT_GE(batch.count, 1);
    for (int64_t t = 0; t < batch.count; ++t) {
      const auto at = [t](const StridedBatch::Strided& value) { return value.at + t * value.by; };
      if (batch.has_step) step(at(batch.key), batch.has_after, at(batch.after));
      for (const StridedBatch::Message& message : batch.messages) {
        MessageHead head = message.head;
        head.peer = at(message.peer);
        lines.push_back(head_text(head));
        for (int32_t i = 0; i < message.pieces; ++i) {
          const StridedBatch::Piece& p = batch.pieces[message.first_piece + i];
          lines.back() += piece_text(p.buffer, at(p.block), p.ranged, at(p.low), at(p.high));
        }
      }
    }
  }
};

template <class Pauses>
Told told(const Code& code, const Binding& binding, int64_t rank) {
  Told told;
  Walker walker;
  std::vector<int64_t> registers(code.registers());
  code.start(binding, rank, walker, registers.data());
  StridedBatch batch;
  for (Pause pause;
       (pause = code.run<Pauses>(binding, walker, registers.data(), told)) != Pause::kEnd;) {
    if (pause == Pause::kStep) told.step(walker.key, walker.has_after, walker.after);
    batch.more = pause == Pause::kLoop;
    while (batch.more && code.batch(binding, walker, registers.data(), batch)) {
      code.take(walker, registers.data(), batch);
      told.batch(batch);
    }
    if (pause != Pause::kUndefined) continue;
    told.lines.push_back("undefined");
    break;
  }
  return told;
}

// Expects the same lines from both walks. Returns the number of batches with several iterations.
int64_t expect_same(const Program& program, const Binding& binding, const std::string& what) {
  const Code code = Code::compile(program).value();
  int64_t batches = 0;
  for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
    const Told fast = told<PauseAtLoops>(code, binding, rank);
    EXPECT_EQ(fast.lines, told<PauseAtAll>(code, binding, rank).lines) << what;
    batches += fast.batches;
  }
  return batches;
}

TEST(Batches, SayWhatThePlainWalkSaysOfEveryAlgorithm) {
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{1}, {2}, {1, 2}, {5}, {1, 2, 3}, {2, 2, 2, 2}, {9}})
      for (const Case& c : cases_on(variant, sizes))
        for (int64_t group = 0; group < variant.program.groups; ++group)
          expect_same(variant.program, bind(variant.program, c.job, c.call, group).value(), c.text);
}

TEST(Batches, TakeAlmostAllRoundsOfARing) {
  for (const Variant& variant : variants_of(Collective::kAllgather)) {
    if (variant.name != "linear-ring" && variant.name != "blocked-ring") continue;
    const Job job = jobs_on(variant, {32})[0];
    for (const Distribution& distribution : distributions())
      for (const int64_t block : {1, 3, 100, 100000}) {
        const Case c = case_of(variant, job, distribution.counts(32, 2000), block);
        const int64_t batches =
            expect_same(variant.program, bind(variant.program, c.job, c.call, 0).value(), c.text);
        EXPECT_TRUE(distribution.name != "regular" || batches >= 32) << c.text;
      }
  }
}

// Returns a random expression of k, rank and small numbers, as text.
std::string expression(int depth) {
  const int64_t number = drawn(-6, 12);
  if (depth == 0) return drawn_of<std::string>("k", "k", "rank", fmt::format("({})", number));
  const std::string a = expression(depth - 1), b = expression(depth - 1);
  switch (drawn(0, 14)) {
    case 0: return fmt::format("({} + {})", a, b);
    case 1: return fmt::format("({} - {})", a, b);
    case 2: return fmt::format("{}*({})", a, number);
    case 3: return fmt::format("min({}, {})", a, b);
    case 4: return fmt::format("max({}, {})", a, b);
    case 5: return fmt::format("wrap({}, {})", a, 20 + number);
    case 6: return fmt::format("({} mod 7)", a);
    case 7: return fmt::format("({} div 3)", a);
    case 8: return fmt::format("m[wrap({}, ranks)]", a);
    case 9: return fmt::format("s[max(0, min(ranks, {}))]", a);
    case 10: return fmt::format("locate(s, {})", a);
    case 11: return fmt::format("({} < {} ? {} : {})", a, b, expression(depth - 1), a);
    case 12: return fmt::format("({} = {} ? {} : {})", a, b, expression(depth - 1), b);
    default: return fmt::format("{}*{}", a, b);
  }
}

std::string condition() {
  const std::string a = expression(1), b = expression(1);
  switch (drawn(0, 4)) {
    case 0: return a + " < " + b;
    case 1: return a + " <= " + b;
    case 2: return a + " != " + b;
    default: return a + " = " + b + " and 0 < " + expression(1);
  }
}

std::string random_loop() {
  std::string text =
      "algorithm a for allgather\ntable m = counts\ntable s = prefix(m)\nfor k in " +
      std::to_string(drawn(-5, 5)) + " .. 30\n  let x = " + expression(2) + "\n  step " +
      expression(1) + drawn_of<std::string>("", " after " + expression(1)) + "\n    if " +
      condition() + "\n      send recv[x]@" + expression(1) + ".." + expression(2) + " to " +
      expression(1) + "\n    else\n      receive recv[" + expression(2) + "] from x\n";
  if (drawn_bool())
    text += "    send to " + expression(1) + "\n      if " + condition() +
            "\n        recv[x]\n      recv[" + expression(1) + "]\n";
  return text;
}

TEST(Batches, SayWhatThePlainWalkSaysOfRandomLoops) {
  int64_t batches = 0;
  EXPECT_TRUE(holds("a walk with batches is the plain walk", [&] {
    for (int i = 0; i < 20; ++i) {
      const std::string text = random_loop();
      const Result<Program> program = parse_program(text, "random");
      REQUIRE(program.ok());
      const auto counts = drawn_list(6, 0, 4);
      const Call call{{counts}, {}, 0};
      batches += expect_same(*program, bind(*program, job_of({6}), call, 0).value(), text);
      REQUIRE(!testing::Test::HasFailure());
    }
  }));
  EXPECT_GE(batches, 3000);  // the random loops must have batches
}

// Batches leave numbers near the ends of 64 bits to the plain walk, which detects overflow.
TEST(Batches, LeaveGreatNumbersToThePlainWalk) {
  for (const std::string body :
       {"let x = k*4611686018427387904", "let x = k*1152921504606846976 - 9223372036854775807",
        "let x = min(k, -9223372036854775807) + k", "let x = 9223372036854775800 + k",
        "let x = wrap(k, 9223372036854775807)", "let x = k < 9223372036854775807 ? k : 0",
        "let x = s[k]", "let x = m[k]", "let x = locate(s, 4611686018427387904*k)"})
    for (const int64_t great : {int64_t{1} << 59, int64_t{1} << 61}) {
      const std::string text = fmt::format(R"(algorithm a for allgather
table m[i in 0 .. 8] = i*1152921504606846976
table t[i in 0 .. 2] = {}
table s = prefix(t)
for k in 0 .. 40
  {}
  step k
    send recv[0] to x
)",
                                           great, body);
      const Program program = parse_program(text, "great").value();
      expect_same(program, bind(program, job_of({2}), {}, 0).value(), body);
    }
  const Program program = parse_program(
                              "algorithm a for allgather\nfor k in 9223372036854775800 .. "
                              "9223372036854775807\n  step k\n    send recv[0] to k\n",
                              "great")
                              .value();
  expect_same(program, bind(program, job_of({2}), {}, 0).value(), "a great index");
}

}  // namespace quadrille::batch_test
