// The program runs on small jobs. A run shows which receive meets a send, which write a read finds, and so on. Expressions
// that fit all runs become witnesses. They may be wrong, and then the prover refuses them. Tested by
// tests/prove/skeleton_test.cc and tests/prove/prove_command_test.sh.
#include "verifier/skeleton.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/text.h"
#include "verifier/all_topologies.h"
#include "verifier/call.h"
#include "verifier/fit.h"
#include "verifier/moments.h"
#include "verifier/prove/planner.h"

namespace quadrille::verifier {
namespace {

constexpr size_t kMostExamples = 4000;  // of one statement
constexpr int64_t kMostRanksTried = 7, kMostRanksOfGroupsTried = 6;

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
  // Returns the names at a site: its first `variables` variables, lets that depend on no others, maybe a byte.
  static Vocabulary of_site(const Program& program, const Site& site, size_t variables,
                            bool has_byte) {
    Vocabulary all(program);
    all.plain_.assign(site.variables.begin(),
                      site.variables.begin() + static_cast<int64_t>(variables));
    all.add_lets(site, variables);
    if (has_byte) all.plain_.emplace_back(kByte);
    all.has_rank_ = true;
    all.finish();
    return all;
  }
  // Returns the names for the end of the program, where the block of `source` is at `target`.
  static Vocabulary of_ends(const Program& program, const View& view) {
    Vocabulary all(program);
    all.plain_ = view.unknowns;
    all.has_rank_ = view.has_rank;
    all.finish();
    return all;
  }

  // Returns all names: "rank, ranks, k".
  std::string text() const { return fmt::format("{}", fmt::join(names_, ", ")); }
  const std::vector<std::string>& names() const { return names_; }
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
      bool is_let = std::count(site.variables.begin(), site.variables.end(), name) == 0;
      for (size_t v = variables; v < site.variables.size(); ++v)
        is_let &= !mentions_variable(value, static_cast<int64_t>(v));
      if (is_let) lets_.emplace_back(name, Formula(value, static_cast<int>(variables)));
    }
  }

  void finish() {
    names_ = plain_;
    for (const auto& [name, formula] : lets_) names_.push_back(name);
    if (has_rank_) names_.emplace_back("rank");
    names_.emplace_back("ranks");
    if (program_->groups == 2) names_.emplace_back("remote_ranks");
    if (rooted(program_->collective)) names_.emplace_back("root");
    for (const Parameter& parameter : program_->parameters) names_.push_back(parameter.name.text);
  }

  const Program* program_;
  std::vector<std::string> plain_, names_;
  size_t variables_ = 0;  // how many plain names are variables of the site
  std::vector<std::pair<std::string, Formula>> lets_;
  bool has_rank_ = false;
};

// Turns the examples into columns. Entries of tables become further terms. The preferred name comes first.
Examples examples_of(const Program& program, const Vocabulary& vocabulary,
                     const std::vector<Example>& all, const std::string& preferred) {
  const auto column = [&](const auto& value) {
    Column values;
    for (const Example& example : all) values.push_back(value(example));
    return values;
  };
  Examples examples(column([](const Example& example) -> std::optional<int64_t> {
    return example.run->binding(example.group).place.ranks;
  }));
  const std::vector<std::string>& names = vocabulary.names();
  const auto add = [&](bool is_preferred) {
    for (size_t i = 0; i < names.size(); ++i)
      if ((names[i] == preferred) == is_preferred)
        examples.name(names[i], column([i](const Example& example) { return example.names[i]; }));
  };
  add(true);
  add(false);
  for (size_t t = 0; t < program.tables.size(); ++t)
    for (size_t i = 0; i < names.size(); ++i) {
      const auto entries = [t](const Example& example) -> const Entries& {
        return example.run->binding(example.group).tables[t];
      };
      examples.name(fmt::format("{}[{}]", program.tables[t].name.text, names[i]),
                    column([&](const Example& example) -> std::optional<int64_t> {
                      const Entries& table = entries(example);
                      const std::optional<int64_t> at = example.names[i];
                      if (!at || *at < 0 || *at >= static_cast<int64_t>(table.size()))
                        return std::nullopt;
                      return table[*at];
                    }));
      if (program.tables[t].kind != TableKind::kPrefix) continue;
      examples.name(fmt::format("locate({}, {})", program.tables[t].name.text, names[i]),
                    column([&](const Example& example) -> std::optional<int64_t> {
                      const Entries& table = entries(example);
                      if (!example.names[i]) return std::nullopt;
                      return std::upper_bound(table.begin(), table.end(), *example.names[i]) -
                             table.begin() - 1;
                    }));
    }
  return examples;
}

