// A program that can be reversed begins by copying the rank's own contribution to the receive buffer. Then it only sends
// from there, or sends that contribution, and receives into there. So each block that a message names is a block of the
// receive buffer. Tested by tests/prove/reverse_test.cc, and by the proofs of the generator's reversals.
#include "schedule/reverse.h"

#include <fmt/format.h>

#include <algorithm>

namespace quadrille {
namespace {

const Expression kRank = leaf(Operator::kRank);
const Expression kIsRoot = apply(Operator::kEqual, {kRank, leaf(Operator::kRoot)});

// Returns minuend - x, as a number if x is one. The minuend is 0 or 1.
Expression difference(int64_t minuend, Expression x) {
  if (x.op == Operator::kConstant && x.value > INT64_MIN + 1) return constant(minuend - x.value);
  return apply(Operator::kSubtract, {constant(minuend), std::move(x)});
}

Statement copy(Expression from, Buffer to, Expression block) {
  return {Copy{{Buffer::kSend, std::move(from), {}}, {to, std::move(block), {}}}};
}

class Reversal {
 public:
  explicit Reversal(const Program& program) : program_(program) {}

  Result<Program> run() {
    Program result = program_;
    if (program_.groups != 1 || (!is_broadcast() && program_.collective != Collective::kAllgather))
      return Error{fmt::format(
          "only a broadcast or an allgather on one group can be reversed, not {}{}",
          in_words(program_.collective), program_.groups == 2 ? " between groups" : "")};
    result.collective = is_broadcast() ? Collective::kReduce : Collective::kReduceScatter;
    result.in_place = false;
    result.commutative = true;
    result.temporary_blocks = is_broadcast() ? constant(1) : leaf(Operator::kRanks);
    result.body = contributions();
    Body body = program_.body;
    if (!take_opening(body))
      fail(is_broadcast() ? "it does not begin with 'if rank = root' and 'copy send[0] to recv[0]'"
                          : "it does not begin with 'copy send[0] to recv[rank]'");
    for (Statement& statement : backwards(body, {}, 0)) result.body.push_back(std::move(statement));
    if (!error_.empty()) return Error{error_};
    const Result<bool> valid = validate(result);
    if (!valid.ok()) return Error{fmt::format("the reversal has {}", valid.error().message)};
    return result;
  }

 private:
  // For each variable of the program that is in scope, its number in the reversal.
  using Numbers = std::vector<int64_t>;

  bool is_broadcast() const { return program_.collective == Collective::kBroadcast; }
  void fail(const char* why) {
    if (error_.empty()) error_ = fmt::format("the program cannot be reversed: {}", why);
  }

  // Returns the first statements, which copy the rank's contributions to where they are added up.
  Body contributions() const {
    if (is_broadcast())
      return {{If{kIsRoot,
                  {copy(constant(0), Buffer::kReceive, constant(0))},
                  {copy(constant(0), Buffer::kTemporary, constant(0))}}}};
    const Expression block = variable(0);
    return {copy(kRank, Buffer::kReceive, constant(0)),
            {For{{"block"},
                 constant(0),
                 leaf(Operator::kRanks),
                 {{If{apply(Operator::kNotEqual, {block, kRank}),
                      {copy(block, Buffer::kTemporary, block)},
                      {}}}}}}};
  }

  // Takes away the copy of a rank's own contribution, with which the program begins. Returns whether it was there.
  bool take_opening(Body& body) const {
    const auto first = std::find_if(body.begin(), body.end(), [](const Statement& statement) {
      return !std::holds_alternative<Let>(statement.kind);
    });
    if (first == body.end()) return false;
    auto* choice = std::get_if<If>(&first->kind);
    if (is_broadcast() && (!choice || choice->condition != kIsRoot)) return false;
    Body& part = is_broadcast() ? choice->then : body;
    const auto found = is_broadcast() ? part.begin() : first;
    if (found == part.end() ||
        *found != copy(constant(0), Buffer::kReceive, is_broadcast() ? constant(0) : kRank))
      return false;
    part.erase(found);
    if (choice && choice->then.empty() && choice->otherwise.empty()) body.erase(first);
    return true;
  }

  static Expression renumbered(Expression e, const Numbers& numbers) {
    if (e.op == Operator::kVariable) e.value = numbers[e.value];
    for (Expression& operand : e.operands) operand = renumbered(std::move(operand), numbers);
    return e;
  }

  // Reverses both branches of a choice.
  template <class Reverse>
  Statement either(const If& choice, const Numbers& numbers, const Reverse& reverse) {
    const std::optional<bool> before = is_root_;
    If result{renumbered(choice.condition, numbers), {}, {}};
    if (choice.condition == kIsRoot) is_root_ = true;
    result.then = reverse(choice.then);
    if (choice.condition == kIsRoot) is_root_ = false;
    result.otherwise = reverse(choice.otherwise);
    is_root_ = before;
    return {std::move(result)};
  }

