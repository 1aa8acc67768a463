// What all kinds of obligations share. The files plan_*.cc make the obligations; obligations.h says how they fit
// together. The Planner must outlive its obligations, whose functions refer to it.
#pragma once

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

// A witness of the proof: a site, with a value for each of its loop variables, in order.
struct Choice {
  int site;
  std::vector<Expression> values;
  std::optional<Expression> condition;
  const Line* line = nullptr;  // of the proof; null if the proof need not state it
};
using WitnessChoices = std::vector<Choice>;  // the first one whose condition holds is the witness

// What an obligation is about: all values of a view's unknowns for which the path's conditions hold. The proof adds
// facts about them.
struct Scene {
  View view;
  Path path;
  Uses facts;
  size_t checked = kAllChecked;  // how many of Anatomy's requirements are known to hold
};

// Two steps, or pieces, to compare. The view has the unknowns of both.
struct TwoSteps {
  View view;
  size_t first;                    // the first instance's variables are this many unknowns
  std::vector<Expression> second;  // the variables of the second instance
  Expression second_rank;
};
// Makes a view of both. Names of `two` get the ending _2, except its first `shared` variables, which are those of
// `one`. The second rank is the unknown rank_2, or the first rank if `same_rank`.
TwoSteps two_of(const View& one, const View& two, size_t shared = 0, bool same_rank = true);

// The span of a piece, from the proof's `carries`. All numbers are over the variables of the piece's site.
struct Carried {
  bool remote = false;  // whether the contributor is in the other group
  Expression source, number = constant(1), target = constant(0);
  // In place of source and number: whether a rank has contributed. That rank is one more variable, the last.
  std::optional<Expression> contributors = {};
};

// A read of data: of what a site's piece is made from, or (`base`) of what the piece is combined with.
struct Reading {
  size_t site;
  bool base;
};

// The keys of one iteration of a loop are at least `from` and less than `to`.
struct KeyInterval {
  Expression from, to;
};

// The unknown for the byte, or element, of a block that an obligation is about.
inline constexpr const char* kByte = "offset";
// The unknown for the rank whose contribution an obligation is about, if the proof has `contributors`.
inline constexpr const char* kContributor = "contributor";

// ---- Names

std::string site_name(const Site& site);  // "send 1"
// Returns the name of an obligation about case k: "final, case 2", or "final" if there is only one.
inline std::string case_name(const std::string& name, const WitnessChoices& cases, size_t k) {
  return cases.size() > 1 ? fmt::format("{}, case {}", name, k + 1) : name;
}
inline bool starts_with(const Line& line, const char* word) { return line.tokens[0].text == word; }
// Whether a line "inside send 3" names this site.
bool is_said_of(const Line& line, const Site& site);
// Returns the view of a site, a step or a loop's body.
template <class Named>
View view_of(const Named& named) {
  return view_of(named.variables, named.names);
}

// ---- Hypotheses

// Returns the conditions 0 <= number and number < end.
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

// Returns the conditions of the path, without its first `from` elements.
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
// Returns the condition that two instances at one rank are the same: one site, and equal variables.
z3::expr same_instance(Query& q, bool same_site, const Instance& a, const Instance& b);

// ---- Witnesses

// Returns the conditions that choice k of a list applies, and no earlier one.
std::vector<z3::expr> applies(Query& q, const WitnessChoices& list, size_t k,
                              const Instance& instance);
// Returns the instance, at `rank`, that a choice names. The choice's values are evaluated at `instance`.
inline Instance chosen(Query& q, const Choice& choice, const Instance& instance,
                       const Polynomial& rank) {
  Instance result{instance.group, rank, {}};
  for (const Expression& value : choice.values)
    result.variables.push_back(q.number(value, instance));
  return result;
}
// Returns the instance at the other end of a message, which a choice of the message's `match` names.
inline Instance at_peer(Query& q, const Choice& choice, const Site& site,
                        const Instance& instance) {
  Instance there = chosen(q, choice, instance, q.number(site.peer, instance));
  if (site.remote) there.group = 1 - instance.group;
  return there;
}
// Returns the condition that the choice which applies at `asked` names this instance of this site.
z3::expr names_instance(Query& q, const WitnessChoices& list, const Instance& asked, int site,
                        const Instance& instance);

// ---- Goals

