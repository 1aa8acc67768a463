// The obligations defined, fits and role, and the axioms of exclusive or.
//
// defined: every partial operation has a value wherever the program reaches it. One obligation serves all evaluations of
// an expression whose paths include that of the first. fits: every value fits in 64 bits, and no table is too long.
// Intervals show it (ranges.h), or else Z3. role: between groups, only the root of the root's group has messages,
// since MPI tells the other ranks of that group nothing of the call. Tested with the obligations (planner.cc), and by
// tests/prove/ranges_test.cc and tests/prove/cases/refused.cases.
#include <algorithm>

#include "schedule/binding.h"
#include "schedule/traverse.h"
#include "verifier/prove/planner.h"
#include "verifier/prove/ranges.h"

namespace quadrille::verifier {
namespace {

void xor_facts(Planner& p) {
  bool has_xor = false;
  for_each_expression_of_program(p.program, [&](const Expression& whole) {
    has_xor |= any_part(whole, [](const Expression& e) { return e.op == Operator::kXor; });
  });
  for (const ProofStatement& statement : p.proof.statements)
    for (const Line& line : statement.lines)
      for (const Token& token : line.tokens) has_xor |= token.text == "xor";
  if (!has_xor) return;
  for (Obligation& fact : bitvector_obligations()) p.plan.obligations.push_back(std::move(fact));
}

// Shows that a table of expressions ascends. This comes before lemmas: their facts about `locate` rely on it.
void ascending_entries(Planner& p, int64_t number) {
  const Table& table = p.program.tables[number];
  const View view{{table.index.text}, {}, false};
  const Scene scene =
      p.scene_of_check({view, {}, p.uses(p.find("defined"), view)}, p.anatomy.checked[number]);
  p.add("defined entries of " + table.name.text + " ascend", [=, &p](Query& q) {
    const Instance instance = p.unknowns(q, scene.view, scene.checked);
    const Polynomial index = instance.variables[0], one = 1;
    q.suppose(q.less_equal(0, index));
    q.suppose(q.less(index + one, q.number(table.first, instance)));
    assume(q, scene.facts, instance);
    const Polynomial entry = q.number(table.second, instance);
    const Polynomial next = q.number(table.second, Instance{q.group, {}, {index + one}});
    show(q, {}, {q.less_equal(entry, next)}, q.less(next, entry));
  });
}

// Shows that all entries of a table of expressions that has prefix sums are at least 1.
void summed_entries(Planner& p, int64_t number) {
  const Table& source = p.program.tables[number];
  if (source.kind != TableKind::kMap) return;
  const Path path = {in_loop(source.index.text, constant(0), source.first, 0)};
  p.add("defined entries of " + source.name.text,
        p.scene_of_check(p.scene({{source.index.text}, {}, false}, path, "defined"),
                         p.anatomy.checked[number]),
        [=](Query& q, const Instance& instance) {
          q.doubt_sums();
          const Polynomial entry = q.number(source.second, instance), one = 1;
          show(q, {}, {q.less_equal(one, entry)}, q.less(entry, one));
        });
}

// Returns the view at the end of a path: its loop variables, and the names that are known in these loops.
View view_along(const Planner& p, const Path& path) {
  View view{{}, {}, true};
  for (const PathElement& element : path)
    if (element.kind == PathElement::Kind::kLoop) view.unknowns.push_back(element.name);
  for (const LoopSite& loop : p.anatomy.loops)
    if (loop.variables == view.unknowns) view.names = loop.names;
  for (const StepSite& step : p.anatomy.steps)
    if (step.variables == view.unknowns) view.names.insert(step.names.begin(), step.names.end());
  for (const Site& site : p.sites)
    if (site.variables == view.unknowns) view.names.insert(site.names.begin(), site.names.end());
  return view;
}

void defined(Planner& p) {
  std::vector<Evaluation> needed, asked;
  for (const Evaluation& evaluation : p.anatomy.evaluations) {
    const size_t before = needed.size();
    Path path = evaluation.path;
    partial_conditions(evaluation.expression, path, needed);
    for (size_t i = before; i < needed.size(); ++i) {
      needed[i].checked = evaluation.checked;
      needed[i].statement = evaluation.statement;
    }
  }
  for (const Evaluation& evaluation : needed) {
    const bool known = std::any_of(asked.begin(), asked.end(), [&](const Evaluation& earlier) {
      return earlier.expression == evaluation.expression && earlier.checked <= evaluation.checked &&
             is_part_of(earlier.path, evaluation.path);
    });
    if (known) continue;
    asked.push_back(evaluation);
    p.add(fmt::format("defined {}", asked.size()),
          p.scene_of_check(p.scene(view_along(p, evaluation.path), evaluation.path, "defined"),
                           evaluation.checked),
          [=](Query& q, const Instance& instance) {
            show_condition(q, evaluation.expression, instance);
          });
    p.plan.obligations.back().statement = evaluation.statement;
  }
}

// Supposes that counts and parameters are within their limits (schedule/binding.h).
void bound(const Program& program, Query& q) {
  const auto at_most = [&](const Polynomial& number, int64_t limit) {
    q.suppose(q.less_equal(number, limit));
  };
  q.bound_counts(kMaxCount);
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const Polynomial parameter = q.number(leaf(Operator::kParameter, i), {});
    at_most(parameter, kMaxParameter);
    at_most(Polynomial(0) - parameter, kMaxParameter);
  }
}

std::vector<z3::expr> between(Query& q, const Bounded& bounded, const Instance& instance) {
  const Polynomial value = q.number(bounded.expression, instance);
  return {q.less_equal(bounded.low, value), q.less_equal(value, bounded.high)};
}

void fits(Planner& p) {
  const auto found = out_of_range(p.program, p.anatomy.evaluations);
  if (!found)
    p.fail_proof(
        "the conditions of its expressions are nested too deeply, lets put in, to tell that they "
        "fit");
  std::vector<OutOfRange> asked;
  for (const OutOfRange& out : *found) {
    const bool known = std::any_of(asked.begin(), asked.end(), [&](const OutOfRange& earlier) {
      return earlier.value.expression == out.value.expression &&
             earlier.value.high == out.value.high && earlier.checked <= out.checked &&
             is_part_of(earlier.path, out.path);
    });
    if (known) continue;
    asked.push_back(out);
    Scene scene = p.scene(view_along(p, out.path), out.path, "fits");
    append(scene.facts, p.uses(p.find("defined"), scene.view));
    scene = p.scene_of_check(scene, out.checked);
    p.add(fmt::format("fits {}", asked.size()), [=, &p](Query& q) {
      bound(p.program, q);
      const Instance instance = p.unknowns(q, scene);
      for (const Bounded& part : out.parts) q.suppose(between(q, part, instance));
      const Polynomial value = q.number(out.value.expression, instance);
      show(q, {}, between(q, out.value, instance), q.less(value, out.value.low));
    });
    p.plan.obligations.back().statement = out.statement;
  }
}

}  // namespace

