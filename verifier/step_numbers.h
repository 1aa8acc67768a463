// The steps of one rank, numbered in their order: which are over when another starts.
#ifndef QUADRILLE_VERIFIER_STEP_NUMBERS_H_
#define QUADRILLE_VERIFIER_STEP_NUMBERS_H_

#include <algorithm>
#include <cstdint>

#include "schedule/traverse.h"
#include "schedule/walk.h"
#include "verifier/blocks.h"
#include "verifier/key_history.h"

namespace quadrille::verifier {

class StepNumbers {
 public:
  // Whether some step of the program names others, above key -1, as its `after`.
  static bool are_named(const Program& program) {
    bool named = false;
    for_each_statement(program.body, [&](const Statement& statement) {
      const auto* step = std::get_if<Step>(&statement.kind);
      named |= step && step->after && *step->after != constant(-1);
    });
    return named;
  }

  bool increases(int64_t key) const { return size_ == 0 || last_ < key; }
  // Steps that follow one another. Their keys are remembered where some step may name one of them as
  // its `after`; what is below the first, all know.
  void enter(const StridedBatch::Strided& key, int64_t count, bool remember) {
    if (remember) keys_.add(key, count);
    if (size_ == 0) first_ = key.at;
    last_ = key.last(count);
    size_ += count;
  }
  int64_t first() const { return first_; }

  // Of the step that was entered last, which the walker stands before.
  TemporaryBlocks::Step step(const Walker& walker) const {
    const int64_t over = walker.has_after ? keys_.up_to(walker.after) : size_;
    return {number(size_), number(std::max(over, copied_))};
  }
  // How many steps may be in flight when one of the last `count` starts; 0: any number.
  int64_t window(const StridedBatch::Strided& after, int64_t count) const {
    return keys_.window(after, count);
  }

  // A copy outside steps waits for all before it, and all behind it wait for it.
  TemporaryBlocks::Step copy() {
    number_ = number(size_) + 1;
    copied_ = size_;
    return {number_, number_};
  }

 private:
  int32_t number(int64_t steps) const { return static_cast<int32_t>(number_ + steps - copied_); }

  KeyHistory keys_;
  int64_t first_ = 0, last_ = 0;  // keys
  int64_t size_ = 0;
  int64_t copied_ = 0;  // so many steps came before the last copy outside steps
  int32_t number_ = 0;  // of that copy
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_STEP_NUMBERS_H_
