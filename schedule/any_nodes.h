// Schedules for any nodes: the file has no topology, and binding uses the job's nodes. Parameters are formulas:
// expressions over constants, `ranks` and tables of node sizes, which have the same value on all ranks. Two groups
// differ in their number of ranks, so between groups parameters are constants.
#pragma once

#include <string>
#include <vector>

#include "schedule/binding.h"

namespace quadrille {

inline bool serves_any_nodes(const Job& job) { return job.groups.empty(); }

// Checks that the program may use the expression as a formula. The error says why not.
Result<bool> validate_formula(const Program& program, const Expression& formula);

// Checks that all formulas of a job, together with the program, are within the limits of the language.
Result<bool> validate_formulas(Program program, const std::vector<Expression>& formulas);

// Reads a formula, such as "min(8, ranks)", which may name tables of the program. Errors begin with `source`.
Result<Expression> parse_formula(const std::string& text, const Program& program,
                                 const std::string& source);
std::string formula_text(const Program& program, const Expression& formula);

// True if the formula surely has a value on all nodes: no divisor can be 0, nothing overflows with up to 2^31 - 1
// ranks, and it uses only the first and last elements of tables.
bool has_value_on_all_nodes(const Expression& formula);

// Returns the job for these nodes, one topology per group, with the values of its formulas. Errors: more ranks than
// the job serves, or a formula without a value. bind() checks the program's requirements.
Result<Job> on_nodes(const Program& program, const Job& job, const std::vector<Topology>& groups);

}  // namespace quadrille
