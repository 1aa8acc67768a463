// The compiled walk against the two oracles: random expressions against their evaluation, whole
// programs against recursion over them.
#include "schedule/walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "generator/registry.h"
#include "schedule/affine.h"
#include "schedule/text.h"
#include "tests/schedule/random_expressions.h"
#include "tests/support/events.h"
#include "tests/support/programs.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille {
namespace {

// Takes the first step's key.
struct NoSink {
  void message(const MessageHead&) {}
  void piece(const PieceValue&) {}
  void message_end() {}
  void block_message(const MessageHead&, Buffer, int64_t) {}
  void copy(const PieceValue&, const PieceValue&) {}
  void reduce(Side, const PieceValue&, const PieceValue&) {}
};

// let x = ..; let y = ..; step EXPRESSION
Program program_with_key(const Expression& key, int64_t x, int64_t y) {
  Program program = program_around_expressions();
  program.body = {{Let{{"x"}, constant(x)}}, {Let{{"y"}, constant(y)}}, {Step{key, {}, {}}}};
  return program;
}

void expect_same_value(const Expression& expression) {
  const int64_t x = random_constant(), y = random_constant();
  const Program program = program_with_key(expression, x, y);
  RC_ASSERT(validate(program).ok());
  const auto sizes =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 6)));
  Job job = job_of(sizes);
  job.parameters = {random_constant(), random_constant()};
  const Binding binding = bind(program, job, {}, 0).value();
  const int64_t rank = *rc::gen::inRange<int64_t>(0, binding.place.ranks);

  Environment environment{binding.place, binding.parameters, binding.tables, {x, y}};
  environment.place.rank = rank;
  Undefined why = Undefined::kNone;
  const auto expected = evaluate(expression, environment, &why);

  const Code code = Code::compile(program).value();
  std::vector<int64_t> registers(code.registers());
  Walker walker;
  NoSink sink;
  code.start(binding, rank, walker, registers.data());
  const Pause pause = code.run<PauseAtAll>(binding, walker, registers.data(), sink);
  RC_ASSERT((pause == Pause::kUndefined) == !expected.has_value());
  if (expected)
    RC_ASSERT(walker.key == *expected);
  else
    RC_ASSERT(walker.why == why);
}

RC_GTEST_PROP(Walk, EvaluatesNumbersAsTheOracle, ()) { expect_same_value(random_number(4)); }

RC_GTEST_PROP(Walk, EvaluatesConditionsAsTheOracle, ()) {
  expect_same_value(apply(Operator::kChoose, {random_condition(4), constant(1), constant(0)}));
}

void expect_same_events(const Program& program, const Job& job, const Call& call,
                        const std::string& text) {
  for (int64_t group = 0; group < program.groups; ++group) {
    const Result<Binding> binding = bind(program, job, call, group);
    if (!binding.ok()) continue;
    for (int64_t rank = 0; rank < binding->place.ranks; ++rank) {
      const Events oracle = oracle_events(program, *binding, rank);
      ASSERT_EQ(walk_events(program, *binding, rank), oracle) << text << ", rank " << rank;
      ASSERT_EQ(fast_walk_events(program, *binding, rank), without_step_ends(oracle))
          << text << ", rank " << rank;
    }
  }
}

TEST(Walk, TellsEveryShapeAsTheOracle) {
  for (const std::string& name : shape_names())
    for (const Case& shape_case : shape_cases(name))
      expect_same_events(shape(name), shape_case.job, shape_case.call, name + shape_case.text);
}

TEST(Walk, TellsEveryAlgorithmAsTheOracle) {
  for (const Variant& variant : variants()) {
    std::vector<std::vector<int64_t>> topologies = all_node_vectors(5);
    topologies.insert(topologies.end(), {{2, 3, 5}, {4, 4, 4, 4}});
    for (const std::vector<int64_t>& sizes : topologies)
      for (const Case& c : cases_on(variant, sizes))
        expect_same_events(variant.program, c.job, c.call, c.text);
  }
}

// A loop of one step, of random affine and other expressions of its variable.
RC_GTEST_PROP(Walk, TellsLoopsOfStepsAsTheOracle, ()) {
  Program program = program_around_expressions();
  const Piece block{Buffer::kSend, random_number(2), {}};
  Step step{random_number(2),
            {},
            {{Message{Direction::kSend, false, false, random_number(2), {{Transfer{block}}}}}}};
  if (*rc::gen::arbitrary<bool>()) step.after = random_number(1);
  For loop{{"i"}, constant(*rc::gen::inRange(-3, 3)), constant(*rc::gen::inRange(-3, 12)), {}};
  loop.body = {{Let{{"j"}, apply(Operator::kMultiply, {variable(0), random_number(0)})}}, {step}};
  // The expressions speak of variables 0, the loop's, and 1, the let's; the let only of the first.
  std::get<Let>(loop.body[0].kind).value.operands[1] = constant(*rc::gen::inRange(-3, 4));
  program.body = {{loop}};
  RC_ASSERT(validate(program).ok());
  Job job = job_of({1, 2, 3});
  job.parameters = {5, -1};
  RC_CLASSIFY(affine_step(loop, 0).has_value(), "affine");
  const Binding binding = bind(program, job, {}, 0).value();
  const Events oracle = oracle_events(program, binding, 2);
  const Events fast = fast_walk_events(program, binding, 2);
  RC_ASSERT(without_broken_step(walk_events(program, binding, 2)) == without_broken_step(oracle));
  // A run may notice an undefined expression at its end before it starts.
  if (oracle.back() == "end") RC_ASSERT(fast == without_step_ends(oracle));
  RC_ASSERT((fast.back() == "end") == (oracle.back() == "end"));
}

