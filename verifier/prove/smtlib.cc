// Writes obligations and asks a second solver. tests/prove/prove_command_test.sh tests it: cvc5 answers exported
// questions as expected, and a wrong expectation is reported.
#include "verifier/prove/prover.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <thread>

namespace quadrille::verifier {
namespace {

// Says for each assumption whether Z3 uses it to show the goal (unsatisfiable core). All true if Z3 fails, and over
// bit-vectors, where Z3 is slow to tell.
std::vector<bool> needed(const z3::expr_vector& assumed, const z3::expr& goal,
                         const ProverOptions& options, bool bit_vectors) {
  if (bit_vectors) return std::vector<bool>(assumed.size(), true);
  z3::context& context = assumed.ctx();
  z3::solver solver = new_solver(context, options, false);
  z3::expr_vector switches(context);
  std::map<unsigned, unsigned> number_of;
  for (unsigned i = 0; i < assumed.size(); ++i) {
    switches.push_back(context.bool_const(fmt::format("qd_use_{}", i).c_str()));
    number_of[switches.back().id()] = i;
    solver.add(z3::implies(switches.back(), assumed[i]));
  }
  solver.add(!goal);
  std::vector<bool> result(assumed.size(), true);
  if (solver.check(switches) != z3::unsat) return result;
  std::fill(result.begin(), result.end(), false);
  for (const z3::expr& used : solver.unsat_core()) result[number_of.at(used.id())] = true;
  return result;
}

// Returns equations with the values of unknowns and table entries in a model of the assumptions and negated mutant.
z3::expr example(const z3::expr_vector& assumed, const z3::expr& mutant,
                 const ProverOptions& options, bool bit_vectors) {
  z3::context& context = assumed.ctx();
  z3::solver solver = new_solver(context, options, bit_vectors);
  for (const z3::expr& assumption : assumed) solver.add(assumption);
  solver.add(!mutant);
  if (solver.check() != z3::sat) return context.bool_val(true);
  const z3::model model = solver.get_model();
  z3::expr_vector values(context);
  std::set<unsigned> seen;
  const std::function<void(const z3::expr&)> visit = [&](const z3::expr& e) {
    if (!e.is_app() || !seen.insert(e.id()).second) return;
    if (e.decl().decl_kind() == Z3_OP_UNINTERPRETED) values.push_back(e == model.eval(e, true));
    for (unsigned i = 0; i < e.num_args(); ++i) visit(e.arg(i));
  };
  for (const z3::expr& assumption : assumed) visit(assumption);
  visit(mutant);
  return z3::mk_and(values);
}

// Writes terms as SMT-LIB and remembers the names in them. (The solver's own printer takes a hundred times as long.)
class TermWriter {
 public:
  void assertion(const z3::expr& e) {
    text_ += "(assert ";
    write(e);
    text_ += ")\n";
  }

  void question() { text_ += "(check-sat)\n"; }

  std::string problem(const char* logic) const {
    std::string all = fmt::format("(set-logic {})\n", logic);
    for (const auto& [name, declaration] : declarations_) all += declaration;
    return all + text_;
  }

 private:
  void write(const z3::expr& e) {
    if (e.is_numeral()) {
      text_ += e.to_string();
      return;
    }
    const z3::func_decl function = e.decl();
    const std::string name = function.decl_kind() == Z3_OP_ITE ? "ite" : function.name().str();
    if (function.decl_kind() == Z3_OP_UNINTERPRETED) declare(e, name);
    if (e.num_args() == 0) {
      text_ += name;
      return;
    }
    text_ += "(" + name;
    for (unsigned i = 0; i < e.num_args(); ++i) {
      text_ += ' ';
      write(e.arg(i));
    }
    text_ += ')';
  }

  void declare(const z3::expr& e, const std::string& name) {
    std::string& declaration = declarations_[name];
    if (!declaration.empty()) return;
    std::string arguments;
    for (unsigned i = 0; i < e.num_args(); ++i)
      arguments += (i ? " " : "") + e.arg(i).get_sort().to_string();
    declaration =
        fmt::format("(declare-fun {} ({}) {})\n", name, arguments, e.get_sort().to_string());
  }

