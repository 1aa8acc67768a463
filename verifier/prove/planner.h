// Makes the obligations of a proof. run() goes through the kinds of obligations in order; files plan_*.cc hold them.
// obligations.h says how they fit together. Obligations refer to the planner, which has to live as long as they do.
// The first error ends everything.
#ifndef QUADRILLE_VERIFIER_PROVE_PLANNER_H_
#define QUADRILLE_VERIFIER_PROVE_PLANNER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verifier/prove/contract.h"
#include "verifier/prove/obligations.h"
#include "verifier/prove/ranges.h"
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
};

// ---- Hypotheses

void in_range(Query& q, const Instance& instance);
void assume(Query& q, const std::vector<Expression>& conditions, const Instance& instance);
void apply_rewrites(Query& q, const Rewrites& rewrites, const Instance& instance);

// ---- Conditions

// 0 <= number < end
std::vector<z3::expr> within(Query& q, const Polynomial& number, const Polynomial& end);
// What holds on the path, from that element of it on.
std::vector<z3::expr> along(Query& q, const Path& path, const Instance& instance, size_t from = 0);
void append(std::vector<z3::expr>& to, const std::vector<z3::expr>& more);
z3::expr all(Query& q, const std::vector<z3::expr>& conditions);
z3::expr negated(Query& q, const Expression& condition, const Instance& instance);

// ---- Witnesses

// That choice k of a list applies, the earlier ones not.
std::vector<z3::expr> applies(Query& q, const std::vector<Choice>& list, size_t k,
                              const Instance& instance);
// The site's instance that a choice names, at that rank.
Instance chosen(Query& q, const Choice& choice, const Instance& instance, const Polynomial& rank);
// That a list of choices, asked at `asked`, names this instance of this site and no other.
z3::expr names_instance(Query& q, const std::vector<Choice>& list, const Instance& asked, int site,
                        const Instance& instance);

// ---- Goals

// The goal: guards imply facts. Its mutant: guards imply `mutant`.
void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts,
          const z3::expr& mutant);
// The same where the guards may never hold: nothing can be said of a mutant.
void show(Query& q, const std::vector<z3::expr>& guards, const std::vector<z3::expr>& facts);

// The byte, or element, of a block that a question is about.
inline constexpr const char* kByte = "offset";

class Planner {
 public:
  explicit Planner(const Proof& proof);
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  Result<ProofPlan> run();

 private:
  // ---- Reading (planner.cc)

  void fail_proof(const std::string& message);
  void fail_at(const ProofStatement& statement, const std::string& message);
  void fail_line(const Line& line, const std::string& message);
  template <class T>
  T take(Result<T> result) {
    if (result.ok()) return std::move(result).value();
    if (error_.empty()) error_ = result.error().message;
    return T{};
  }

  static bool starts_with(const Line& line, const char* word) {
    return line.tokens[0].text == word;
  }
  static std::string site_name(const Site& site);  // "send 1"
  static View view_of_site(const Site& site) { return view_of(site.variables, site.names); }
  // "final, case 2", where there are several.
  static std::string case_name(const std::string& name, const std::vector<Choice>& cases,
                               size_t k) {
    return cases.size() > 1 ? name + ", case " + std::to_string(k + 1) : name;
  }

  const ProofStatement* find(const std::string& kind, const std::string& subject) const;
  std::optional<int> find_site(Site::Kind kind, int number) const;
  // The facts that a statement's `use` lines bring in this view. Lines behind a `with` count for that witness only.
  Uses uses(const ProofStatement* statement, const View& view, int witness = -1) const;
  // The equalities that a statement rewrites by. That their conditions hold at the site becomes an obligation.
  Rewrites rewrites(const std::string& name, const ProofStatement* statement, const Site& site,
                    const View& view, const Uses& facts);
  void check_subjects();
  bool has_site(const std::string& name) const;
  void check_hints();
  void note_idle_hints();

  // ---- Witnesses (plan_witnesses.cc)

