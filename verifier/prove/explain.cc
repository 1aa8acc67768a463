// Builds the obligation's terms once more, in a context of their own, and asks for a model of what did not follow. Terms
// become text again: the terms of lets get their names, and symbols those of the program. Tested by
// tests/prove/cases/explained.cases.
#include "verifier/prove/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "schedule/text.h"
#include "verifier/prove/planner.h"

namespace quadrille::verifier {
namespace {

constexpr size_t kMostHypotheses = 12;
constexpr size_t kLongest = 400;  // characters of a condition

// What a proof usually lacks, by the first words of an obligation's name. The first row that fits counts.
struct Advice {
  const char* begin;
  const char* part;
  const char* text;
};
constexpr Advice kAdvice[] = {
    {"", ", all cases", "a last `with` without `if`, or a lemma that one of the conditions holds"},
    {"match", ", peer", "`use` of a fact that keeps the peer within 0 .. ranks, and off the rank"},
    {"match", "",
     "another `where` or `if` in this `match` or in that of the other end; then a lemma "
     "that the keys of both are equal"},
    {"held", "",
     "another writer in `held`; then a lemma on the keys, since a write counts only once "
     "its step is over"},
    {"base", "", "another writer in `base`; then a lemma on the keys of the two steps"},
    {"used", "", "another reader in `used`, or the `held` of that reader"},
    {"apart", "",
     "a lemma on the keys: the later write starts after the read; or on the blocks: "
     "they differ"},
    {"combine", "", "`source` and `number`, or `contributors`, in the `carries` of this statement"},
    {"final", "", "another witness in `cover`, or a lemma that nothing is written there later"},
    {"once", "", "a lemma that the two statements never bring one block, below `once`"},
    {"keys in", "", "a lemma that the keys of the one are below those of the other, below `order`"},
    {"keys", "", "`from` and `to` that hold all keys of an iteration, and a lemma below `keys`"},
    {"defined", "",
     "`use` below `defined` of a fact that bounds the operand; or a `require` in the "
     "program"},
    {"fits", "",
     "`use` below `fits` of a fact that bounds the value; or a `require` in the program"},
    {"lemma", "", "one more `given`, a `use` of an axiom or an earlier lemma, or an induction"},
    {"theorem", "", "one more `given`, a `use` of an axiom or an earlier lemma, or an induction"},
    {"port", "", "a lemma below `port` that two such messages never have one key"},
};

std::string op(const z3::expr& e) { return e.is_numeral() ? "" : e.decl().name().str(); }

// Z3 writes -3 as (- 3).
std::string number_text(const z3::expr& e) {
  const std::string text = e.to_string();
  return text.rfind("(- ", 0) == 0 ? "-" + text.substr(3, text.size() - 4) : text;
}

// Opposite numbers are differences, as the language has no sign.
const std::string kMinus = "0 - ";

// Prints terms in the words of the program.
class Words {
 public:
  Words(Query& query, const Program& program) {
    for (size_t i = 0; i < program.parameters.size(); ++i)
      symbols_[fmt::format("qd_parameter_{}", i)] = program.parameters[i].name.text;
    std::string count = "count";
    for (size_t i = program.tables.size(); i-- > 0;)
      for (int group = program.groups - 1; group >= 0; --group) {
        const Logic::TableOf table{static_cast<int64_t>(i), group};
        const std::string& name = program.tables[i].name.text;
        symbols_["qd_" + query.symbol(table)] = name;
        symbols_["qd_locate_" + query.symbol(table)] = "locate " + name;
        symbols_["qd_length_" + query.symbol(table)] = "length(" + name + ")";
        if (is_counts(program.tables[i].kind)) count = name + "[0]";
      }
    symbols_["qd_count"] = count;
    symbols_["qd_ranks_1"] = "the other group's ranks";
    symbols_["qd_block_length"] = symbols_["qd_block_length_of_1"] = "length of block";
  }

