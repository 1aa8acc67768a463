// A query holds hypotheses, a goal and a mutant of the goal; these write them in terms of paths,
// instances and witnesses. Tested with the obligations (obligations.cc).
#include "verifier/prove/queries.h"

namespace quadrille::verifier {

void apply_rewrites(Query& q, const Rewrites& rewrites, const Instance& instance) {
  for (const ProofLines::Rewrite& rewrite : rewrites)
    q.logic.rewrite(rewrite.left, rewrite.right, instance);
}

void in_range(Query& q, const Instance& instance) {
  append(q.hypotheses, within(q, instance.rank, q.logic.ranks(instance.group)));
}

void assume(Query& q, const std::vector<Expression>& conditions, const Instance& instance) {
  for (const Expression& condition : conditions)
    q.hypotheses.push_back(q.logic.condition(condition, instance));
}

std::vector<z3::expr> within(Query& q, const Polynomial& number, const Polynomial& end) {
  return {q.logic.less_equal(Polynomial::constant(0), number), q.logic.less(number, end)};
}

std::vector<z3::expr> along(Query& q, const Path& path, const Instance& instance, size_t from) {
  std::vector<z3::expr> result;
  for (size_t i = from; i < path.size(); ++i) {
    const PathElement& element = path[i];
    if (element.kind == PathElement::Kind::kLoop) {
      const Polynomial& v = instance.variables[element.variable];
      result.push_back(q.logic.less_equal(q.logic.number(element.low, instance), v));
      result.push_back(q.logic.less(v, q.logic.number(element.high, instance)));
    } else {
      const z3::expr condition = q.logic.condition(element.condition, instance);
      result.push_back(element.kind == PathElement::Kind::kCondition ? condition : !condition);
    }
  }
  return result;
}

void append(std::vector<z3::expr>& to, const std::vector<z3::expr>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

z3::expr all(Query& q, const std::vector<z3::expr>& conditions) {
  z3::expr result = q.logic.truth(true);
  for (const z3::expr& condition : conditions) result = result && condition;
  return result;
}

void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts,
          const z3::expr& mutant) {
  q.goal = z3::implies(all(q, guards), all(q, facts));
  q.mutant = z3::implies(all(q, guards), mutant);
}

void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts) {
  q.goal = z3::implies(all(q, guards), all(q, facts));
  q.mutant = q.logic.truth(false);
}

z3::expr negated(Query& q, const Expression& condition, const Instance& instance) {
  return !q.logic.condition(condition, instance);
}

std::vector<z3::expr> applies(Query& q, const std::vector<Choice>& list, size_t k,
                              const Instance& instance) {
  std::vector<z3::expr> result;
  for (size_t i = 0; i <= k; ++i) {
    if (!list[i].condition) continue;
    const z3::expr condition = q.logic.condition(*list[i].condition, instance);
    result.push_back(i == k ? condition : !condition);
  }
  return result;
}

Instance chosen(Query& q, const Choice& choice, const Instance& instance, const Polynomial& rank) {
  Instance result{instance.group, rank, {}};
  for (const Expression& value : choice.values)
    result.variables.push_back(q.logic.number(value, instance));
  return result;
}

z3::expr names_instance(Query& q, const std::vector<Choice>& list, const Instance& asked, int site,
                        const Instance& instance) {
  z3::expr result = q.logic.truth(false);
  for (size_t k = 0; k < list.size(); ++k) {
    if (list[k].site != site) continue;
    std::vector<z3::expr> facts = applies(q, list, k, asked);
    const Instance named = chosen(q, list[k], asked, instance.rank);
    for (size_t i = 0; i < named.variables.size(); ++i)
      facts.push_back(q.logic.equal(named.variables[i], instance.variables[i]));
    result = result || all(q, facts);
  }
  return result;
}

}  // namespace quadrille::verifier
