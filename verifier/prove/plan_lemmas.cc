// Lemmas and theorems, which are proven before anything uses them, and claims that a proof calls false. A lemma by
// induction is two obligations: its lowest case, and the step from each case to the next. Tested with the obligations
// (planner.cc).
#include "verifier/prove/planner.h"

#include <fmt/format.h>

namespace quadrille::verifier {

void Planner::read_early(const ProofStatement& statement) {
  if (statement.kind == "define") return define(statement);
  if (statement.kind != "lemma" && statement.kind != "theorem" && statement.kind != "refute")
    return;
  const View view{statement.variables, {}, false};
  Lemma lemma{statement.subject, statement.variables.size(), {}, {}, std::nullopt};
  bool shown = false;
  for (const Line& line : statement.lines) {
    if (starts_with(line, "given")) {
      lemma.given.push_back(take(lines_.expression(line, view, ProofLines::Wanted::kCondition)));
    } else if (starts_with(line, "show")) {
      if (shown) fail_line(line, "a second 'show'");
      lemma.show = take(lines_.expression(line, view, ProofLines::Wanted::kCondition));
      shown = true;
    } else if (starts_with(line, "induction")) {
      if (lemma.induction) fail_line(line, "a second 'induction'");
      lemma.induction = take(lines_.induction(line, view));
    } else if (!starts_with(line, "use")) {
      fail_line(line, fmt::format("'{}' is no line of a {}", line.tokens[0].text, statement.kind));
    } else if (!lines_.use(line, view)) {
      fail_line(line, "uses nothing that is known");
    }
  }
  if (!shown) fail_at(statement, "nothing to show");
  // An induction's base and step say nothing of conditions that change on the way.
  if (lemma.induction)
    for (const Expression& condition : lemma.given)
      if (mentions_variable(condition, lemma.induction->variable))
        fail_at(statement, "a 'given' names the variable of the induction");
  if (!error_.empty()) return;
  if (statement.kind == "refute") {
    plan_.false_claims.push_back({lemma.name, statement.variables, lemma.given, lemma.show});
    return;
  }
  lemma_obligations(statement, lemma, view);
  lines_.add_lemma(std::move(lemma));
}

void Planner::define(const ProofStatement& statement) {
  const View view{statement.variables, {}, false};
  if (statement.lines.size() != 1 || !starts_with(statement.lines[0], "as"))
    return fail_at(statement, "it wants one line, 'as NUMBER'");
  lines_.define(statement.subject, statement.variables.size(),
                take(lines_.expression(statement.lines[0], view, ProofLines::Wanted::kNumber)));
}

void Planner::lemma_obligations(const ProofStatement& statement, const Lemma& lemma,
                                const View& view) {
  const bool theorem = statement.kind == "theorem";
  if (lemma.induction) return induction_obligations(statement, lemma, view);
  const Uses facts = uses(&statement, view);
  add(fmt::format("{} {}", statement.kind, lemma.name), theorem, [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    assume(q, lemma.given, instance);
    assume(q, facts, instance);
    show(q, {}, {q.condition(lemma.show, instance)}, negated(q, lemma.show, instance));
  });
}

void Planner::induction_obligations(const ProofStatement& statement, const Lemma& lemma,
                                    const View& view) {
  const bool theorem = statement.kind == "theorem";
  const Uses facts = uses(&statement, view);
  const Lemma::Induction induction = *lemma.induction;
  add(fmt::format("{} {}, base", statement.kind, lemma.name), theorem, [=, this](Query& q) {
    Instance instance = unknowns(q, view);
    instance.variables[induction.variable] = q.number(induction.low, instance);
    assume(q, lemma.given, instance);
    assume(q, facts, instance);
    q.hypotheses.push_back(
        q.less_equal(q.number(induction.low, instance), q.number(induction.high, instance)));
    show(q, {}, {q.condition(lemma.show, instance)}, negated(q, lemma.show, instance));
  });
  add(fmt::format("{} {}, step", statement.kind, lemma.name), theorem, [=, this](Query& q) {
    Instance instance = unknowns(q, view);
    assume(q, lemma.given, instance);
    assume(q, facts, instance);
    const Polynomial x = instance.variables[induction.variable];
    q.hypotheses.push_back(q.less_equal(q.number(induction.low, instance), x));
    q.hypotheses.push_back(q.less(x, q.number(induction.high, instance)));
    q.hypotheses.push_back(q.condition(lemma.show, instance));
    instance.variables[induction.variable] = x + 1;
    show(q, {}, {q.condition(lemma.show, instance)}, negated(q, lemma.show, instance));
  });
}

}  // namespace quadrille::verifier