  void name(const z3::expr& term, const std::string& name) {
    names_.emplace(term.id(), name);
    printed_.clear();
  }
  // Notes the value of each choice.
  void learn(const std::vector<z3::expr>& knowledge) {
    for (const z3::expr& fact : knowledge)
      if (op(fact) == "=" && fact.arg(0).num_args() == 0 && op(fact.arg(1)) == "if")
        choices_.emplace(fact.arg(0).id(), fact.arg(1));
    printed_.clear();
  }

  // Returns the text, in parentheses if it has an operator that binds less than `binding`: 1 or, 2 and, 3 not,
  // 4 comparison, 5 sum, 6 product, 7 none.
  std::string of(const z3::expr& e, int binding = 0) const {
    auto known = printed_.find(e.id());
    if (known == printed_.end()) {
      Made one = made(e);
      // Readers see no more of it. A term may stand many times in another.
      if (one.first.size() > kLongest) one.first.resize(kLongest + 1);
      known = printed_.emplace(e.id(), std::pair(e, std::move(one))).first;
    }
    const auto& [text, own] = known->second.second;
    return own < binding ? "(" + text + ")" : text;
  }

  // Returns the name of an unknown or a parameter; empty if the term is something else.
  std::string unknown(const z3::expr& e) const {
    const std::string symbol = e.is_numeral() || e.num_args() > 0 ? "" : op(e);
    return symbol.rfind("qd_", 0) != 0 || symbol.rfind("qd_choice_", 0) == 0 ? ""
                                                                             : symbol_text(symbol);
  }

 private:
  using Made = std::pair<std::string, int>;

  std::string symbol_text(const std::string& symbol) const {
    if (const auto known = symbols_.find(symbol); known != symbols_.end()) return known->second;
    // qd_v3_name is the fourth unknown, `name`.
    const size_t end = symbol.rfind("qd_v", 0) == 0 ? symbol.find('_', 4) : std::string::npos;
    return end == std::string::npos ? symbol.substr(symbol.rfind("qd_", 0) == 0 ? 3 : 0)
                                    : symbol.substr(end + 1);
  }

  std::string list(const z3::expr& e) const {
    std::string text;
    for (unsigned i = 0; i < e.num_args(); ++i) text += (i ? ", " : "") + of(e.arg(i));
    return text;
  }

  // Joins the parts of a nested `and` or `or`. Leaves out those that say nothing, such as `true` of an `and`.
  Made joined(const z3::expr& e, const std::string& word, int binding) const {
    const std::string nothing = word == "and" ? "true" : "false";
    std::vector<std::string> parts;
    const std::function<void(const z3::expr&)> add = [&](const z3::expr& part) {
      if (op(part) == word) {
        for (unsigned i = 0; i < part.num_args(); ++i) add(part.arg(i));
        return;
      }
      std::string text = of(part, binding + 1);
      if (text != nothing && std::find(parts.begin(), parts.end(), text) == parts.end())
        parts.push_back(std::move(text));
    };
    add(e);
    const std::string all = word == "and" ? "false" : "true";
    if (std::find(parts.begin(), parts.end(), all) != parts.end()) return {all, 7};
    if (parts.size() < 2)
      return {parts.empty() ? nothing : parts[0], parts.empty() ? 7 : binding + 1};
    return {fmt::format("{}", fmt::join(parts, " " + word + " ")), binding};
  }

  Made compared(const z3::expr& a, const std::string& word, const z3::expr& b) const {
    const std::string left = of(a, 5), right = of(b, 5);
    if (left == right && left.size() <= kLongest && (word == " = " || word == " <= "))
      return {"true", 7};
    return {left + word + right, 4};
  }

  Made implied(const z3::expr& e) const {
    const std::string given = of(e.arg(0), 1), shown = of(e.arg(1), 1);
    if (given == "true") return {shown, 0};
    return {shown == "false" ? "never " + of(e.arg(0), 4) : shown + ", if " + given, 0};
  }

