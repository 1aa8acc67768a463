// Evaluates many iterations of a loop at once: in iteration t each value is at + t * by, with a constant stride `by`.
// A wrap, a minimum, a condition or a search in a table has a constant stride only for some iterations. The batch
// ends where the first of them changes. The plain walk takes loops that a batch cannot hold, or in which something
// has no value. tests/schedule/batch_test.cc compares the two.
#include <algorithm>
#include <array>

#include "schedule/walk.h"

namespace quadrille {

// Limits of values, strides and batches, so that nothing overflows.
constexpr int64_t kGreatestValue = int64_t{1} << 60, kGreatestStride = int64_t{1} << 40;
constexpr int64_t kLongest = int64_t{1} << 16;

class BatchEvaluator {
 public:
  BatchEvaluator(const Code& code, const Binding& binding, int64_t* registers, StridedBatch& batch)
      : code_(code), tables_(binding.tables), r_(registers), batch_(batch) {
    std::fill_n(by_.begin(), code.register_count_, 0);
    batch_.messages.clear();
    batch_.pieces.clear();
    batch_.has_step = false;
  }

  // Evaluates from the start of an iteration. Returns the program counter after the loop, or -1 if it cannot.
  int32_t run(int32_t start) {
    const Instruction* const code = code_.instructions_.data();
    const Instruction* next = code + start;
    while (next->op != Operation::kNext || next->immediate != start) ++next;
    by_[next->a] = 1;
    if (!is_small(at(next->a)) || !is_small(at(next->b))) return -1;
    count_ = std::min(kLongest, r_[next->b] - r_[next->a]);
    for (const Instruction* i = code + start; i != next; ++i) {
      if (jumps(*i))
        i = code + i->immediate - 1;
      else if (!evaluate(*i))
        return -1;
    }
    if (count_ == 0) return -1;
    batch_.count = count_;
    return static_cast<int32_t>(next + 1 - code);
  }

 private:
  using Operation = Code::Operation;
  using Instruction = Code::Instruction;
  using Strided = StridedBatch::Strided;

  Strided at(uint8_t reg) const { return {r_[reg], by_[reg]}; }
  bool set(uint8_t reg, Strided value) {
    r_[reg] = value.at;
    by_[reg] = value.by;
    return is_small(value);
  }
  static bool is_small(Strided value) {
    const auto within = [](int64_t x, int64_t limit) {
      return static_cast<uint64_t>(x) + static_cast<uint64_t>(limit) <
             2 * static_cast<uint64_t>(limit);
    };
    return within(value.at, kGreatestValue) && within(value.by, kGreatestStride);
  }

  // Shortens the batch to the iterations in which `gap` stays 0 or more. In iteration 0 it is.
  void while_not_negative(Strided gap) {
    if (gap.by < 0) count_ = std::min(count_, gap.at / -gap.by + 1);
  }
  // Returns whether a < b in iteration 0. Shortens the batch to the iterations with the same answer.
  bool less(Strided a, Strided b) {
    if (!is_small(a) || !is_small(b)) {
      count_ = 0;
      return a.at < b.at;
    }
    const Strided gap{b.at - a.at, b.by - a.by};
    if (gap.at > 0)
      while_not_negative({gap.at - 1, gap.by});
    else
      while_not_negative({-gap.at, -gap.by});
    return gap.at > 0;
  }
  bool equal(Strided a, Strided b) {
    if (a.at != b.at) {
      less(a, b);
      less(b, a);
    } else if (a.by != b.by) {
      count_ = std::min<int64_t>(count_, 1);
    }
    return a.at == b.at;
  }

  bool jumps(const Instruction& i) {
    switch (i.op) {
      case Operation::kJump: return true;
      case Operation::kJumpIfFalse:
        if (by_[i.a] != 0) count_ = 0;  // a boolean has no stride
        return !r_[i.a];
      case Operation::kJumpIfNotLess: return !less(at(i.a), at(i.b));
      case Operation::kJumpIfNotLessEqual: return less(at(i.b), at(i.a));
      case Operation::kJumpIfNotEqual: return !equal(at(i.a), at(i.b));
      case Operation::kJumpIfEqual: return equal(at(i.a), at(i.b));
      default: return false;
    }
  }

