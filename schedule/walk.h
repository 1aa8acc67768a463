// The register machine of the C++ code. It compiles a program to register code, and walks it for one rank after
// another or for all in turn. It also evaluates single expressions (Formula). The runtime has its own machine, in C.
//
// A Walker is the state of one rank. run() continues to the next pause, and calls a Sink for each message, copy and
// reduction on the way. Pauses are:
//   kStep       before each step; walker.key and walker.after are set
//   kStepEnd    after the last statement of a step
//   kOutside    before a copy or reduction outside steps, so that an executor can complete earlier steps
//   kLoop       before an iteration of a loop; batch() may take several iterations at once
//   kEnd        at the end of the program
//   kUndefined  at an expression without a value; walker.why has the reason
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/evaluate.h"
#include "schedule/program.h"

namespace quadrille {

struct MessageHead {
  Direction direction;
  bool remote;
  bool sized;
  int64_t peer;
  std::optional<Side> combine = {};
};

struct PieceValue {
  Buffer buffer;
  int64_t block;
  bool ranged;
  int64_t low, high;  // if ranged
};

// Several iterations of a loop that differ by constant strides. In iteration t of `count`, every Strided is at +
// t*by. An iteration has at most one step, and all iterations have the same messages.
struct StridedBatch {
  struct Strided {
    int64_t at = 0, by = 0;
    int64_t last(int64_t count) const { return at + (count - 1) * by; }
    friend bool operator==(const Strided&, const Strided&) = default;
  };
  struct Piece {
    Buffer buffer;
    bool ranged;
    Strided block, low, high;
  };
  struct Message {
    MessageHead head;  // in iteration 0 the peer is peer.at
    Strided peer;
    int32_t first_piece, pieces;
  };

  int64_t count = 0;
  bool more = false;  // the loop has more iterations: a walker that takes these is at kLoop again
  bool has_step = false, has_after = false;
  Strided key, after;
  std::vector<Message> messages;
  std::vector<Piece> pieces;
  int32_t behind = 0;  // the program counter after the loop
};

enum class Pause : uint8_t { kStep, kStepEnd, kOutside, kLoop, kEnd, kUndefined };

// Tell run() at which of kStepEnd, kOutside and kLoop it pauses. An executor needs the first two, a counter none.
struct PauseAtAll {
  static constexpr bool kStepEnd = true, kOutside = true, kLoop = false;
};
struct PauseAtOutside {
  static constexpr bool kStepEnd = false, kOutside = true, kLoop = false;
};
struct PauseAtSteps {
  static constexpr bool kStepEnd = false, kOutside = false, kLoop = false;
};
struct PauseAtLoops {
  static constexpr bool kStepEnd = false, kOutside = true, kLoop = true;
};

// Ignores everything. A sink derives from SinkOf<itself>, and defines the functions that it needs anew.
template <class Sink>
struct SinkOf {
  void message(const MessageHead&) {}  // a message begins; its pieces follow
  void piece(const PieceValue&) {}
  void message_end() {}
  // Called for a message of one whole block.
  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    auto& sink = static_cast<Sink&>(*this);
    sink.message(head);
    sink.piece({buffer, block, false, 0, 0});
    sink.message_end();
  }
  void copy(const PieceValue&, const PieceValue&) {}  // from, to
  void reduce(Side, const PieceValue&, const PieceValue&) {}
};

struct Walker {
  int64_t key = 0;
  int64_t after = 0;  // if has_after
  int32_t program_counter = 0;
  int32_t near = 0;  // the last result of locate(), or 0 if it was -1
  Undefined why = Undefined::kNone;
  bool has_after = false;
  int64_t iterations = 0;  // the iterations that loops may still make
};

class Code {
 public:
  // The program must be valid. The code holds no reference to it.
  static Result<Code> compile(const Program& program);

  // Compiles an expression with that many variables. The code stores the value in one more variable after them.
  static Result<Code> compile(const Expression& expression, int variables);

  // The number of a walker's registers. The caller owns them, and keeps those of all walkers together.
  int registers() const { return register_count_; }
  // Sets a walker to the start of the program for that rank.
  void start(const Binding& binding, int64_t rank, Walker& walker, int64_t* registers) const;

  template <class Pauses, class Sink>
  Pause run(const Binding& binding, Walker& walker, int64_t* registers, Sink& sink) const;

  // At kLoop: evaluates the next iteration, and as many more as differ by constant strides. take() then moves the
  // walker past them. If batch() returns false, it cannot evaluate them, and run() has to walk through them.
  bool batch(const Binding& binding, const Walker& walker, int64_t* registers,
             StridedBatch& batch) const;
  void take(Walker& walker, int64_t* registers, const StridedBatch& batch) const;

