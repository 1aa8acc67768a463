// Compiles programs and expressions to register code. Constants, parameters and a rank's place in its communicator
// have registers of their own, so every operand is a register. Conditions become jumps, so `and` and `? :` are lazy.
// A message of one whole block, the most frequent kind, is a single instruction. tests/schedule/walk_test.cc compares
// the code with the recursive oracle of tests/support/evaluate.h, on every program and on random expressions.
#include "schedule/walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "schedule/traverse.h"

namespace quadrille {
class Compiler {
 public:
  Result<Code> run(const Program& program) {
    for_each_expression(program.body, [this](const Expression& e) { collect_invariants(e); });
    begin();
    body(program.body);
    return end();
  }

  Result<Code> run(const Expression& expression, int variables) {
    collect_invariants(expression);
    begin();
    for (int i = 0; i < variables; ++i) declare(allocate());
    const int target = allocate();
    into(expression, target);
    declare(target);
    return end();
  }

 private:
  using Operation = Code::Operation;
  using Instruction = Code::Instruction;

  void begin() {
    invariant(constant(0));
    invariant(constant(1));
    next_register_ = highest_register_ = static_cast<int>(code_.invariants_.size());
  }

  Result<Code> end() {
    emit({Operation::kEnd});
    code_.register_count_ = highest_register_;
    if (highest_register_ >= Code::kNoRegister)
      return Error{fmt::format("the program needs {} registers; at most {} are allowed",
                               highest_register_, Code::kNoRegister - 1)};
    return std::move(code_);
  }

  void collect_invariants(const Expression& expression) {
    if (is_fixed(expression.op)) invariant(expression);
    for (const Expression& operand : expression.operands) collect_invariants(operand);
  }

  // Returns the register of an invariant. Adds one if it has none yet.
  int invariant(const Expression& e) {
    for (size_t i = 0; i < code_.invariants_.size(); ++i)
      if (code_.invariants_[i].op == e.op && code_.invariants_[i].value == e.value) return i;
    code_.invariants_.push_back({e.op, e.value});
    return code_.invariants_.size() - 1;
  }

  int emit(Instruction instruction) {
    code_.instructions_.push_back(instruction);
    return code_.instructions_.size() - 1;
  }
  int here() const { return code_.instructions_.size(); }
  void land(const std::vector<int>& jumps) {
    for (const int jump : jumps) code_.instructions_[jump].immediate = here();
  }

  int allocate() {
    const int result = next_register_++;
    highest_register_ = std::max(highest_register_, next_register_);
    return result;
  }

  // Returns the register of a variable or an invariant. Evaluates any other expression into a new one.
  uint8_t operand(const Expression& e) {
    if (is_fixed(e.op)) return invariant(e);
    if (e.op == Operator::kVariable) return variables_[e.value];
    const int target = allocate();
    into(e, target);
    return target;
  }

  // Emits code that evaluates into that register. Releases all registers that it uses meanwhile.
  void into(const Expression& e, uint8_t target) {
    const int saved = next_register_;
    if (is_fixed(e.op) || e.op == Operator::kVariable) {
      emit({Operation::kMove, target, operand(e)});
    } else if (e.op == Operator::kChoose) {
      const std::vector<int> otherwise = jump_unless(e.operands[0]);
      into(e.operands[1], target);
      const int over = emit({Operation::kJump});
      land(otherwise);
      into(e.operands[2], target);
      land({over});
    } else if (e.op == Operator::kAnd) {
      const std::vector<int> no = jump_unless(e);
      emit({Operation::kMove, target, static_cast<uint8_t>(invariant(constant(1)))});
      const int over = emit({Operation::kJump});
      land(no);
      emit({Operation::kMove, target, static_cast<uint8_t>(invariant(constant(0)))});
      land({over});
    } else if (e.op == Operator::kElement || e.op == Operator::kLocate) {
      const auto op = e.op == Operator::kElement ? Operation::kElement : Operation::kLocate;
      emit({op, target, operand(e.operands[0]), 0, static_cast<int32_t>(e.value)});
    } else {
      const uint8_t left = operand(e.operands[0]);
      const uint8_t right = operand(e.operands[1]);
      emit({binary(e.op), target, left, right});
    }
    next_register_ = saved;
  }

