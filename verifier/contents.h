// What a block holds, exactly: fragments of contributions, or of contributions combined in order.
#ifndef QUADRILLE_VERIFIER_CONTENTS_H_
#define QUADRILLE_VERIFIER_CONTENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "schedule/collective.h"
#include "schedule/program.h"

namespace quadrille::verifier {

// Sequences of contributions, each by a number: equal numbers, equal sequences.
class Values {
 public:
  int32_t number(const std::vector<Contribution>& sequence);
  const std::vector<Contribution>& sequence(int32_t number) const { return *sequences_[number]; }
  // left op right; nothing where a contribution would be added twice.
  std::optional<int32_t> combine(int32_t left, int32_t right);

 private:
  std::map<std::vector<Contribution>, int32_t> numbers_;
  std::vector<const std::vector<Contribution>*> sequences_;
  std::map<std::pair<int32_t, int32_t>, std::optional<int32_t>> combined_;
};

// Positions low .. high of a block hold that value's positions low + shift .. high + shift.
struct Fragment {
  int64_t low, high;
  int32_t value;
  int64_t shift;
  friend bool operator==(const Fragment&, const Fragment&) = default;
};
using Fragments = std::vector<Fragment>;

// Fragments as far as they lie in low .. high, moved by `by`; equal neighbours joined.
Fragments cut(const Fragments& fragments, int64_t low, int64_t high, int64_t by);
// True where they cover low .. high without a gap.
bool covers(const Fragments& fragments, int64_t low, int64_t high);

// True where some position holds the same in both.
bool share(const Fragments& a, const Fragments& b);

// A half-open interval.
struct Interval {
  int64_t low, high;
  bool meets(const Interval& other) const { return low < other.high && other.low < high; }
};

class BlockContents {
 public:
  bool written() const { return written_; }
  const Fragments& fragments() const { return fragments_; }
  int64_t length() const { return fragments_.empty() ? 0 : fragments_.back().high; }

  // Replaces low .. high by what lies there in `fragments`; it counts as unused until it is read.
  void write(int64_t low, int64_t high, const Fragments& fragments);
  void clear() { fragments_.clear(), unused_.clear(); }
  void mark_read(int64_t low, int64_t high);
  // True where something in low .. high was written and not read since.
  bool unused(int64_t low, int64_t high) const;

 private:
  bool written_ = false;
  Fragments fragments_;
  std::vector<Interval> unused_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_CONTENTS_H_
