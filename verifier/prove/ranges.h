// Intervals of the values that expressions may take. They find values that may leave 64 bits, and tables that may be
// too long.
//
// The bounds are those of schedules (schedule/binding.h): of ranks, of bytes of a contribution, and of parameters.
// Bounds of tables follow from these. Conditions on the path to a place, and requirements, narrow the values that they
// compare.
#ifndef QUADRILLE_VERIFIER_PROVE_RANGES_H_
#define QUADRILLE_VERIFIER_PROVE_RANGES_H_

#include <optional>
#include <utility>
#include <vector>

#include "schedule/binding.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// An expression, and the bounds that it has or must have.
struct Bounded {
  Expression expression;
  int64_t low, high;
};

// A value that intervals do not bound, which the solver must bound at the end of a path, and the intervals of the
// expression's parts.
struct OutOfRange {
  Path path;
  Bounded value;
  std::vector<Bounded> parts;
  size_t checked;  // the requirements that were checked before
};

// The limits of jobs and calls.
struct Limits {
  int64_t ranks = kMaxRanks, count = kMaxCount, parameter = kMaxParameter;
};

// All such values of the program, those of its tables first. The result is empty if conditions are nested too deeply
// to search in reasonable time.
std::optional<std::vector<OutOfRange>> out_of_range(const Program& program,
                                                    const std::vector<Place>& places);

// The bounds of the place's value, as far as 64 bits hold them; for tests.
std::pair<int64_t, int64_t> range_of(const Program& program, const Place& place,
                                     const Limits& limits);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_RANGES_H_