  // Reverses a body outside steps. `variables` are in scope in the reversal.
  Body backwards(const Body& body, Numbers numbers, int64_t variables) {
    Body lets, others;
    std::vector<std::pair<const Statement*, size_t>>
        after;  // with the number of variables in its scope
    for (const Statement& statement : body) {
      if (const auto* let = std::get_if<Let>(&statement.kind)) {
        lets.push_back({Let{let->name, renumbered(let->value, numbers)}});
        numbers.push_back(variables++);
      } else {
        after.emplace_back(&statement, numbers.size());
      }
    }
    std::reverse(after.begin(), after.end());
    for (const auto& [statement, scope] : after) {
      const Numbers known(numbers.begin(), numbers.begin() + scope);
      others.push_back(backwards(*statement, known, variables));
    }
    lets.insert(lets.end(), others.begin(), others.end());
    return lets;
  }

  Statement backwards(const Statement& statement, Numbers numbers, int64_t variables) {
    if (const auto* loop = std::get_if<For>(&statement.kind)) {
      For back{{("minus_" + loop->name.text).substr(0, kMaxNameLength - 1)},
               difference(1, renumbered(loop->high, numbers)),
               difference(1, renumbered(loop->low, numbers)),
               {{Let{loop->name, difference(0, variable(variables))}}}};
      numbers.push_back(variables + 1);
      for (Statement& inner : backwards(loop->body, numbers, variables + 2))
        back.body.push_back(std::move(inner));
      return {std::move(back)};
    }
    if (const auto* choice = std::get_if<If>(&statement.kind))
      return either(*choice, numbers,
                    [&](const Body& part) { return backwards(part, numbers, variables); });
    if (const auto* step = std::get_if<Step>(&statement.kind))
      return {Step{difference(0, renumbered(step->key, numbers)),
                   {},
                   inside(step->body, nullptr, numbers, variables)}};
    fail("it copies data after that");
    return statement;
  }

  // Reverses a body inside a step, or inside the message if there is one. Its statements keep their order.
  Body inside(const Body& body, const Message* message, Numbers numbers, int64_t variables) {
    Body result;
    for (const Statement& statement : body) {
      if (const auto* let = std::get_if<Let>(&statement.kind)) {
        result.push_back({Let{let->name, renumbered(let->value, numbers)}});
        numbers.push_back(variables++);
      } else if (const auto* loop = std::get_if<For>(&statement.kind)) {
        Numbers inner = numbers;
        inner.push_back(variables);
        result.push_back(
            {For{loop->name, renumbered(loop->low, numbers), renumbered(loop->high, numbers),
                 inside(loop->body, message, std::move(inner), variables + 1)}});
      } else if (const auto* choice = std::get_if<If>(&statement.kind)) {
        result.push_back(either(*choice, numbers, [&](const Body& part) {
          return inside(part, message, numbers, variables);
        }));
      } else if (const auto* inner = std::get_if<Message>(&statement.kind)) {
        Message back = *inner;
        const bool sends = inner->direction == Direction::kSend;
        back.direction = sends ? Direction::kReceive : Direction::kSend;
        back.peer = renumbered(inner->peer, numbers);
        back.pieces = inside(inner->pieces, inner, numbers, variables);
        if (sends && !back.pieces.empty()) back.combine = Side::kRight;
        result.push_back({std::move(back)});
      } else if (const auto* transfer = std::get_if<Transfer>(&statement.kind)) {
        result.push_back(sum(transfer->piece, message->direction, numbers));
      } else {
        fail("it copies data in a step");
      }
    }
    return result;
  }

  // Returns the piece of the sum that a message of the reversal names. A rank receives what other ranks contribute, so
  // the reversal sends no sum of the rank's own result.
  Statement sum(Piece piece, Direction direction, const Numbers& numbers) {
    if (piece.buffer == Buffer::kTemporary) fail("its messages name temporary blocks");
    piece.block = renumbered(piece.block, numbers);
    if (piece.range)
      piece.range = {renumbered(piece.range->low, numbers), renumbered(piece.range->high, numbers)};
    Piece result = piece, other = piece;
    result.buffer = Buffer::kReceive;
    result.block = constant(0);
    other.buffer = Buffer::kTemporary;
    if (direction == Direction::kReceive) return {Transfer{other}};
    if (piece.buffer == Buffer::kSend || is_root_ == true ||
        (!is_broadcast() && piece.block == kRank))
      return {Transfer{result}};
    if (is_root_ == false) return {Transfer{other}};
    const Expression is_result =
        is_broadcast() ? kIsRoot : apply(Operator::kEqual, {piece.block, kRank});
    return {If{is_result, {{Transfer{result}}}, {{Transfer{other}}}}};
  }

  const Program& program_;
  std::optional<bool> is_root_;  // what the conditions around a statement say of the rank
  std::string error_;
};

}  // namespace

Result<Program> reverse(const Program& program) { return Reversal(program).run(); }

}  // namespace quadrille
