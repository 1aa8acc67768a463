// A traversal changes a copy of the program in one place, records it, and undoes the change. Programs with equal code
// are recorded once. tests/mutation/oracle_test.cc tests the mutants.
#include "tests/support/mutants.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "generator/encode.h"
#include "schedule/text.h"
#include "schedule/traverse.h"

namespace quadrille {
namespace {

std::vector<std::string> lines_of(const Program& program) {
  std::vector<std::string> lines;
  std::istringstream text(print(program));
  for (std::string line; std::getline(text, line);)
    lines.push_back(line.substr(std::min(line.size(), line.find_first_not_of(' '))));
  return lines;
}

// Returns the opposite of a condition.
Expression negated(const Expression& e) {
  switch (e.op) {
    case Operator::kEqual: return apply(Operator::kNotEqual, e.operands);
    case Operator::kNotEqual: return apply(Operator::kEqual, e.operands);
    case Operator::kLess: return apply(Operator::kLessEqual, {e.operands[1], e.operands[0]});
    case Operator::kLessEqual: return apply(Operator::kLess, {e.operands[1], e.operands[0]});
    default:
      return apply(Operator::kChoose, {e, apply(Operator::kEqual, {constant(0), constant(1)}),
                                       apply(Operator::kEqual, {constant(0), constant(0)})});
  }
}

// Returns the operators that may replace this one. They take the same operands, and a name or number if it has one.
std::vector<Operator> mistaken_for(Operator op) {
  switch (op) {
    case Operator::kRank: return {Operator::kRanks};
    case Operator::kRanks: return {Operator::kRank, Operator::kRemoteRanks};
    case Operator::kRemoteRanks: return {Operator::kRanks};
    case Operator::kGroup: return {Operator::kRank};
    case Operator::kRoot: return {Operator::kRank};
    case Operator::kAdd: return {Operator::kSubtract};
    case Operator::kSubtract: return {Operator::kAdd};
    case Operator::kMultiply: return {Operator::kAdd};
    case Operator::kDivide: return {Operator::kModulo};
    case Operator::kModulo: return {Operator::kDivide};
    case Operator::kXor: return {Operator::kAdd};
    case Operator::kMinimum: return {Operator::kMaximum};
    case Operator::kMaximum: return {Operator::kMinimum};
    case Operator::kWrap: return {Operator::kModulo};
    case Operator::kEqual: return {Operator::kNotEqual, Operator::kLessEqual};
    case Operator::kNotEqual: return {Operator::kEqual, Operator::kLess};
    case Operator::kLess: return {Operator::kLessEqual, Operator::kNotEqual};
    case Operator::kLessEqual: return {Operator::kLess, Operator::kEqual};
    case Operator::kElement: return {Operator::kLocate};
    case Operator::kLocate: return {Operator::kElement};
    default: return {};
  }
}

bool order_matters(Operator op) {
  switch (op) {
    case Operator::kSubtract:
    case Operator::kDivide:
    case Operator::kModulo:
    case Operator::kWrap:
    case Operator::kLess:
    case Operator::kLessEqual: return true;
    default: return false;
  }
}

// The values that constants become in turn: the limit of counts and parameters, and two numbers whose sums overflow.
constexpr std::array kLimits = {int64_t{1} << 40, -(int64_t{1} << 62), INT64_MAX};

class Mutator {
 public:
  explicit Mutator(const Program& program)
      : program_(program), lines_(lines_of(program)), seen_{encode_code(program)} {}

  std::vector<Mutant> run() {
    declarations();
    for_each_expression_of_program(program_, [this](Expression& e) {
      off_by_one(e);
      expression(e);
    });
    body(program_.body);
    return std::move(mutants_);
  }

 private:
  // Records the program with `site` changed, if it is valid and new.
  template <class T>
  void offer(T& site, T changed, const std::string& what) {
    std::swap(site, changed);
    if (validate(program_).ok() && seen_.insert(encode_code(program_)).second)
      mutants_.push_back({program_, what + difference()});
    std::swap(site, changed);
  }

  std::string difference() const {
    const std::vector<std::string> lines = lines_of(program_);
    const auto [old_line, new_line] =
        std::mismatch(lines_.begin(), lines_.end(), lines.begin(), lines.end());
    return fmt::format(", line {}: `{}` became `{}`", old_line - lines_.begin() + 1,
                       old_line == lines_.end() ? "" : *old_line,
                       new_line == lines.end() ? "" : *new_line);
  }

  void declarations() {
    offer(program_.in_place, !program_.in_place, "in-place claim");
    offer(program_.commutative, !program_.commutative, "commutative claim");
    offer(program_.canonical, !program_.canonical, "claim of canonical sums");
    for (const PortKind kind : {PortKind::kNone, PortKind::kExchange, PortKind::kSendReceive})
      for (const PortScope per : {PortScope::kRank, PortScope::kNode})
        if (kind != PortKind::kNone || per == PortScope::kRank)
          offer(program_.port, Port{kind, per}, "port claim");
    for (size_t i = 0; i < program_.requirements.size(); ++i) {
      std::vector<Expression> fewer = program_.requirements;
      fewer.erase(fewer.begin() + i);
      offer(program_.requirements, fewer, "requirement dropped");
    }
    for (Table& table : program_.tables) {
      if (table.kind == TableKind::kPrefix) offer(table.kind, TableKind::kDistinct, "table kind");
      if (table.kind == TableKind::kDistinct) offer(table.kind, TableKind::kPrefix, "table kind");
      if (table.kind == TableKind::kPrefix || table.kind == TableKind::kGreatest)
        offer(table.kind,
              table.kind == TableKind::kPrefix ? TableKind::kGreatest : TableKind::kPrefix,
              "table kind");
      for (const int by : {-1, 1}) offer(table.source, table.source + by, "table source");
      for (int64_t& entry : table.entries)
        for (const int by : {-1, 1}) offer(entry, entry + by, "entry of a table");
    }
  }

