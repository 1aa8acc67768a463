// Schedules for any nodes: the file names no topology, and binding takes the nodes that it finds. Its
// parameters are formulas: expressions over constants, `ranks` and tables of node sizes, which have
// one value at all ranks. Between two groups, of which each has another number of ranks, they are constants.
#ifndef QUADRILLE_SCHEDULE_ANY_NODES_H_
#define QUADRILLE_SCHEDULE_ANY_NODES_H_

#include <string>
#include <vector>

#include "schedule/binding.h"

namespace quadrille {

inline bool serves_any_nodes(const Job& job) { return job.groups.empty(); }

// Whether an expression may be a formula of that program, and otherwise why not.
Result<bool> validate_formula(const Program& program, const Expression& formula);

// "min(8, ranks)", with the names of the program's tables. Errors begin with `source`.
Result<Expression> parse_formula(const std::string& text, const Program& program,
                                 const std::string& source);
std::string formula_text(const Program& program, const Expression& formula);

// Whether it has a value on all nodes, whatever the value: no divisor can be 0, nothing overflows with
// up to 2^31 - 1 ranks, and the only elements of tables are the first and the last. Where this says
// false, there may yet be one.
bool has_value_on_all_nodes(const Expression& formula);

// The job on these nodes, of each of the program's groups. Errors: more ranks than the job serves, a formula
// without a value. What the program requires is asked by bind().
Result<Job> on_nodes(const Program& program, const Job& job, const std::vector<Topology>& groups);

}  // namespace quadrille

#endif  // QUADRILLE_SCHEDULE_ANY_NODES_H_
