// Walks one rank's program by plain recursion. This is the oracle of every other walk.
//
// A Sink has: step(key, optional after), step_end(), message(head), piece(value), message_end(), copy(from, to,
// in_step), reduce(side, from, into, in_step).
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/binding.h"
#include "schedule/walk.h"
#include "tests/support/evaluate.h"

namespace quadrille {

// Ignores all events. A derived sink hides the functions that it needs.
struct Listener {
  void step(int64_t, std::optional<int64_t>) {}
  void step_end() {}
  void message(const MessageHead&) {}
  void piece(const PieceValue&) {}
  void message_end() {}
  void copy(const PieceValue&, const PieceValue&, bool) {}
  void reduce(Side, const PieceValue&, const PieceValue&, bool) {}
};

enum class WalkEnd { kEnd, kUndefined, kTooLong };

template <class Sink>
class PlainWalk {
 public:
  PlainWalk(const Program& program, const Binding& binding, int64_t rank, Sink& sink)
      : program_(program),
        environment_{binding.place, binding.parameters, binding.tables, {}},
        sink_(sink) {
    environment_.place.rank = rank;
    iterations_ = binding.most_iterations;
  }

  // Returns kTooLong after `limit` statements and iterations of loops.
  WalkEnd run(int64_t limit = INT64_MAX) {
    left_ = limit;
    try {
      body(program_.body, false);
    } catch (WalkEnd end) {  // the style allows exceptions only in this oracle
      return end;
    }
    return WalkEnd::kEnd;
  }

 private:
  int64_t value(const Expression& expression) {
    Undefined why = Undefined::kNone;
    const auto result = evaluate(expression, environment_, &why);
    if (!result) throw WalkEnd::kUndefined;
    return *result;
  }

  PieceValue value(const Piece& piece) {
    PieceValue result{piece.buffer, value(piece.block), piece.range.has_value(), 0, 0};
    if (!piece.range) return result;
    result.low = value(piece.range->low);
    result.high = value(piece.range->high);
    return result;
  }

  void spend() {
    if (left_-- == 0) throw WalkEnd::kTooLong;
  }

  void body(const Body& statements, bool in_step) {
    const size_t scope = environment_.variables.size();
    for (const Statement& statement : statements) {
      spend();
      std::visit([&](const auto& kind) { this->statement(kind, in_step); }, statement.kind);
    }
    environment_.variables.resize(scope);
  }

  void statement(const Let& let, bool) { environment_.variables.push_back(value(let.value)); }
  void statement(const For& loop, bool in_step) {
    const int64_t low = value(loop.low), high = value(loop.high);
    for (int64_t i = low; i < high; ++i) {
      spend();
      environment_.variables.push_back(i);
      body(loop.body, in_step);
      environment_.variables.pop_back();
      if (--iterations_ < 0) throw WalkEnd::kUndefined;
    }
  }
  void statement(const If& choice, bool in_step) {
    body(value(choice.condition) ? choice.then : choice.otherwise, in_step);
  }
  void statement(const Step& step, bool) {
    const int64_t key = value(step.key);
    sink_.step(key, step.after ? std::optional(value(*step.after)) : std::nullopt);
    body(step.body, true);
    sink_.step_end();
  }
  void statement(const Message& message, bool in_step) {
    sink_.message(
        {message.direction, message.remote, message.sized, value(message.peer), message.combine});
    body(message.pieces, in_step);
    sink_.message_end();
  }
  void statement(const Transfer& transfer, bool) { sink_.piece(value(transfer.piece)); }
  void statement(const Copy& copy, bool in_step) {
    const PieceValue from = value(copy.from), to = value(copy.to);
    sink_.copy(from, to, in_step);
  }
  void statement(const Reduce& reduce, bool in_step) {
    const PieceValue from = value(reduce.from), into = value(reduce.into);
    sink_.reduce(reduce.side, from, into, in_step);
  }

  const Program& program_;
  Environment environment_;
  Sink& sink_;
  int64_t left_ = 0, iterations_ = 0;
};

}  // namespace quadrille