// Sets the goal: guards imply facts. Sets the mutant: guards imply `mutant`, or false if the guards may never hold.
void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts,
          const std::optional<z3::expr>& mutant = std::nullopt);
// Sets the goal to the condition, and its mutant to the negation.
inline void show_condition(Query& q, const Expression& condition, const Instance& instance) {
  const z3::expr holds = q.condition(condition, instance);
  show(q, {}, {holds}, !holds);
}

struct Planner {
  explicit Planner(const Proof& proof);
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  // Makes the obligations of all kinds in order. Throws an Error on a mistake in the proof, like all functions below.
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
  // Adds the condition of a `given` line. Refuses one that is given twice.
  void add_given(std::vector<Expression>& given, const Line& line, const View& view) const;
  Expression number(const Line& line, const View& view) const {
    return take(lines.expression(line, view, ProofLines::Wanted::kNumber));
  }

  const ProofStatement* find(const std::string& kind, const std::string& subject = "") const;
  std::optional<int> find_site(Site::Kind kind, int64_t number) const;
  // Returns the facts of a statement's `use` lines in this view. Lines below a `with` count only for that witness,
  // which `witness` numbers from 0; -1: for none.
  Uses uses(const ProofStatement* statement, const View& view, int witness = -1) const;
  WitnessChoices choices(const ProofStatement* statement, const View& view) const;
  Scene scene(const View& view, const Path& path, const std::string& kind,
              const std::string& subject = "", int witness = -1) const {
    return {view, path, uses(find(kind, subject), view, witness)};
  }
  // Returns the scene of a check that comes before some requirements are checked. If any are open, drops the facts,
  // too, since lemmas may rely on all requirements.
  Scene scene_of_check(Scene scene, size_t checked) const;
  // Returns the equations of a statement's `rewrite` lines. Adds obligations that their conditions hold in the scene.
  Rewrites rewrites(const std::string& name, const ProofStatement* statement, const Scene& scene);

  // ---- Obligations (planner.cc)

  void add(std::string name, std::function<void(Query&)> build);
  // Adds an obligation about every instance of the scene.
  void add(std::string name, const Scene& scene,
           std::function<void(Query&, const Instance&)> build);
  // Adds an obligation about every two instances. Supposes the path's conditions for the first, and the facts.
  void add(std::string name, const TwoSteps& both, const Path& path, const Uses& facts,
           std::function<void(Query&, const Instance&, const Instance&)> build);
  // Adds an obligation that in every case some choice of the list applies, unless the last one has no condition.
  void exhaustive(const std::string& name, const WitnessChoices& list, const View& view,
                  const Uses& facts,
                  const std::function<void(Query&, const Instance&)>& assume_more);
  // Makes fresh unknowns for a view, and supposes what holds for every job, such as its requirements.
  Instance unknowns(Query& q, const View& view, size_t checked = kAllChecked) const;
  // Makes fresh unknowns for a scene's view. Also supposes the conditions of its path, and its facts.
  Instance unknowns(Query& q, const Scene& scene) const;

  // ---- Order (plan_values.cc)

  Polynomial key(Query& q, int step, const Instance& instance) const {
    return q.number(anatomy.steps[step].key, instance);
  }
  // Returns the conditions that one step of a rank is complete when another step of that rank starts.
  std::vector<z3::expr> over_before(Query& q, int earlier_step, const Instance& earlier,
                                    int later_step, const Instance& later) const;
  // Returns the condition that one piece is complete when another of that rank starts, under every timing.
  z3::expr over_before(Query& q, const Site& earlier, const Instance& first, const Site& later,
                       const Instance& second) const;
  // Returns the condition that one write is complete before the other happens, also if both are in one step.
  z3::expr written_before(Query& q, const Site& earlier, const Instance& first, const Site& later,
                          const Instance& second) const;

  // ---- Contents of pieces (plan_values.cc)

