// Asks Z3 three questions about each obligation of a proof. The hypotheses alone must be satisfiable, or they would
// prove anything. Hypotheses and negated goal must be unsatisfiable. Hypotheses and a negated mutant of the goal must
// be satisfiable, or the obligation would show nothing. Every other answer is a failure, also "unknown".
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "verifier/prove/obligations.h"

namespace quadrille::verifier {

// An obligation as text for another solver (smtlib.cc), and the answers that the solver must give, in order.
struct Export {
  std::string name;  // the obligation's
  std::string smtlib;
  std::vector<z3::check_result> expected;
};

// The terms of one obligation, in a Z3 context of its own. A shared context would let earlier questions change the
// answer, and their order depends on the load of the machine.
struct Question {
  z3::expr assumed, goal, mutant;  // `assumed` is a conjunction
  bool bit_vectors;
};

inline constexpr const char* kContradiction = "the hypotheses contradict each other";
inline constexpr const char* kMutantFollows = "a mutant of the goal follows as well";

struct ObligationResult {
  std::string name;
  bool proven = false;
  std::string failure;   // "the goal does not follow", "the hypotheses contradict each other", ...
  bool unknown = false;  // whether the solver gave up
  size_t part = 0;       // the part of the goal that was not shown (split())
};

struct ProofResult {
  std::vector<ObligationResult> obligations;
  std::vector<Export> exports;  // if keep_exports; without obligations that are counted in `known`
  int64_t known = 0;  // obligations whose terms all equal those of an obligation asked before
  double seconds = 0;
};

// The default limit: several times the work of the heaviest question about the built-in programs.
inline constexpr unsigned kMostWork = 200'000'000;

struct ProverOptions {
  // Limit for one question, in Z3's units of work (rlimit), which do not depend on the machine's load. 0: no limit.
  unsigned most_work = kMostWork;
  bool keep_exports = false;
};

// Proves one proof after another. Similar programs share most obligations. The prover asks each of these once.
class Prover {
 public:
  explicit Prover(const ProverOptions& options) : options_(options) {}

  ProofResult prove(const Proof& proof, const ProofPlan& plan);
  // Takes all obligations of a proof as proven. Then prove() asks of a changed program only the others.
  void take_as_proven(const Proof& proof, const ProofPlan& plan);

 private:
  // Z3's numbers of an obligation's three terms: equal numbers mean equal terms.
  using Terms = std::array<unsigned, 3>;

  static Terms terms_of(const Question& question);
  // Keeps a result for all obligations with these terms.
  void know(const Question& question, const ObligationResult& result);
  ObligationResult run(const Obligation& obligation, const Program& program, ProofResult& all);
  void ask(const Question& question, ObligationResult& result) const;

  const ProverOptions options_;
  z3::context context_;         // makes the terms by which equal obligations are recognized
  std::vector<z3::expr> kept_;  // keeps terms alive, so that Z3 does not reuse their numbers
  std::map<Terms, ObligationResult> known_;
};

// Calls work(prover, n) for each n in [0, count) on `threads` threads. Each thread has its own prover and takes the
// next free n, so that it often gets neighboring proofs, which share obligations.
void work_on_all(size_t count, size_t threads, const ProverOptions& options,
                 const std::function<void(Prover&, size_t)>& work);

// ---- Obligations as SMT-LIB 2.6 files, and a second solver to answer them again (smtlib.cc)

// Returns a Z3 solver with the settings and the work limit of the prover.
z3::solver new_solver(z3::context& context, const ProverOptions& options, bool bit_vectors);

// Splits a goal into subgoals: a and b gives a, b. x implies (a and b) gives x implies a, x implies b.
std::vector<z3::expr> split(const z3::expr& goal);

// Writes the obligation as text, for a solver that reads (reset) and several (check-sat). First it denies each
// subgoal, with the assumptions that Z3 needed for it: unsat. Then it states all hypotheses and a value for each
// unknown, which the second solver only has to confirm: sat. Last it adds the negated mutant: sat.
Export export_obligation(const std::string& name, const Question& question,
                         const ProverOptions& options);

// What came of asking a second solver the exported questions.
struct SecondOpinion {
  int64_t questions = 0;
  std::vector<std::string> disagreements;  // names of obligations, with the wrong answers
  std::string failure;                     // why the solver could not be run; empty if it could
  double seconds = 0;
};

// Runs `command` (such as "cvc5") on each file, one process per processor at a time. files[i] holds exports[i].
SecondOpinion ask_second_solver(const std::string& command, const std::vector<std::string>& files,
                                const std::vector<std::vector<Export>>& exports);

}  // namespace quadrille::verifier
