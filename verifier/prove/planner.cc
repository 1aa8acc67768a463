// What all kinds of obligations share: their order, the statements of a proof, the unknowns of a query, and functions
// that build queries. Tested by tests/prove/: every algorithm's proof holds. Every mutant of a program fails its
// proof or the checker. For every kind of obligation there is a program that only this kind refuses.
#include "verifier/prove/planner.h"

#include <algorithm>
#include <memory>
#include <set>

#include "schedule/binding.h"
#include "schedule/sequence.h"
#include "verifier/prove/ranges.h"

namespace quadrille::verifier {

namespace {

// Adds what a reversal or a sequence evaluates beside the program's own expressions. In a reversal, these are each key k as
// 0 - k, and bounds of loops, which run from 1 - high to 1 - low. In a sequence, k + kSecond fits in 64 bits only if k is
// below kSecond, and k - 2^63 only if k is at least 0.
Anatomy anatomy_of(const Proof& proof) {
  Anatomy anatomy = take_apart(proof.program);
  const auto add = [&](const Path& path, Operator op, int64_t number, Expression e) {
    anatomy.evaluations.push_back({path, apply(op, {constant(number), std::move(e)})});
    return anatomy.evaluations.back().expression;
  };
  for (const StepSite& step : anatomy.steps) {
    Expression key = step.key;
    if (proof.reversal) key = add(step.path, Operator::kSubtract, 0, key);
    if (proof.half != Half::kNone) add(step.path, Operator::kAdd, kSecond, key);
    if (proof.half != Half::kSecond) continue;
    add(step.path, Operator::kAdd, INT64_MIN, key);
    if (step.after)
      add(step.path, Operator::kAdd, kSecond,
          apply(Operator::kMaximum, {constant(-1), *step.after}));
  }
  if (!proof.reversal) return anatomy;
  for (const LoopSite& loop : anatomy.loops)
    for (const Expression& bound : {loop.low, loop.high})
      add(loop.path, Operator::kSubtract, 1, bound);
  return anatomy;
}

}  // namespace

Planner::Planner(const Proof& proof)
    : proof(proof),
      program(proof.program),
      anatomy(anatomy_of(proof)),
      sites(anatomy.sites),
      contract(proof.program),
      lines(proof, anatomy),
      intervals(anatomy.loops.size()) {}

ProofPlan Planner::run(UnusedLines unused) {
  if (!anatomy.unsupported.empty()) fail_proof(unknown_feature(anatomy.unsupported));
  check_subjects();
  if (const ProofStatement* statement = find("products"))
    for (const Line& line : statement->lines) {
      if (line.tokens.size() != 2 || line.tokens[1].text != "all" || compares_products)
        fail_line(line, "'products' has one line, 'compare all'");
      compares_products = true;
      lines.take_up(line);
    }
  plan_tables(*this);
  for (const ProofStatement& statement : proof.statements) plan_lemma(*this, statement);
  check_inside();
  plan_definedness(*this);
  plan_keys(*this);
  if (const ProofStatement* statement = find("deadlock")) {
    if (proof.reversal || proof.half != Half::kNone)
      fail_at(*statement,
              "a deadlock of a program says nothing of its reversal, or of a sequence; leave the "
              "statement out");
    plan_deadlock(*this, *statement);
  } else {
    plan_roles(*this);
    read_witnesses(*this);
    plan_matches(*this);
    plan_values(*this);
    plan_port(*this);
  }
  if (const Line* line = lines.too_large())
    fail_line(*line,
              fmt::format("it uses a fact of more than {} parts, definitions and lets put in",
                          kMostParts));
  if (unused == UnusedLines::kRefused) check_unused_lines();
  plan.scope = scope_of(program);
  return std::move(plan);
}

bool temporary_blocks_fit(const Program& program) {
  Program without = program;
  without.temporary_blocks = constant(0);
  const auto found = out_of_range(program, {}), others = out_of_range(without, {});
  return found && others && found->size() == others->size();
}

namespace {

// Joins the plans of both programs of a sequence.
Result<ProofPlan> plan_sequence(const Proof& proof, UnusedLines unused) {
  ProofPlan both;
  const auto add = [](auto& to, auto& from, Half half) {
    for (auto& one : from) {
      one.half = half;
      one.name = (half == Half::kFirst ? "first " : "second ") + one.name;
      to.push_back(std::move(one));
    }
  };
  for (const Proof& half : proof.halves) {
    Result<ProofPlan> plan = plan_proof(half, unused);
    if (!plan.ok()) return plan;
    add(both.obligations, plan->obligations, half.half);
    add(both.false_claims, plan->false_claims, half.half);
  }
  const bool fit = temporary_blocks_fit(proof.program);
  both.obligations.push_back({"fits temporary blocks of both", [fit](Query& query) {
                                query.goal = query.context().bool_val(fit);
                                query.mutant = query.context().bool_val(false);
                              }});
  both.scope = scope_of(proof.program);
  return both;
}

}  // namespace

std::string scope_of(const Program& program) {
  std::vector<std::string> all = {"sizes"};
  if (uses_counts(program)) all.push_back("counts");
  for (const Parameter& parameter : program.parameters)
    all.push_back("values of " + parameter.name.text);
  std::string text;
  for (size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "all " : i + 1 < all.size() ? ", " : " and ") + all[i];
  return text;
}

void Planner::fail_choice(const Choice& choice, const std::string& message) const {
  if (choice.line) fail_line(*choice.line, message);
  fail_proof(message);
}

std::string site_name(const Site& site) {
  static constexpr const char* kKinds[] = {"send", "receive", "copy", "reduce"};
  return fmt::format("{} {}", kKinds[static_cast<int>(site.kind)], site.number);
}

bool is_said_of(const Line& line, const Site& site) {
  return line.tokens.size() == 3 && site.is_message() &&
         line.tokens[1].text == (site.kind == Site::Kind::kSend ? "send" : "receive") &&
         line.tokens[2].number == site.number;
}

const ProofStatement* Planner::find(const std::string& kind, const std::string& subject) const {
  for (const ProofStatement& statement : proof.statements)
    if (statement.kind == kind && statement.subject == subject) return &statement;
  return nullptr;
}

void Planner::add_given(std::vector<Expression>& given, const Line& line, const View& view) const {
  const Expression added = condition(line, view);
  if (std::find(given.begin(), given.end(), added) != given.end())
    fail_line(line, "the lines above give this already; remove the line");
  given.push_back(added);
}

Uses Planner::uses(const ProofStatement* statement, const View& view, int witness) const {
  Uses result;
  if (!statement) return result;
  int seen = -1;
  for (const Line& line : statement->lines) {
    seen += starts_with(line, "with");
    if (!starts_with(line, "use") || (seen >= 0 && seen != witness)) continue;
    lines.use(line, view, result);
  }
  return result;
}

std::optional<int> Planner::find_site(Site::Kind kind, int64_t number) const {
  for (size_t i = 0; i < sites.size(); ++i)
    if (sites[i].kind == kind && sites[i].number == number) return i;
  return std::nullopt;
}

Rewrites Planner::rewrites(const std::string& name, const ProofStatement* statement,
                           const Scene& scene) {
  Rewrites result;
  if (!statement) return result;
  for (const Line& line : statement->lines) {
    if (!starts_with(line, "rewrite")) continue;
    // One query is about both groups. A rewrite for the ranks of one would also apply to those of the other.
    if (program.groups == 2) fail_line(line, "only programs of one group can be rewritten");
    auto rewrite = lines.rewrite(line, scene.view);
    if (!rewrite) {
      if (const auto why = lines.why_left_out(line)) throw Error{*why};
      fail_line(line, "rewrites by nothing that is known to be an equality of a table entry");
    }
    if (std::find(result.begin(), result.end(), *rewrite) != result.end())
      fail_line(line, "the lines above rewrite by this already; remove the line");
    result.push_back(*rewrite);
    if (rewrite->given.empty()) continue;  // the equation holds unconditionally
    add(fmt::format("{}, rewriting {}", name, result.size()), scene,
        [given = rewrite->given](Query& q, const Instance& instance) {
          std::vector<z3::expr> goals;
          for (const Expression& condition : given)
            goals.push_back(q.condition(condition, instance));
          show(q, {}, goals, !goals[0]);
        });
  }
  return result;
}

// Checks that every statement is about something that needs it, and that none appears twice. Finds typing errors.
void Planner::check_subjects() const {
  std::set<std::string> subjects, names;
  for (const Site& site : sites) {
    names.insert(site_name(site));
    const auto has = [&](bool there, const char* kind) {
      if (there) subjects.insert(fmt::format("{} {}", kind, site_name(site)));
    };
    has(site.is_message(), "match");
    const bool reads = site.from && site.from->buffer != Buffer::kSend;
    const bool changes = (site.from && !contract.is_constant(site.from->buffer)) || site.combine;
    has(reads, "held");
    has(site.combine.has_value(), "base");
    has(site.combine.has_value(), "combine");
    has(is_carried(site), "carries");
    has(changes || (site.kind == Site::Kind::kSend && site.from && program.in_place), "apart");
    has(site.to || (site.from && program.temporary_blocks != constant(0)), "once");
    has(is_to_be_used(site), "used");
  }
  for (const LoopSite& loop : anatomy.loops) subjects.insert("keys " + loop.name);
  std::set<std::string> seen;
  for (const ProofStatement& statement : proof.statements) {
    const std::string subject =
        statement.subject.empty() ? statement.kind : statement.kind + " " + statement.subject;
    const bool is_named =
        statement.about == ProofSubject::kSite || statement.about == ProofSubject::kLoop;
    if (is_named && subjects.count(subject) == 0)
      fail_at(statement, names.count(statement.subject) > 0
                             ? fmt::format("nothing is asked of '{}' that needs '{}'",
                                           statement.subject, statement.kind)
                             : fmt::format("the program has no '{}' to '{}'", statement.subject,
                                           statement.kind));
    if (!seen.insert(subject).second && statement.kind != "keys")
      fail_at(statement, fmt::format("a second '{}'", subject));
  }
}

void Planner::check_inside() const {
  for (const ProofStatement& statement : proof.statements)
    for (const Line& line : statement.lines)
      if (starts_with(line, "inside") &&
          std::none_of(sites.begin(), sites.end(),
                       [&](const Site& site) { return is_said_of(line, site); }))
        fail_line(line, "it wants 'inside send NUMBER' or 'inside receive NUMBER', of the program");
}

void Planner::check_unused_lines() const {
  for (const ProofStatement& statement : proof.statements) {
    if (statement.lines.empty()) fail_at(statement, "it says nothing; remove it");
    for (const Line& line : statement.lines)
      if (const std::optional<std::string> why = lines.why_unused(line)) throw Error{*why};
  }
}

// Between two groups, `build` runs once for the ranks of each. The goal is that both groups' hypotheses imply their
// goals. The hypotheses of at least one group must be satisfiable: a statement may be reached in one group only.
void Planner::add(std::string name, std::function<void(Query&)> build) {
  const auto at_both_groups = [build](Query& q) {
    if (q.explains) return build(q);
    z3::expr some = q.truth(false), goal = q.truth(true), mutant = goal;
    for (q.group = 0; q.group < 2; ++q.group) {
      q.hypotheses.clear();

      build(q);
      const z3::expr assumed = all(q, q.hypotheses);
      some = some || assumed;
      goal = goal && z3::implies(assumed, q.goal);
      mutant = mutant && z3::implies(assumed, q.mutant);
    }
    q.hypotheses = {some};
    q.goal = goal;
    q.mutant = mutant;
  };
  if (program.groups == 2) build = at_both_groups;
  if (compares_products)
    build = [build](Query& q) {
      q.compare_products();
      build(q);
    };
  plan.obligations.push_back({std::move(name), std::move(build)});
}

void Planner::add(std::string name, const Scene& scene,
                  std::function<void(Query&, const Instance&)> build) {
  add(std::move(name), [this, scene, build = std::move(build)](Query& q) {
    const Instance instance = unknowns(q, scene);
    if (q.explains) q.instances = {instance};
    build(q, instance);
  });
}

void Planner::add(std::string name, const TwoSteps& both, const Path& path, const Uses& facts,
                  std::function<void(Query&, const Instance&, const Instance&)> build) {
  add(std::move(name), [=, this, build = std::move(build)](Query& q) {
    const Instance all_unknowns = unknowns(q, both.view);
    Instance first = all_unknowns;
    first.variables.resize(both.first);
    Instance second{q.group, q.number(both.second_rank, all_unknowns), {}};
    for (const Expression& value : both.second)
      second.variables.push_back(q.number(value, all_unknowns));
    q.suppose(along(q, path, first));
    assume(q, facts, all_unknowns);
    if (q.explains) q.instances = {first, second};
    build(q, first, second);
  });
}

Scene Planner::scene_of_check(Scene scene, size_t checked) const {
  if (checked >= anatomy.requirements.size()) return scene;
  scene.facts.clear();
  scene.checked = checked;
  return scene;
}

Instance Planner::unknowns(Query& q, const View& view, size_t checked) const {
  Instance instance{q.group, q.fresh("rank"), {}};
  // The number before the name keeps the symbol distinct from all others, whatever the name is.
  for (const std::string& name : view.unknowns)
    instance.variables.push_back(q.fresh(fmt::format("v{}_{}", instance.variables.size(), name)));
  if (q.explains) q.lets.emplace_back(view.names, instance);
  if (view.has_rank) in_range(q, instance);
  if (rooted(program.collective)) q.suppose(within(q, q.root(), q.ranks(0)));
  for (int group = 0; group < program.groups; ++group) {
    q.suppose(q.less_equal(q.ranks(group), kMaxRanks));
    // A rank checks its own group's requirements first. Those of the other group may not hold yet.
    for (size_t i = 0; i < std::min(checked, anatomy.requirements.size()); ++i)
      if (group == q.group || checked == kAllChecked)
        q.suppose(q.condition(anatomy.requirements[i], {group, {}, {}}));
  }
  return instance;
}

Instance Planner::unknowns(Query& q, const Scene& scene) const {
  Instance instance = unknowns(q, scene.view, scene.checked);
  q.suppose(along(q, scene.path, instance));
  assume(q, scene.facts, instance);
  return instance;
}

void Planner::exhaustive(const std::string& name, const WitnessChoices& list, const View& view,
                         const Uses& facts,
                         const std::function<void(Query&, const Instance&)>& assume_more) {
  if (list.empty() || !list.back().condition) return;
  add(name + ", all cases", [=, this](Query& q) {
    const Instance instance = unknowns(q, view);
    assume_more(q, instance);
    assume(q, facts, instance);
    z3::expr some = q.truth(false);
    for (const Choice& choice : list) some = some || q.condition(*choice.condition, instance);
    show(q, {}, {some}, q.condition(*list[0].condition, instance));
  });
}

TwoSteps two_of(const View& one, const View& two, size_t shared, bool same_rank) {
  TwoSteps both{one, one.unknowns.size(), {}, leaf(Operator::kRank)};
  const auto unknown = [&](const std::string& name) {
    both.view.unknowns.push_back(name + "_2");
    return variable(both.view.unknowns.size() - 1);
  };
  for (size_t v = 0; v < two.unknowns.size(); ++v)
    both.second.push_back(v < shared ? variable(v) : unknown(two.unknowns[v]));
  if (!same_rank) both.second_rank = unknown("rank");
  for (const auto& [name, value] : two.names)
    both.view.names[name + "_2"] = substitute(value, both.second, both.second_rank);
  return both;
}

z3::expr same_instance(Query& q, bool same_site, const Instance& a, const Instance& b) {
  std::vector<z3::expr> same = {q.truth(same_site)};
  for (size_t v = 0; same_site && v < a.variables.size(); ++v)
    same.push_back(q.equal(a.variables[v], b.variables[v]));
  return all(q, same);
}

std::vector<z3::expr> along(Query& q, const Path& path, const Instance& instance, size_t from) {
  std::vector<z3::expr> result;
  for (size_t i = from; i < path.size(); ++i) {
    const PathElement& element = path[i];
    if (element.kind == PathElement::Kind::kLoop) {
      const Polynomial& v = instance.variables[element.variable];
      result.push_back(q.less_equal(q.number(element.low, instance), v));
      result.push_back(q.less(v, q.number(element.high, instance)));
    } else {
      const z3::expr condition = q.condition(element.condition, instance);
      result.push_back(element.kind == PathElement::Kind::kCondition ? condition : !condition);
    }
  }
  return result;
}

void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts,
          const std::optional<z3::expr>& mutant) {
  q.goal = z3::implies(all(q, guards), all(q, facts));
  q.mutant = mutant ? z3::implies(all(q, guards), *mutant) : q.truth(false);
}

