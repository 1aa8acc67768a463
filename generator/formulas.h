// Reads the numbers of a schedule for any nodes, as formulas whose values the algorithm always accepts.
#pragma once

#include <string>

#include "generator/registry.h"
#include "schedule/any_nodes.h"

namespace quadrille {

// Returns the number that sets this parameter of the algorithm's program.
const Number& number_of(const Algorithm& algorithm, const Parameter& parameter);

// Reads a number as typed: "8", "ranks div 2", "size[0]", or "sqrt" for a radix (sqrt_formula). An empty text gives
// the initial number. The formula is clamped: a radix is at most the number of ranks (8 becomes 4 on 4 ranks), and no
// number is below the least of its kind. Errors name the flag.
Result<Expression> read_formula(const Number& number, const std::string& text,
                                const Program& program);

// Returns a formula for about the square root of the number of ranks: the least power of two whose square is at least
// that number, but at most 256. If the program uses nodes, the ranks of the largest node count.
Expression sqrt_formula(const Program& program);

// Returns the job of a schedule for any nodes, before its numbers. job.needs has the program's requirements in words,
// unless all are on parameters.
Job job_for_any(const Algorithm& algorithm, const Program& program);

// Returns the flag that gives that formula, " --radix 8"; empty for the initial number's formula.
std::string formula_flag(const Number& number, const Program& program, const Expression& formula);

}  // namespace quadrille
