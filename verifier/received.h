// From which processes a process has received in a barrier, directly or through others: those have entered it.
#ifndef QUADRILLE_VERIFIER_RECEIVED_H_
#define QUADRILLE_VERIFIER_RECEIVED_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "verifier/contents.h"

namespace quadrille::verifier {

// A set of processes, as intervals of their numbers. Processes that receive from their neighbors have few.
class ProcessSet {
 public:
  ProcessSet() = default;
  explicit ProcessSet(int64_t process) : intervals_{{process, process + 1}} {}

  void add(const ProcessSet& others);
  // The first of processes 0, 1, ... that is not in it.
  int64_t first_missing() const;

  friend bool operator==(const ProcessSet& a, const ProcessSet& b);

 private:
  std::vector<Interval> intervals_;  // ascending, apart
};

// What one process has received, step by step. A message carries what its sender is sure to have received when the step
// starts: what arrived in the steps that it waits for.
class BarrierProgress {
 public:
  // `keep`: a step may start before the previous one is complete.
  BarrierProgress(int64_t process, bool keep) : keep_(keep), process_(process) {}

  // A step starts that waits for all earlier ones, or for those with keys up to `after`.
  void begin(std::optional<int64_t> after);
  const ProcessSet& sent() const { return sent_; }  // with each message of that step
  void receive(const ProcessSet& others) { arriving_.add(others); }
  // Completes the step that has started, if there is one.
  void complete(int64_t key);
  // In all steps.
  ProcessSet all() const { return steps_.empty() ? ProcessSet(process_) : steps_.back().received; }

 private:
  struct Completed {
    int64_t key;
    ProcessSet received;  // so far
  };

  bool keep_, begun_ = false;
  int64_t process_;
  std::vector<Completed>
      steps_;  // by ascending keys; the last one alone where no others are asked for
  ProcessSet sent_, arriving_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_RECEIVED_H_