  // Both enumerations have the operators of two integers in the same order.
  static Operation binary(Operator op) {
    static_assert(static_cast<int>(Operation::kLessEqual) ==
                  static_cast<int>(Operator::kLessEqual) - static_cast<int>(Operator::kAdd));
    check(Operator::kAdd <= op && op <= Operator::kLessEqual, "an operator of two integers");
    return static_cast<Operation>(static_cast<int>(op) - static_cast<int>(Operator::kAdd));
  }

  // Emits code that falls through if the condition holds. Returns the jumps that are taken if it does not.
  std::vector<int> jump_unless(const Expression& e) {
    if (e.op == Operator::kAnd) {
      std::vector<int> jumps = jump_unless(e.operands[0]);
      for (const int jump : jump_unless(e.operands[1])) jumps.push_back(jump);
      return jumps;
    }
    const int saved = next_register_;
    Instruction jump{Operation::kJumpIfFalse};
    if (is_comparison(e.op)) {
      jump.op = e.op == Operator::kLess        ? Operation::kJumpIfNotLess
                : e.op == Operator::kLessEqual ? Operation::kJumpIfNotLessEqual
                : e.op == Operator::kEqual     ? Operation::kJumpIfNotEqual
                                               : Operation::kJumpIfEqual;
      jump.a = operand(e.operands[0]);
      jump.b = operand(e.operands[1]);
    } else {
      jump.a = operand(e);
    }
    next_register_ = saved;
    return {emit(jump)};
  }

  void body(const Body& statements) {
    const int saved = next_register_;
    const size_t scope = variables_.size();
    for (const Statement& statement : statements)
      std::visit([this](const auto& kind) { this->statement(kind); }, statement.kind);
    variables_.resize(scope);
    next_register_ = saved;
  }

  void declare(uint8_t at) {
    variables_.push_back(at);
    code_.declarations_.push_back(at);
  }

  void statement(const Let& let) {
    const int target = allocate();
    into(let.value, target);
    declare(target);
  }

  void statement(const For& loop) {
    const int saved = next_register_;
    const uint8_t index = allocate();
    into(loop.low, index);
    // The bound is evaluated once: into a register of its own unless it never changes.
    const uint8_t bound = is_fixed(loop.high.op) ? invariant(loop.high) : allocate();
    if (!is_fixed(loop.high.op)) into(loop.high, bound);
    const int exit = emit({Operation::kJumpIfNotLess, 0, index, bound});
    declare(index);
    const uint8_t batched = may_batch(loop.body);
    if (batched) emit({Operation::kLoop});
    const int start = here();
    body(loop.body);
    emit({Operation::kNext, batched, index, bound, start});
    land({exit});
    variables_.pop_back();
    next_register_ = saved;
  }

  // Returns 1 if the body of a loop has a step and no inner loop. Then batch() may be able to take the loop.
  static uint8_t may_batch(const Body& body) {
    bool steps = false, loops = false;
    for_each_statement(body, [&](const Statement& statement) {
      steps |= std::holds_alternative<Step>(statement.kind);
      loops |= std::holds_alternative<For>(statement.kind);
    });
    return steps && !loops;
  }

  void statement(const If& choice) {
    const std::vector<int> otherwise = jump_unless(choice.condition);
    body(choice.then);
    if (choice.otherwise.empty()) return land(otherwise);
    const int over = emit({Operation::kJump});
    land(otherwise);
    body(choice.otherwise);
    land({over});
  }

  void statement(const Step& step) {
    const int saved = next_register_;
    const uint8_t key = operand(step.key);
    const uint8_t after = step.after ? operand(*step.after) : Code::kNoRegister;
    next_register_ = saved;
    emit({Operation::kStep, 0, key, after});
    in_step_ = true;
    body(step.body);
    in_step_ = false;
    emit({Operation::kStepEnd});
  }

  static uint8_t flags(const Message& message) {
    return (message.direction == Direction::kReceive ? Code::kReceiveFlag : 0) |
           (message.remote ? Code::kRemoteFlag : 0) | (message.sized ? Code::kSizedFlag : 0) |
           (message.combine == Side::kLeft    ? Code::kLeftFlag
            : message.combine == Side::kRight ? Code::kRightFlag
                                              : 0);
  }

