// The program runs on small jobs. A run shows which receive meets a send, which write a read finds, and so on. Expressions
// that fit all runs become witnesses. They may be wrong, and then the prover refuses them. Tested by
// tests/prove/skeleton_test.cc and tests/prove/prove_command_test.sh.
#include "verifier/skeleton.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "schedule/evaluate.h"
#include "schedule/text.h"
#include "schedule/traverse.h"
#include "verifier/fit.h"
#include "verifier/moments.h"
#include "verifier/prove/planner.h"

namespace quadrille::verifier {
namespace {

constexpr size_t kMostAsked = 4000;    // moments of one statement
constexpr size_t kMostExamples = 100;  // of one statement, for each statement that is found

// One moment about which something is asked, and the answer: another moment, or numbers.
struct Example {
  const Moments* run;
  int64_t group;
  std::vector<std::optional<int64_t>> names;  // the values of the names of a vocabulary
  const Moment* found = nullptr;
  std::vector<std::optional<int64_t>> numbers = {};
  const Moment* piece = nullptr;  // the piece whose other end is `found`
};

// The names that expressions may use at a place, and how to get their values.
class Vocabulary {
 public:
  // Returns the names at a site: its first `variables` variables, lets that depend on no others, and the `last` name.
  static Vocabulary of_site(const Program& program, const Site& site, size_t variables,
                            const char* last = nullptr) {
    Vocabulary all(program);
    all.plain_.assign(site.variables.begin(),
                      site.variables.begin() + static_cast<int64_t>(variables));
    all.add_lets(site, variables);
    if (last) all.plain_.emplace_back(last);
    all.has_rank_ = true;
    all.finish();
    return all;
  }
  // Returns the names for the end of the program, where the block of `source` is at `target`. Lets outside loops are
  // functions of a rank there.
  static Vocabulary of_ends(const Program& program, const Anatomy& anatomy, const View& view) {
    Vocabulary all(program);
    all.plain_ = view.unknowns;
    all.has_rank_ = view.has_rank;
    for (const auto& [name, let] : anatomy.definitions)
      if (let.variables == 0) all.functions_.emplace_back(name, Formula(let.value, 0));
    all.finish();
    return all;
  }

  // Returns all names: "rank, ranks, k".
  std::string text() const { return fmt::format("{}", fmt::join(names_, ", ")); }
  const std::vector<std::string>& names() const { return names_; }
  bool is_let(size_t name) const {
    return name >= plain_.size() && name < plain_.size() + lets_.size();
  }
  // Returns how many variables of the site may be named.
  size_t variables() const { return variables_; }

  // Returns the values of all names at a rank, given those of the plain names.
  std::vector<std::optional<int64_t>> values(const Binding& at, int64_t rank,
                                             const std::vector<int64_t>& plain) const {
    std::vector<std::optional<int64_t>> values(plain.begin(), plain.end());
    Binding binding = at;
    binding.place.rank = rank;
    const std::vector<int64_t> variables(plain.begin(),
                                         plain.begin() + static_cast<int64_t>(variables_));
    Undefined why = Undefined::kNone;
    for (const auto& [name, formula] : lets_)
      values.push_back(formula.value(binding, variables, &why));
    for (const auto& [name, formula] : functions_)
      for (size_t i = first_end(); i < ends(); ++i) {
        binding.place.rank = plain_.empty() ? rank : plain[i];
        const bool is_rank = binding.place.rank < binding.place.ranks;
        values.push_back(is_rank ? formula.value(binding, {}, &why) : std::nullopt);
      }
    if (has_rank_) values.emplace_back(rank);
    values.emplace_back(binding.place.ranks);
    if (program_->groups == 2) values.emplace_back(binding.place.remote_ranks);
    if (rooted(program_->collective)) values.emplace_back(binding.place.root);
    values.insert(values.end(), binding.parameters.begin(), binding.parameters.end());
    return values;
  }

 private:
  explicit Vocabulary(const Program& program) : program_(&program) {}

  void add_lets(const Site& site, size_t variables) {
    variables_ = variables;
    for (const auto& [name, value] : site.names) {
      bool is_let = std::ranges::count(site.variables, name) == 0;
      for (size_t v = variables; v < site.variables.size(); ++v)
        is_let &= !mentions_variable(value, static_cast<int64_t>(v));
      if (is_let) lets_.emplace_back(name, Formula(value, static_cast<int>(variables)));
    }
  }

