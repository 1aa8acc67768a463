// Every value fits in 64 bits, and no table is longer than tables may be, for all that programs are
// proven for. Where intervals do not tell (ranges.h), the solver is asked. Tested with the obligations
// (obligations.cc) and by tests/prove/ranges_test.cc.
#include "verifier/prove/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/binding.h"
#include "verifier/prove/paths.h"

namespace quadrille::verifier {

void Planner::fits() {
  const ProofStatement *statement = find("fits", ""), *definedness = find("defined", "");
  const auto found = out_of_range(program_, anatomy_.places);
  if (!found)
    return fail_proof(
        "the conditions of its expressions are nested too deeply, lets put in, to tell that they "
        "fit");
  std::vector<OutOfRange> asked;
  for (const OutOfRange& out : *found) {
    const bool known = std::any_of(asked.begin(), asked.end(), [&](const OutOfRange& earlier) {
      return earlier.value.expression == out.value.expression &&
             earlier.value.high == out.value.high && is_part_of(earlier.path, out.path);
    });
    if (known) continue;
    asked.push_back(out);
    const View view = with_loop_names(view_along(out.path));
    Uses facts = uses(statement, view);
    const Uses more = uses(definedness, view);
    facts.insert(facts.end(), more.begin(), more.end());
    add(fmt::format("fits {}", asked.size()), [=, this](Query& q) {
      bound(q);
      const Instance instance = unknowns_at(q, view, out.path, facts);
      for (const Bounded& part : out.parts) append(q.hypotheses, between(q, part, instance));
      const Polynomial value = q.logic.number(out.value.expression, instance);
      show(q, {}, between(q, out.value, instance),
           q.logic.less(value, Polynomial::constant(out.value.low)));
    });
  }
}

std::vector<z3::expr> Planner::between(Query& q, const Bounded& bounded, const Instance& instance) {
  const Polynomial value = q.logic.number(bounded.expression, instance);
  return {q.logic.less_equal(Polynomial::constant(bounded.low), value),
          q.logic.less_equal(value, Polynomial::constant(bounded.high))};
}

// What programs are proven for.
void Planner::bound(Query& q) const {
  const auto at_most = [&](const Polynomial& number, int64_t limit) {
    q.hypotheses.push_back(q.logic.less_equal(number, Polynomial::constant(limit)));
  };
  q.logic.bound_counts(kMaxCount);
  for (size_t i = 0; i < program_.parameters.size(); ++i) {
    const Polynomial parameter = q.logic.number(leaf(Operator::kParameter, i), {});
    at_most(parameter, kMaxParameter);
    at_most(Polynomial::constant(0) - parameter, kMaxParameter);
  }
}

}  // namespace quadrille::verifier
