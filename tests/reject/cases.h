// The programs of tests/reject that bind and run, and must be refuted.
#ifndef QUADRILLE_TESTS_REJECT_CASES_H_
#define QUADRILLE_TESTS_REJECT_CASES_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "verifier/verdict.h"

namespace quadrille::verifier {

inline constexpr int64_t kNoKey = INT64_MIN;

// So many nodes of one rank.
inline const std::vector<std::vector<int64_t>> kTwo = {{1, 1}}, kThree = {{1, 1, 1}},
                                               kFour = {{1, 1, 1, 1}};

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

// What each program is refuted for, on which nodes, and what mends it.
std::vector<Refusal> block_refusals();
std::vector<Refusal> message_refusals();
std::vector<Refusal> combining_refusals();
std::vector<Refusal> barrier_refusals();

inline std::vector<Refusal> joined(std::initializer_list<std::vector<Refusal>> lists) {
  std::vector<Refusal> all;
  for (const std::vector<Refusal>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

inline std::vector<Refusal> refusals() {
  return joined({block_refusals(), message_refusals(), combining_refusals(), barrier_refusals()});
}

}  // namespace quadrille::verifier

#endif  // QUADRILLE_TESTS_REJECT_CASES_H_