  void finish() {
    names_ = plain_;
    for (const auto& [name, formula] : lets_) names_.push_back(name);
    for (const auto& [name, formula] : functions_)
      for (size_t i = first_end(); i < ends(); ++i)
        names_.push_back(fmt::format("{}({})", name, plain_.empty() ? "rank" : plain_[i]));
    if (has_rank_) names_.emplace_back("rank");
    names_.emplace_back("ranks");
    if (program_->groups == 2) names_.emplace_back("remote_ranks");
    if (rooted(program_->collective)) names_.emplace_back("root");
    for (const Parameter& parameter : program_->parameters) names_.push_back(parameter.name.text);
  }

  // Returns how many plain names are ranks at the end of the program: source and target, or only one.
  size_t ends() const {
    return std::max<size_t>(
        1, std::ranges::count_if(plain_, [](const auto& name) { return name != kByte; }));
  }

  // Lets at `source` are those of the other group, if there are two.
  size_t first_end() const { return program_->groups == 2 && ends() == 2 ? 1 : 0; }

  const Program* program_;
  std::vector<std::string> plain_, names_;
  size_t variables_ = 0;  // how many plain names are variables of the site
  std::vector<std::pair<std::string, Formula>> lets_, functions_;
  bool has_rank_ = false;
};

// Turns the examples into columns. Entries of tables become further terms.
Examples examples_of(const Program& program, const Vocabulary& vocabulary,
                     const std::vector<Example>& all) {
  const auto column = [&](const auto& value) {
    Column values;
    for (const Example& example : all) values.push_back(value(example));
    return values;
  };
  Examples examples;
  const std::vector<std::string>& names = vocabulary.names();
  for (size_t i = 0; i < names.size(); ++i)
    examples.name(names[i], column([i](const Example& example) { return example.names[i]; }),
                  vocabulary.is_let(i));
  const auto looked_up = [&](size_t t, size_t i, auto value) {
    return column([&](const Example& example) -> std::optional<int64_t> {
      const Entries& table = example.run->binding(example.group).tables[t];
      return example.names[i] ? value(table, *example.names[i]) : std::nullopt;
    });
  };
  using Value = std::optional<int64_t>;
  for (size_t t = 0; t < program.tables.size(); ++t) {
    const std::string& table = program.tables[t].name.text;
    const TableKind kind = program.tables[t].kind;
    if (kind == TableKind::kPowers)
      examples.name(fmt::format("length({})", table), column([t](const Example& example) {
                      return Value(example.run->binding(example.group).tables[t].size());
                    }));
    for (size_t i = 0; i < names.size(); ++i) {
      examples.entry(fmt::format("{}[{}]", table, names[i]),
                     looked_up(t, i, [](const Entries& all, int64_t at) {
                       const bool is = at >= 0 && at < static_cast<int64_t>(all.size());
                       return is ? Value(all[at]) : Value();
                     }));
      if (kind != TableKind::kPrefix && kind != TableKind::kPowers) continue;
      examples.entry(
          fmt::format("locate({}, {})", table, names[i]),
          looked_up(t, i, [](const Entries& all, int64_t x) { return Value(locate(all, x)); }));
    }
  }
  return examples;
}

// Keeps kMostExamples of each statement that is found, spread over all runs.
std::vector<Example> sample_of(std::vector<Example> all) {
  std::map<const Site*, std::vector<Example>> of_site;
  for (Example& example : all)
    of_site[example.found ? example.found->site : nullptr].push_back(std::move(example));
  all.clear();
  for (auto& [site, some] : of_site) {
    const size_t count = std::min(some.size(), kMostExamples);
    for (size_t i = 0; i < count; ++i) all.push_back(some[i * some.size() / count]);
  }
  // A wrong expression soon meets an example that it does not fit if examples of one run are far from each other.
  std::mt19937 random(1);
  std::ranges::shuffle(all, random);
  return all;
}

class SkeletonWriter {
 public:
  SkeletonWriter(const Program& program, const Planner& planner)
      : program_(program), p_(planner), runs_(runs_of(program, planner.anatomy)) {
    const bool may =
        program.commutative && p_.contract.reduces() && !p_.contract.scans() && program.groups == 1;
    for (const Moments& run : runs_)
      for (const Moment& moment : run.all()) {
        if (!may || by_conditions_ || !p_.is_carried(*moment.site) ||
            run.binding(0).place.ranks > kMostRanksTried)
          continue;
        const std::optional<Data> data = run.data(moment);
        by_conditions_ = data && !data->number;
      }
  }

