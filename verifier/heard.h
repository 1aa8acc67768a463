// Of whom a process has heard in a barrier: that they have begun it.
#ifndef QUADRILLE_VERIFIER_HEARD_H_
#define QUADRILLE_VERIFIER_HEARD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "verifier/contents.h"

namespace quadrille::verifier {

// A set of processes, as the intervals of their numbers: those that hear of neighbours have few.
class Hearsay {
 public:
  Hearsay() = default;
  explicit Hearsay(int64_t process) : intervals_{{process, process + 1}} {}

  void add(const Hearsay& others);
  // The first of processes 0, 1, ... that is not in it.
  int64_t first_missing() const;

  friend bool operator==(const Hearsay& a, const Hearsay& b);

 private:
  std::vector<Interval> intervals_;  // ascending, apart
};

// What one process has heard, step by step. A message carries what its sender is sure to have heard when the
// step begins: what arrived in the steps that it waits for.
class Hearing {
 public:
  // `keep`: some step may begin before the one before it is complete.
  Hearing(int64_t process, bool keep) : keep_(keep), process_(process) {}

  // As a step begins that waits for all before it, or for those with keys up to `after`.
  void begin(std::optional<int64_t> after);
  const Hearsay& told() const { return told_; }  // by the messages of that step
  void hear(const Hearsay& others) { arriving_.add(others); }
  // The step that has begun is complete, where there is one.
  void end(int64_t key);
  // All in all.
  Hearsay all() const { return steps_.empty() ? Hearsay(process_) : steps_.back().heard; }

 private:
  struct Ended {
    int64_t key;
    Hearsay heard;  // so far
  };

  bool keep_, begun_ = false;
  int64_t process_;
  std::vector<Ended> steps_;  // by ascending keys; the last one alone where no others are asked for
  Hearsay told_, arriving_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_HEARD_H_
