// The parts that all kinds of obligations share. The files plan_*.cc make the obligations; obligations.h says how they
// fit together. An obligation refers to its planner, which must outlive it.
#ifndef QUADRILLE_VERIFIER_PROVE_PLANNER_H_
#define QUADRILLE_VERIFIER_PROVE_PLANNER_H_

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verifier/prove/contract.h"
#include "verifier/prove/obligations.h"
#include "verifier/prove/reader.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

using Uses = std::vector<Expression>;
using Rewrites = std::vector<ProofLines::Rewrite>;

// A witness with the values of all variables of its site, in order.
struct Choice {
  int site;
  std::vector<Expression> values;
  std::optional<Expression> condition;
  const Line* line = nullptr;  // of the proof, if it has one
};
using Choices = std::vector<Choice>;  // the first that applies counts

// The subject of an obligation: any instance of the names of a view, at the end of a path, with the proof's facts
// about it.
struct Scene {
  View view;
  Path path;
  Uses facts;
  size_t checked = kAllChecked;  // the requirements that are known to hold, in the order of Anatomy
};

// Two steps, or pieces, to compare: the unknowns of the first, those of the second, and the second's rank.
struct TwoSteps {
  View view;
  size_t first;  // the number of unknowns that are variables of the first instance
  std::vector<Expression> second;  // the variables of the second instance
  Expression second_rank;
};
// Names of the second end in _2, except those of its first `shared` variables. So does its rank, unless it is the
// same.
TwoSteps two_of(const View& one, const View& two, size_t shared = 0, bool same_rank = true);

// The span of a piece, if the collective does not define it.
struct Carried {
  bool remote = false;  // the contributor is in the other group
  Expression source, number = constant(1), target = constant(0);
  // In place of source and number: the ranks that have contributed. The last variable is the rank.
  std::optional<Expression> contributors = {};
};

// A piece that is read, or the data that a piece is combined with.
struct Reading {
  size_t site;
  bool base;
};

// Bounds of the keys of one iteration of a loop.
struct KeyInterval {
  Expression from, to;
};

// The byte, or element, of a block that an obligation is about.
inline constexpr const char* kByte = "offset";
// The rank whose contribution an obligation is about, if the proof says by conditions who has contributed.
inline constexpr const char* kContributor = "contributor";

// ---- Names

std::string site_name(const Site& site);  // "send 1"
// "final, case 2", if there are several.
inline std::string case_name(const std::string& name, const Choices& cases, size_t k) {
  return cases.size() > 1 ? fmt::format("{}, case {}", name, k + 1) : name;
}
inline bool starts_with(const Line& line, const char* word) { return line.tokens[0].text == word; }
// Whether an `inside` line is about this site.
bool is_said_of(const Line& line, const Site& site);
// For a site, a step or a loop.
template <class Named>
View view_of(const Named& named) {
  return view_of(named.variables, named.names);
}

// ---- Hypotheses

// 0 <= number < end
inline std::vector<z3::expr> within(Query& q, const Polynomial& number, const Polynomial& end) {
  return {q.less_equal(0, number), q.less(number, end)};
}
inline void in_range(Query& q, const Instance& instance) {
  q.suppose(within(q, instance.rank, q.ranks(instance.group)));
}
inline void assume(Query& q, const std::vector<Expression>& conditions, const Instance& instance) {
  for (const Expression& condition : conditions) q.suppose(q.condition(condition, instance));
}
inline void apply_rewrites(Query& q, const Rewrites& rewrites, const Instance& instance) {
  for (const ProofLines::Rewrite& rewrite : rewrites)
    q.rewrite(rewrite.left, rewrite.right, instance);
}

// ---- Conditions

// The conditions of the path, from that element on.
std::vector<z3::expr> along(Query& q, const Path& path, const Instance& instance, size_t from = 0);
template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}
inline z3::expr all(Query& q, const std::vector<z3::expr>& conditions) {
  z3::expr result = q.truth(true);
  for (const z3::expr& condition : conditions) result = result && condition;
  return result;
}
// Two instances at one rank are the same: they have the same site and the same variables.
z3::expr same_instance(Query& q, bool same_site, const Instance& a, const Instance& b);

// ---- Witnesses

// Choice k of a list applies, and no earlier one does.
std::vector<z3::expr> applies(Query& q, const Choices& list, size_t k, const Instance& instance);
// The site's instance that a choice names, at that rank.
inline Instance chosen(Query& q, const Choice& choice, const Instance& instance,
                       const Polynomial& rank) {
  Instance result{instance.group, rank, {}};
  for (const Expression& value : choice.values)
    result.variables.push_back(q.number(value, instance));
  return result;
}
// The instance at the other end of a message.
inline Instance at_peer(Query& q, const Choice& choice, const Site& site,
                        const Instance& instance) {
  Instance there = chosen(q, choice, instance, q.number(site.peer, instance));
  if (site.remote) there.group = 1 - instance.group;
  return there;
}
// A list of choices, evaluated at `asked`, names this instance of this site and no other.
z3::expr names_instance(Query& q, const Choices& list, const Instance& asked, int site,
                        const Instance& instance);