std::vector<z3::expr> applies(Query& q, const WitnessChoices& list, size_t k,
                              const Instance& instance) {
  std::vector<z3::expr> result;
  for (size_t i = 0; i <= k; ++i) {
    if (!list[i].condition) continue;
    const z3::expr condition = q.condition(*list[i].condition, instance);
    result.push_back(i == k ? condition : !condition);
  }
  return result;
}

z3::expr names_instance(Query& q, const WitnessChoices& list, const Instance& asked, int site,
                        const Instance& instance) {
  z3::expr result = q.truth(false);
  for (size_t k = 0; k < list.size(); ++k) {
    if (list[k].site != site) continue;
    std::vector<z3::expr> facts = applies(q, list, k, asked);
    const Instance named = chosen(q, list[k], asked, instance.rank);
    for (size_t i = 0; i < named.variables.size(); ++i)
      facts.push_back(q.equal(named.variables[i], instance.variables[i]));
    result = result || all(q, facts);
  }
  return result;
}

Result<ProofPlan> plan_proof(const Proof& proof, UnusedLines unused) {
  if (!proof.halves.empty()) return plan_sequence(proof, unused);
  const auto planner = std::make_shared<Planner>(proof);
  try {
    ProofPlan plan = planner->run(unused);
    // The functions refer to the planner, so they keep it alive.
    for (Obligation& obligation : plan.obligations)
      obligation.build = [planner, build = std::move(obligation.build)](Query& q) { build(q); };
    return plan;
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace quadrille::verifier