// Runs the program on small jobs.
std::vector<Moments> runs_of(const Program& program, const Anatomy& anatomy) {
  constexpr size_t kMostRuns = 300, kMostMoments = 200'000;
  constexpr int64_t kGreatest = 4;  // value of a parameter
  std::vector<Moments> runs;
  size_t moments = 0;
  for (const std::vector<Topology>& groups : all_topologies(
           program.groups, program.groups == 1 ? kMostRanksTried : kMostRanksOfGroupsTried))
    for (int64_t value = 1; value <= (program.parameters.empty() ? 1 : kGreatest); ++value) {
      Schedule schedule;
      schedule.program = program;
      schedule.job = {groups, {}, std::vector<LinearModel>(program.parameters.size())};
      for (const Parameter& parameter : program.parameters)
        schedule.job.parameters.push_back(parameter.at_call ? int64_t{kRuleLeast} : value);
      schedule.job = with_fixed_tables(program, std::move(schedule.job));
      const Result<std::vector<Call>> calls = calls_to_check({}, schedule);
      if (!calls.ok()) continue;
      for (const Call& call : *calls) {
        if (!takes(program, schedule.job, call)) continue;
        std::optional<Moments> run = Moments::make(program, anatomy, schedule.job, call);
        if (!run) continue;
        moments += run->all().size();
        runs.push_back(std::move(*run));
        if (runs.size() == kMostRuns || moments > kMostMoments) return runs;
      }
    }
  return runs;
}

class SkeletonWriter {
 public:
  SkeletonWriter(const Program& program, const Planner& planner)
      : program_(program), p_(planner), runs_(runs_of(program, planner.anatomy)) {
    const bool may =
        program.commutative && p_.contract.reduces() && !p_.contract.scans() && program.groups == 1;
    for (const Moments& run : runs_)
      for (const Moment& moment : run.all()) {
        if (!may || by_conditions_ || !p_.is_carried(*moment.site)) continue;
        const std::optional<Data> data = run.data(moment);
        by_conditions_ = data && !span_of(*data);
      }
  }