  // Evaluates one instruction. Returns false if the batch cannot hold it.
  bool evaluate(const Instruction& i) {
    switch (i.op) {
      case Operation::kJumpIfFalse:
      case Operation::kJumpIfNotLess:
      case Operation::kJumpIfNotLessEqual:
      case Operation::kJumpIfNotEqual:
      case Operation::kJumpIfEqual:
      case Operation::kStepEnd:
      case Operation::kMessageEnd: return true;
      case Operation::kMove: return set(i.target, at(i.a));
      case Operation::kElement: return element(i.target, tables_[i.immediate], at(i.a));
      case Operation::kLocate: return search(i.target, tables_[i.immediate], at(i.a));
      case Operation::kStep: return step(i);
      case Operation::kMessage: return message(i);
      case Operation::kBlockMessage: return message(i) && piece(code_.pieces_[i.immediate]);
      case Operation::kPiece: return piece(code_.pieces_[i.immediate]);
      default: return Operation::kAdd <= i.op && i.op <= Operation::kLessEqual && combine(i);
    }
  }

  // Evaluates an operator of two values: one of kAdd to kLessEqual.
  bool combine(const Instruction& i) {
    const Strided a = at(i.a), b = at(i.b);
    if (!is_small(a) || !is_small(b)) return false;
    switch (i.op) {
      case Operation::kAdd: return set(i.target, {a.at + b.at, a.by + b.by});
      case Operation::kSubtract: return set(i.target, {a.at - b.at, a.by - b.by});
      case Operation::kMultiply: return multiply(i.target, a, b);
      case Operation::kMinimum: return set(i.target, minimum(a, b));
      case Operation::kMaximum: {
        const Strided negative = minimum({-a.at, -a.by}, {-b.at, -b.by});
        return set(i.target, {-negative.at, -negative.by});
      }
      case Operation::kWrap: return wrap(i.target, a, b);
      case Operation::kEqual: return set(i.target, {equal(a, b), 0});
      case Operation::kNotEqual: return set(i.target, {!equal(a, b), 0});
      case Operation::kLess: return set(i.target, {less(a, b), 0});
      case Operation::kLessEqual: return set(i.target, {!less(b, a), 0});
      case Operation::kXor: return a.by == 0 && b.by == 0 && set(i.target, {a.at ^ b.at, 0});
      default: return divide(i, a, b);
    }
  }

  // Evaluates a quotient or remainder. Shortens the batch to the iterations with the same quotient.
  bool divide(const Instruction& i, Strided x, Strided by) {
    Undefined why = Undefined::kNone;
    const auto quotient = apply_operator(Operator::kDivide, x.at, by.at, &why);
    if (!quotient || by.by != 0) return false;
    const Strided remainder{x.at - *quotient * by.at, x.by};
    if (x.by != 0) {
      while_not_negative(remainder);
      while_not_negative({by.at - 1 - remainder.at, -remainder.by});
    }
    return set(i.target, i.op == Operation::kDivide ? Strided{*quotient, 0} : remainder);
  }

  bool multiply(uint8_t target, Strided a, Strided b) {
    if (a.by != 0) std::swap(a, b);
    int64_t at = 0, by = 0;
    if (a.by != 0 || __builtin_mul_overflow(a.at, b.at, &at) ||
        __builtin_mul_overflow(a.at, b.by, &by))
      return false;
    return set(target, {at, by});
  }

  Strided minimum(Strided a, Strided b) {
    if (b.at < a.at || (b.at == a.at && b.by < a.by)) std::swap(a, b);
    while_not_negative({b.at - a.at, b.by - a.by});
    return a;
  }

  bool wrap(uint8_t target, Strided x, Strided m) {
    if (m.by != 0 || m.at <= 0 || x.at < -m.at || x.at >= 2 * m.at) return false;
    const int64_t low = x.at < 0 ? -m.at : x.at < m.at ? 0 : m.at;
    while_not_negative({x.at - low, x.by});
    while_not_negative({low + m.at - 1 - x.at, -x.by});
    return set(target, {x.at - low, x.by});
  }

