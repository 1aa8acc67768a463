// Where the blocks of an all-to-all are: which have arrived, a bit for every two ranks, and what the
// temporary buffers hold.
#ifndef QUADRILLE_VERIFIER_BLOCKS_H_
#define QUADRILLE_VERIFIER_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/walk.h"
#include "verifier/violations.h"

namespace quadrille::verifier {

class Arrivals {
 public:
  explicit Arrivals(int64_t ranks)
      : ranks_(ranks), row_words_((ranks + 63) / 64), bits_(ranks * row_words_, 0) {}

  bool has(int64_t source, int64_t target) const {
    return bits_[word(source, target)] >> (source % 64) & 1;
  }
  // False where the block had arrived before.
  bool add(int64_t source, int64_t target) {
    uint64_t& bits = bits_[word(source, target)];
    const uint64_t bit = uint64_t{1} << (source % 64);
    if (bits & bit) return false;
    bits |= bit;
    ++count_;
    return true;
  }
  void prefetch(int64_t source, int64_t target) const {
    __builtin_prefetch(&bits_[word(source, target)], 1);
  }

  // The first source and target whose block is missing.
  std::optional<std::pair<int64_t, int64_t>> missing() const {
    if (count_ == ranks_ * ranks_) return std::nullopt;
    int64_t pair = 0;
    while (has(pair % ranks_, pair / ranks_)) ++pair;
    return std::pair{pair % ranks_, pair / ranks_};
  }

 private:
  size_t word(int64_t source, int64_t target) const { return target * row_words_ + source / 64; }

  int64_t ranks_, row_words_;
  std::vector<uint64_t> bits_;
  int64_t count_ = 0;
};

// Blocks of the temporary buffers: what each holds, and in which steps of its rank it was last
// written and last read. That is enough: of several earlier accesses the last is the nearest, and
// what is read twice, or brought to another's place in a receive buffer, from where nothing is sent,
// is wrong in the end, whatever follows: two copies cannot both be used where there is one place.
class TemporaryBlocks {
 public:
  // A block by its source and its target, in one number.
  using Name = uint32_t;
  static constexpr Name kNone = UINT32_MAX;

  // A step by its number, from 1, among those of its rank; all with numbers up to `over` are over
  // when it starts.
  struct Step {
    int32_t number, over;
  };

  TemporaryBlocks(int64_t ranks, int64_t blocks) : blocks_(blocks), held_(ranks * blocks) {}

  // What is wrong with it, if anything. All that a step reads, it reads before it writes.
  std::optional<Property> read(int64_t rank, int64_t block, Step step, Name& name) {
    Held& held = held_[rank * blocks_ + block];
    name = held.name;
    if (held.name == kNone) return Property::kHeld;
    if (held.read > held.written) return Property::kOnce;  // from here there are two of it
    if (disturbs(step, held.written)) return Property::kOverlap;
    held.read = step.number;
    return std::nullopt;
  }
  std::optional<Property> write(int64_t rank, int64_t block, Step step, Name name) {
    Held& held = held_[rank * blocks_ + block];
    if (held.name == name) return Property::kOnce;
    if (unused(held)) return Property::kOverwrite;
    if (disturbs(step, held.written) || disturbs(step, held.read)) return Property::kOverlap;
    held = {name, step.number, held.read};
    return std::nullopt;
  }

  // Rank and block of the first that was filled and never used.
  std::optional<std::pair<int64_t, int64_t>> left_over() const {
    for (size_t i = 0; i < held_.size(); ++i)
      if (unused(held_[i])) return std::pair<int64_t, int64_t>{i / blocks_, i % blocks_};
    return std::nullopt;
  }

 private:
  struct Held {
    Name name = kNone;
    int32_t written = 0, read = 0;  // the steps in which it last was
  };

  static bool unused(const Held& held) { return held.name != kNone && held.written >= held.read; }
  // Whether that step may be in flight together with this one.
  static bool disturbs(Step step, int32_t earlier) {
    return step.over < earlier && earlier < step.number;
  }

  int64_t blocks_;
  std::vector<Held> held_;
};

// The blocks of all ranks. A block is known by its source and its target, source*ranks + target.
class Blocks {
 public:
  // Where a piece belongs: a block of the receive buffer, or block -1 - it of the temporary one.
  using Place = int32_t;
  static Place place(const PieceValue& piece) {
    const auto block = static_cast<Place>(piece.block);
    return piece.buffer == Buffer::kReceive ? block : -1 - block;
  }

  Blocks(const Program& program, const Binding& binding, FirstViolation& finding)
      : ranks_(binding.place.ranks),
        claims_in_place_(program.in_place),
        finding_(finding),
        arrivals_(ranks_),
        temporary_(ranks_, binding.temporary_blocks) {}

  // The block that the rank sends or copies from there, a block of its send or temporary buffer.
  int64_t read(int64_t rank, TemporaryBlocks::Step step, const PieceValue& piece);
  void write(int64_t rank, TemporaryBlocks::Step step, Place where, int64_t block);
  void arrive(int64_t source, int64_t target) {
    if (!arrivals_.add(source, target)) arrives_again(source, target);
  }
  void prefetch(int64_t source, int64_t target) const { arrivals_.prefetch(source, target); }

  // Whether all have arrived, and none was moved in vain.
  void finish();
  // Each block was sent no later than its place in the receive buffer was written.
  bool in_place() const { return in_place_; }

 private:
  void arrives_again(int64_t source, int64_t target);
  void bad_temporary(Property property, int64_t rank, int64_t block);

  const int64_t ranks_;
  const bool claims_in_place_;
  FirstViolation& finding_;
  Arrivals arrivals_;
  TemporaryBlocks temporary_;
  bool in_place_ = true;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_BLOCKS_H_
