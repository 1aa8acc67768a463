// Intervals of the values that expressions may take. They find what may leave 64 bits, or make a table too long.
//
// The bounds are those of schedules (schedule/binding.h): of ranks, of bytes of a contribution, and of parameters.
// Bounds of tables follow from these. Conditions on the path to a place, and requirements, narrow the values that
// they compare.
#ifndef QUADRILLE_VERIFIER_PROVE_RANGES_H_
#define QUADRILLE_VERIFIER_PROVE_RANGES_H_

#include <optional>
#include <utility>
#include <vector>

#include "schedule/binding.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// An expression, and between which values it is, or is to be.
struct Bounded {
  Expression expression;
  int64_t low, high;
};

// What intervals do not show, to be shown by the solver at the end of a path; and the intervals of the expression's
// parts.
struct OutOfRange {
  Path path;
  Bounded value;
  std::vector<Bounded> parts;
};

// What jobs and calls are bounded by.
struct Limits {
  int64_t ranks = kMaxRanks, count = kMaxCount, parameter = kMaxParameter;
};

// Every one of the program, those of its tables first; nothing where conditions are nested so deeply in
// conditions that this takes too long to tell.
std::optional<std::vector<OutOfRange>> out_of_range(const Program& program,
                                                    const std::vector<Place>& places);

// Between which values the place's lies, as far as 64 bits hold them; for tests.
std::pair<int64_t, int64_t> range_of(const Program& program, const Place& place,
                                     const Limits& limits);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_RANGES_H_