  // Reads an element of a table. Shortens the batch to the iterations in which elements differ by one stride.
  bool element(uint8_t target, const std::vector<int64_t>& table, Strided index) {
    const auto size = static_cast<int64_t>(table.size());
    if (index.at < 0 || index.at >= size) return false;
    const int64_t* entry = &table[index.at];
    if (index.by == 0) return set(target, {*entry, 0});
    while_not_negative(index.by < 0 ? index : Strided{size - 1 - index.at, -index.by});
    if (count_ < 2) return set(target, {*entry, 0});
    // A difference that overflows wraps around. set() refuses the result, which is too great.
    const auto difference = [&] {
      return static_cast<int64_t>(static_cast<uint64_t>(entry[index.by]) -
                                  static_cast<uint64_t>(*entry));
    };
    const int64_t by = difference();
    int64_t same = 2;
    for (entry += index.by; same < count_ && difference() == by; entry += index.by) ++same;
    count_ = same;
    return set(target, {table[index.at], by});
  }

  // Searches a table. Shortens the batch to the iterations that find the same entry, or each find the next one.
  bool search(uint8_t target, const Entries& table, Strided x) {
    const auto size = static_cast<int64_t>(table.size());
    const int64_t found = locate(table, x.at);
    const auto holds = [&](int64_t index, int64_t value) {
      return 0 <= index && index + 1 < size && table[index] <= value && value < table[index + 1];
    };
    if (x.by == 0 || count_ < 2) return set(target, {found, 0});
    const int64_t by = x.by < 0 ? -1 : 1;
    if (holds(found + by, x.at + x.by)) {
      int64_t same = 2;
      while (same < count_ && holds(found + same * by, x.at + same * x.by)) ++same;
      count_ = std::min(count_, same);
      return set(target, {found, by});
    }
    if (!holds(found, x.at + x.by)) {
      count_ = std::min<int64_t>(count_, 1);
      return set(target, {found, 0});
    }
    while_not_negative(x.by < 0 ? Strided{x.at - table[found], x.by}
                                : Strided{table[found + 1] - 1 - x.at, -x.by});
    return set(target, {found, 0});
  }

  bool step(const Instruction& i) {
    if (batch_.has_step) return false;
    batch_.has_step = true;
    batch_.key = at(i.a);
    batch_.has_after = i.b != Code::kNoRegister;
    batch_.after = batch_.has_after ? at(i.b) : Strided{};
    return true;
  }

  bool message(const Instruction& i) {
    batch_.messages.push_back(
        {Code::head(i.b, r_[i.a]), at(i.a), static_cast<int32_t>(batch_.pieces.size()), 0});
    return true;
  }

  bool piece(const Code::PieceRegisters& p) {
    ++batch_.messages.back().pieces;
    batch_.pieces.push_back({p.buffer, p.ranged, at(p.block), p.ranged ? at(p.low) : Strided{},
                             p.ranged ? at(p.high) : Strided{}});
    return true;
  }

  const Code& code_;
  const std::vector<Entries>& tables_;
  int64_t* const r_;
  std::array<int64_t, 256> by_;  // by register
  StridedBatch& batch_;
  int64_t count_ = 0;
};

bool Code::batch(const Binding& binding, const Walker& walker, int64_t* registers,
                 StridedBatch& batch) const {
  BatchEvaluator evaluator(*this, binding, registers, batch);
  batch.behind = evaluator.run(walker.program_counter);
  if (batch.behind < 0) return false;
  const Instruction& next = instructions_[batch.behind - 1];
  batch.more = batch.count < registers[next.b] - registers[next.a];
  return true;
}

void Code::take(Walker& walker, int64_t* registers, const StridedBatch& batch) const {
  walker.iterations -= batch.count;
  registers[instructions_[batch.behind - 1].a] += batch.count;
  if (!batch.more) walker.program_counter = batch.behind;
  if (!batch.has_step) return;
  walker.key = batch.key.last(batch.count);
  walker.has_after = batch.has_after;
  walker.after = batch.after.last(batch.count);
}

}  // namespace quadrille
