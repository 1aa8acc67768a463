// The temporary buffers of an all-to-all that forwards whole blocks: what every slot holds, and in
// which steps it was used.
#ifndef QUADRILLE_VERIFIER_SLOTS_H_
#define QUADRILLE_VERIFIER_SLOTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "verifier/verdict.h"

namespace quadrille::verifier {

// A block by its source and its target, in one number.
using BlockName = uint32_t;
inline constexpr BlockName kNoBlock = UINT32_MAX;

class Slots {
 public:
  // A step by its number, from 1, among those of its rank; all with numbers up to `over` are over
  // when it starts.
  struct Step {
    int32_t number, over;
  };

  Slots(int64_t ranks, int64_t blocks) : blocks_(blocks), slots_(ranks * blocks) {}

  // What is wrong with it, if anything. All that a step reads, it reads before it writes.
  std::optional<Property> read(int64_t rank, int64_t block, Step step, BlockName& held) {
    Slot& slot = slots_[rank * blocks_ + block];
    held = slot.holds;
    if (slot.holds == kNoBlock) return Property::kHeld;
    if (slot.read > slot.written) return Property::kOnce;  // from here there are two of it
    if (disturbs(step, slot.written)) return Property::kOverlap;
    slot.read = step.number;
    return std::nullopt;
  }
  std::optional<Property> write(int64_t rank, int64_t block, Step step, BlockName name) {
    Slot& slot = slots_[rank * blocks_ + block];
    if (slot.holds == name) return Property::kOnce;
    if (unused(slot)) return Property::kOverwrite;
    if (disturbs(step, slot.written) || disturbs(step, slot.read)) return Property::kOverlap;
    slot = {name, step.number, slot.read};
    return std::nullopt;
  }

  // The first slot, counted through all ranks, that was filled and never used.
  std::optional<int64_t> left_over() const {
    for (size_t i = 0; i < slots_.size(); ++i)
      if (unused(slots_[i])) return static_cast<int64_t>(i);
    return std::nullopt;
  }

 private:
  struct Slot {
    BlockName holds = kNoBlock;
    int32_t written = 0, read = 0;  // the steps in which it last was
  };

  static bool unused(const Slot& slot) {
    return slot.holds != kNoBlock && slot.written >= slot.read;
  }
  // Whether that step may be in flight together with this one.
  static bool disturbs(Step step, int32_t earlier) {
    return step.over < earlier && earlier < step.number;
  }

  int64_t blocks_;
  std::vector<Slot> slots_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_SLOTS_H_
