// What a block holds, exactly: fragments of values.
#ifndef QUADRILLE_VERIFIER_CONTENTS_H_
#define QUADRILLE_VERIFIER_CONTENTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace quadrille::verifier {

// Positions low .. high of a block hold that value's positions low + shift .. high + shift.
struct Fragment {
  int64_t low, high;
  int64_t shift;
  int32_t value;
  bool unused = false;  // written, and not read since
  friend bool operator==(const Fragment&, const Fragment&) = default;
};
using Fragments = std::vector<Fragment>;

// A half-open interval.
struct Interval {
  int64_t low, high;
  bool meets(const Interval& other) const { return low < other.high && other.low < high; }
};

// What a block holds. Most blocks have one fragment, and there are millions of blocks, so one fragment is stored here.
class BlockContents {
 public:
  bool written() const { return written_; }
  // Ascending, equal neighbours joined.
  std::span<const Fragment> fragments() const;
  int64_t length() const { return fragments().empty() ? 0 : fragments().back().high; }
  // True where all of low .. high is held.
  bool holds(int64_t low, int64_t high) const;

  // What low .. high holds, moved to 0 .. high - low; it counts as used.
  Fragments read(int64_t low, int64_t high);
  // Replaces low .. high by fragments that cover it; it counts as unused until it is read.
  void write(int64_t low, int64_t high, const Fragments& fragments);
  void clear() { replace(0, fragments().size(), {}); }
  void mark_read(int64_t low, int64_t high);

  // True where something in low .. high was written and not read since.
  bool unused(int64_t low, int64_t high) const;
  // True where some position holds there already what the fragments hold.
  bool shares(const Fragments& fragments) const;

 private:
  // Where the fragments begin that reach beyond a position.
  size_t first_beyond(int64_t position) const;
  // Replaces the fragments first .. last, last not included, by others.
  void replace(size_t first, size_t last, const Fragments& by);

  Fragment one_ = {};  // the only one, where there is no list; none where it is empty
  std::unique_ptr<Fragments> list_;
  bool written_ = false;
};

class Accesses {
 public:
  // Records an access in the step with that key. Keys do not decrease within an epoch, and all steps of earlier
  // epochs are complete. Returns the key of the first earlier step above `after` that conflicts: it has accessed the
  // same bytes, and one of the two writes.
  std::optional<int64_t> note(int64_t epoch, int64_t key, int64_t after, const Interval& part,
                              bool write);

 private:
  struct Step {
    int64_t key;
    bool write;
    friend bool operator==(const Step&, const Step&) = default;
  };
  struct Part {
    int64_t low, high;
    std::vector<Step> steps;  // that have accessed it, in their order

    void use(int64_t key, bool write);
    std::optional<int64_t> disturbed(int64_t key, int64_t after, bool write) const;
  };

  void cut(int64_t position);

  int64_t epoch_ = 0;
  std::vector<Part> parts_;  // ascending
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_CONTENTS_H_