  std::string text_;
  std::map<std::string, std::string> declarations_;
};

std::string problem(const Question& question, const z3::expr_vector& asserted,
                    const z3::expr* then_asserted = nullptr) {
  TermWriter writer;
  for (const z3::expr& assertion : asserted) writer.assertion(assertion);
  writer.question();
  if (then_asserted) {
    writer.assertion(*then_asserted);
    writer.question();
  }
  return writer.problem(question.bit_vectors ? "QF_BV" : "QF_UFLIA");
}

// Limit for one question, in units of work of cvc5 (--rlimit-per), which do not depend on the machine's load.
constexpr int kSecondWork = 50'000'000;

// What a command printed.
struct Printed {
  std::string output;
  bool ran = false;  // whether the command could be run
};

Printed output_of(const std::string& command, const std::string& file) {
  std::FILE* pipe =
      popen(fmt::format("{} --lang smt2.6 --incremental --rlimit-per={} '{}' 2>/dev/null", command,
                        kSecondWork, file)
                .c_str(),
            "r");
  if (!pipe) return {};
  Printed printed;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    printed.output.append(buffer, got);
  const int status = pclose(pipe);
  // The shell exits with 127 if the command does not exist, and with 126 if it cannot be executed.
  printed.ran = WIFEXITED(status) && WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127;
  return printed;
}

const char* word_for(z3::check_result answer) { return answer == z3::sat ? "sat" : "unsat"; }

// Compares the printed answers with those that the exports expect, question by question.
void compare(const std::string& output, const std::vector<Export>& exports,
             SecondOpinion& opinion) {
  std::istringstream lines(output);
  for (const Export& obligation : exports)
    for (const z3::check_result expected : obligation.expected) {
      ++opinion.questions;
      std::string line;
      if (std::getline(lines, line) && line == word_for(expected)) continue;
      opinion.disagreements.push_back(fmt::format("{}: {} instead of {}", obligation.name,
                                                  line.empty() ? "no answer" : line,
                                                  word_for(expected)));
    }
}

}  // namespace

z3::solver new_solver(z3::context& context, const ProverOptions& options, bool bit_vectors) {
  z3::params parameters(context);
  parameters.set("rlimit", options.most_work);
  if (bit_vectors) {
    z3::solver solver = (z3::tactic(context, "simplify") & z3::tactic(context, "qfbv")).mk_solver();
    solver.set(parameters);
    return solver;
  }
  z3::solver solver(context, z3::solver::simple());
  parameters.set("arith.solver", 2u);  // Z3's older solver is faster on these questions
  solver.set(parameters);
  return solver;
}

std::vector<z3::expr> split(const z3::expr& goal) {
  std::vector<z3::expr> parts;
  if (goal.is_and()) {
    for (unsigned i = 0; i < goal.num_args(); ++i)
      for (const z3::expr& part : split(goal.arg(i))) parts.push_back(part);
  } else if (goal.is_implies()) {
    for (const z3::expr& part : split(goal.arg(1)))
      parts.push_back(goal.arg(0).is_true() ? part : z3::implies(goal.arg(0), part));
  } else if (!goal.is_true()) {
    parts.push_back(goal);
  }
  return parts;
}

Export export_obligation(const std::string& name, const Question& question,
                         const ProverOptions& options) {
  Export result{name, "", {}};
  z3::context& context = question.assumed.ctx();
  const z3::expr& all = question.assumed;
  z3::expr_vector assumed(context), known(context);
  for (unsigned i = 0; all.is_and() && i < all.num_args(); ++i) assumed.push_back(all.arg(i));
  if (!all.is_and()) assumed.push_back(all);
  for (const z3::expr& assumption : assumed) known.push_back(assumption);
  for (const z3::expr& part : split(question.goal)) {
    const std::vector<bool> core = needed(known, part, options, question.bit_vectors);
    z3::expr_vector asserted(context);
    for (unsigned k = 0; k < known.size(); ++k)
      if (core[k]) asserted.push_back(known[k]);
    asserted.push_back(!part);
    result.expected.push_back(z3::unsat);
    result.smtlib += fmt::format("(reset)\n; {}: part {} of the goal, denied: unsat\n{}", name,
                                 result.expected.size(), problem(question, asserted));
    known.push_back(part);
  }
  z3::expr_vector satisfiable(context);
  for (const z3::expr& assumption : assumed) satisfiable.push_back(assumption);
  satisfiable.push_back(example(assumed, question.mutant, options, question.bit_vectors));
  const z3::expr denied = !question.mutant;
  result.expected.insert(result.expected.end(), 2, z3::sat);
  result.smtlib +=
      fmt::format("(reset)\n; {}: hypotheses alone: sat; with a mutant of the goal denied: sat\n{}",
                  name, problem(question, satisfiable, &denied));
  return result;
}

SecondOpinion ask_second_solver(const std::string& command, const std::vector<std::string>& files,
                                const std::vector<std::vector<Export>>& exports) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Printed> outputs(files.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < files.size();) outputs[i] = output_of(command, files[i]);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  SecondOpinion opinion;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!outputs[i].ran) opinion.failure = fmt::format("'{}' cannot be run", command);
    compare(outputs[i].output, exports[i], opinion);
  }
  opinion.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return opinion;
}

}  // namespace quadrille::verifier