  std::vector<Choice> choices(const ProofStatement* statement, const View& view);
  // The values of the site's loop variables, in order.
  std::vector<Expression> values_for(const Site& site, const Witness& witness, const Line& line);
  void read_witnesses();
  std::vector<Choice> only_copy() const;
  // The span of a piece, if the collective does not define it.
  struct Carried {
    bool remote = false;  // the other group contributes
    Expression source, number = quadrille::constant(1), target = quadrille::constant(0);
  };
  Carried read_carries(const Site& site);
  bool is_carried(const Site& site) const;
  bool is_counted() const;
  bool is_to_be_used(const Site& site) const;

  // ---- Building queries (planner.cc)

  // Two steps, or pieces, that are compared: the unknowns of the first, those of the second, and the second's rank.
  struct TwoSteps {
    View view;
    size_t first;                    // how many of its unknowns are variables of the first instance
    std::vector<Expression> second;  // the variables of the second instance
    Expression second_rank;
  };
  // Names of the second end in _2, but not those of its first `shared` variables. So does its rank, if it may be
  // another.
  static TwoSteps two_of(const View& one, const View& two, size_t shared, bool same_rank);

  void add(std::string name, bool theorem, std::function<void(Query&)> build);
  void add(std::string name, std::function<void(Query&)> build);
  static std::function<void(Query&)> at_both_groups(std::function<void(Query&)> build);
  // Fresh unknowns for a view, with what holds for every job.
  Instance unknowns(Query& q, const View& view) const;
  // The same at the end of a path, with further facts.
  Instance unknowns_at(Query& q, const View& view, const Path& path, const Uses& facts) const;
  // Both instances, the first at the end of a path, with further facts.
  std::pair<Instance, Instance> two_at(Query& q, const TwoSteps& both, const Path& path,
                                       const Uses& facts) const;
  // At one rank.
  static z3::expr same_instance(Query& q, bool same_site, const Instance& a, const Instance& b);
  z3::expr same_step(Query& q, int one, Instance a, int two, const Instance& b) const;
  // That some choice of a list applies.
  void exhaustive(const std::string& name, const std::vector<Choice>& list, const View& view,
                  const Uses& facts,
                  const std::function<void(Query&, const Instance&)>& assume_more);
  Polynomial key(Query& q, int step, const Instance& instance) const;
  // A step of a rank is complete when a later one of that rank starts.
  std::vector<z3::expr> over_before(Query& q, int earlier_step, const Instance& earlier,
                                    int later_step, const Instance& later) const;

  // ---- Lemmas, theorems and false claims (plan_lemmas.cc)

  // In order: a lemma may use those before it.
  void read_early(const ProofStatement& statement);
  void define(const ProofStatement& statement);
  void lemma_obligations(const ProofStatement& statement, const Lemma& lemma, const View& view);
  void induction_obligations(const ProofStatement& statement, const Lemma& lemma, const View& view);

  // ---- defined (plan_definedness.cc)

  void xor_facts();
  std::string scope() const;
  // All that a program must do, but for `defined` and `keys`.
  void works();
  void roles();
  void defined();
  // What axioms, and the filling of tables, require of a table's expressions.
  void table_facts();
  // Every entry of a table of expressions that is summed is at least 1.
  void summed_entries(const Table& source);
  void ascending_entries(const Table& table);
  // Of the ranks and variables that a path knows.
  static View view_along(const Path& path);
  // The names known in the innermost of the loops that a view is inside of.
  View with_loop_names(View view) const;

  // ---- fits (plan_definedness.cc)

  void fits();
  void bound(Query& q) const;
  static std::vector<z3::expr> between(Query& q, const Bounded& bounded, const Instance& instance);

  // ---- deadlock, in place of all that follows (plan_deadlock.cc)

  void deadlock(const ProofStatement& statement);
  void posted_later(const Site& receive, const Choice& first, const std::vector<Expression>& given);

  // ---- match (plan_pairing.cc)

  void matches();
  // The instance at the other end of a message.
  static Instance at_peer(Query& q, const Choice& choice, const Site& site,
                          const Instance& instance);
  void matches_of(size_t i);
  void match(Query& q, size_t i, size_t k, const View& view, const Uses& facts,
             const Rewrites& rewriting);
  bool can_match(size_t i, const Choice& choice) const;
  void message(size_t i, const Uses& facts);
  static bool in_order(const Site& site, const Site& other, const Choice& choice);
  bool with_its_message(size_t i, const Choice& choice) const;
  void peer(const Site& site, const View& view, const Uses& facts);