  Skeleton write() {
    keys();
    for (size_t i = 0; i < p_.sites.size(); ++i)
      if (p_.sites[i].is_message()) match(p_.sites[i]);
    for (const Site& site : p_.sites)
      if (p_.is_carried(site)) carries(site);
    if (!p_.contract.is_barrier())
      for (const Reading reading : p_.readings()) held(reading);
    for (const Site& site : p_.sites)
      if (p_.is_to_be_used(site) && site.to->buffer == Buffer::kTemporary) used(site);
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
  // ---- Lines

  void statement(const std::string& line, const std::string& comment) {
    skeleton_.text += fmt::format("-- {}\n{}\n", comment, line);
    ++skeleton_.statements;
  }
  // Adds a line of a statement. If the line has FILL_IN, adds a comment that says `what` to write.
  void line(const std::string& text, const std::string& what) {
    int places = 0;
    for (size_t at = 0; (at = text.find(kFillIn, at)) != std::string::npos; at += kFillIn.size())
      ++places;
    skeleton_.text += fmt::format("  {}{}\n", text, places > 0 ? "  -- " + what : "");
    skeleton_.places += places;
  }

  // ---- Witnesses

  std::string witness_of(const std::vector<Example>& all, const Vocabulary& vocabulary) const {
    const Site& site = *all[0].found->site;
    std::string text;
    for (size_t v = 0; v < site.variables.size(); ++v) {
      const bool of_piece = all[0].piece && v >= site.outer_variables;
      text += fmt::format("{} {} = {}", v == 0 ? " where" : ",", site.variables[v],
                          of_piece ? piece_value(all, vocabulary, v) : value(all, vocabulary, v));
    }
    return fmt::format("with {}{}", site_name(site), text);
  }

  std::string value(const std::vector<Example>& all, const Vocabulary& vocabulary, size_t v) const {
    Column wanted;
    for (const Example& example : all) wanted.push_back(example.found->variables[v]);
    return examples_of(program_, vocabulary, all, all[0].found->site->variables[v])
        .number(wanted)
        .value_or(std::string(kFillIn));
  }

  // Returns the value of a variable of a loop over pieces. Both ends have their pieces in one order. So it is this
  // end's variable, or that plus a number.
  std::string piece_value(const std::vector<Example>& all, const Vocabulary& vocabulary,
                          size_t v) const {
    const Site &site = *all[0].piece->site, &other = *all[0].found->site;
    const size_t w = site.outer_variables + v - other.outer_variables;
    if (w >= site.variables.size()) return std::string(kFillIn);
    Column more;
    for (const Example& example : all)
      more.push_back(example.found->variables[v] - example.piece->variables[w]);
    const Column none(more.size(), 0);
    if (more == none) return site.variables[w];
    const auto number = examples_of(program_, vocabulary, all, "").number(more);
    return fmt::format("{} + {}", number.value_or(std::string(kFillIn)), site.variables[w]);
  }

  // Writes the witnesses that these examples show, one for each site that they find.
  void witnesses(std::vector<Example> all, const Vocabulary& vocabulary, const std::string& where) {
    const std::string what = fmt::format("in names of {}: {}", where, vocabulary.text());
    std::vector<int> sites;
    for (const Example& example : all)
      if (std::find(sites.begin(), sites.end(), example.found->site->index) == sites.end())
        sites.push_back(example.found->site->index);
    while (!sites.empty()) {
      // A site whose condition is found goes first.
      size_t next = 0;
      std::optional<std::string> condition;
      for (size_t i = 0; i < sites.size() && sites.size() > 1 && !condition; ++i) {
        Column is_it;
        for (const Example& example : all)
          is_it.emplace_back(example.found->site->index == sites[i]);
        condition = examples_of(program_, vocabulary, all, "").condition(is_it);
        if (condition) next = i;
      }
      const auto others = std::stable_partition(
          all.begin(), all.end(),
          [&](const Example& example) { return example.found->site->index == sites[next]; });
      const std::vector<Example> these(all.begin(), others);
      std::string text = witness_of(these, vocabulary);
      if (sites.size() > 1) text += " if " + condition.value_or(std::string(kFillIn));
      line(text, fmt::format("the values of its variables{}, {}",
                             sites.size() > 1 ? ", and when it applies" : "", what));
      all.erase(all.begin(), others);
      sites.erase(sites.begin() + static_cast<int64_t>(next));
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
    std::vector<Example> all;
    for (const Moments& run : runs_)
      for (const Moment& moment : run.all())
        if (moment.site == &site && all.size() < kMostExamples) answer(run, moment, all);
    return all;
  }

  static Example example(const Moments& run, const Moment& moment, const Vocabulary& vocabulary,
                         std::optional<int64_t> byte = std::nullopt) {
    std::vector<int64_t> plain = moment.variables;
    plain.resize(vocabulary.variables());
    if (byte) plain.push_back(*byte);
    return {&run, moment.group, vocabulary.values(run.binding(moment.group), moment.rank, plain)};
  }

  // Returns the first and the last byte, or only the first if that is enough.
  std::vector<int64_t> ends_of(const Bytes& bytes) const {
    if (!p_.contract.has_lengths() || bytes.high == INT64_MAX || bytes.high == bytes.low + 1)
      return {bytes.low};
    return {bytes.low, bytes.high - 1};
  }

  void match(const Site& site) {
    const Vocabulary vocabulary = Vocabulary::of_site(program_, site, site.outer_variables, false);
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
    if (!all.empty()) return witnesses(all, vocabulary, name);
    unknown_witness(
        [&](const Site& other) { return other.is_message() && other.kind != site.kind; },
        fmt::format("which {} meets {}, in names of that: {}", is_send ? "receive" : "send", name,
                    vocabulary.text()));
  }

  void held(const Reading reading) {
    const Site& site = p_.sites[reading.site];
    const Access& access = p_.place(reading);
    const Vocabulary vocabulary =
        Vocabulary::of_site(program_, site, site.variables.size(), p_.contract.has_lengths());
    bool is_own = access.buffer == Buffer::kReceive && access.block == leaf(Operator::kRank);
    const std::vector<Example> all = ask(site, [&](const Moments& run, const Moment& moment,
                                                   std::vector<Example>& found) {
      const Bytes& bytes = reading.base ? *moment.to : *moment.from;
      if (bytes.empty()) return;
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
    const Vocabulary vocabulary =
        Vocabulary::of_site(program_, site, site.variables.size(), p_.contract.has_lengths());
    const std::string name = site_name(site);
    statement("used " + name, "Which statement reads the data that this writes?");
    const std::vector<Example> all = ask(site, [&](const Moments& run, const Moment& moment,
                                                   std::vector<Example>& found) {
      if (moment.to->empty()) return;
      for (const int64_t byte : ends_of(*moment.to))
        if (const Moment* reader = run.reader(moment, moment.to->byte(byte))) {
          found.push_back(example(run, moment, vocabulary,
                                  p_.contract.has_lengths() ? std::optional(byte) : std::nullopt));
          found.back().found = reader;
        }
    });
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
    const Vocabulary vocabulary = Vocabulary::of_ends(program_, view);
    statement("cover", p_.contract.has_sources()
                           ? "Which statement of rank `target` brings the block of rank `source`?"
                           : "Which statement of rank `target` brings its block?");
    std::vector<Example> all;
    for (const Moments& run : runs_)
      for (const Moment& moment : run.all()) {
        if (all.size() == kMostExamples) break;
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
    if (!all.empty()) return witnesses(all, vocabulary, "cover");
    unknown_witness([](const Site& site) { return site.to && site.to->buffer == Buffer::kReceive; },
                    "which statement brings it, in these names: " + vocabulary.text());
  }

  void copies() {
    const auto first = p_.find_site(Site::Kind::kCopy, 1);
    if (first && !p_.find_site(Site::Kind::kCopy, 2) && p_.sites[*first].variables.empty()) return;
    const Vocabulary vocabulary = Vocabulary::of_ends(program_, View{{}, {}, true});
    statement("copies", "Which copy of `rank` brings its own block?");
    std::vector<Example> all;
    for (const Moments& run : runs_)
      for (const Moment& moment : run.all())
        if (moment.to && moment.to->buffer == Buffer::kReceive && brings_own(run, moment) &&
            all.size() < kMostExamples)
          all.push_back({&run, moment.group,
                         vocabulary.values(run.binding(moment.group), moment.rank, {}), &moment});
    if (!all.empty()) return witnesses(all, vocabulary, "copies");
    unknown_witness([](const Site& site) { return site.kind == Site::Kind::kCopy; },
                    "which copy brings it, in these names: " + vocabulary.text());
  }

  // ---- Contents

  // Returns the first contributor, their number, and the target. Returns nothing if the contributors are not
  // consecutive (modulo ranks). If all ranks contribute, any rank may be the first.
  static std::optional<std::vector<std::optional<int64_t>>> span_of(const Data& data) {
    const auto ranks = static_cast<int64_t>(data.contributors.size());
    const int64_t number = std::count(data.contributors.begin(), data.contributors.end(), true);
    if (number == ranks)
      return std::vector<std::optional<int64_t>>{std::nullopt, number, data.target};
    std::optional<int64_t> first;
    for (int64_t r = 0; r < ranks; ++r) {
      if (!data.contributors[r] || data.contributors[(r + ranks - 1) % ranks]) continue;
      if (first) return std::nullopt;
      first = r;
    }
    return std::vector<std::optional<int64_t>>{first, number, data.target};
  }

  void carries(const Site& site) {
    const Vocabulary vocabulary = Vocabulary::of_site(program_, site, site.variables.size(), false);
    const std::string name = site_name(site);
    bool is_remote = false;
    const std::vector<Example> all =
        ask(site, [&](const Moments& run, const Moment& moment, std::vector<Example>& found) {
          const std::optional<Data> data =
              p_.contract.is_barrier() ? std::nullopt : run.data(moment);
          if (!data) return;
          const auto span = span_of(*data);
          is_remote |= data->group != moment.group;
          if (!span) return;
          found.push_back(example(run, moment, vocabulary));
          found.back().numbers = *span;
        });
    statement("carries " + name, "Which ranks contributed to this data, and for whom is it?");
    const std::string names = fmt::format(", in names of {}: {}", name, vocabulary.text());
    const auto number = [&](const char* word, size_t i, const char* what) {
      Column wanted;
      for (const Example& example : all) wanted.push_back(example.numbers[i]);
      const auto value = examples_of(program_, vocabulary, all, "").number(wanted);
      line(fmt::format("{} {}", word, value.value_or(std::string(kFillIn))), what + names);
    };
    if (by_conditions_) {
      line(fmt::format("contributors {}", kFillIn),
           "the condition that rank `contributor` has contributed" + names);
    } else {
      number("source", 0, "the first rank that has contributed");
      if (p_.contract.reduces() || p_.contract.is_barrier())
        number("number", 1, "how many ranks have contributed, counted from source");
    }
    if (p_.contract.has_targets()) number("target", 2, "the rank that the data is for");
    if (is_remote) line("remote", "");
  }

  // ---- Keys

  bool has_steps(size_t body) const {
    const std::vector<Item>& items = p_.anatomy.bodies[body];
    return std::any_of(items.begin(), items.end(), [&](const Item& item) {
      return !item.is_loop || has_steps(item.index + 1);
    });
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
      if (std::find(names.begin(), names.end(), name) != names.end() || value.operands.empty())
        continue;
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

  static constexpr int64_t kLongest = 60;  // parts of an expression that a person reads

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
