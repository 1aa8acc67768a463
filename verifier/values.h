// What positions of blocks hold: sequences of contributions, each by a number.
#ifndef QUADRILLE_VERIFIER_VALUES_H_
#define QUADRILLE_VERIFIER_VALUES_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "schedule/collective.h"

namespace quadrille::verifier {

// Contributions of consecutive ranks to one block: `count` of them, from `first` on upwards (step 1) or downwards
// (-1). A single one has step 0.
struct ContributionRun {
  int32_t first, count;
  int32_t block;
  int8_t group, step;

  int32_t last() const { return first + (count - 1) * step; }
  friend auto operator<=>(const ContributionRun&, const ContributionRun&) = default;
};
// As few runs as possible, so that equal sequences have equal runs.
using ContributionRuns = std::vector<ContributionRun>;

class Values {
 public:
  // Equal numbers, equal sequences.
  int32_t number(const Contribution& contribution);
  int32_t number(const std::vector<Contribution>& sequence);
  int32_t sum_of(const Contributors& contributors);
  // left op right; nothing where a contribution would be added twice.
  std::optional<int32_t> combine(int32_t left, int32_t right);
  // The same contributions in an order of its own: equal numbers, equal sets.
  int32_t in_any_order(int32_t value);

  const ContributionRuns& runs(int32_t value) const { return *runs_[value]; }
  int64_t size(int32_t value) const;

 private:
  struct Hash {
    size_t operator()(const ContributionRuns& runs) const;
  };

  int32_t number(ContributionRuns runs);

  std::unordered_map<ContributionRuns, int32_t, Hash> numbers_;
  std::vector<const ContributionRuns*> runs_;
  std::unordered_map<int64_t, std::optional<int32_t>> combined_;
  std::unordered_map<int32_t, int32_t> in_any_order_;  // where it is another
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_VALUES_H_