  Made denied(const z3::expr& e) const {
    const std::string is = op(e);
    if (is == "=") return compared(e.arg(0), " != ", e.arg(1));
    if (is == "distinct") return compared(e.arg(0), " = ", e.arg(1));
    if (is == "<=") return compared(e.arg(1), " < ", e.arg(0));
    if (is == "<") return compared(e.arg(1), " <= ", e.arg(0));
    return is == "not" ? made(e.arg(0)) : Made{"not (" + of(e) + ")", 7};
  }

  // Writes what is added before what is subtracted.
  Made sum(const z3::expr& e) const {
    std::string text, rest;
    const std::function<void(const z3::expr&)> add = [&](const z3::expr& part) {
      if (names_.count(part.id()) == 0 && op(part) == "+") {
        for (unsigned i = 0; i < part.num_args(); ++i) add(part.arg(i));
        return;
      }
      const std::string one = of(part, 5);
      if (one.starts_with(kMinus))
        rest += " - " + one.substr(kMinus.size());
      else if (one[0] == '-')
        rest += " - " + one.substr(1);
      else
        text += (text.empty() ? "" : " + ") + one;
    };
    add(e);
    return {text.empty() ? "0" + rest : text + rest, 5};
  }

  Made product(const z3::expr& e) const {
    const std::string a = of(e.arg(0), 6);
    if (a == "-1") return {kMinus + of(e.arg(1), 6), 5};
    return {a + "*" + of(e.arg(1), 7), 6};
  }

  // wrap(a, m), min(a, b) and max(a, b) are choices, too.
  Made choice(const z3::expr& e) const {
    const z3::expr is = e.arg(0), yes = e.arg(1), no = e.arg(2);
    if (op(is) == "<") {
      if (const auto other = choices_.find(no.id()); other != choices_.end()) {
        const z3::expr up = other->second;
        if (op(up.arg(0)) == "<=" && up.arg(2).id() == is.arg(0).id())
          return {fmt::format("wrap({}, {})", of(is.arg(0)), of(up.arg(0).arg(0))), 7};
      }
    }
    if (op(is) == "<=")
      for (const bool least : {true, false})
        if (is.arg(least ? 0 : 1).id() == yes.id() && is.arg(least ? 1 : 0).id() == no.id())
          return {fmt::format("{}({}, {})", least ? "min" : "max", of(is.arg(0)), of(is.arg(1))),
                  7};
    if (of(no) == "true") return {fmt::format("{}, if {}", of(yes, 1), of(is, 1)), 0};
    return {fmt::format("{} ? {} : {}", of(is, 1), of(yes, 1), of(no, 1)), 0};
  }

  Made applied(const z3::expr& e) const {
    const std::string symbol = op(e);
    if (symbol == "qd_times") return product(e);
    if (symbol == "qd_quotient") return {of(e.arg(0), 7) + " div " + of(e.arg(1), 7), 6};
    if (symbol == "qd_xor") return {of(e.arg(0), 7) + " xor " + of(e.arg(1), 7), 5};
    if (e.num_args() == 0) return {symbol_text(symbol), 7};
    const std::string name = symbol_text(symbol);
    if (name.rfind("locate ", 0) == 0)
      return {fmt::format("locate({}, {})", name.substr(7), list(e)), 7};
    return {fmt::format("{}[{}]", name, list(e)), 7};
  }