For loop_in(const std::string& text) {
  const Program program = parse_program("algorithm a for alltoall\n" + text, "loop").value();
  return std::get<For>(program.body.back().kind);
}

TEST(AffineLoops, AreThoseOfStridesOnly) {
  const std::string head = "for i in 0 .. ranks\n  ", body = "\n    send send[i] to i\n";
  for (const char* affine : {"step i", "step 3*i - rank", "step i + rank*(i - 1)", "step 4",
                             "let k = 2*i;  step k + 1", "step i after i - 1"})
    EXPECT_TRUE(affine_step(loop_in(head + affine + body), 0)) << affine;
  for (const char* other : {"step i*i", "step i div 2", "step wrap(i, ranks)", "step max(i, 2)",
                            "step i after i xor 1", "let k = i mod 3;  step k"})
    EXPECT_FALSE(affine_step(loop_in(head + other + body), 0)) << other;
}

TEST(AffineLoops, HoldOneStepOfWholeBlocksAndNothingElse) {
  const std::string head = "for i in 0 .. ranks\n";
  for (const char* body :
       {"  step i\n    send nothing to i\n", "  step i\n    send send[i]@0 .. 1 to i\n",
        "  step i\n    copy send[i] to recv[i]\n", "  copy send[i] to recv[i]\n",
        "  step 2*i\n    send send[i] to i\n  step 2*i + 1\n    send send[i] to i\n",
        "  if i < 2\n    step i\n      send send[i] to i\n"})
    EXPECT_FALSE(affine_step(loop_in(head + body), 0)) << body;
}

// What each block message of a walk is, the key first.
struct MessageSink : NoSink {
  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    messages.push_back(
        {key, head.direction == Direction::kSend, head.peer, static_cast<int64_t>(buffer), block});
  }
  int64_t key = 0;
  std::vector<std::array<int64_t, 5>> messages;
};

// The messages of a rank; loops of exchanges are told by their strides where `by_loops` is set.
struct LoopedWalk {
  LoopedWalk(const Program& program, const Binding& binding, int64_t rank, bool by_loops) {
    const Code code = Code::compile(program).value();
    std::vector<int64_t> registers(code.registers());
    Walker walker;
    MessageSink sink;
    code.start(binding, rank, walker, registers.data());
    while (code.run<PauseAtSteps>(binding, walker, registers.data(), sink) == Pause::kStep) {
      sink.key = walker.key;
      const auto found = code.exchanges(walker, registers.data());
      if (!by_loops || !found) continue;
      ++loops;
      code.leave_loop(walker);
      for (int64_t i = 0; i < found->count; ++i) {
        sink.key = found->key + i * found->key_stride;
        const int64_t peer = found->peer + i * found->peer_stride;
        sink.block_message({Direction::kReceive, false, false, peer}, Buffer::kReceive, peer);
        sink.block_message({Direction::kSend, false, false, peer}, Buffer::kSend, peer);
      }
    }
    messages = std::move(sink.messages);
    std::sort(messages.begin(), messages.end());
  }

  std::vector<std::array<int64_t, 5>> messages;
  int loops = 0;
};

TEST(LoopsOfExchanges, HoldTheMessagesOfTheWalk) {
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
    const bool exchanges =
        variant.name.starts_with("hierarchical") && variant.name != "hierarchical-overlapped";
    EXPECT_EQ(loops > 0, exchanges) << program.algorithm.text;
  }
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
  for (const char* other :
       {"  step i\n    send send[i] to i\n", "  step i\n    receive recv[i] from i\n",
        "  step i\n    send send[i] to i\n    send send[i] to i\n",
        "  step i\n    send send[i - 1] to i\n    receive recv[i] from i\n",
        "  step i\n    send send[i] to i\n    receive recv[i] from i - 1\n",
        "  step i\n    send send[i] to i\n    receive recv[ranks - i] from ranks - i\n",
        "  step i\n    send send[1] to i\n    receive recv[i] from i\n",
        "  step i\n    send recv[i] to i\n    receive recv[i] from i\n",
        "  step i\n    send send[i] to i\n    receive send[i] from i\n",
        "  step i\n    send sized to i\n      send[i]\n    receive recv[i] from i\n",
        "  step i after i - 2\n    send send[i] to i\n    receive recv[i] from i\n"})
    EXPECT_EQ(loops(other), 0) << other;
}

TEST(Walk, RefusesProgramsThatNeedTooManyRegisters) {
  // Every constant has a register of its own.
  std::string text = "algorithm a for alltoall\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("if rank = {}\n  let x = {}\n", i, 1000 + i);
  const Program program = parse_program(text, "many").value();
  const auto code = Code::compile(program);
  ASSERT_FALSE(code.ok());
  EXPECT_NE(code.error().message.find("registers; at most 254 are allowed"), std::string::npos)
      << code.error().message;
}

}  // namespace
}  // namespace quadrille
