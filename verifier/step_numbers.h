// The steps of one rank, numbered in their order: which are over when another starts.
#ifndef QUADRILLE_VERIFIER_STEP_NUMBERS_H_
#define QUADRILLE_VERIFIER_STEP_NUMBERS_H_

#include <algorithm>
#include <cstdint>

#include "schedule/walk.h"
#include "verifier/key_history.h"
#include "verifier/slots.h"

namespace quadrille::verifier {

class StepNumbers {
 public:
  bool increases(int64_t key) const { return keys_.size() == 0 || last_ < key; }
  void enter(int64_t key) {
    keys_.add({key, 0}, 1);
    last_ = key;
  }

  // Of the step that was entered last, which the walker stands before.
  Slots::Step step(const Walker& walker) const {
    const int64_t over = walker.has_after ? keys_.up_to(walker.after) : keys_.size();
    return {number(keys_.size()), number(std::max(over, copied_))};
  }
  // How many steps may be in flight when it starts; 0: any number.
  int64_t window(const Walker& walker) const { return keys_.window({walker.after, 0}, 1); }

  // A copy outside steps waits for all before it, and all behind it wait for it.
  Slots::Step copy() {
    number_ = number(keys_.size()) + 1;
    copied_ = keys_.size();
    return {number_, number_};
  }

 private:
  int32_t number(int64_t steps) const { return static_cast<int32_t>(number_ + steps - copied_); }

  KeyHistory keys_;
  int64_t last_ = 0;    // key
  int64_t copied_ = 0;  // so many steps came before the last copy outside steps
  int32_t number_ = 0;  // of that copy
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_STEP_NUMBERS_H_
