// The programs of tests/reject that bind and run, and must be refuted.
#ifndef QUADRILLE_TESTS_REJECT_CASES_H_
#define QUADRILLE_TESTS_REJECT_CASES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

inline constexpr int64_t kNoKey = INT64_MIN;

struct Refusal {
  std::string name;  // of the file
  std::vector<std::vector<int64_t>> nodes;
  // The counterexample: what is violated, in which step, whose ranks, and a part of the clause.
  Property property;
  int64_t key;
  std::vector<int64_t> ranks;
  std::string clause;
  // Where `wrong` is replaced, the program is right; both empty where no one change mends it.
  std::string wrong, mended;
  Call call = {};
  std::optional<int> ports = {};
};

std::vector<Refusal> refusals();

}  // namespace quadrille::verifier

#endif  // QUADRILLE_TESTS_REJECT_CASES_H_
