// The numbers of a schedule for any nodes, as formulas that keep to what their algorithm takes.
#ifndef QUADRILLE_GENERATOR_FORMULAS_H_
#define QUADRILLE_GENERATOR_FORMULAS_H_

#include <string>

#include "generator/registry.h"
#include "schedule/any_nodes.h"

namespace quadrille {

// The number that gives this parameter of the algorithm's program.
const Number& number_of(const Algorithm& algorithm, const Parameter& parameter);

// A number as it was typed: "8", "ranks div 2", "size[0]"; the initial one where nothing was. A radix
// is never more than the number of ranks, and no number less than the least of its kind, whatever
// the nodes are: 8 serves a job of 4 ranks as 4. `sqrt`, for a radix, is sqrt_formula. Errors name
// the flag.
Result<Expression> read_formula(const Number& number, const std::string& text,
                                const Program& program);

// The least power of two whose square is no less than the ranks whose distances have the digits: of
// all, or, where the program knows nodes, of the largest. At most 256.
Expression sqrt_formula(const Program& program);

// The job of a schedule for any nodes, before its numbers: how many ranks are proven, and in words what
// the program requires of their number.
Job job_for_any(const Algorithm& algorithm, const Program& program);

// " --radix 8": the flag that gives that formula; nothing where it is the initial number's.
std::string formula_flag(const Number& number, const Program& program, const Expression& formula);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_FORMULAS_H_