  Skeleton write() {
    if (has_products()) {
      statement("products", "All products with a common factor are compared.");
      line("compare all", "");
    }
    keys();
    for (size_t i = 0; i < p_.sites.size(); ++i)
      if (p_.sites[i].is_message()) match(p_.sites[i]);
    for (const Site& site : p_.sites)
      if (p_.is_carried(site)) carries(site);
    if (!p_.contract.is_barrier())
      for (const Reading reading : p_.readings()) held(reading);
    for (const Site& site : p_.sites)
      if (p_.is_to_be_used(site)) used(site);
    cover();
    if (p_.contract.has_own()) copies();
    if (program_.port.kind == PortKind::kParameter) {
      statement("port", "Which of the messages each way of the node is this?");
      line(fmt::format("lane {}", kFillIn),
           "the number of the message, from 0, in names of all messages between nodes");
    }
    return std::move(skeleton_);
  }

 private:
  // Whether a product or a quotient has no constant factor or divisor.
  bool has_products() const {
    bool result = false;
    for_each_expression_of_program(program_, [&](const Expression& whole) {
      result |= any_part(whole, [](const Expression& e) {
        const auto is_number = [&](size_t i) { return e.operands[i].op == Operator::kConstant; };
        if (e.op == Operator::kMultiply) return !is_number(0) && !is_number(1);
        return (e.op == Operator::kDivide || e.op == Operator::kModulo) && !is_number(1);
      });
    });
    return result;
  }

  void statement(const std::string& line, const std::string& comment) {
    skeleton_.text += fmt::format("-- {}\n{}\n", comment, line);
    ++skeleton_.statements;
  }
  // Adds a line of a statement. If the line has FILL_IN, adds a comment that says `what` to write.
  void line(const std::string& text, const std::string& what, bool is_guess = false) {
    int places = 0;
    for (size_t at = 0; (at = text.find(kFillIn, at)) != std::string::npos; at += kFillIn.size())
      ++places;
    skeleton_.text += fmt::format("  {}{}\n", text,
                                  places > 0 ? "  -- " + what
                                  : is_guess ? "  -- a guess"
                                             : "");
    skeleton_.places += places;
  }

  // ---- Witnesses

  // Returns the value of a variable of a loop over pieces. Both ends have their pieces in one order. So it is this
  // end's variable, or that plus a number.
  static std::optional<Found> piece_value(const std::vector<Example>& all, const Examples& examples,
                                          const Site& other, size_t v) {
    const Site& site = *all[0].piece->site;
    const size_t w = site.outer_variables + v - other.outer_variables;
    if (w >= site.variables.size()) return std::nullopt;
    Column more;
    for (const Example& example : all)
      more.push_back(example.found->site == &other
                         ? std::optional(example.found->variables[v] - example.piece->variables[w])
                         : std::nullopt);
    if (std::ranges::all_of(more, [](const auto& m) { return m.value_or(0) == 0; }))
      return Found{site.variables[w], {}};
    auto number = examples.number(more);
    if (number) number->text = fmt::format("{} + {}", number->text, site.variables[w]);
    return number;
  }

  // The values of a site's variables, in all examples.
  struct Fitted {
    const Site* site;
    std::string text;
    std::vector<Found> values;
    bool is_guess;
  };

  Fitted fit(const std::vector<Example>& all, const Examples& examples, const Site& site) const {
    constexpr int kFew = 12;
    int cases = 0;
    for (const Example& example : all) cases += example.found->site == &site;
    Fitted result{&site, "with " + site_name(site), {}, cases < kFew};
    for (size_t v = 0; v < site.variables.size(); ++v) {
      const bool of_piece = all[0].piece && v >= site.outer_variables;
      Column wanted;
      for (const Example& example : all)
        wanted.push_back(example.found->site == &site ? std::optional(example.found->variables[v])
                                                      : std::nullopt);
      const auto value = of_piece ? piece_value(all, examples, site, v)
                                  : examples.number(wanted, site.variables[v]);
      result.text += fmt::format("{} {} = {}", v == 0 ? " where" : ",", site.variables[v],
                                 value ? value->text : std::string(kFillIn));
      if (value && !of_piece && value->rank > 0) result.values.push_back(*value);
      result.is_guess |= value && value->rank > 1;
    }
    return result;
  }