  // Returns the scene of a message, with the facts of its `match`, and those of the witness if there is only one.
  Scene scene_of_match(size_t i) const {
    return scene(view_of(sites[i]), sites[i].path, "match", site_name(sites[i]),
                 matches[i].size() == 1 ? 0 : -1);
  }
  // Returns the read or write of a constant buffer (Contract) that tells the site's span; null if `carries` tells it.
  const Access* constant_access(const Site& site) const;
  bool is_carried(const Site& site) const {
    return (site.from || site.to) && (!constant_access(site) || contract.is_barrier());
  }
  // Returns the span of a block of a constant buffer.
  Span known_span(Query& q, const Access& access, const Instance& instance) const;
  // Returns the span that a site sends or copies, or that its block holds after it receives or combines.
  Span span(Query& q, size_t i, const Instance& instance) const;
  z3::expr same_rank(Query& q, int group, const Polynomial& a, const Polynomial& b) const;
  // Returns the condition that two spans are the same. If the proof has `contributors`, it says that both or neither
  // include `contributor`, which may be any rank.
  z3::expr same(Query& q, const Span& a, const Span& b, const Polynomial& contributor = {}) const;
  // Returns the condition that two writes leave the same data. With `contributors`: that they are one write.
  z3::expr leave_same(Query& q, size_t i, const Instance& first, size_t j,
                      const Instance& second) const;
  // Adds the contributor, as the last unknown, if the proof has `contributors`.
  View with_contributor(View view) const;
  // Separates the contributor, if there is one, from the other unknowns, and supposes that it is a rank.
  std::pair<Instance, Polynomial> apart_from_contributor(Query& q, Instance all) const;
  // Returns the range [low, high) of an access: in a barrier tokens, else within its block; in an all-to-all [0, 0).
  std::pair<Polynomial, Polynomial> extent(Query& q, const Access& access, size_t i,
                                           const Instance& instance) const;
  // Returns the conditions that the access includes this byte of its block, or in a barrier this token.
  std::vector<z3::expr> has_byte(Query& q, const Access& access, size_t i, const Instance& instance,
                                 const Polynomial& byte) const;
  z3::expr is_own_token(Query& q, const Instance& instance, const Polynomial& token) const {
    return q.equal(token, contract.process(q, instance));
  }
  // Returns the number of the program's first table of powers of two.
  std::optional<int64_t> powers_of_two() const;
  // Whether something must read the data that the site writes (obligation `used`).
  bool is_to_be_used(const Site& site) const;
  // Whether a rank's own block is in the receive buffer before the first step: the program begins by copying it.
  bool own_is_there() const;

  // ---- Reads of written data (plan_values.cc)

  std::vector<Reading> readings() const;
  const Access& place(Reading reading) const {
    return reading.base ? *sites[reading.site].to : *sites[reading.site].from;
  }
  const WitnessChoices& writes_for(Reading reading) const {
    return (reading.base ? base : held)[reading.site];
  }
  // Returns the site's view, with the byte that an obligation is about as the last unknown, if blocks have lengths.
  View view_with_byte(const Site& site) const;
  // Returns the view of a receive block at the end, with unknowns for its source and target ranks and a byte.
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
  std::vector<WitnessChoices> matches, held, base, used;  // by site
  std::vector<std::optional<Carried>> carries;            // by site
  bool by_conditions = false;                             // whether the proof has `contributors`
  bool compares_products = false;                         // whether the proof has `products`
  WitnessChoices cover, copies;
  std::vector<std::optional<KeyInterval>> intervals;  // by loop

 private:
  void check_subjects() const;
  void check_inside() const;
  void check_unused_lines() const;
};

// ---- The kinds of obligations

// Shows the conditions that the axioms require of a table's expressions.
void plan_tables(Planner& p);
// Reads a definition, lemma, theorem or false claim, and ignores other statements. A lemma may use earlier ones.
void plan_lemma(Planner& p, const ProofStatement& statement);
void plan_definedness(Planner& p);
void plan_keys(Planner& p);
// Shows a `deadlock`. Such a proof needs none of the kinds below.
void plan_deadlock(Planner& p, const ProofStatement& statement);
void plan_roles(Planner& p);
void read_witnesses(Planner& p);
void plan_matches(Planner& p);
void plan_values(Planner& p);
void plan_port(Planner& p);

// Shows that a piece lies within its block, and the block within its buffer, and that no rank receives its own block.
void plan_piece(Planner& p, size_t i);
// Shows that data that is read was written before, and that nothing overwrites it in between (held, apart).
void plan_readings(Planner& p);

// ---- Bodies of loops (plan_keys.cc)

// Returns the path to a body, with which the paths of its items begin. Bodies are numbered as in Anatomy.
Path path_of_body(const Planner& p, size_t body);
View view_of_body(const Planner& p, size_t body);
// Returns the name of a body's loop, with a number if several loops have the name: "k (2)".
std::string body_name(const Planner& p, size_t body);

}  // namespace quadrille::verifier