  Made made(const z3::expr& e) const {
    if (const auto name = names_.find(e.id()); name != names_.end()) return {name->second, 7};
    if (e.is_numeral()) return {number_text(e), 7};
    if (const auto value = choices_.find(e.id()); value != choices_.end())
      return choice(value->second);
    const std::string is = op(e);
    if (is == "true" || is == "false") return {is, 7};
    if (is == "and") return joined(e, "and", 2);
    if (is == "or") return joined(e, "or", 1);
    if (is == "not") return denied(e.arg(0));
    if (is == "=>") return implied(e);
    if (is == "if") return choice(e);
    if (is == "distinct") return compared(e.arg(0), " != ", e.arg(1));
    if (is == "=" || is == "<=" || is == "<") return compared(e.arg(0), " " + is + " ", e.arg(1));
    if (is == ">=") return compared(e.arg(1), " <= ", e.arg(0));
    if (is == ">") return compared(e.arg(1), " < ", e.arg(0));
    if (is == "+") return sum(e);
    if (is == "*") return product(e);
    if (is == "div") return {of(e.arg(0), 7) + " div " + of(e.arg(1), 7), 6};
    return applied(e);
  }

  std::map<std::string, std::string> symbols_;
  std::map<unsigned, std::string> names_;
  std::map<unsigned, z3::expr> choices_;
  mutable std::map<unsigned, std::pair<z3::expr, Made>>
      printed_;  // with the term, whose number is in use so long
};

// A read or write of a site in the case of a model.
struct Event {
  std::string what;  // "recv[{}] is sent"
  z3::expr block;
  std::optional<z3::expr> key;
};

class Explainer {
 public:
  Explainer(const Obligation& obligation, const ObligationResult& result, const Program& program,
            int group, const ProverOptions& options)
      : obligation_(obligation),
        result_(result),
        program_(program),
        anatomy_(take_apart(program)),
        options_(options),
        query_(context_, program),
        words_(query_, program) {
    query_.explains = true;
    query_.group = group;
    obligation.build(query_);
    for (const auto& [lets, instance] : query_.lets) learn_lets(lets, instance);
    find_sites();
    knowledge_ = query_.bit_vectors ? std::vector<z3::expr>() : query_.knowledge();
    words_.learn(knowledge_);
    if (!query_.bit_vectors) find_unknowns();
  }

  // Returns the number of the statement that the obligation is about, or -1.
  int statement() const {
    if (obligation_.statement >= 0) return obligation_.statement;
    if (!sites_.empty()) return sites_[0]->statement;
    for (const LoopSite& loop : anatomy_.loops)
      for (const char* form : {"keys {}", "keys in {}:"})
        if (obligation_.name.rfind(fmt::format(fmt::runtime(form), loop.name), 0) == 0)
          return loop.statement;
    return -1;
  }

  void of_contradiction(std::vector<std::string>& lines) {
    const std::vector<z3::expr> core = contradiction();
    std::vector<std::string> parts;
    for (const z3::expr& part : core) parts.push_back(shortened(words_.of(part)));
    if (parts.empty()) return;
    lines.push_back("these contradict each other: " +
                    fmt::format("{}", fmt::join(parts, "; and ")));
    lines.emplace_back(
        "such a case never occurs: leave it out of the proof, or mend its condition");
  }

  // Returns false if this group's hypotheses imply the goal.
  bool of_goal(std::vector<std::string>& lines) {
    const std::vector<z3::expr> parts = split(query_.goal);
    z3::solver solver = new_solver(context_, options_, query_.bit_vectors);
    for (const z3::expr& fact : query_.hypotheses) solver.add(fact);
    for (const z3::expr& fact : knowledge_) solver.add(fact);
    const size_t open = std::min(result_.part, parts.empty() ? 0 : parts.size() - 1);
    for (size_t i = 0; i < open; ++i) solver.add(parts[i]);
    const z3::expr goal = parts.empty() ? query_.goal : parts[open];
    solver.add(!goal);
    const z3::check_result answer = smallest(solver);
    if (answer == z3::unsat && program_.groups == 2) return false;
    lines.push_back("to show: " + shortened(words_.of(goal)));
    if (const std::string given = hypotheses(); !given.empty()) lines.push_back("given: " + given);
    if (answer == z3::sat)
      lines.push_back("a case that this allows: " + the_case(solver.get_model()));
    else
      lines.push_back("the solver found no case against it, and no proof");
    return true;
  }

