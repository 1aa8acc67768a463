// Computes intervals for the values of expressions. It finds values that may leave 64 bits, and tables that may be
// too long.
//
// It starts from the limits on ranks, on bytes of a contribution and on parameters (schedule/binding.h). Bounds on
// tables follow from these. Requirements, and conditions on the path to a place, narrow the intervals of the values
// that they compare.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "schedule/binding.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// An expression with inclusive bounds. The bounds are computed, or required of it.
struct Bounded {
  Expression expression;
  int64_t low, high;
};

// An expression for which intervals are too coarse. The solver must show its bounds at the end of the path.
struct OutOfRange {
  Path path;
  Bounded value;               // with the bounds that are required of it
  std::vector<Bounded> parts;  // of the expression, with their computed intervals
  size_t checked;      // number of requirements that are known to hold, in the order of Anatomy
  int statement = -1;  // as in Evaluation
};

// The limits of jobs and calls.
struct Limits {
  int64_t ranks = kMaxRanks, count = kMaxCount, parameter = kMaxParameter;
};

// Returns all expressions for which intervals are too coarse, those of tables first. Returns nothing (nullopt) if
// conditions are nested too deeply to search in reasonable time.
std::optional<std::vector<OutOfRange>> out_of_range(const Program& program,
                                                    const std::vector<Evaluation>& evaluations);

// Inclusive bounds of a lemma's variables, and of all values that occur in the lemma where its conditions hold. An end
// of 64 bits is no bound.
struct LemmaRanges {
  std::vector<std::pair<int64_t, int64_t>> variables;
  std::pair<int64_t, int64_t> all;
};

// The operators of a lemma have the values that bits.h gives them, also where the language gives none.
LemmaRanges ranges_of_lemma(const Program& program, size_t variables,
                            const std::vector<Expression>& given, const Expression& show);

// Returns the bounds of the evaluation's value, clamped to 64 bits. Only tests call this.
std::pair<int64_t, int64_t> range_of(const Program& program, const Evaluation& evaluation,
                                     const Limits& limits);

}  // namespace quadrille::verifier