  // ---- What is read and written: held and apart (plan_values.cc)

  // A piece that is read, or the data that another is combined with.
  struct Reading {
    size_t site;
    bool base;
  };
  std::vector<Reading> readings() const;
  const Access& place(Reading reading) const {
    const Site& site = anatomy_.sites[reading.site];
    return reading.base ? *site.to : *site.from;
  }
  const std::vector<Choice>& writes_for(Reading reading) const {
    return (reading.base ? base_ : held_)[reading.site];
  }
  static const char* kind_of(Reading reading) { return reading.base ? "base" : "held"; }
  std::string name_of(Reading reading) const;
  // With the byte that is asked for, where blocks have lengths.
  View view_with_byte(const Site& site) const;

  // The access that defines what a site carries, if the proof need not.
  const Access* constant_access(const Site& site) const;
  // What a site sends or copies, or what it leaves where it receives or combines.
  Span span(Query& q, size_t i, const Instance& instance) const;
  z3::expr same_rank(Query& q, int group, const Polynomial& a, const Polynomial& b) const;
  z3::expr same(Query& q, const Span& a, const Span& b) const;
  // The range within the block; 0 .. 0 if blocks travel whole, however long they are.
  std::pair<Polynomial, Polynomial> extent(Query& q, const Access& access, size_t i,
                                           const Instance& instance) const;
  std::vector<z3::expr> has_byte(Query& q, const Access& access, size_t i, const Instance& instance,
                                 const Polynomial& byte) const;
  // A piece is complete when another starts, for every timing.
  z3::expr over_before(Query& q, const Site& earlier, const Instance& first, const Site& later,
                       const Instance& second) const;
  z3::expr before_in_text(Query& q, const Site& earlier, const Instance& first, const Site& later,
                          const Instance& second) const;
  // The same of two writes, also of one step.
  z3::expr written_before(Query& q, const Site& earlier, const Instance& first, const Site& later,
                          const Instance& second) const;
  void values();
  void piece(size_t i);
  std::vector<z3::expr> in_buffers(Query& q, const Site& site, const Instance& instance) const;
  // The span that the proof defines is one that can exist.
  std::vector<z3::expr> is_span(Query& q, const Span& span) const;
  bool own_is_there() const;
  void held(Reading reading);
  void held_case(Reading reading, size_t k);
  std::vector<z3::expr> reads_byte(Query& q, Reading reading, const Instance& instance) const;
  void assume_reading(Query& q, Reading reading, const Instance& instance) const;
  void apart(size_t i, Reading reading);
  z3::expr stays(Query& q, size_t i, const Instance& first, Reading reading,
                 const Instance& second) const;
  z3::expr read_first_in_step(Query& q, const Site& read, const Instance& second,
                              const Site& written, const Instance& first) const;
  z3::expr undisturbed(Query& q, size_t i, const Instance& first, Reading reading,
                       const Instance& second, const Choice& choice) const;
  // At one rank, with so many variables in common.
  static TwoSteps two_pieces(const View& a, const View& b, size_t shared = 0) {
    return two_of(a, b, shared, true);
  }

  // ---- The tokens of a barrier, which are ranges of one block modulo their number (plan_values.cc)

  void tokens(size_t i);
  void own_token(Reading reading);
  std::vector<z3::expr> is_token(Query& q, const Polynomial& low, const Polynomial& high,
                                 const Polynomial& token) const;
  z3::expr is_own_token(Query& q, const Instance& instance, const Polynomial& token) const;

  // ---- combine (plan_final.cc)

  void combine(size_t i);
  // What is to be combined, and when it is that.
  struct Coming {
    std::vector<z3::expr> guards;
    Span span;
  };
  std::vector<Coming> coming(Query& q, size_t i, const Instance& instance) const;
  std::vector<z3::expr> combined(Query& q, Side side, const Span& comes, const Span& is_there,
                                 const Span& left) const;

  // ---- final, once and used (plan_final.cc)