 private:
  static std::string shortened(const std::string& text) {
    return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
  }

  void learn_lets(const Names& lets, const Instance& instance) {
    for (const auto& [name, value] : lets) {
      if (value.operands.empty()) continue;
      try {
        const z3::expr term = query_.term(query_.number(value, instance));
        if (!term.is_numeral()) words_.name(term, name);
      } catch (const z3::exception&) {
        // The value is too large, and keeps no name.
      }
    }
  }

  // Finds the sites that the obligation's name has, in order, and what they do.
  void find_sites() {
    std::map<size_t, const Site*> found;
    for (const Site& site : anatomy_.sites) {
      const std::string name = site_name(site);
      const std::string& whole = obligation_.name;
      for (size_t at = whole.find(name); at != std::string::npos; at = whole.find(name, at + 1))
        if (const size_t end = at + name.size(); end == whole.size() || !isdigit(whole[end]))
          found[at] = &site;
    }
    for (const auto& [at, site] : found) sites_.push_back(site);
    if (sites_.size() == 1 && query_.instances.size() == 2) sites_.push_back(sites_[0]);
    for (size_t i = 0; i < std::min(sites_.size(), query_.instances.size()); ++i) {
      const Site& site = *sites_[i];
      const Instance& instance = query_.instances[i];
      if (instance.variables.size() < site.variables.size()) continue;
      const auto term = [&](const Expression& e) {
        return query_.term(query_.number(e, instance));
      };
      for (const auto& [access, verb] :
           {std::pair(&site.from, site.is_message() ? "sent" : "read"), {&site.to, "written"}})
        if (*access && (*access)->block.op != Operator::kConstant)
          events_.push_back(
              {fmt::format("{}[{{}}] is {}", buffer(**access), verb), term((*access)->block),
               site.step < 0 ? std::nullopt : std::optional(term(anatomy_.steps[site.step].key))});
    }
  }

  static const char* buffer(const Access& access) {
    return access.buffer == Buffer::kSend      ? "send"
           : access.buffer == Buffer::kReceive ? "recv"
                                               : "temp";
  }

  // Asks first for a case of small numbers, which is easier to read.
  z3::check_result smallest(z3::solver& solver) {
    if (query_.bit_vectors) return solver.check();
    for (const int most : {4, 12}) {
      solver.push();
      for (const z3::expr& unknown : unknowns_)
        solver.add(unknown <= most && unknown >= context_.int_val(-most));
      if (solver.check() == z3::sat) return z3::sat;
      solver.pop();
    }
    return solver.check();
  }

  // Finds the unknowns of the query, and whether it has products, quotients or entries of tables.
  void find_unknowns() {
    std::set<unsigned> seen;
    const std::function<void(const z3::expr&)> visit = [&](const z3::expr& e) {
      if (!e.is_app() || !seen.insert(e.id()).second) return;
      if (!words_.unknown(e).empty()) unknowns_.push_back(e);
      has_functions_ |= e.num_args() > 0 && op(e).rfind("qd_", 0) == 0;
      for (unsigned i = 0; i < e.num_args(); ++i) visit(e.arg(i));
    };
    for (const z3::expr& fact : query_.hypotheses) visit(fact);
    visit(query_.goal);
  }

  std::string hypotheses() const {
    std::vector<std::string> all;
    for (const z3::expr& fact : query_.hypotheses) {
      std::string text = shortened(words_.of(fact));
      if (text != "true" && text != "ranks <= 1048576" && text != "remote_ranks <= 1048576" &&
          std::find(all.begin(), all.end(), text) == all.end())
        all.push_back(std::move(text));
    }
    const size_t more = all.size() > kMostHypotheses ? all.size() - kMostHypotheses : 0;
    all.resize(all.size() - more);
    return fmt::format("{}{}", fmt::join(all, "; "),
                       more ? fmt::format("; and {} more", more) : "");
  }