// ---- Goals

// The goal: guards imply facts. Its mutant: guards imply `mutant`. There is no mutant if the guards may never hold.
void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts,
          const std::optional<z3::expr>& mutant = std::nullopt);
// The goal: the condition. Its mutant: its negation.
inline void show_condition(Query& q, const Expression& condition, const Instance& instance) {
  const z3::expr holds = q.condition(condition, instance);
  show(q, {}, {holds}, !holds);
}

struct Planner {
  explicit Planner(const Proof& proof);
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  // Goes through the kinds of obligations in order. Throws the first Error, like all functions below.
  ProofPlan run(UnusedLines unused);

  // ---- The proof (planner.cc)

  [[noreturn]] void fail_proof(const std::string& message) const {
    throw Error{fmt::format("{}: {}", proof.source, message)};
  }
  [[noreturn]] void fail_at(const ProofStatement& statement, const std::string& message) const {
    throw Error{fmt::format("{}:{}: {}", proof.source, statement.line, message)};
  }
  [[noreturn]] void fail_line(const Line& line, const std::string& message) const {
    throw Error{fmt::format("{}:{}: {}", proof.source, line.number, message)};
  }
  [[noreturn]] void fail_choice(const Choice& choice, const std::string& message) const;
  template <class T>
  static T take(Result<T> result) {
    if (!result.ok()) throw result.error();
    return std::move(result).value();
  }
  Expression condition(const Line& line, const View& view) const {
    return take(lines.expression(line, view, ProofLines::Wanted::kCondition));
  }
  // Adds the condition of a `given` line.
  void add_given(std::vector<Expression>& given, const Line& line, const View& view) const;
  Expression number(const Line& line, const View& view) const {
    return take(lines.expression(line, view, ProofLines::Wanted::kNumber));
  }

  const ProofStatement* find(const std::string& kind, const std::string& subject = "") const;
  std::optional<int> find_site(Site::Kind kind, int64_t number) const;
  // The facts that a statement's `use` lines bring in this view. A line after a `with` counts for that witness only.
  Uses uses(const ProofStatement* statement, const View& view, int witness = -1) const;
  Choices choices(const ProofStatement* statement, const View& view) const;
  Scene scene(const View& view, const Path& path, const std::string& kind,
              const std::string& subject = "", int witness = -1) const {
    return {view, path, uses(find(kind, subject), view, witness)};
  }
  // The scene of a table, or a requirement: not all requirements are known to hold there, nor are lemmas, which may rely on
  // them.
  Scene scene_of_check(Scene scene, size_t checked) const;
  // The equalities that a statement rewrites by. An obligation shows that their conditions hold in the scene.
  Rewrites rewrites(const std::string& name, const ProofStatement* statement, const Scene& scene);

  // ---- Obligations (planner.cc)

  void add(std::string name, std::function<void(Query&)> build);
  // Adds an obligation about any instance of the scene.
  void add(std::string name, const Scene& scene,
           std::function<void(Query&, const Instance&)> build);
  // Adds an obligation about two instances, the first at the end of a path, with further facts.
  void add(std::string name, const TwoSteps& both, const Path& path, const Uses& facts,
           std::function<void(Query&, const Instance&, const Instance&)> build);
  // Some choice of a list applies.
  void exhaustive(const std::string& name, const Choices& list, const View& view, const Uses& facts,
                  const std::function<void(Query&, const Instance&)>& assume_more);
  // Fresh unknowns for a view, with the facts that hold for every job.
  Instance unknowns(Query& q, const View& view, size_t checked = kAllChecked) const;
  // The same at the end of the scene's path, with its facts.
  Instance unknowns(Query& q, const Scene& scene) const;

  // ---- Order (plan_values.cc)

  Polynomial key(Query& q, int step, const Instance& instance) const {
    return q.number(anatomy.steps[step].key, instance);
  }
  // A step of a rank is complete when a later step of that rank starts.
  std::vector<z3::expr> over_before(Query& q, int earlier_step, const Instance& earlier,
                                    int later_step, const Instance& later) const;
  // A piece is complete when another starts, under every timing.
  z3::expr over_before(Query& q, const Site& earlier, const Instance& first, const Site& later,
                       const Instance& second) const;
  // The same for two writes, also within one step.
  z3::expr written_before(Query& q, const Site& earlier, const Instance& first, const Site& later,
                          const Instance& second) const;

