// From program and proof to queries, one function a kind of obligation; the glue is in
// obligations.h. Tested by tests/prove/: every algorithm's proof holds, every mutant of a program
// fails a proof or the checker, and every kind of obligation has a program that only it refuses.
#include "verifier/prove/obligations.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "schedule/traverse.h"
#include "verifier/prove/bitvector.h"
#include "verifier/prove/reader.h"

namespace quadrille::verifier {
namespace {

std::string site_name(const Site& site) {
  static constexpr const char* kKinds[] = {"send", "receive", "copy"};
  return fmt::format("{} {}", kKinds[static_cast<int>(site.kind)], site.number);
}

bool same_element(const PathElement& a, const PathElement& b) {
  return a.kind == b.kind && a.condition == b.condition && a.low == b.low && a.high == b.high &&
         a.variable == b.variable;
}

bool is_prefix(const Path& prefix, const Path& path) {
  return prefix.size() <= path.size() &&
         std::equal(prefix.begin(), prefix.end(), path.begin(), same_element);
}

// Whether whatever is on the one path is, in that order, on the other, which then knows at least as
// much.
bool is_part_of(const Path& part, const Path& path) {
  auto next = part.begin();
  for (const PathElement& element : path)
    if (next != part.end() && same_element(*next, element)) ++next;
  return next == part.end();
}

bool mentions_rank(const Expression& e) {
  return e.op == Operator::kRank ||
         std::any_of(e.operands.begin(), e.operands.end(),
                     [](const Expression& o) { return mentions_rank(o); });
}

// Wherever an expression's operators are partial: what must hold there. `and` and `? :` guard what
// they do not choose.
void partial_conditions(const Expression& e, Path path, std::vector<Place>& out) {
  const auto need = [&](Expression condition) { out.push_back({path, std::move(condition)}); };
  const auto less_equal = [](Expression a, Expression b) {
    return apply(Operator::kLessEqual, {std::move(a), std::move(b)});
  };
  const auto less = [](Expression a, Expression b) {
    return apply(Operator::kLess, {std::move(a), std::move(b)});
  };
  if (e.op == Operator::kChoose || e.op == Operator::kAnd) {
    partial_conditions(e.operands[0], path, out);
    Path yes = path, no = path;
    yes.push_back({PathElement::Kind::kCondition, e.operands[0], {}, {}, 0});
    no.push_back({PathElement::Kind::kNegation, e.operands[0], {}, {}, 0});
    partial_conditions(e.operands[1], yes, out);
    if (e.op == Operator::kChoose) partial_conditions(e.operands[2], no, out);
    return;
  }
  for (const Expression& operand : e.operands) partial_conditions(operand, path, out);
  if (e.op == Operator::kDivide || e.op == Operator::kModulo) {
    if (e.operands[1].op != Operator::kConstant || e.operands[1].value <= 0)
      need(less(constant(0), e.operands[1]));
  } else if (e.op == Operator::kElement) {
    need(apply(Operator::kAnd, {less_equal(constant(0), e.operands[0]),
                                less(e.operands[0], leaf(Operator::kLength, e.value))}));
  } else if (e.op == Operator::kWrap) {
    const Expression &x = e.operands[0], &m = e.operands[1];
    need(apply(Operator::kAnd, {less_equal(constant(0), apply(Operator::kAdd, {x, m})),
                                less(x, apply(Operator::kMultiply, {constant(2), m}))}));
  }
}

// Whether no instance is on both paths: at the first place where they part, one wants what the
// other denies.
bool exclude_each_other(const Path& a, const Path& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (same_element(a[i], b[i])) continue;
    return a[i].kind != PathElement::Kind::kLoop && b[i].kind != PathElement::Kind::kLoop &&
           a[i].kind != b[i].kind && a[i].condition == b[i].condition;
  }
  return false;
}

class Planner {
 public:
  explicit Planner(const Proof& proof)
      : proof_(proof),
        program_(proof.program),
        anatomy_(take_apart(proof.program)),
        lines_(proof, anatomy_) {}

  Result<ProofPlan> run() {
    if (!anatomy_.unsupported.empty()) fail_proof(anatomy_.unsupported);
    if (error_.empty()) xor_facts();
    for (const ProofStatement& statement : proof_.statements)
      if (error_.empty()) read_early(statement);
    if (error_.empty()) read_witnesses();
    if (error_.empty()) defined();
    if (error_.empty()) matches();
    if (error_.empty()) covers();
    if (error_.empty()) keys();
    if (error_.empty() && program_.in_place) in_place();
    if (error_.empty()) port();
    if (!error_.empty()) return Error{error_};
    return std::move(plan_);
  }

 private:
  using Uses = std::vector<Expression>;

  void fail_proof(const std::string& message) {
    if (error_.empty()) error_ = fmt::format("{}: {}", proof_.source, message);
  }
  void fail_at(const ProofStatement& statement, const std::string& message) {
    if (error_.empty()) error_ = fmt::format("{}:{}: {}", proof_.source, statement.line, message);
  }
  template <class T>
  T take(Result<T> result) {
    if (result.ok()) return std::move(result).value();
    if (error_.empty()) error_ = result.error().message;
    return T{};
  }

  // ---- Reading

  static bool starts_with(const Line& line, const char* word) {
    return line.tokens[0].text == word;
  }

  const ProofStatement* find(const std::string& kind, const std::string& subject) const {
    for (const ProofStatement& statement : proof_.statements)
      if (statement.kind == kind && statement.subject == subject) return &statement;
    return nullptr;
  }