void plan_tables(Planner& p) {
  xor_facts(p);
  for (size_t i = 0; i < p.program.tables.size(); ++i) {
    const Table& table = p.program.tables[i];
    if (table.kind == TableKind::kPowers)
      p.add("defined powers of " + table.name.text, p.scene_of_check({}, p.anatomy.checked[i]),
            [=](Query& q, const Instance& nowhere) {
              const Polynomial radix = q.number(table.first, nowhere), two = 2;
              show(q, {}, {q.less_equal(two, radix)}, q.less(radix, two));
            });
    if (table.kind == TableKind::kPrefix) summed_entries(p, table.source);
  }
  for (const int64_t table : p.anatomy.searched) ascending_entries(p, table);
}

void plan_definedness(Planner& p) {
  defined(p);
  fits(p);
}

void plan_roles(Planner& p) {
  if (p.program.groups != 2 || !rooted(p.program.collective)) return;
  for (const Site& site : p.sites) {
    if (!site.is_message() || site.piece > 0) continue;
    const Path path = site.message_path();
    p.add("role " + site_name(site), p.scene(view_along(p, path), path, "defined"),
          [=](Query& q, const Instance& instance) {
            const bool is_first = instance.group == 0;
            const z3::expr is_root = q.equal(instance.rank, q.root());
            show(q, {}, {q.truth(!is_first) || is_root}, q.truth(is_first) && !is_root);
          });
  }
}

}  // namespace quadrille::verifier