  // At kStep: returns the number of the step's statement among all steps of the text, for pictures.
  int step_statement(const Walker& walker) const;
  // Returns the value of a variable, by its number among the lets and fors of the program, for pictures.
  int64_t variable(const int64_t* registers, int declaration) const {
    return registers[declarations_[declaration]];
  }
  void set_variable(int64_t* registers, int declaration, int64_t value) const {
    registers[declarations_[declaration]] = value;
  }

 private:
  friend class Compiler;
  friend class BatchEvaluator;

  enum class Operation : uint8_t {
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kModulo,
    kXor,
    kMinimum,
    kMaximum,
    kWrap,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kMove,
    kElement,
    kLocate,
    kJump,
    kJumpIfFalse,
    kJumpIfNotLess,
    kJumpIfNotLessEqual,
    kJumpIfNotEqual,
    kJumpIfEqual,
    kLoop,
    kNext,
    kStep,
    kStepEnd,
    kMessage,
    kMessageEnd,
    kBlockMessage,
    kPiece,
    kCopy,
    kReduceLeft,
    kReduceRight,
    kOutside,
    kEnd,
  };

  struct Instruction {
    Operation op;
    uint8_t target = 0, a = 0, b = 0;  // registers; target of kNext: 1 if batch() may take the loop
    int32_t immediate = 0;             // jump target, table, or index into pieces_
  };

  struct PieceRegisters {
    Buffer buffer;
    bool ranged;
    uint8_t block, low, high;
  };

  // A register that keeps its value for the whole walk.
  struct Invariant {
    Operator op;
    int64_t value;
  };

  static constexpr uint8_t kRemoteFlag = 1, kSizedFlag = 2, kReceiveFlag = 4, kLeftFlag = 8,
                           kRightFlag = 16;
  static constexpr uint8_t kNoRegister = 255;

  // Searches a table. Tries the last result first, because most searches find it again.
  static int64_t locate_near(const Entries& table, int64_t x, int32_t& near) {
    const auto next = static_cast<size_t>(near) + 1;
    if (next < table.size() && table[near] <= x && x < table[next]) return near;
    const int64_t found = locate(table, x);
    near = static_cast<int32_t>(std::max<int64_t>(0, found));
    return found;
  }

  PieceValue piece(int32_t index, const int64_t* registers) const {
    const PieceRegisters& p = pieces_[index];
    return {p.buffer, registers[p.block], p.ranged, p.ranged ? registers[p.low] : 0,
            p.ranged ? registers[p.high] : 0};
  }
  static MessageHead head(uint8_t flags, int64_t peer) {
    MessageHead head{flags & kReceiveFlag ? Direction::kReceive : Direction::kSend,
                     (flags & kRemoteFlag) != 0, (flags & kSizedFlag) != 0, peer};
    if (flags & (kLeftFlag | kRightFlag))
      head.combine = flags & kLeftFlag ? Side::kLeft : Side::kRight;
    return head;
  }

  std::vector<Instruction> instructions_;
  std::vector<PieceRegisters> pieces_;
  std::vector<Invariant> invariants_;
  std::vector<uint8_t> declarations_;  // the register of each let and for
  int register_count_ = 0;
};

