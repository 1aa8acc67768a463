// The numbers of a schedule for any nodes, as formulas whose values the algorithm always accepts.
#ifndef QUADRILLE_GENERATOR_FORMULAS_H_
#define QUADRILLE_GENERATOR_FORMULAS_H_

#include <string>

#include "generator/registry.h"
#include "schedule/any_nodes.h"

namespace quadrille {

// The number that sets this parameter of the algorithm's program.
const Number& number_of(const Algorithm& algorithm, const Parameter& parameter);

// A number as typed: "8", "ranks div 2", "size[0]"; or the initial one if the text is empty. The formula is clamped
// for all nodes. A radix is at most the number of ranks (8 becomes 4 on 4 ranks), and no number is below the least of
// its kind. `sqrt`, for a radix, is sqrt_formula. Errors name the flag.
Result<Expression> read_formula(const Number& number, const std::string& text,
                                const Program& program);

// The least power of two whose square is at least the number of ranks whose distances have the digits, at most 256.
// These are all ranks, or, if the program knows nodes, those of the largest node.
Expression sqrt_formula(const Program& program);

// The job of a schedule for any nodes, before its numbers. It has the number of ranks up to which the program is
// proven, and the program's requirements on their number, in words.
Job job_for_any(const Algorithm& algorithm, const Program& program);

// " --radix 8": the flag that gives that formula; empty for the initial number's formula.
std::string formula_flag(const Number& number, const Program& program, const Expression& formula);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_FORMULAS_H_
