// Lemmas and theorems, which are proven before anything uses them, and claims that a proof calls false. A lemma by
// induction is two obligations: its lowest case, and the step from each case to the next. Tested with the obligations
// (planner.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

namespace quadrille::verifier {
namespace {

void define(Planner& p, const ProofStatement& statement) {
  if (statement.lines.size() != 1 || !starts_with(statement.lines[0], "as"))
    p.fail_at(statement, "it wants one line, 'as NUMBER'");
  p.lines.define(statement.subject, statement.variables.size(),
                 p.number(statement.lines[0], {statement.variables, {}, false}));
}

Lemma read_lemma(const Planner& p, const ProofStatement& statement, const View& view) {
  Lemma lemma{statement.subject, statement.variables.size(), {}, {}, std::nullopt};
  bool shown = false;
  for (const Line& line : statement.lines) {
    if (starts_with(line, "given")) {
      lemma.given.push_back(p.condition(line, view));
    } else if (starts_with(line, "show")) {
      if (shown) p.fail_line(line, "a second 'show'");
      lemma.show = p.condition(line, view);
      shown = true;
    } else if (starts_with(line, "induction")) {
      if (lemma.induction) p.fail_line(line, "a second 'induction'");
      lemma.induction = p.take(p.lines.induction(line, view));
    }
  }
  if (!shown) p.fail_at(statement, "nothing to show");
  // An induction's base and step say nothing of conditions that change on the way.
  if (lemma.induction)
    for (const Expression& condition : lemma.given)
      if (mentions_variable(condition, lemma.induction->variable))
        p.fail_at(statement, "a 'given' names the variable of the induction");
  return lemma;
}

void prove_lemma(Planner& p, const std::string& name, const Lemma& lemma, const Scene& scene) {
  if (!lemma.induction)
    return p.add(name, scene, [=](Query& q, const Instance& instance) {
      show_condition(q, lemma.show, instance);
    });
  const Lemma::Induction induction = *lemma.induction;
  p.add(name + ", base", [=, &p](Query& q) {
    Instance instance = p.unknowns(q, scene.view);
    instance.variables[induction.variable] = q.number(induction.low, instance);
    assume(q, scene.facts, instance);
    q.hypotheses.push_back(
        q.less_equal(q.number(induction.low, instance), q.number(induction.high, instance)));
    show_condition(q, lemma.show, instance);
  });
  p.add(name + ", step", scene, [=](Query& q, Instance instance) {
    const Polynomial x = instance.variables[induction.variable];
    q.hypotheses.push_back(q.less_equal(q.number(induction.low, instance), x));
    q.hypotheses.push_back(q.less(x, q.number(induction.high, instance)));
    q.hypotheses.push_back(q.condition(lemma.show, instance));
    instance.variables[induction.variable] = x + 1;
    show_condition(q, lemma.show, instance);
  });
}

}  // namespace

void plan_lemma(Planner& p, const ProofStatement& statement) {
  if (statement.kind == "define") return define(p, statement);
  const bool theorem = statement.kind == "theorem", is_false = statement.kind == "refute";
  if (statement.kind != "lemma" && !theorem && !is_false) return;
  const View view{statement.variables, {}, false};
  Lemma lemma = read_lemma(p, statement, view);
  if (is_false)
    return p.plan.false_claims.push_back(
        {lemma.name, statement.variables, lemma.given, lemma.show});
  Scene scene{view, {}, lemma.given};
  append(scene.facts, p.uses(&statement, view));
  const size_t before = p.plan.obligations.size();
  prove_lemma(p, fmt::format("{} {}", statement.kind, lemma.name), lemma, scene);
  for (size_t i = before; i < p.plan.obligations.size(); ++i)
    p.plan.obligations[i].theorem = theorem;
  p.lines.add_lemma(std::move(lemma));
}

}  // namespace quadrille::verifier