  void statement(const Message& message) {
    const int saved = next_register_;
    const uint8_t flags = this->flags(message);
    const uint8_t peer = operand(message.peer);
    const Transfer* single =
        message.pieces.size() == 1 ? std::get_if<Transfer>(&message.pieces[0].kind) : nullptr;
    if (single && !single->piece.range) {
      const int index = piece(single->piece);
      emit({Operation::kBlockMessage, 0, peer, flags, index});
    } else {
      emit({Operation::kMessage, 0, peer, flags});
      body(message.pieces);
      emit({Operation::kMessageEnd});
    }
    next_register_ = saved;
  }

  // Emits code for a piece's expressions, and records their registers. Returns the index of the record.
  int piece(const Piece& piece) {
    Code::PieceRegisters registers{piece.buffer, piece.range.has_value(), operand(piece.block), 0,
                                   0};
    if (piece.range) {
      registers.low = operand(piece.range->low);
      registers.high = operand(piece.range->high);
    }
    code_.pieces_.push_back(registers);
    return code_.pieces_.size() - 1;
  }

  void statement(const Transfer& transfer) {
    const int saved = next_register_;
    const int index = piece(transfer.piece);
    emit({Operation::kPiece, 0, 0, 0, index});
    next_register_ = saved;
  }

  void local(Operation op, const Piece& from, const Piece& to) {
    const int saved = next_register_;
    if (!in_step_) emit({Operation::kOutside});
    const int index = piece(from);
    piece(to);
    emit({op, 0, 0, 0, index});
    next_register_ = saved;
  }

  void statement(const Copy& copy) { local(Operation::kCopy, copy.from, copy.to); }
  void statement(const Reduce& reduce) {
    local(reduce.side == Side::kLeft ? Operation::kReduceLeft : Operation::kReduceRight,
          reduce.from, reduce.into);
  }

  Code code_;
  int next_register_ = 0, highest_register_ = 0;
  std::vector<uint8_t> variables_;  // the register of each variable in scope
  bool in_step_ = false;
};

Result<Code> Code::compile(const Program& program) { return Compiler().run(program); }

Result<Code> Code::compile(const Expression& expression, int variables) {
  return Compiler().run(expression, variables);
}

void Code::start(const Binding& binding, int64_t rank, Walker& walker, int64_t* registers) const {
  walker = Walker{};
  walker.iterations = binding.most_iterations;
  for (size_t i = 0; i < invariants_.size(); ++i) {
    const int64_t value = invariants_[i].value;
    switch (invariants_[i].op) {
      case Operator::kConstant: registers[i] = value; break;
      case Operator::kParameter: registers[i] = binding.parameters[value]; break;
      case Operator::kRank: registers[i] = rank; break;
      case Operator::kRanks: registers[i] = binding.place.ranks; break;
      case Operator::kRemoteRanks: registers[i] = binding.place.remote_ranks; break;
      case Operator::kGroup: registers[i] = binding.place.group; break;
      case Operator::kRoot: registers[i] = binding.place.root; break;
      default: registers[i] = binding.tables[value].size(); break;
    }
  }
}

std::optional<int64_t> Formula::value(const Binding& binding, std::span<const int64_t> variables,
                                      Undefined* why) const {
  struct NoSink : SinkOf<NoSink> {
  } nobody;
  *why = Undefined::kRegisters;
  if (!code_.ok()) return std::nullopt;
  Walker walker;
  std::array<int64_t, 256> registers;
  code_->start(binding, binding.place.rank, walker, registers.data());
  for (int i = 0; i < variables_; ++i) code_->set_variable(registers.data(), i, variables[i]);
  const Pause pause = code_->run<PauseAtSteps>(binding, walker, registers.data(), nobody);
  *why = walker.why;
  if (pause == Pause::kUndefined) return std::nullopt;
  return code_->variable(registers.data(), variables_);
}

int Code::step_statement(const Walker& walker) const {
  const auto here = instructions_.begin() + walker.program_counter - 1;
  return static_cast<int>(std::count_if(instructions_.begin(), here, [](const Instruction& one) {
    return one.op == Operation::kStep;
  }));
}

}  // namespace quadrille