  // Writes the witnesses that these examples show, one for each site that they find. Their conditions may use other names
  // than the values.
  void witnesses(const std::vector<Example>& all, const Vocabulary& vocabulary,
                 const std::string& where, const Examples* conditions = nullptr) {
    const std::string what = fmt::format("in names of {}: {}", where, vocabulary.text());
    const Examples examples = examples_of(program_, vocabulary, all);
    std::map<int, Fitted> sites;
    std::vector<Found> values;
    for (const Example& example : all) {
      const Site& site = *example.found->site;
      if (sites.count(site.index) > 0) continue;
      const Fitted& fitted = sites.emplace(site.index, fit(all, examples, site)).first->second;
      append(values, fitted.values);
    }
    std::set<const Site*> written;
    while (!sites.empty()) {
      // The site with the simplest condition goes first. The last one needs none.
      int next = sites.begin()->first;
      std::optional<Found> condition;
      for (const auto& [index, fitted] : sites) {
        if (sites.size() == 1) break;
        Column is_it;
        for (const Example& example : all)
          is_it.push_back(written.count(example.found->site) > 0
                              ? std::nullopt
                              : std::optional<int64_t>(example.found->site == fitted.site));
        const auto other = (conditions ? conditions : &examples)->condition(is_it, values);
        if (!other || (condition && condition->rank <= other->rank)) continue;
        condition = other;
        next = index;
      }
      const Fitted& fitted = sites.at(next);
      std::string text = fitted.text;
      if (sites.size() > 1) text += " if " + (condition ? condition->text : std::string(kFillIn));
      line(text,
           fmt::format("the values of its variables{}, {}",
                       sites.size() > 1 ? ", and when it applies" : "", what),
           fitted.is_guess || (condition && condition->rank > 9));
      written.insert(fitted.site);
      sites.erase(next);
    }
  }

  // Writes a site that may be the witness, with FILL_IN for its values. No run has shown one.
  template <class May>
  void unknown_witness(const May& may, const std::string& what) {
    for (const Site& site : p_.sites) {
      if (!may(site)) continue;
      std::string text = "with " + site_name(site);
      for (size_t v = 0; v < site.variables.size(); ++v)
        text += fmt::format("{} {} = {}", v == 0 ? " where" : ",", site.variables[v], kFillIn);
      return line(site.variables.empty() ? fmt::format("{} if {}", text, kFillIn) : text, what);
    }
    line(fmt::format("with {}", kFillIn), what);
  }

  // Asks about every moment of a site. `answer` adds the example, if it has one.
  template <class Answer>
  std::vector<Example> ask(const Site& site, const Answer& answer) const {
    std::vector<std::pair<const Moments*, const Moment*>> asked;
    for (const Moments& run : runs_)
      for (const Moment& moment : run.all())
        if (moment.site == &site) asked.emplace_back(&run, &moment);
    std::vector<Example> all;
    const size_t count = std::min(asked.size(), kMostAsked);
    for (size_t i = 0; i < count; ++i) {
      const auto& [run, moment] = asked[i * asked.size() / count];
      answer(*run, *moment, all);
    }
    return sample_of(std::move(all));
  }

  static Example example(const Moments& run, const Moment& moment, const Vocabulary& vocabulary,
                         std::optional<int64_t> last = std::nullopt) {
    std::vector<int64_t> plain = moment.variables;
    plain.resize(vocabulary.variables());
    if (last) plain.push_back(*last);
    return {&run, moment.group, vocabulary.values(run.binding(moment.group), moment.rank, plain)};
  }

  // Returns the first and the last byte, or only the first if that is enough.
  std::vector<int64_t> ends_of(const Bytes& bytes) const {
    if (!p_.contract.has_lengths() || bytes.high == INT64_MAX || bytes.high == bytes.low + 1)
      return {bytes.low};
    return {bytes.low, bytes.high - 1};
  }