  // ---- Contents of pieces (plan_values.cc)

  // A message, with the facts of its `match`, and those of its witness if it has only one.
  Scene scene_of_match(size_t i) const {
    return scene(view_of(sites[i]), sites[i].path, "match", site_name(sites[i]),
                 matches[i].size() == 1 ? 0 : -1);
  }
  // The access that defines the contents of a site, if the proof need not.
  const Access* constant_access(const Site& site) const;
  bool is_carried(const Site& site) const {
    return (site.from || site.to) && (!constant_access(site) || contract.is_barrier());
  }
  // The span of a block that the collective defines.
  Span known_span(Query& q, const Access& access, const Instance& instance) const;
  // The span that a site sends or copies, or that it leaves behind where it receives or combines.
  Span span(Query& q, size_t i, const Instance& instance) const;
  z3::expr same_rank(Query& q, int group, const Polynomial& a, const Polynomial& b) const;
  // The spans are the same as far as the contributor is concerned, if conditions say who has contributed. To be the
  // same, they have to agree in every contributor.
  z3::expr same(Query& q, const Span& a, const Span& b, const Polynomial& contributor = {}) const;
  // Two writes leave the same. If conditions say who has contributed, only a write and itself are known to.
  z3::expr leave_same(Query& q, size_t i, const Instance& first, size_t j,
                      const Instance& second) const;
  // Adds the contributor, as the last unknown, if conditions say who has contributed.
  View with_contributor(View view) const;
  // The unknowns without it, and it: any rank.
  std::pair<Instance, Polynomial> apart_from_contributor(Query& q, Instance all) const;
  // The range within the block; 0 .. 0 if blocks travel whole, whatever their length.
  std::pair<Polynomial, Polynomial> extent(Query& q, const Access& access, size_t i,
                                           const Instance& instance) const;
  std::vector<z3::expr> has_byte(Query& q, const Access& access, size_t i, const Instance& instance,
                                 const Polynomial& byte) const;
  z3::expr is_own_token(Query& q, const Instance& instance, const Polynomial& token) const {
    return q.equal(token, contract.process(q, instance));
  }
  // The first table of powers of two.
  std::optional<int64_t> powers_of_two() const;
  // Whether the data that is written there must be read.
  bool is_to_be_used(const Site& site) const;

  // ---- Reads of written data (plan_values.cc)

  std::vector<Reading> readings() const;
  const Access& place(Reading reading) const {
    return reading.base ? *sites[reading.site].to : *sites[reading.site].from;
  }
  const Choices& writes_for(Reading reading) const {
    return (reading.base ? base : held)[reading.site];
  }
  // Adds the byte that an obligation is about, if blocks have lengths.
  View view_with_byte(const Site& site) const;
  // A block of the receive buffer at the end: the ranks that it comes from and goes to, and a byte of it.
  View ends_view() const;
  std::vector<z3::expr> reads_byte(Query& q, Reading reading, const Instance& instance) const;
  void assume_reading(Query& q, Reading reading, const Instance& instance) const;

  const Proof& proof;
  const Program& program;
  const Anatomy anatomy;
  const std::vector<Site>& sites;
  const Contract contract;
  ProofLines lines;
  ProofPlan plan;
  std::vector<Choices> matches, held, base, used;  // by site
  std::vector<std::optional<Carried>> carries;     // by site
  bool by_conditions = false;                      // conditions say who has contributed
  Choices cover, copies;
  std::vector<std::optional<KeyInterval>> intervals;  // by loop

 private:
  void check_subjects() const;
  void check_inside() const;
  void check_unused_lines() const;
  std::string scope() const;
};

// ---- The kinds of obligations

// The conditions that axioms, and the filling of tables, put on a table's expressions.
void plan_tables(Planner& p);
// Reads a definition, lemma, theorem or false claim. A lemma may use those before it.
void plan_lemma(Planner& p, const ProofStatement& statement);
void plan_definedness(Planner& p);
void plan_keys(Planner& p);
// Replaces all that follow.
void plan_deadlock(Planner& p, const ProofStatement& statement);
void plan_roles(Planner& p);
void read_witnesses(Planner& p);
void plan_matches(Planner& p);
void plan_values(Planner& p);
void plan_port(Planner& p);

// A piece lies within a block, and the block within its buffer. No rank receives its own block.
void plan_piece(Planner& p, size_t i);
// Data that is read was written there before, and is not overwritten in between.
void plan_readings(Planner& p);

// ---- Bodies of loops (plan_keys.cc)

// The path inside a body, up to which its items agree.
Path path_of_body(const Planner& p, size_t body);
View view_of_body(const Planner& p, size_t body);
// A loop's name, with a number if several loops have it.
std::string body_name(const Planner& p, size_t body);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_PLANNER_H_