  // Of a block of the receive buffer of a rank: what is to be there.
  struct Ends {
    Polynomial block;
    Instance target;
    Span wanted;
  };
  View ends_view() const;
  Ends ends(Query& q, const Instance& asked) const;
  void assume_ends(Query& q, const Instance& asked) const;
  static z3::expr is_own(Query& q, const Ends& ends);
  void assume_own(Query& q, const Instance& instance) const;
  void cover();
  void cover_case(size_t k);
  void last_write(size_t i);
  void copies();
  void copy_case(size_t k);
  void once(size_t i);
  void sent_before_overwritten(size_t i);
  void once(size_t i, size_t j);
  void used(size_t i);

  // ---- keys (plan_keys.cc)

  // Bounds of the keys of one iteration of a loop.
  struct Interval {
    Expression from, to;
  };
  // An item of a body: its guards beyond the body's own path, and the interval of its keys.
  struct KeyRange {
    std::vector<z3::expr> guards;
    Polynomial low, high;
  };

  void keys();
  // What stands later in a body has higher keys.
  void sequence(size_t body);
  void in_sequence(size_t body, size_t i, size_t j, const Item& one, const Item& two);
  // Every statement of a loop's body stays in the interval of the iteration. Intervals follow one another.
  void loop_keys(size_t body);
  void intervals_in_order(size_t body, const std::string& name);
  std::optional<Interval> interval_of(int loop);
  KeyRange key_range(Query& q, const Item& item, size_t shared, Instance instance) const;
  bool has_steps(size_t body) const;
  const LoopSite* owner(size_t body) const;
  // The path inside a body, up to which its items are alike.
  Path path_of_body(size_t body) const;
  View view_of_body(size_t body) const;
  // The names known at an item, over the unknowns of its body.
  View view_of_item(size_t body, const Item& item) const;
  std::vector<Item> keyed_items(size_t body) const;
  // A loop's name, with a number where several have it.
  std::string body_name(size_t body) const;

  // ---- port (plan_port.cc)

  // A step that sends a block or token to one rank and receives one from the same.
  bool is_exchange(const StepSite& step) const;
  void one_peer(const StepSite& step, int i, int j);
  // The sites of its messages: of each the first piece.
  std::vector<int> messages_in(const StepSite& step) const;
  void port();
  void messages_of(const StepSite& step);
  void different_peers(const StepSite& step, int i, int j);
  // An exchange leaves its node unless the proof says otherwise; nothing else may.
  bool leaves_its_node(size_t step) const;
  std::optional<int64_t> node_table() const;
  bool said_to_stay(const Site& site) const;
  static bool is_said_of(const Line& line, const Site& site);
  void stays_inside(const Site& site, int64_t base);
  // What crosses the border of a node: an exchange, or one message.
  struct Crossing {
    Path path;
    int step;
    Expression peer;
    std::string name;
  };
  Crossing exchange(size_t step) const;
  Crossing crossing_message(size_t i) const;
  void one_crossing(const Crossing& one, const Crossing& two, bool of_exchanges, int64_t base);
  // Of a node, one message leaves at a key, and one arrives.
  void one_each_way(int64_t base);
  TwoSteps two_steps(const StepSite& a, const StepSite& b) const;
  // How many of the enclosing loops, from the outermost, are in the same iteration at equal keys at
  // all ranks.
  size_t shared_loops(const StepSite& a, const StepSite& b) const;
  bool is_alike_everywhere(int loop) const;
  void same_iteration(size_t loop);
  z3::expr in_turn(Query& q, size_t loop, Instance instance, const Polynomial& lower,
                   const Polynomial& higher) const;

  const Proof& proof_;
  const Program& program_;
  const Anatomy anatomy_;
  const Contract contract_;
  ProofLines lines_;
  ProofPlan plan_;
  std::vector<std::vector<Choice>> matches_, held_, base_, used_;  // by site
  std::vector<std::optional<Carried>> carries_;                    // by site
  std::vector<Choice> cover_, copies_;
  std::vector<std::optional<Interval>> intervals_;  // by loop
  std::vector<const ProofStatement*> loop_statements_;
  std::string error_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_PLANNER_H_