  void match(const Site& site) {
    const Vocabulary vocabulary = Vocabulary::of_site(program_, site, site.outer_variables),
                     inner = Vocabulary::of_site(program_, site, site.variables.size());
    const bool is_send = site.kind == Site::Kind::kSend;
    statement("match " + site_name(site),
              is_send ? "Which receive meets this send, at the rank that it goes to?"
                      : "Which send meets this receive, at the rank that it names?");
    const std::vector<Example> all =
        ask(site, [&](const Moments& run, const Moment& moment, std::vector<Example>& found) {
          if (const Moment* other = run.matched(moment)) {
            found.push_back(example(run, moment, vocabulary));
            found.back().found = other;
            found.back().piece = &moment;
          }
        });
    const std::string name = site_name(site);
    std::vector<Example> of_pieces = all;
    for (Example& each : of_pieces) each.names = example(*each.run, *each.piece, inner).names;
    const Examples pieces = examples_of(program_, inner, of_pieces);
    if (!all.empty()) return witnesses(all, vocabulary, name, &pieces);
    unknown_witness(
        [&](const Site& other) { return other.is_message() && other.kind != site.kind; },
        fmt::format("which {} meets {}, in names of that: {}", is_send ? "receive" : "send", name,
                    vocabulary.text()));
  }

  void held(const Reading reading) {
    const Site& site = p_.sites[reading.site];
    const Access& access = p_.place(reading);
    const Vocabulary vocabulary = Vocabulary::of_site(program_, site, site.variables.size(),
                                                      p_.contract.has_lengths() ? kByte : nullptr);
    bool is_own = access.buffer == Buffer::kReceive && access.block == leaf(Operator::kRank);
    const std::vector<Example> all = ask(site, [&](const Moments& run, const Moment& moment,
                                                   std::vector<Example>& found) {
      const Bytes& bytes = reading.base ? *moment.to : *moment.from;
      const bool is_kept = bytes.buffer == Buffer::kReceive && bytes.block == moment.rank;
      if (bytes.empty() || (is_kept && p_.own_is_there())) return;
      for (const int64_t byte : ends_of(bytes))
        if (const Moment* writer = run.writer(moment, bytes.byte(byte))) {
          is_own = false;
          found.push_back(example(run, moment, vocabulary,
                                  p_.contract.has_lengths() ? std::optional(byte) : std::nullopt));
          found.back().found = writer;
        }
    });
    if (is_own) return;  // a rank's own contribution is there
    const std::string name = site_name(site), kind = reading.base ? "base" : "held";
    statement(kind + " " + name, reading.base
                                     ? "Which statement wrote the data that this combines with?"
                                     : "Which statement wrote the data that this reads?");
    if (!all.empty()) return witnesses(all, vocabulary, name);
    unknown_witness(
        [&](const Site& other) { return other.to && other.to->buffer == access.buffer; },
        fmt::format("which statement wrote it, in names of {}: {}", name, vocabulary.text()));
  }

  void used(const Site& site) {
    const Vocabulary vocabulary = Vocabulary::of_site(program_, site, site.variables.size(),
                                                      p_.contract.has_lengths() ? kByte : nullptr);
    const std::string name = site_name(site);
    const bool may_stay = site.to->buffer == Buffer::kReceive;
    const std::vector<Example> all = ask(site, [&](const Moments& run, const Moment& moment,
                                                   std::vector<Example>& found) {
      if (moment.to->empty()) return;
      for (const int64_t byte : ends_of(*moment.to)) {
        const Bytes place = moment.to->byte(byte);
        if (may_stay && run.last_writer(moment.group, moment.rank, place) == &moment) continue;
        if (const Moment* reader = run.reader(moment, place)) {
          found.push_back(example(run, moment, vocabulary,
                                  p_.contract.has_lengths() ? std::optional(byte) : std::nullopt));
          found.back().found = reader;
        }
      }
    });
    if (may_stay && all.empty()) return;
    statement("used " + name, "Which statement reads the data that this writes?");
    if (!all.empty()) return witnesses(all, vocabulary, name);
    unknown_witness(
        [&](const Site& other) { return other.from && other.from->buffer == Buffer::kTemporary; },
        fmt::format("which statement reads it, in names of {}: {}", name, vocabulary.text()));
  }

  // ---- The end

  // Returns whether a write to the receive buffer brings the rank's own contribution. Statement `copies` is about
  // these writes, `cover` is about all others.
  bool brings_own(const Moments& run, const Moment& moment) const {
    const int64_t contributor =
        p_.contract.has_sources() ? moment.to->block : run.binding(moment.group).place.root;
    return p_.contract.has_own() && contributor == moment.rank;
  }