  std::string the_case(const z3::model& model) const {
    const auto value = [&](const z3::expr& e) { return number_text(model.eval(e, true)); };
    std::vector<std::string> values, events;
    for (const z3::expr& unknown : unknowns_)
      values.push_back(fmt::format("{} = {}", words_.unknown(unknown), value(unknown)));
    for (const Event& event : events_)
      events.push_back(fmt::format(fmt::runtime(event.what), value(event.block)) +
                       (event.key ? " in step " + value(*event.key) : ""));
    return fmt::format(
        "{}{}{}{}", fmt::join(values, ", "), events.empty() ? "" : ": ", fmt::join(events, ", "),
        has_functions_ ? " (perhaps not a real one: of products, quotients and tables "
                         "the solver knows "
                         "some facts only)"
                       : "");
  }

  // Returns hypotheses that contradict each other, as few as leaving out one after another gives.
  std::vector<z3::expr> contradiction() {
    std::vector<z3::expr> core = query_.hypotheses;
    const auto contradict = [&](const std::vector<z3::expr>& some) {
      z3::solver solver = new_solver(context_, options_, query_.bit_vectors);
      for (const z3::expr& fact : some) solver.add(fact);
      for (const z3::expr& fact : knowledge_) solver.add(fact);
      return solver.check() == z3::unsat;
    };
    if (!contradict(core)) return {};
    for (size_t i = core.size(); i-- > 0;) {
      std::vector<z3::expr> less = core;
      less.erase(less.begin() + static_cast<int64_t>(i));
      if (contradict(less)) core = less;
    }
    return core;
  }

  const Obligation& obligation_;
  const ObligationResult& result_;
  const Program& program_;
  const Anatomy anatomy_;
  const ProverOptions options_;
  z3::context context_;
  Query query_;
  Words words_;
  std::vector<z3::expr> knowledge_, unknowns_;
  bool has_functions_ = false;
  std::vector<const Site*> sites_;
  std::vector<Event> events_;
};

std::string place(const ProgramText& text, int statement) {
  if (statement < 0 || statement >= static_cast<int>(text.lines.size())) return {};
  const int number = text.lines[statement];
  const std::string& line = text.text[number - 1];
  const size_t first = line.find_first_not_of(' ');
  const std::string words = line.substr(first, line.find("  --", first) - first);
  return text.name.empty() ? words : fmt::format("{}:{}: {}", text.name, number, words);
}

const char* advice_for(const std::string& name) {
  for (const Advice& advice : kAdvice)
    if (name.rfind(advice.begin, 0) == 0 && name.find(advice.part) != std::string::npos)
      return advice.text;
  return nullptr;
}

}  // namespace

ProgramText program_text(const std::string& name, const std::string& text) {
  ProgramText result{name, {}, {}};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    result.text.push_back(line.substr(0, line.find_last_not_of('\r') + 1));
  if (!parse_program(text, name, &result.lines).ok()) result.lines.clear();
  return result;
}

std::vector<std::string> explain(const Obligation& obligation, const ObligationResult& result,
                                 const Program& program, const ProgramText& text,
                                 const ProverOptions& options) {
  std::vector<std::string> lines;
  try {
    for (int group = 0; group < program.groups; ++group) {
      Explainer explainer(obligation, result, program, group, options);
      lines.clear();
      if (const std::string at = place(text, explainer.statement()); !at.empty())
        lines.push_back(at);
      if (result.failure == kContradiction)
        explainer.of_contradiction(lines);
      else if (result.failure != kMutantFollows && !explainer.of_goal(lines))
        continue;
      break;
    }
  } catch (const z3::exception&) {
    // The terms are too large to be read, too.
  }
  const char* advice = advice_for(obligation.name);
  if (advice && result.failure != kContradiction)
    lines.push_back(std::string("often missing: ") + advice);
  return lines;
}

}  // namespace quadrille::verifier
