// What all kinds of obligations share: their order, the proof's statements, the unknowns of a query, and the
// vocabulary of queries. Tested by tests/prove/: every algorithm's proof holds; every mutant of a program fails a
// proof or the checker; every kind of obligation has a program that only it refuses.
#include "verifier/prove/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "schedule/binding.h"

namespace quadrille::verifier {
namespace {

// "once receive 1"
std::string name_of_statement(const ProofStatement& statement) {
  return statement.subject.empty() ? statement.kind : statement.kind + " " + statement.subject;
}

}  // namespace

Planner::Planner(const Proof& proof)
    : proof_(proof),
      program_(proof.program),
      anatomy_(take_apart(proof.program)),
      contract_(proof.program),
      lines_(proof, anatomy_) {}

Result<ProofPlan> Planner::run() {
  if (!anatomy_.unsupported.empty()) fail_proof("no proof system so far: " + anatomy_.unsupported);
  if (error_.empty()) check_subjects();
  if (error_.empty()) xor_facts();
  if (error_.empty()) table_facts();
  for (const ProofStatement& statement : proof_.statements)
    if (error_.empty()) read_early(statement);
  if (error_.empty()) check_hints();
  if (error_.empty()) defined();
  if (error_.empty()) fits();
  if (error_.empty()) keys();
  if (const ProofStatement* statement = find("deadlock", ""))
    deadlock(*statement);
  else
    works();
  if (const Line* line = lines_.too_large())
    fail_line(*line,
              fmt::format("it uses a fact of more than {} parts, definitions and lets put in",
                          kMostParts));
  if (!error_.empty()) return Error{error_};
  note_idle_hints();
  plan_.scope = scope();
  return std::move(plan_);
}

void Planner::works() {
  if (error_.empty()) roles();
  if (error_.empty()) read_witnesses();
  if (error_.empty()) matches();
  if (error_.empty()) values();
  if (error_.empty()) port();
}

std::string Planner::scope() const {
  std::vector<std::string> all = {"sizes"};
  if (uses_counts(program_)) all.push_back("counts");
  for (const Parameter& parameter : program_.parameters)
    all.push_back("values of " + parameter.name.text);
  std::string text;
  for (size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "all " : i + 1 < all.size() ? ", " : " and ") + all[i];
  return text;
}

void Planner::fail_proof(const std::string& message) {
  if (error_.empty()) error_ = fmt::format("{}: {}", proof_.source, message);
}

void Planner::fail_at(const ProofStatement& statement, const std::string& message) {
  if (error_.empty()) error_ = fmt::format("{}:{}: {}", proof_.source, statement.line, message);
}

void Planner::fail_line(const Line& line, const std::string& message) {
  if (error_.empty()) error_ = fmt::format("{}:{}: {}", proof_.source, line.number, message);
}

std::string Planner::site_name(const Site& site) {
  static constexpr const char* kKinds[] = {"send", "receive", "copy", "reduce"};
  return fmt::format("{} {}", kKinds[static_cast<int>(site.kind)], site.number);
}

const ProofStatement* Planner::find(const std::string& kind, const std::string& subject) const {
  for (const ProofStatement& statement : proof_.statements)
    if (statement.kind == kind && statement.subject == subject) return &statement;
  return nullptr;
}

Uses Planner::uses(const ProofStatement* statement, const View& view, int witness) const {
  Uses result;
  if (!statement) return result;
  int seen = -1;
  for (const Line& line : statement->lines) {
    seen += starts_with(line, "with");
    if (!starts_with(line, "use") || (seen >= 0 && seen != witness)) continue;
    if (auto fact = lines_.use(line, view)) result.push_back(std::move(*fact));
  }
  return result;
}

std::optional<int> Planner::find_site(Site::Kind kind, int number) const {
  for (size_t i = 0; i < anatomy_.sites.size(); ++i)
    if (anatomy_.sites[i].kind == kind && anatomy_.sites[i].number == number) return i;
  return std::nullopt;
}

Rewrites Planner::rewrites(const std::string& name, const ProofStatement* statement,
                           const Site& site, const View& view, const Uses& facts) {
  Rewrites result;
  if (!statement) return result;
  for (const Line& line : statement->lines) {
    if (!starts_with(line, "rewrite")) continue;
    // What is rewritten for ranks of the one group would be known of the other's.
    if (program_.groups == 2) fail_line(line, "only programs of one group can be rewritten");
    auto rewrite = lines_.rewrite(line, view);
    if (!rewrite) {
      fail_line(line, "rewrites by nothing that is known to be an equality of a table entry");
      return {};
    }
    result.push_back(*rewrite);
    if (rewrite->given.empty()) continue;  // it holds everywhere
    add(fmt::format("{}, rewriting {}", name, result.size()),
        [=, this, given = rewrite->given](Query& q) {
          const Instance instance = unknowns_at(q, view, site.path, facts);
          std::vector<z3::expr> goals;
          for (const Expression& condition : given)
            goals.push_back(q.condition(condition, instance));
          show(q, {}, goals, negated(q, given[0], instance));
        });
  }
  return result;
}

void Planner::note_idle_hints() {
  for (const ProofStatement& statement : proof_.statements)
    for (const Line& line : statement.lines)
      if (starts_with(line, "use") && !lines_.has_counted(line))
        plan_.idle_hints.push_back(
            {name_of_statement(statement),
             fmt::format("{}:{}: this 'use' counts nowhere: a name in it means nothing here",
                         proof_.source, line.number)});
}

// Every statement is about something that exists, and stands once. A typing error is reported, not ignored.
void Planner::check_subjects() {
  std::set<std::string> subjects;
  for (const Site& site : anatomy_.sites) {
    const auto has = [&](bool there, const char* kind) {
      if (there) subjects.insert(fmt::format("{} {}", kind, site_name(site)));
    };
    has(site.is_message(), "match");
    const bool reads = site.from && site.from->buffer != Buffer::kSend;
    const bool changes = (site.from && !contract_.is_constant(site.from->buffer)) || site.combine;
    has(reads, "held");
    has(site.combine.has_value(), "base");
    has(site.combine.has_value(), "combine");
    has(is_carried(site), "carries");
    has(changes || (site.kind == Site::Kind::kSend && site.from && program_.in_place), "apart");
    has(site.to || (site.from && program_.temporary_blocks != constant(0)), "once");
    has(is_to_be_used(site), "used");
  }
  for (const LoopSite& loop : anatomy_.loops) subjects.insert("keys " + loop.name);
  std::set<std::string> seen;
  for (const ProofStatement& statement : proof_.statements) {
    const std::string subject = name_of_statement(statement);
    static const std::set<std::string> kAboutProgram = {
        "match", "held", "base", "combine", "carries", "apart", "once", "used", "keys"};
    if (kAboutProgram.count(statement.kind) > 0 && subjects.count(subject) == 0)
      fail_at(statement, has_site(statement.subject)
                             ? fmt::format("nothing is asked of '{}' that needs '{}'",
                                           statement.subject, statement.kind)
                             : fmt::format("the program has no '{}' to '{}'", statement.subject,
                                           statement.kind));
    if (!seen.insert(subject).second && statement.kind != "keys")
      fail_at(statement, fmt::format("a second '{}'", subject));
  }
}

bool Planner::has_site(const std::string& name) const {
  return std::any_of(anatomy_.sites.begin(), anatomy_.sites.end(),
                     [&](const Site& site) { return site_name(site) == name; });
}

void Planner::check_hints() {
  for (const ProofStatement& statement : proof_.statements)
    for (const Line& line : statement.lines)
      if (starts_with(line, "inside") &&
          std::none_of(anatomy_.sites.begin(), anatomy_.sites.end(),
                       [&](const Site& site) { return is_said_of(line, site); }))
        fail_line(line, "it wants 'inside send NUMBER' or 'inside receive NUMBER', of the program");
      else if (starts_with(line, "use") && !lines_.knows(line))
        fail_line(line, fmt::format("there is no axiom and no lemma '{}'",
                                    line.tokens.size() > 1 ? line.tokens[1].text : ""));
}

void Planner::add(std::string name, bool theorem, std::function<void(Query&)> build) {
  if (program_.groups == 2) build = at_both_groups(std::move(build));
  plan_.obligations.push_back({std::move(name), theorem, std::move(build)});
}

// One query that asks the same of the ranks of each group. What only one group does, only that group is asked.
std::function<void(Query&)> Planner::at_both_groups(std::function<void(Query&)> build) {
  return [build = std::move(build)](Query& q) {
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
}

void Planner::add(std::string name, std::function<void(Query&)> build) {
  add(std::move(name), false, std::move(build));
}

Instance Planner::unknowns(Query& q, const View& view) const {
  Instance instance{q.group, q.fresh("rank"), {}};
  // A number before the name keeps it apart from every other symbol, whatever the name is.
  for (const std::string& name : view.unknowns)
    instance.variables.push_back(q.fresh(fmt::format("v{}_{}", instance.variables.size(), name)));
  if (view.has_rank) in_range(q, instance);

  if (rooted(program_.collective)) append(q.hypotheses, within(q, q.root(), q.ranks(0)));
  for (int group = 0; group < program_.groups; ++group) {
    q.hypotheses.push_back(q.less_equal(q.ranks(group), kMaxRanks));
    for (const Expression& requirement : program_.requirements)
      q.hypotheses.push_back(q.condition(requirement, {group, {}, {}}));
  }
  return instance;
}

Instance Planner::unknowns_at(Query& q, const View& view, const Path& path,
                              const Uses& facts) const {
  Instance instance = unknowns(q, view);
  append(q.hypotheses, along(q, path, instance));
  assume(q, facts, instance);
  return instance;
}

void Planner::exhaustive(const std::string& name, const std::vector<Choice>& list, const View& view,
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

Polynomial Planner::key(Query& q, int step, const Instance& instance) const {
  return q.number(anatomy_.steps[step].key, instance);
}

std::vector<z3::expr> Planner::over_before(Query& q, int earlier_step, const Instance& earlier,
                                           int later_step, const Instance& later) const {
  const Polynomial over = key(q, earlier_step, earlier);
  std::vector<z3::expr> result = {q.less(over, key(q, later_step, later))};
  if (const auto& after = anatomy_.steps[later_step].after)
    result.push_back(q.less_equal(over, q.number(*after, later)));
  return result;
}

Planner::TwoSteps Planner::two_of(const View& one, const View& two, size_t shared, bool same_rank) {
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

std::pair<Instance, Instance> Planner::two_at(Query& q, const TwoSteps& both, const Path& path,
                                              const Uses& facts) const {
  const Instance all_unknowns = unknowns(q, both.view);
  Instance first = all_unknowns;
  first.variables.resize(both.first);
  Instance second{q.group, q.number(both.second_rank, all_unknowns), {}};
  for (const Expression& value : both.second)
    second.variables.push_back(q.number(value, all_unknowns));
  append(q.hypotheses, along(q, path, first));
  assume(q, facts, all_unknowns);
  return {first, second};
}

z3::expr Planner::same_instance(Query& q, bool same_site, const Instance& a, const Instance& b) {
  std::vector<z3::expr> same = {q.truth(same_site)};
  for (size_t v = 0; same_site && v < a.variables.size(); ++v)
    same.push_back(q.equal(a.variables[v], b.variables[v]));
  return all(q, same);
}

z3::expr Planner::same_step(Query& q, int one, Instance a, int two, const Instance& b) const {
  a.variables.resize(anatomy_.steps[one].variables.size());
  return same_instance(q, one == two, a, b);
}

void apply_rewrites(Query& q, const Rewrites& rewrites, const Instance& instance) {
  for (const ProofLines::Rewrite& rewrite : rewrites)
    q.rewrite(rewrite.left, rewrite.right, instance);
}

void in_range(Query& q, const Instance& instance) {
  append(q.hypotheses, within(q, instance.rank, q.ranks(instance.group)));
}

void assume(Query& q, const std::vector<Expression>& conditions, const Instance& instance) {
  for (const Expression& condition : conditions)
    q.hypotheses.push_back(q.condition(condition, instance));
}

std::vector<z3::expr> within(Query& q, const Polynomial& number, const Polynomial& end) {
  return {q.less_equal(0, number), q.less(number, end)};
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

void append(std::vector<z3::expr>& to, const std::vector<z3::expr>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

z3::expr all(Query& q, const std::vector<z3::expr>& conditions) {
  z3::expr result = q.truth(true);
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
  q.mutant = q.truth(false);
}

z3::expr negated(Query& q, const Expression& condition, const Instance& instance) {
  return !q.condition(condition, instance);
}

std::vector<z3::expr> applies(Query& q, const std::vector<Choice>& list, size_t k,
                              const Instance& instance) {
  std::vector<z3::expr> result;
  for (size_t i = 0; i <= k; ++i) {
    if (!list[i].condition) continue;
    const z3::expr condition = q.condition(*list[i].condition, instance);
    result.push_back(i == k ? condition : !condition);
  }
  return result;
}

Instance chosen(Query& q, const Choice& choice, const Instance& instance, const Polynomial& rank) {
  Instance result{instance.group, rank, {}};
  for (const Expression& value : choice.values)
    result.variables.push_back(q.number(value, instance));
  return result;
}

z3::expr names_instance(Query& q, const std::vector<Choice>& list, const Instance& asked, int site,
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

Result<ProofPlan> plan_proof(const Proof& proof) {
  // The queries refer to the planner.
  auto planner = std::make_shared<Planner>(proof);
  Result<ProofPlan> plan = planner->run();
  if (!plan.ok()) return plan;
  for (Obligation& obligation : plan->obligations)
    obligation.build = [planner, build = std::move(obligation.build)](Query& query) {
      build(query);
    };
  return plan;
}

std::vector<std::string> idle_hints_of(const ProofPlan& plan, const std::string& obligation) {
  std::vector<std::string> texts;
  for (const IdleHint& hint : plan.idle_hints) {
    const size_t end = hint.statement.size();
    const bool is_whole = obligation.size() <= end || !std::isdigit(obligation[end]);
    if (obligation.starts_with(hint.statement) && is_whole) texts.push_back(hint.text);
  }
  return texts;
}

}  // namespace quadrille::verifier