  // Writes `cover`. Its examples are writes to receive buffers that no later write overwrites at their ends.
  void cover() {
    const View view = p_.ends_view();
    const Vocabulary vocabulary = Vocabulary::of_ends(program_, p_.anatomy, view);
    statement("cover", p_.contract.has_sources()
                           ? "Which statement of rank `target` brings the block of rank `source`?"
                           : "Which statement of rank `target` brings its block?");
    std::vector<Example> all;
    for (const Moments& run : runs_)
      for (const Moment& moment : run.all()) {
        if (!moment.to || moment.to->buffer != Buffer::kReceive || moment.to->empty()) continue;
        if (brings_own(run, moment)) continue;
        for (const int64_t byte : ends_of(*moment.to)) {
          if (run.last_writer(moment.group, moment.rank, moment.to->byte(byte)) != &moment)
            continue;
          std::vector<int64_t> plain = {moment.rank};
          if (p_.contract.has_sources()) plain.insert(plain.begin(), moment.to->block);
          if (p_.contract.has_lengths()) plain.push_back(byte);
          all.push_back({&run, moment.group,
                         vocabulary.values(run.binding(moment.group), moment.rank, plain),
                         &moment});
        }
      }
    if (!all.empty()) return witnesses(sample_of(std::move(all)), vocabulary, "cover");
    unknown_witness([](const Site& site) { return site.to && site.to->buffer == Buffer::kReceive; },
                    "which statement brings it, in these names: " + vocabulary.text());
  }

  void copies() {
    const auto first = p_.find_site(Site::Kind::kCopy, 1);
    if (first && !p_.find_site(Site::Kind::kCopy, 2) && p_.sites[*first].variables.empty()) return;
    const Vocabulary vocabulary = Vocabulary::of_ends(program_, p_.anatomy, View{{}, {}, true});
    statement("copies", "Which copy of `rank` brings its own block?");
    std::vector<Example> all;
    for (const Moments& run : runs_)
      for (const Moment& moment : run.all())
        if (moment.to && moment.to->buffer == Buffer::kReceive && brings_own(run, moment))
          all.push_back({&run, moment.group,
                         vocabulary.values(run.binding(moment.group), moment.rank, {}), &moment});
    if (!all.empty()) return witnesses(sample_of(std::move(all)), vocabulary, "copies");
    unknown_witness([](const Site& site) { return site.kind == Site::Kind::kCopy; },
                    "which copy brings it, in these names: " + vocabulary.text());
  }

  // ---- Contents

  void carries(const Site& site) {
    const Vocabulary vocabulary = Vocabulary::of_site(program_, site, site.variables.size());
    const std::string name = site_name(site);
    bool is_remote = false;
    const std::vector<Example> all =
        ask(site, [&](const Moments& run, const Moment& moment, std::vector<Example>& found) {
          const std::optional<Data> data =
              p_.contract.is_barrier() ? std::nullopt : run.data(moment);
          if (!data) return;
          is_remote |= data->group != moment.group;
          if (!data->number) return;
          found.push_back(example(run, moment, vocabulary));
          found.back().numbers = {data->first, data->number, data->target};
        });
    statement("carries " + name, "Which ranks contributed to this data, and for whom is it?");
    const std::string names = fmt::format(", in names of {}: {}", name, vocabulary.text());
    const Examples examples = examples_of(program_, vocabulary, all);
    const auto number = [&](const char* word, size_t i, const char* what) {
      Column wanted;
      for (const Example& example : all) wanted.push_back(example.numbers[i]);
      const auto value = examples.number(wanted);
      line(fmt::format("{} {}", word, value ? value->text : std::string(kFillIn)), what + names,
           value && value->rank > 1);
    };
    if (by_conditions_) {
      contributors(site, names);
    } else {
      number("source", 0, "the first rank that has contributed");
      if (p_.contract.reduces() || p_.contract.is_barrier())
        number("number", 1, "how many ranks have contributed, counted from source");
    }
    if (p_.contract.has_targets()) number("target", 2, "the rank that the data is for");
    if (is_remote) line("remote", "");
  }

  void contributors(const Site& site, const std::string& names) {
    const Vocabulary vocabulary =
        Vocabulary::of_site(program_, site, site.variables.size(), kContributor);
    const std::vector<Example> all =
        ask(site, [&](const Moments& run, const Moment& moment, std::vector<Example>& found) {
          const std::optional<Data> data = run.data(moment);
          for (size_t r = 0; data && r < data->contributors.size(); ++r) {
            found.push_back(example(run, moment, vocabulary, static_cast<int64_t>(r)));
            found.back().numbers = {data->contributors[r]};
          }
        });
    Column wanted;
    for (const Example& example : all) wanted.push_back(example.numbers[0]);
    const auto condition = examples_of(program_, vocabulary, all).condition(wanted);
    line("contributors " + (condition ? condition->text : std::string(kFillIn)),
         "the condition that rank `contributor` has contributed" + names,
         condition && condition->rank > 9);
  }