  // The facts that a statement's `use` lines bring in this view; of those behind a `with`, only the
  // ones of that witness.
  Uses uses(const ProofStatement* statement, const View& view, int witness = -1) const {
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

  using Rewrites = std::vector<ProofLines::Rewrite>;

  // The equalities that a statement rewrites by; that their conditions hold at the site becomes an
  // obligation.
  Rewrites rewrites(const std::string& name, const ProofStatement* statement, const Site& site,
                    const View& view, const Uses& facts) {
    Rewrites result;
    if (!statement) return result;
    for (const Line& line : statement->lines) {
      if (!starts_with(line, "rewrite")) continue;
      auto rewrite = lines_.rewrite(line, view);
      if (!rewrite) {
        fail_at(*statement,
                fmt::format(
                    "line {} rewrites by nothing that is known to be an equality of a table entry",
                    line.number));
        return {};
      }
      result.push_back(*rewrite);
      add(fmt::format("{}, rewriting {}", name, result.size()),
          [=, this, given = rewrite->given](Query& q) {
            const Instance instance = unknowns(q, view);
            append(q.hypotheses, along(q, site.path, instance));
            assume(q, facts, instance);
            std::vector<z3::expr> goals;
            for (const Expression& condition : given)
              goals.push_back(q.logic.condition(condition, instance));
            show(q, {}, goals, negated(q, given[0], instance));
          });
    }
    return result;
  }

  static void apply_rewrites(Query& q, const Rewrites& rewrites, const Instance& instance) {
    for (const ProofLines::Rewrite& rewrite : rewrites)
      q.logic.rewrite(rewrite.left, rewrite.right, instance);
  }

  // Lemmas, theorems and false claims, in order: a lemma may use those before it.
  void read_early(const ProofStatement& statement) {
    if (statement.kind == "define") return define(statement);
    if (statement.kind != "lemma" && statement.kind != "theorem" && statement.kind != "refute")
      return;
    const View view{statement.variables, {}, false};
    Lemma lemma{statement.subject, statement.variables.size(), {}, {}, std::nullopt};
    bool shown = false;
    for (const Line& line : statement.lines) {
      if (starts_with(line, "given")) {
        lemma.given.push_back(take(lines_.expression(line, view, 1)));
      } else if (starts_with(line, "show")) {
        lemma.show = take(lines_.expression(line, view, 1));
        shown = true;
      } else if (starts_with(line, "induction")) {
        lemma.induction = take(lines_.induction(line, view));
      } else if (!starts_with(line, "use")) {
        fail_at(statement,
                fmt::format("'{}' is no line of a {}", line.tokens[0].text, statement.kind));
      } else if (!lines_.use(line, view)) {
        fail_at(statement, fmt::format("line {} uses nothing that is known", line.number));
      }
    }
    if (!shown) fail_at(statement, "nothing to show");
    if (!error_.empty()) return;
    if (statement.kind == "refute") {
      plan_.false_claims.push_back({lemma.name, statement.variables, lemma.given, lemma.show});
      return;
    }
    lemma_obligations(statement, lemma, view);
    lines_.add_lemma(std::move(lemma));
  }

  void define(const ProofStatement& statement) {
    const View view{statement.variables, {}, false};
    if (statement.lines.size() != 1 || !starts_with(statement.lines[0], "as"))
      return fail_at(statement, "it wants one line, 'as NUMBER'");
    lines_.define(statement.subject, statement.variables.size(),
                  take(lines_.expression(statement.lines[0], view, 1)));
  }

  void lemma_obligations(const ProofStatement& statement, const Lemma& lemma, const View& view) {
    const bool theorem = statement.kind == "theorem";
    const Uses facts = uses(&statement, view);
    if (!lemma.induction) {
      add(fmt::format("{} {}", statement.kind, lemma.name), theorem, [=, this](Query& q) {
        const Instance instance = unknowns(q, view);
        assume(q, lemma.given, instance);
        assume(q, facts, instance);
        show(q, {}, {q.logic.condition(lemma.show, instance)}, negated(q, lemma.show, instance));
      });
      return;
    }
    const Lemma::Induction induction = *lemma.induction;
    const Uses first_facts = uses(&statement, view);
    add(fmt::format("{} {}, base", statement.kind, lemma.name), theorem, [=, this](Query& q) {
      Instance instance = unknowns(q, view);
      instance.variables[induction.variable] = q.logic.number(induction.low, instance);
      assume(q, lemma.given, instance);
      assume(q, first_facts, instance);
      q.hypotheses.push_back(q.logic.less_equal(q.logic.number(induction.low, instance),
                                                q.logic.number(induction.high, instance)));
      show(q, {}, {q.logic.condition(lemma.show, instance)}, negated(q, lemma.show, instance));
    });
    add(fmt::format("{} {}, step", statement.kind, lemma.name), theorem, [=, this](Query& q) {
      Instance instance = unknowns(q, view);
      assume(q, lemma.given, instance);
      assume(q, facts, instance);
      const Polynomial x = instance.variables[induction.variable];
      q.hypotheses.push_back(q.logic.less_equal(q.logic.number(induction.low, instance), x));
      q.hypotheses.push_back(q.logic.less(x, q.logic.number(induction.high, instance)));
      q.hypotheses.push_back(q.logic.condition(lemma.show, instance));
      instance.variables[induction.variable] = x + Polynomial::constant(1);
      show(q, {}, {q.logic.condition(lemma.show, instance)}, negated(q, lemma.show, instance));
    });
  }

  std::optional<int> find_site(Site::Kind kind, int number) const {
    for (size_t i = 0; i < anatomy_.sites.size(); ++i)
      if (anatomy_.sites[i].kind == kind && anatomy_.sites[i].number == number) return i;
    return std::nullopt;
  }

  // A witness with the values of all variables of its site, in order.
  struct Choice {
    int site;
    std::vector<Expression> values;
    std::optional<Expression> condition;
  };

  std::vector<Choice> choices(const ProofStatement* statement, const View& view) {
    std::vector<Choice> result;
    if (!statement) return result;
    for (const Line& line : statement->lines) {
      if (!starts_with(line, "with")) continue;
      const Witness witness = take(lines_.witness(line, view));
      const auto site = find_site(witness.kind, witness.number);
      if (!site)
        fail_at(*statement, fmt::format("line {}: the program has no such site", line.number));
      if (!error_.empty()) return {};
      Choice choice{*site, {}, witness.condition};
      for (const std::string& name : anatomy_.sites[*site].variables) {
        const auto value = std::find_if(witness.values.begin(), witness.values.end(),
                                        [&](const auto& v) { return v.first == name; });
        if (value == witness.values.end()) {
          fail_at(*statement, fmt::format("line {}: no value for '{}'", line.number, name));
          return {};
        }
        choice.values.push_back(value->second);
      }
      result.push_back(std::move(choice));
    }
    return result;
  }

  static View view_of_site(const Site& site) { return view_of(site.variables, site.names); }
  static View ends_view() { return {{"source", "target"}, {}, false}; }

  void read_witnesses() {
    for (const Site& site : anatomy_.sites) {
      const ProofStatement* statement =
          site.kind == Site::Kind::kCopy ? nullptr : find("match", site_name(site));
      matches_.push_back(choices(statement, view_of_site(site)));
      if (site.kind != Site::Kind::kCopy && matches_.back().empty())
        fail_proof(fmt::format("no 'match {}'", site_name(site)));
    }
    cover_ = choices(find("cover", ""), ends_view());
    copies_ = choices(find("copies", ""), View{{}, {}, true});
    if (cover_.empty()) fail_proof("no 'cover'");
    if (copies_.empty()) fail_proof("no 'copies'");
  }

  // ---- Building queries

  void add(std::string name, bool theorem, std::function<void(Query&)> build) {
    plan_.obligations.push_back({std::move(name), theorem, std::move(build)});
  }
  void add(std::string name, std::function<void(Query&)> build) {
    add(std::move(name), false, std::move(build));
  }

  // Fresh unknowns for a view, and what holds of every job.
  Instance unknowns(Query& q, const View& view) const {
    Instance instance;
    instance.rank = q.logic.fresh("rank");
    for (const std::string& name : view.unknowns) instance.variables.push_back(q.logic.fresh(name));
    if (view.has_rank) in_range(q, instance.rank);
    for (const Expression& requirement : program_.requirements)
      q.hypotheses.push_back(q.logic.condition(requirement, instance));
    if (plan_.bounded_ranks)
      q.hypotheses.push_back(
          q.logic.less_equal(q.logic.ranks(), Polynomial::constant(kBitVectorRanks)));
    return instance;
  }

  static void in_range(Query& q, const Polynomial& rank) {
    q.hypotheses.push_back(q.logic.less_equal(Polynomial::constant(0), rank));
    q.hypotheses.push_back(q.logic.less(rank, q.logic.ranks()));
  }

  static void assume(Query& q, const std::vector<Expression>& conditions,
                     const Instance& instance) {
    for (const Expression& condition : conditions)
      q.hypotheses.push_back(q.logic.condition(condition, instance));
  }

  static std::vector<z3::expr> along(Query& q, const Path& path, const Instance& instance,
                                     size_t from = 0) {
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

  static void append(std::vector<z3::expr>& to, const std::vector<z3::expr>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  static z3::expr all(Query& q, const std::vector<z3::expr>& conditions) {
    z3::expr result = q.logic.truth(true);
    for (const z3::expr& condition : conditions) result = result && condition;
    return result;
  }

  // The goal: guards imply facts. Its mutant: guards imply `mutant`.
  static void show(Query& q, const std::vector<z3::expr>& guards,
                   const std::vector<z3::expr>& facts, const z3::expr& mutant) {
    q.goal = z3::implies(all(q, guards), all(q, facts));
    q.mutant = z3::implies(all(q, guards), mutant);
  }
  static z3::expr negated(Query& q, const Expression& condition, const Instance& instance) {
    return !q.logic.condition(condition, instance);
  }

  // That choice k of a list applies, the earlier ones not.
  static std::vector<z3::expr> applies(Query& q, const std::vector<Choice>& list, size_t k,
                                       const Instance& instance) {
    std::vector<z3::expr> result;
    for (size_t i = 0; i <= k; ++i) {
      if (!list[i].condition) continue;
      const z3::expr condition = q.logic.condition(*list[i].condition, instance);
      result.push_back(i == k ? condition : !condition);
    }
    return result;
  }

  // The site's instance that a choice names, at that rank.
  static Instance chosen(Query& q, const Choice& choice, const Instance& instance,
                         const Polynomial& rank) {
    Instance result{rank, {}};
    for (const Expression& value : choice.values)
      result.variables.push_back(q.logic.number(value, instance));
    return result;
  }

  // That a list of choices, asked at `asked`, names this instance of this site and no other.
  static z3::expr names_instance(Query& q, const std::vector<Choice>& list, const Instance& asked,
                                 int site, const Instance& instance) {
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

  // That some choice of a list applies.
  void exhaustive(const std::string& name, const std::vector<Choice>& list, const View& view,
                  const Uses& facts, std::function<void(Query&, const Instance&)> assume_more) {
    if (list.empty() || !list.back().condition) return;
    add(name + ", all cases", [=, this](Query& q) {
      const Instance instance = unknowns(q, view);
      assume_more(q, instance);
      assume(q, facts, instance);
      z3::expr some = q.logic.truth(false);
      for (const Choice& choice : list)
        some = some || q.logic.condition(*choice.condition, instance);
      show(q, {}, {some}, q.logic.condition(*list[0].condition, instance));
    });
  }

  Polynomial key(Query& q, int step, const Instance& instance) const {
    return q.logic.number(anatomy_.steps[step].key, instance);
  }

  // ---- Obligations

  void xor_facts() {
    bool has_xor = false;
    const std::function<void(const Expression&)> look = [&](const Expression& e) {
      has_xor |= e.op == Operator::kXor;
      for (const Expression& operand : e.operands) look(operand);
    };
    for_each_expression_of_program(program_, look);
    if (!has_xor) return;
    plan_.bounded_ranks = true;
    for (Obligation& fact : bitvector_obligations()) plan_.obligations.push_back(std::move(fact));
  }

  void defined() {
    const ProofStatement* statement = find("defined", "");
    std::vector<Place> needed, asked;
    for (const Place& place : anatomy_.places)
      partial_conditions(place.expression, place.path, needed);
    for (const Place& place : needed) {
      const bool known = std::any_of(asked.begin(), asked.end(), [&](const Place& earlier) {
        return earlier.expression == place.expression && is_part_of(earlier.path, place.path);
      });
      if (known) continue;
      asked.push_back(place);
      View view{{}, {}, true};
      for (const PathElement& element : place.path)
        if (element.kind == PathElement::Kind::kLoop) view.unknowns.push_back(loop_name(element));
      const Uses facts = uses(statement, with_loop_names(view));
      add(fmt::format("defined {}", asked.size()), [=, this](Query& q) {
        const Instance instance = unknowns(q, view);
        append(q.hypotheses, along(q, place.path, instance));
        assume(q, facts, instance);
        show(q, {}, {q.logic.condition(place.expression, instance)},
             negated(q, place.expression, instance));
      });
    }
  }

  std::string loop_name(const PathElement& element) const {
    for (const LoopSite& loop : anatomy_.loops)
      if (loop.low == element.low && loop.high == element.high && loop.variable == element.variable)
        return loop.name;
    return "unknown";
  }

  // The names known in the innermost of the loops that a view is inside of.
  View with_loop_names(View view) const {
    for (const LoopSite& loop : anatomy_.loops)
      if (loop.variables == view.unknowns) view.names = loop.names;
    for (const StepSite& step : anatomy_.steps)
      if (step.variables == view.unknowns) view.names.insert(step.names.begin(), step.names.end());
    return view;
  }

  void matches() {
    for (size_t i = 0; i < anatomy_.sites.size(); ++i) {
      const Site& site = anatomy_.sites[i];
      if (site.kind == Site::Kind::kCopy) continue;
      const View view = view_of_site(site);
      const ProofStatement* statement = find("match", site_name(site));
      const Uses facts = uses(statement, view, matches_[i].size() == 1 ? 0 : -1);
      const std::string name = "match " + site_name(site);
      peer_and_place(site, view, facts);
      const Rewrites rewriting = rewrites(name, statement, site, view, facts);
      const auto at_site = [this, site](Query& q, const Instance& instance) {
        append(q.hypotheses, along(q, site.path, instance));
      };
      exhaustive(name, matches_[i], view, facts, at_site);
      for (size_t k = 0; k < matches_[i].size(); ++k) {
        const Site& other = anatomy_.sites[matches_[i][k].site];
        if (other.kind == site.kind || other.kind == Site::Kind::kCopy ||
            other.block.has_value() != site.block.has_value() || site.step < 0 || other.step < 0)
          return fail_proof(
              fmt::format("{} cannot be matched with {}", site_name(site), site_name(other)));
        const Uses case_facts = uses(statement, view, k);
        add(matches_[i].size() > 1 ? fmt::format("{}, case {}", name, k + 1) : name,
            [=, this](Query& q) { match(q, i, k, view, case_facts, rewriting); });
      }
    }
  }

  void match(Query& q, size_t i, size_t k, const View& view, const Uses& facts,
             const Rewrites& rewriting) {
    const Site& site = anatomy_.sites[i];
    const Choice& choice = matches_[i][k];
    const Site& other = anatomy_.sites[choice.site];
    const Instance instance = unknowns(q, view);
    append(q.hypotheses, along(q, site.path, instance));
    assume(q, facts, instance);
    append(q.hypotheses, applies(q, matches_[i], k, instance));
    apply_rewrites(q, rewriting, instance);
    const Instance there = chosen(q, choice, instance, q.logic.number(site.peer, instance));
    std::vector<z3::expr> goals = along(q, other.path, there);
    goals.push_back(q.logic.equal(q.logic.number(other.peer, there), instance.rank));
    const Polynomial here_key = key(q, site.step, instance), there_key = key(q, other.step, there);
    goals.push_back(q.logic.equal(here_key, there_key));
    goals.push_back(names_instance(q, matches_[choice.site], there, i, instance));
    show(q, {}, goals, q.logic.equal(here_key, there_key + Polynomial::constant(1)));
  }

  // The peer is another rank, and the block is the peer's.
  void peer_and_place(const Site& site, const View& view, const Uses& facts) {
    add("peer of " + site_name(site), [=, this](Query& q) {
      const Instance instance = unknowns(q, view);
      append(q.hypotheses, along(q, site.path, instance));
      assume(q, facts, instance);
      const Polynomial peer = q.logic.number(site.peer, instance);
      const z3::expr self = q.logic.equal(peer, instance.rank);
      std::vector<z3::expr> goals = {q.logic.less_equal(Polynomial::constant(0), peer),
                                     q.logic.less(peer, q.logic.ranks()), !self};
      if (site.block) goals.push_back(q.logic.equal(q.logic.number(*site.block, instance), peer));
      show(q, {}, goals, self);
    });
  }

  void covers() {
    const ProofStatement* statement = find("cover", "");
    const View ends = ends_view();
    const Uses facts = uses(statement, ends);
    const auto two_ranks = [](Query& q, const Instance& instance) {
      in_range(q, instance.variables[0]);
      in_range(q, instance.variables[1]);
      q.hypotheses.push_back(!q.logic.equal(instance.variables[0], instance.variables[1]));
    };
    exhaustive("cover", cover_, ends, facts, two_ranks);
    for (size_t k = 0; k < cover_.size(); ++k) {
      const Site& site = anatomy_.sites[cover_[k].site];
      if (site.kind != Site::Kind::kSend || !site.block)
        return fail_proof("'cover' names what sends no block");
      const Uses case_facts = uses(statement, ends, k);
      add(cover_.size() > 1 ? fmt::format("cover, case {}", k + 1) : "cover", [=, this](Query& q) {
        const Instance instance = unknowns(q, ends);
        two_ranks(q, instance);
        assume(q, case_facts, instance);
        append(q.hypotheses, applies(q, cover_, k, instance));
        const Instance sender = chosen(q, cover_[k], instance, instance.variables[0]);
        const Polynomial block = q.logic.number(*anatomy_.sites[cover_[k].site].block, sender);
        std::vector<z3::expr> goals = along(q, anatomy_.sites[cover_[k].site].path, sender);
        goals.push_back(q.logic.equal(block, instance.variables[1]));
        show(q, {}, goals, q.logic.equal(block, instance.variables[0]));
      });
    }
    copies();
    for (size_t i = 0; i < anatomy_.sites.size(); ++i) once(i);
  }

  void copies() {
    const View view{{}, {}, true};
    const Uses facts = uses(find("copies", ""), view);
    exhaustive("copies", copies_, view, facts, [](Query&, const Instance&) {});
    for (size_t k = 0; k < copies_.size(); ++k) {
      if (anatomy_.sites[copies_[k].site].kind != Site::Kind::kCopy)
        return fail_proof("'copies' names what is no copy");
      const Uses case_facts = uses(find("copies", ""), view, k);
      add(copies_.size() > 1 ? fmt::format("copies, case {}", k + 1) : "copies", [=,
                                                                                  this](Query& q) {
        const Site& site = anatomy_.sites[copies_[k].site];
        const Instance instance = unknowns(q, view);
        assume(q, case_facts, instance);
        append(q.hypotheses, applies(q, copies_, k, instance));
        const Instance copier = chosen(q, copies_[k], instance, instance.rank);
        const Polynomial from = q.logic.number(*site.block, copier);
        std::vector<z3::expr> goals = along(q, site.path, copier);
        goals.push_back(q.logic.equal(from, instance.rank));
        goals.push_back(q.logic.equal(q.logic.number(site.second_block, copier), instance.rank));
        show(q, {}, goals, q.logic.less(from, instance.rank));
      });
    }
  }

  // A block that is sent, or copied, is sent by the instance that `cover`, or `copies`, names.
  void once(size_t i) {
    const Site& site = anatomy_.sites[i];
    if (site.kind == Site::Kind::kReceive || !site.block) return;
    const View view = view_of_site(site);
    const ProofStatement* statement = find("once", site_name(site));
    const Uses facts = uses(statement, view);
    const Rewrites rewriting = rewrites("once " + site_name(site), statement, site, view, facts);
    add("once " + site_name(site), [=, this](Query& q) {
      const Instance instance = unknowns(q, view);
      append(q.hypotheses, along(q, anatomy_.sites[i].path, instance));
      assume(q, facts, instance);
      apply_rewrites(q, rewriting, instance);
      Instance asked{instance.rank, {}};
      if (site.kind == Site::Kind::kSend)
        asked.variables = {instance.rank, q.logic.number(*site.block, instance)};
      const z3::expr named =
          names_instance(q, site.kind == Site::Kind::kSend ? cover_ : copies_, asked, i, instance);
      show(q, {}, {named}, !named);
    });
  }

  // An item of a body: its guards beyond the body's own path, and the interval of its keys.
  struct KeyRange {
    std::vector<z3::expr> guards;
    Polynomial low, high;
  };

  const LoopSite* owner(size_t body) const {
    return body == 0 ? nullptr : &anatomy_.loops[body - 1];
  }

  // The path inside a body, up to which its items are alike.
  Path path_of_body(size_t body) const {
    const LoopSite* loop = owner(body);
    if (!loop) return {};
    Path path = loop->path;
    path.push_back({PathElement::Kind::kLoop, {}, loop->low, loop->high, loop->variable});
    return path;
  }

  struct Interval {
    Expression from, to;
  };

  bool has_steps(size_t body) const {
    return std::any_of(
        anatomy_.bodies[body].begin(), anatomy_.bodies[body].end(),
        [&](const Item& item) { return !item.is_loop || has_steps(item.index + 1); });
  }

  std::optional<Interval> interval_of(int loop) {
    const LoopSite& site = anatomy_.loops[loop];
    const ProofStatement* statement = find("keys", site.name);
    // Loops of one name have one statement each, in order.
    int wanted = 0;
    for (int i = 0; i < loop; ++i) wanted += anatomy_.loops[i].name == site.name;
    for (const ProofStatement& candidate : proof_.statements)
      if (candidate.kind == "keys" && candidate.subject == site.name && wanted-- == 0)
        statement = &candidate;
    if (!statement) {
      fail_proof(fmt::format("no 'keys {}'", site.name));
      return std::nullopt;
    }
    Interval interval{constant(0), constant(0)};
    int found = 0;
    for (const Line& line : statement->lines) {
      if (!starts_with(line, "from") && !starts_with(line, "to")) continue;
      (starts_with(line, "from") ? interval.from : interval.to) =
          take(lines_.expression(line, view_of(site.variables, site.names), 1));
      ++found;
    }
    if (found != 2) fail_at(*statement, "it wants 'from NUMBER' and 'to NUMBER'");
    loop_statements_[loop] = statement;
    return interval;
  }

  void keys() {
    loop_statements_.resize(anatomy_.loops.size());
    intervals_.resize(anatomy_.loops.size());
    for (size_t i = 0; i < anatomy_.loops.size() && error_.empty(); ++i)
      if (has_steps(i + 1)) intervals_[i] = interval_of(i);
    if (!error_.empty()) return;
    for (size_t body = 0; body < anatomy_.bodies.size(); ++body) {
      sequence(body);
      if (body > 0 && intervals_[body - 1]) loop_keys(body);
    }
  }

  KeyRange key_range(Query& q, const Item& item, size_t shared, Instance instance) const {
    KeyRange range{along(q, item.path, instance, shared), {}, {}};
    if (!item.is_loop) {
      range.low = key(q, item.index, instance);
      range.high = range.low + Polynomial::constant(1);
      return range;
    }
    const LoopSite& loop = anatomy_.loops[item.index];
    const Polynomial low = q.logic.number(loop.low, instance),
                     high = q.logic.number(loop.high, instance);
    range.guards.push_back(q.logic.less(low, high));
    instance.variables.resize(loop.variable);
    instance.variables.push_back(low);
    range.low = q.logic.number(intervals_[item.index]->from, instance);
    instance.variables.back() = high - Polynomial::constant(1);
    range.high = q.logic.number(intervals_[item.index]->to, instance);
    return range;
  }

  View view_of_body(size_t body) const {
    const LoopSite* loop = owner(body);
    return loop ? view_of(loop->variables, loop->names) : View{{}, {}, true};
  }

  // The names known at an item, over the unknowns of its body.
  View view_of_item(size_t body, const Item& item) const {
    View view = view_of_body(body);
    if (!item.is_loop) view.names = anatomy_.steps[item.index].names;
    return view;
  }

  std::vector<Item> keyed_items(size_t body) const {
    std::vector<Item> items;
    for (const Item& item : anatomy_.bodies[body])
      if (!item.is_loop || has_steps(item.index + 1)) items.push_back(item);
    return items;
  }

  // What stands later in a body has higher keys.
  void sequence(size_t body) {
    const std::vector<Item> items = keyed_items(body);
    const Path path = path_of_body(body);
    for (size_t j = 1; j < items.size(); ++j)
      for (size_t i = 0; i < j; ++i) {
        if (exclude_each_other(items[i].path, items[j].path)) continue;
        View view = view_of_item(body, items[i]);
        const Names more = view_of_item(body, items[j]).names;
        view.names.insert(more.begin(), more.end());
        const Uses facts = uses(find("order", ""), view);
        add(fmt::format("order in {}: {} before {}", body == 0 ? "the program" : owner(body)->name,
                        i + 1, j + 1),
            [=, this](Query& q) {
              const Instance instance = unknowns(q, view);
              append(q.hypotheses, along(q, path, instance));
              assume(q, facts, instance);
              const KeyRange first = key_range(q, items[i], path.size(), instance),
                             second = key_range(q, items[j], path.size(), instance);
              std::vector<z3::expr> guards = first.guards;
              append(guards, second.guards);
              q.goal = z3::implies(all(q, guards), q.logic.less_equal(first.high, second.low));
              q.mutant = z3::implies(all(q, first.guards), q.logic.truth(false));
            });
      }
  }

  void loop_keys(size_t body) {
    const LoopSite& loop = *owner(body);
    const Interval interval = *intervals_[body - 1];
    const ProofStatement* statement = loop_statements_[body - 1];
    const Path path = path_of_body(body);
    const View view = view_of_body(body);
    const std::string name = fmt::format("keys {}", body_name(body));
    const std::vector<Item> items = keyed_items(body);
    for (size_t i = 0; i < items.size(); ++i) {
      const Uses facts = uses(statement, view_of_item(body, items[i]));
      add(fmt::format("{}, statement {}", name, i + 1), [=, this](Query& q) {
        const Instance instance = unknowns(q, view);
        append(q.hypotheses, along(q, path, instance));
        assume(q, facts, instance);
        const KeyRange range = key_range(q, items[i], path.size(), instance);
        const Polynomial from = q.logic.number(interval.from, instance),
                         to = q.logic.number(interval.to, instance);
        show(q, range.guards,
             {q.logic.less_equal(from, range.low), q.logic.less_equal(range.high, to)},
             q.logic.less(range.low, from));
      });
    }
    const Uses facts = uses(statement, view);
    add(name + ", in order", [=, this](Query& q) {
      const Instance instance = unknowns(q, view);
      append(q.hypotheses, along(q, path, instance));
      assume(q, facts, instance);
      const Polynomial from = q.logic.number(interval.from, instance),
                       to = q.logic.number(interval.to, instance);
      show(q, {}, {q.logic.less_equal(from, to)}, q.logic.less(to, from));
    });
    add(name + ", one after another", [=, this](Query& q) {
      Instance instance = unknowns(q, view);
      append(q.hypotheses, along(q, path, instance));
      assume(q, facts, instance);
      Instance next = instance;
      next.variables[loop.variable] = instance.variables[loop.variable] + Polynomial::constant(1);
      q.hypotheses.push_back(
          q.logic.less(next.variables[loop.variable], q.logic.number(loop.high, instance)));
      const Polynomial to = q.logic.number(interval.to, instance),
                       from = q.logic.number(interval.from, next);
      show(q, {}, {q.logic.less_equal(to, from)}, q.logic.less(from, to));
    });
  }

  // A loop's name, with a number where several have it.
  std::string body_name(size_t body) const {
    const std::string& name = owner(body)->name;
    int same = 0, before = 0;
    for (size_t i = 0; i < anatomy_.loops.size(); ++i) {
      if (anatomy_.loops[i].name != name) continue;
      ++same;
      before += i < body;
    }
    return same > 1 ? fmt::format("{} ({})", name, before) : name;
  }

  void in_place() {
    const ProofStatement* statement = find("in_place", "");
    for (const Site& site : anatomy_.sites) {
      if (site.kind != Site::Kind::kSend || !site.block) continue;
      // In an exchange the block that overwrites this one arrives in the same step, and no other
      // does.
      if (site.step >= 0 && is_exchange(anatomy_.steps[site.step])) continue;
      const View view = view_of_site(site);
      const Uses facts = uses(statement, view);
      for (size_t k = 0; k < cover_.size(); ++k)
        add(fmt::format("in_place {}{}", site_name(site),
                        cover_.size() > 1 ? fmt::format(", case {}", k + 1) : ""),
            [=, this](Query& q) {
              const Instance instance = unknowns(q, view);
              append(q.hypotheses, along(q, site.path, instance));
              assume(q, facts, instance);
              const Polynomial peer = q.logic.number(site.peer, instance);
              const Instance ends{instance.rank, {peer, instance.rank}};
              const std::vector<z3::expr> guards = applies(q, cover_, k, ends);
              const Instance back = chosen(q, cover_[k], ends, peer);
              const Polynomial sent = key(q, site.step, instance),
                               arrives = key(q, anatomy_.sites[cover_[k].site].step, back);
              q.goal = z3::implies(all(q, guards), q.logic.less_equal(sent, arrives));
              q.mutant = z3::implies(all(q, guards), q.logic.less(sent, arrives)) &&
                         z3::implies(!all(q, guards), q.logic.truth(false));
            });
    }
  }

  // ---- Port

  // A step that sends a block or token to one rank and receives one from the same.
  bool is_exchange(const StepSite& step) const {
    if (step.sites.size() != 2) return false;
    const Site &a = anatomy_.sites[step.sites[0]], &b = anatomy_.sites[step.sites[1]];
    return a.kind != b.kind && a.kind != Site::Kind::kCopy && b.kind != Site::Kind::kCopy &&
           a.peer == b.peer;
  }

  void port() {
    for (size_t i = 0; i < anatomy_.steps.size(); ++i) {
      int sends = 0, receives = 0;
      for (const int site : anatomy_.steps[i].sites) {
        sends += anatomy_.sites[site].kind == Site::Kind::kSend;
        receives += anatomy_.sites[site].kind == Site::Kind::kReceive;
      }
      // At most one message each way in a step: nothing is left to prove for a rank's own port, nor
      // of two messages of a pair.
      if (sends > 1 || receives > 1)
        return fail_proof(
            "only steps with at most one message each way have a proof system so far");
      if (sends == 1 && receives == 1 && !is_exchange(anatomy_.steps[i]) &&
          program_.port.kind == PortKind::kExchange)
        return fail_proof("a step exchanges with two different ranks, against the port");
    }
    if (program_.port.kind == PortKind::kNone || program_.port.per == PortScope::kRank) return;
    const auto base = node_table();
    if (!base) return fail_proof("a port per node needs a table of prefix(nodes)");
    for (size_t i = 0; i < anatomy_.steps.size(); ++i) {
      if (!leaves_its_node(i)) stays_inside(i, *base);
      for (size_t j = 0; j <= i; ++j)
        if (leaves_its_node(i) && leaves_its_node(j)) one_exchange(j, i, *base);
    }
  }

  // An exchange leaves its node unless the proof says otherwise; nothing else may.
  bool leaves_its_node(size_t step) const {
    if (!is_exchange(anatomy_.steps[step])) return false;
    const ProofStatement* statement = find("port", "");
    if (!statement) return true;
    return std::none_of(statement->lines.begin(), statement->lines.end(), [&](const Line& line) {
      if (!starts_with(line, "inside") || line.tokens.size() != 3) return false;
      const auto site = find_site(Site::Kind::kSend, static_cast<int>(line.tokens[2].number));
      return site && anatomy_.sites[*site].step == static_cast<int>(step);
    });
  }

  std::optional<int64_t> node_table() const {
    for (size_t i = 0; i < program_.tables.size(); ++i)
      if (program_.tables[i].kind == TableKind::kPrefix &&
          program_.tables[program_.tables[i].source].kind == TableKind::kNodes)
        return i;
    return std::nullopt;
  }

  // A step that sends and receives within its node only.
  void stays_inside(size_t i, int64_t base) {
    for (const int index : anatomy_.steps[i].sites) {
      const Site& site = anatomy_.sites[index];
      if (site.kind == Site::Kind::kCopy) continue;
      const View view = view_of_site(site);
      const Uses facts = uses(find("port", ""), view);
      add(fmt::format("port: {} stays inside its node", site_name(site)), [=, this](Query& q) {
        const Instance instance = unknowns(q, view);
        append(q.hypotheses, along(q, site.path, instance));
        assume(q, facts, instance);
        const z3::expr inside =
            q.logic.equal(q.logic.located(base, q.logic.number(site.peer, instance)),
                          q.logic.located(base, instance.rank));
        show(q, {}, {inside}, !inside);
      });
    }
  }

  // How many of the enclosing loops, from the outermost, are in the same iteration at equal keys at
  // all ranks.
  int shared_loops(const StepSite& a, const StepSite& b) const {
    int shared = 0;
    for (const LoopSite& loop : anatomy_.loops) {
      if (loop.variable != shared) continue;
      const size_t index = &loop - anatomy_.loops.data();
      const bool around_both = contains(loop, a) && contains(loop, b);
      if (!around_both) continue;
      const Interval& interval = *intervals_[index];
      if (mentions_rank(loop.low) || mentions_rank(loop.high) || mentions_rank(interval.from) ||
          mentions_rank(interval.to))
        return shared;
      ++shared;
    }
    return shared;
  }

  static bool contains(const LoopSite& loop, const StepSite& step) {
    Path inside = loop.path;
    inside.push_back({PathElement::Kind::kLoop, {}, loop.low, loop.high, loop.variable});
    return is_prefix(inside, step.path);
  }

  void one_exchange(size_t i, size_t j, int64_t base) {
    const StepSite &a = anatomy_.steps[i], &b = anatomy_.steps[j];
    const int shared = shared_loops(a, b);
    // Unknowns: those of the first instance, then the second's own, then the second's rank.
    View view = view_of(a.variables, a.names);
    std::vector<Expression> second;
    for (size_t v = 0; v < b.variables.size(); ++v) {
      if (static_cast<int>(v) < shared) {
        second.push_back(variable(v));
      } else {
        second.push_back(variable(view.unknowns.size()));
        view.unknowns.push_back(b.variables[v] + "_2");
      }
    }
    const Expression second_rank = variable(view.unknowns.size());
    view.unknowns.push_back("rank_2");
    for (const auto& [name, value] : b.names)
      view.names[name + "_2"] = substitute(value, second, second_rank);
    const Uses facts = uses(find("port", ""), view);
    add(fmt::format("port: step {} and step {}", i + 1, j + 1), [=, this](Query& q) {
      const StepSite &one = anatomy_.steps[i], &two = anatomy_.steps[j];
      const Instance all_unknowns = unknowns(q, view);
      Instance first{all_unknowns.rank, all_unknowns.variables};
      first.variables.resize(one.variables.size());
      Instance other{q.logic.number(second_rank, all_unknowns), {}};
      for (const Expression& value : second)
        other.variables.push_back(q.logic.number(value, all_unknowns));
      append(q.hypotheses, along(q, one.path, first));
      assume(q, facts, all_unknowns);
      const auto node = [&](const Polynomial& rank) { return q.logic.located(base, rank); };
      const auto leaves = [&](const StepSite& step, const Instance& instance) {
        const Polynomial peer = q.logic.number(anatomy_.sites[step.sites[0]].peer, instance);
        return !q.logic.equal(node(peer), node(instance.rank));
      };
      q.hypotheses.push_back(leaves(one, first));
      std::vector<z3::expr> guards = along(q, two.path, other);
      guards.push_back(q.logic.less_equal(Polynomial::constant(0), other.rank));
      guards.push_back(q.logic.less(other.rank, q.logic.ranks()));
      guards.push_back(leaves(two, other));
      guards.push_back(q.logic.equal(node(first.rank), node(other.rank)));
      const std::vector<z3::expr> before_keys = guards;
      guards.push_back(
          q.logic.equal(q.logic.number(one.key, first), q.logic.number(two.key, other)));
      std::vector<z3::expr> same = {q.logic.truth(i == j), q.logic.equal(first.rank, other.rank)};
      for (size_t v = 0; v < first.variables.size() && v < other.variables.size(); ++v)
        same.push_back(q.logic.equal(first.variables[v], other.variables[v]));
      q.goal = z3::implies(all(q, guards), all(q, same));
      // Without the second step's node, or without keys, different exchanges do go on.
      q.mutant = i == j ? z3::implies(all(q, before_keys), all(q, same)) : q.logic.truth(false);
    });
  }

  const Proof& proof_;
  const Program& program_;
  const Anatomy anatomy_;
  ProofLines lines_;
  ProofPlan plan_;
  std::vector<std::vector<Choice>> matches_;  // by site
  std::vector<Choice> cover_, copies_;
  std::vector<std::optional<Interval>> intervals_;  // by loop
  std::vector<const ProofStatement*> loop_statements_;
  std::string error_;
};

}  // namespace

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

}  // namespace quadrille::verifier