// NOLINTBEGIN(readability-function-size): a case for each instruction
template <class Pauses, class Sink>
Pause Code::run(const Binding& binding, Walker& walker, int64_t* registers, Sink& sink) const {
  const Instruction* const code = instructions_.data();
  const Entries* const tables = binding.tables.data();
  int64_t* const r = registers;
  const Instruction* i = code + walker.program_counter;
  const auto pause = [&](Pause reason, const Instruction* next) {
    walker.program_counter = static_cast<int32_t>(next - code);
    return reason;
  };
  const auto undefined = [&](Undefined why) {
    walker.why = why;
    return pause(Pause::kUndefined, i);
  };
  if (walker.iterations < 0) return undefined(Undefined::kEndless);
  const auto jump = [&] { i = code + i->immediate - 1; };
  for (;; ++i) {
    switch (i->op) {
      case Operation::kAdd:
        if (__builtin_add_overflow(r[i->a], r[i->b], &r[i->target]))
          return undefined(Undefined::kOverflow);
        break;
      case Operation::kSubtract:
        if (__builtin_sub_overflow(r[i->a], r[i->b], &r[i->target]))
          return undefined(Undefined::kOverflow);
        break;
      case Operation::kMultiply:
        if (__builtin_mul_overflow(r[i->a], r[i->b], &r[i->target]))
          return undefined(Undefined::kOverflow);
        break;
      case Operation::kDivide:
      case Operation::kModulo: {
        Undefined why = Undefined::kNone;
        const auto op = i->op == Operation::kDivide ? Operator::kDivide : Operator::kModulo;
        const auto result = apply_operator(op, r[i->a], r[i->b], &why);
        if (!result) return undefined(why);
        r[i->target] = *result;
        break;
      }
      case Operation::kXor: r[i->target] = r[i->a] ^ r[i->b]; break;
      case Operation::kMinimum: r[i->target] = std::min(r[i->a], r[i->b]); break;
      case Operation::kMaximum: r[i->target] = std::max(r[i->a], r[i->b]); break;
      case Operation::kWrap: {
        const int64_t x = r[i->a], m = r[i->b];
        if (m <= 0 || x < -m) return undefined(Undefined::kWrap);
        const int64_t wrapped = x < 0 ? x + m : x < m ? x : x - m;
        if (wrapped >= m) return undefined(Undefined::kWrap);
        r[i->target] = wrapped;
        break;
      }
      case Operation::kEqual: r[i->target] = r[i->a] == r[i->b]; break;
      case Operation::kNotEqual: r[i->target] = r[i->a] != r[i->b]; break;
      case Operation::kLess: r[i->target] = r[i->a] < r[i->b]; break;
      case Operation::kLessEqual: r[i->target] = r[i->a] <= r[i->b]; break;
      case Operation::kMove: r[i->target] = r[i->a]; break;
      case Operation::kElement: {
        const Entries& table = tables[i->immediate];
        if (static_cast<uint64_t>(r[i->a]) >= table.size()) return undefined(Undefined::kIndex);
        r[i->target] = table[r[i->a]];
        break;
      }
      case Operation::kLocate:
        r[i->target] = locate_near(tables[i->immediate], r[i->a], walker.near);
        break;
      case Operation::kJump: jump(); break;
      case Operation::kJumpIfFalse:
        if (!r[i->a]) jump();
        break;
      case Operation::kJumpIfNotLess:
        if (r[i->a] >= r[i->b]) jump();
        break;
      case Operation::kJumpIfNotLessEqual:
        if (r[i->a] > r[i->b]) jump();
        break;
      case Operation::kJumpIfNotEqual:
        if (r[i->a] != r[i->b]) jump();
        break;
      case Operation::kJumpIfEqual:
        if (r[i->a] == r[i->b]) jump();
        break;
      case Operation::kLoop:
        if constexpr (Pauses::kLoop) return pause(Pause::kLoop, i + 1);
        break;
      case Operation::kNext:
        if (--walker.iterations < 0) return undefined(Undefined::kEndless);
        if (++r[i->a] >= r[i->b]) break;
        if constexpr (Pauses::kLoop)
          if (i->target) return pause(Pause::kLoop, code + i->immediate);
        jump();
        break;
      case Operation::kStep:
        walker.key = r[i->a];
        walker.has_after = i->b != kNoRegister;
        walker.after = walker.has_after ? r[i->b] : 0;
        return pause(Pause::kStep, i + 1);
      case Operation::kStepEnd:
        if constexpr (Pauses::kStepEnd) return pause(Pause::kStepEnd, i + 1);
        break;
      case Operation::kMessage: sink.message(head(i->b, r[i->a])); break;
      case Operation::kMessageEnd: sink.message_end(); break;
      case Operation::kBlockMessage: {
        const PieceRegisters& p = pieces_[i->immediate];
        sink.block_message(head(i->b, r[i->a]), p.buffer, r[p.block]);
        break;
      }
      case Operation::kPiece: sink.piece(piece(i->immediate, r)); break;
      case Operation::kCopy: sink.copy(piece(i->immediate, r), piece(i->immediate + 1, r)); break;
      case Operation::kReduceLeft:
        sink.reduce(Side::kLeft, piece(i->immediate, r), piece(i->immediate + 1, r));
        break;
      case Operation::kReduceRight:
        sink.reduce(Side::kRight, piece(i->immediate, r), piece(i->immediate + 1, r));
        break;
      case Operation::kOutside:
        if constexpr (Pauses::kOutside) return pause(Pause::kOutside, i + 1);
        break;
      case Operation::kEnd: return pause(Pause::kEnd, i);
    }
  }
}
// NOLINTEND(readability-function-size)

// A compiled expression of a table, a requirement, a formula or a claim.
class Formula {
 public:
  Formula(const Expression& expression, int variables)
      : variables_(variables), code_(Code::compile(expression, variables)) {}

  // Returns the value at the rank of binding.place; a boolean is 0 or 1. Empty if it has none; *why then holds the
  // reason. Variables are outermost first.
  std::optional<int64_t> value(const Binding& binding, std::span<const int64_t> variables,
                               Undefined* why) const;

 private:
  int variables_;
  Result<Code> code_;
};

}  // namespace quadrille
