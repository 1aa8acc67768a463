// The proof's own claims: lemmas, theorems and false claims, which refute.h searches for counterexamples. A lemma by
// induction makes two obligations: its lowest case, and the step from each case to the next.
//
// A proof may also claim that the program deadlocks if `given` holds at every rank. Obligations show that each rank
// comes to a send, and that every receive is in a later step that waits for it. With synchronous sends, no send
// completes. Tested with the obligations (planner.cc).
#include "verifier/prove/bits.h"
#include "verifier/prove/planner.h"

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
      p.add_given(lemma.given, line, view);
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
  // Neither the base nor the step of an induction would check a condition that changes with the variable.
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
    q.suppose(q.less_equal(q.number(induction.low, instance), q.number(induction.high, instance)));
    show_condition(q, lemma.show, instance);
  });
  p.add(name + ", step", scene, [=](Query& q, Instance instance) {
    const Polynomial x = instance.variables[induction.variable];
    q.suppose(q.less_equal(q.number(induction.low, instance), x));
    q.suppose(q.less(x, q.number(induction.high, instance)));
    q.suppose(q.condition(lemma.show, instance));
    instance.variables[induction.variable] = x + 1;
    show_condition(q, lemma.show, instance);
  });
}

void prove_by_bits(Planner& p, const std::string& name, const Lemma& lemma,
                   const ProofStatement& statement) {
  for (const Line& line : statement.lines)
    if (starts_with(line, "use"))
      p.fail_line(line, "a lemma by bits takes no hints; remove the line, or 'by bits'");
  const LemmaRanges ranges = ranges_of_lemma(p.program, lemma.variables, lemma.given, lemma.show);
  if (const auto why = why_not_by_bits(p.program, lemma, statement.variables, ranges))
    p.fail_at(statement, *why);
  p.add(name, [=, &p](Query& q) { ask_by_bits(q, p.program, lemma, ranges); });
}

// Shows that the receive's step is after the send's step, and waits for it.
void posted_later(Planner& p, const Site& receive, const Choice& first) {
  p.add(fmt::format("deadlock: {} is posted later", site_name(receive)),
        {view_of(receive), receive.message_path(), p.plan.given},
        [=, &p](Query& q, const Instance& instance) {
          const Instance own{instance.group, instance.rank, {}};
          const Instance sender = chosen(q, first, own, instance.rank);
          const int step = p.sites[first.site].step;
          show(q, {}, p.over_before(q, step, sender, receive.step, instance),
               q.less_equal(p.key(q, receive.step, instance), p.key(q, step, sender)));
        });
}

}  // namespace

void plan_lemma(Planner& p, const ProofStatement& statement) {
  if (statement.kind == "define") return define(p, statement);
  const bool is_false = statement.kind == "refute";
  if (statement.kind != "lemma" && statement.kind != "theorem" && !is_false) return;
  const View view{statement.variables, {}, false};
  Lemma lemma = read_lemma(p, statement, view);
  if (is_false)
    return p.plan.false_claims.push_back(
        {lemma.name, statement.variables, lemma.given, lemma.show});
  const std::string name = fmt::format("{} {}", statement.kind, lemma.name);
  if (statement.by_bits) {
    prove_by_bits(p, name, lemma, statement);
  } else {
    Scene scene{view, {}, lemma.given};
    append(scene.facts, p.uses(&statement, view));
    prove_lemma(p, name, lemma, scene);
  }
  p.lines.add_lemma(std::move(lemma));
}

void plan_deadlock(Planner& p, const ProofStatement& statement) {
  Scene scene{{{}, {}, true}, {}, {}};
  for (const Line& line : statement.lines)
    if (starts_with(line, "given")) p.add_given(p.plan.given, line, scene.view);
  const WitnessChoices choices = p.choices(&statement, scene.view);
  if (choices.size() != 1 || choices[0].condition ||
      p.sites[choices[0].site].kind != Site::Kind::kSend || p.sites[choices[0].site].step < 0)
    p.fail_at(statement, "it wants one 'with send', without an 'if': what every rank sends first");
  p.plan.deadlocks = true;
  const Choice& first = choices[0];
  scene.facts = p.plan.given;
  append(scene.facts, p.uses(&statement, scene.view, 0));
  const Site& send = p.sites[first.site];
  p.add("deadlock: every rank comes to " + site_name(send), scene,
        [=, &p](Query& q, const Instance& own) {
          const Instance sender = chosen(q, first, own, own.rank);
          std::vector<z3::expr> goals = along(q, send.path, sender);
          const Polynomial peer = q.number(send.peer, sender);
          append(goals, within(q, peer, q.ranks(own.group)));
          goals.push_back(!q.equal(peer, own.rank));
          // The send must have data, or be a token: an empty message does not travel.
          if (send.moved() && p.contract.has_lengths() && !p.contract.is_barrier()) {
            const auto [low, high] = p.extent(q, *send.from, first.site, sender);
            goals.push_back(q.less(low, high));
          }
          show(q, {}, goals, !all(q, goals));
        });
  for (const Site& site : p.sites)
    if (site.kind == Site::Kind::kReceive && site.piece == 0) posted_later(p, site, first);
}

}  // namespace quadrille::verifier