  void off_by_one(Expression& e) {
    for (const int by : {1, -1})
      offer(e, apply(Operator::kAdd, {e, constant(by)}),
            by > 0 ? "expression + 1" : "expression - 1");
  }

  void expression(Expression& e) {
    if (has_value(e.op)) {
      const char* what = e.op == Operator::kConstant ? "constant" : "another name";
      for (const int by : {1, -1})
        if (e.value != (by > 0 ? INT64_MAX : INT64_MIN)) offer(e.value, e.value + by, what);
    }
    if (e.op == Operator::kConstant)
      offer(e.value, kLimits[constants_++ % kLimits.size()], "limit");
    for (const Operator op : mistaken_for(e.op)) offer(e.op, op, "operator");
    if (order_matters(e.op))
      offer(e.operands, {e.operands[1], e.operands[0]}, "operands exchanged");
    if (e.op == Operator::kChoose)
      offer(e.operands, {e.operands[0], e.operands[2], e.operands[1]}, "alternatives exchanged");
    if (e.op == Operator::kAnd || is_comparison(e.op)) offer(e, negated(e), "condition negated");
    const std::vector<Expression> operands = e.operands;
    for (const Expression& operand : operands) offer(e, operand, "operator dropped");
    for (Expression& operand : e.operands) expression(operand);
  }

  void body(Body& statements) {
    for (size_t i = 0; i < statements.size(); ++i) {
      if (!std::holds_alternative<Let>(statements[i].kind)) {
        Body fewer = statements;
        fewer.erase(fewer.begin() + i);
        offer(statements, std::move(fewer), "statement dropped");
        Body more = statements;
        more.insert(more.begin() + i, statements[i]);
        offer(statements, std::move(more), "statement doubled");
      }
      if (i + 1 < statements.size()) {
        Body exchanged = statements;
        std::swap(exchanged[i], exchanged[i + 1]);
        offer(statements, std::move(exchanged), "statements exchanged");
      }
    }
    peers(statements);
    for (size_t i = 0; i < statements.size(); ++i)
      std::visit([&](auto& kind) { this->statement(kind, statements, i); }, statements[i].kind);
  }

  // Exchanges the peers of two adjacent messages.
  void peers(Body& statements) {
    for (size_t i = 0; i + 1 < statements.size(); ++i) {
      Body exchanged = statements;
      auto* first = std::get_if<Message>(&exchanged[i].kind);
      auto* second = std::get_if<Message>(&exchanged[i + 1].kind);
      if (!first || !second) continue;
      std::swap(first->peer, second->peer);
      offer(statements, std::move(exchanged), "peers exchanged");
    }
  }

  void statement(Let&, Body&, size_t) {}
  void statement(For& loop, Body&, size_t) { body(loop.body); }
  void statement(If& choice, Body& statements, size_t at) {
    Body unguarded = statements;
    unguarded.erase(unguarded.begin() + at);
    unguarded.insert(unguarded.begin() + at, choice.then.begin(), choice.then.end());
    If opposite{choice.condition, choice.otherwise, choice.then};
    offer(choice, std::move(opposite), "branches exchanged");
    body(choice.then);
    body(choice.otherwise);
    offer(statements, std::move(unguarded), "guard dropped");
  }
  void statement(Step& step, Body&, size_t) {
    if (step.after) offer(step.after, {}, "after dropped");
    if (!step.after) offer(step.after, {constant(-1)}, "after added");
    body(step.body);
  }
  void statement(Message& message, Body&, size_t) {
    const bool sends = message.direction == Direction::kSend;
    offer(message.direction, sends ? Direction::kReceive : Direction::kSend, "direction");
    offer(message.sized, !message.sized, "sized");
    offer(message.remote, !message.remote, "remote");
    Message changed = message;
    changed.combine.reset();
    offer(message, changed, "combining");
    for (const Side side : {Side::kLeft, Side::kRight}) {
      changed.combine = side;
      offer(message, changed, "combining");
    }
    body(message.pieces);
  }
  void statement(Transfer& transfer, Body&, size_t) { piece(transfer.piece); }
  void statement(Copy& copy, Body&, size_t) {
    offer(copy, {copy.to, copy.from}, "copy turned");
    piece(copy.from);
    piece(copy.to);
  }
  void statement(Reduce& reduce, Body& statements, size_t at) {
    offer(reduce.side, reduce.side == Side::kLeft ? Side::kRight : Side::kLeft, "side");
    offer(reduce, {reduce.side, reduce.into, reduce.from}, "reduction turned");
    piece(reduce.from);
    piece(reduce.into);
    offer(statements[at], {Copy{reduce.from, reduce.into}}, "reduction became a copy");
  }

  void piece(Piece& piece) {
    for (const Buffer buffer : {Buffer::kSend, Buffer::kReceive, Buffer::kTemporary})
      offer(piece.buffer, buffer, "buffer");
    if (piece.range) offer(piece.range, {}, "range dropped");
  }

  Program program_;
  const std::vector<std::string> lines_;
  std::set<Bytes> seen_;
  size_t constants_ = 0;  // how many constants were changed to a limit so far
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> mutants(const Program& program) { return Mutator(program).run(); }

}  // namespace quadrille