  // ---- Keys

  bool has_steps(size_t body) const {
    const std::vector<Item>& items = p_.anatomy.bodies[body];
    return std::ranges::any_of(
        items, [&](const Item& item) { return !item.is_loop || has_steps(item.index + 1); });
  }

  // Returns the lowest key of an item of a body, or one above its highest, in variables of the body.
  Expression end_of(const Item& item, bool last) const {
    if (!item.is_loop) {
      const Expression& key = p_.anatomy.steps[item.index].key;
      return last ? apply(Operator::kAdd, {key, constant(1)}) : key;
    }
    const LoopSite& loop = p_.anatomy.loops[item.index];
    std::vector<Expression> values;
    for (int v = 0; v < loop.variable; ++v) values.push_back(variable(v));
    values.push_back(last ? apply(Operator::kSubtract, {loop.high, constant(1)}) : loop.low);
    return substitute(end_of_body(item.index + 1, last), values, leaf(Operator::kRank));
  }

  Expression end_of_body(size_t body, bool last) const {
    std::vector<Item> items;
    for (const Item& item : p_.anatomy.bodies[body])
      if (!item.is_loop || has_steps(item.index + 1)) items.push_back(item);
    return end_of(last ? items.back() : items.front(), last);
  }

  // Prints the expression in names of the loop. Values of lets become the names of the lets.
  std::string spelt(const Expression& expression, const LoopSite& loop) const {
    std::vector<std::string> names = loop.variables;
    std::vector<Expression> lets(names.size());
    for (const auto& [name, value] : loop.names) {
      if (std::ranges::find(names, name) != names.end() || value.operands.empty()) continue;
      names.push_back(name);
      lets.push_back(value);
    }
    const auto named = [&](const auto& self, const Expression& part) -> Expression {
      for (size_t i = loop.variables.size(); i < lets.size(); ++i)
        if (part == lets[i]) return variable(static_cast<int64_t>(i));
      Expression result = part;
      for (Expression& operand : result.operands) operand = self(self, operand);
      return result;
    };
    return print(named(named, expression), {&program_.parameters, &program_.tables, &names});
  }

  void keys() {
    for (size_t i = 0; i < p_.anatomy.loops.size(); ++i) {
      if (!has_steps(i + 1)) continue;
      const LoopSite& loop = p_.anatomy.loops[i];
      statement(
          "keys " + loop.name,
          "The keys of an iteration lie in from .. to, the end not included; so they increase.");
      for (const bool last : {false, true}) {
        const Expression end = end_of_body(i + 1, last);
        const bool is_long = parts(end) > kLongest;
        line(fmt::format("{} {}", last ? "to" : "from",
                         is_long ? std::string(kFillIn) : spelt(end, loop)),
             fmt::format("the {} of an iteration, in names of the loop",
                         last ? "number after the last key" : "first key"));
      }
    }
  }

  static constexpr int64_t kLongest = 60;  // operators and operands: FILL_IN replaces a longer one

  const Program& program_;
  const Planner& p_;
  const std::vector<Moments> runs_;
  bool by_conditions_ = false;  // some data has contributions of ranks that are not consecutive
  Skeleton skeleton_;
};

}  // namespace

Result<Skeleton> skeleton_of(const Program& program, const std::string& source) {
  const Proof proof{source, {}, program, {}};
  const Planner planner(proof);
  if (!planner.anatomy.unsupported.empty())
    return Error{fmt::format("{}: {}", source, unknown_feature(planner.anatomy.unsupported))};
  return SkeletonWriter(planner.program, planner).write();
}

Result<bool> refuse_unfilled(std::string_view text, const std::string& source) {
  int number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const size_t comment = std::min(line.find("--"), line.size());
    if (line.substr(0, comment).find(kFillIn) == std::string_view::npos) continue;
    const size_t said = line.find_first_not_of("- ", comment);
    return Error{fmt::format(
        "{}:{}: write in place of {}: {}", source, number, kFillIn,
        said == std::string_view::npos ? "an expression of the program" : line.substr(said))};
  }
  return true;
}

}  // namespace quadrille::verifier
