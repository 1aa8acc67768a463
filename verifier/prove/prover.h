// Runs the queries of a proof. The solver answers three questions about each obligation. The hypotheses alone must be
// satisfiable: else they would prove anything. With the goal denied they must not be satisfiable. With a mutant of the
// goal denied they must be: else the obligation proves nothing. Every other answer is a failure, also "unknown".
#ifndef QUADRILLE_VERIFIER_PROVE_PROVER_H_
#define QUADRILLE_VERIFIER_PROVE_PROVER_H_

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "verifier/prove/obligations.h"

namespace quadrille::verifier {

// An obligation as text for another solver (smtlib.cc), and the answers that it must give, in order.
struct Export {
  std::string name;  // of the obligation
  std::string smtlib;
  std::vector<z3::check_result> expected;
};

// An obligation's question, in a context of its own. Answers must not depend on earlier questions, whose order depends
// on the load of the machine.
struct Question {
  z3::expr assumed, goal, mutant;  // `assumed`: a conjunction
  bool bit_vectors;
};

struct ObligationResult {
  std::string name;
  bool proven = false;
  std::string failure;   // "the goal does not follow", "the hypotheses are contradictory", ...
  bool unknown = false;  // the solver gave up
};

struct ProofResult {
  std::vector<ObligationResult> obligations;
  std::vector<Export> exports;  // if asked for; without those that an earlier proof exported
  int64_t known = 0;            // obligations equal, term by term, to those of an earlier proof
  double seconds = 0;
};

// Several times the work of the heaviest question about the built-in programs.
inline constexpr unsigned kMostWork = 200'000'000;

struct ProverOptions {
  // The limit for one question, in the solver's own units, which do not depend on the machine's load; 0: none.
  unsigned most_work = kMostWork;
  bool keep_exports = false;
};

// Proves one proof after another. Similar programs share most of their obligations, which are proven once.
class Prover {
 public:
  explicit Prover(const ProverOptions& options) : options_(options) {}

  ProofResult prove(const Proof& proof, const ProofPlan& plan);

 private:
  // The solver's identities of an obligation's terms.
  using Terms = std::array<unsigned, 3>;

  ObligationResult run(const Obligation& obligation, const Program& program, ProofResult& all);
  void ask(const Question& question, ObligationResult& result) const;

  const ProverOptions options_;
  z3::context context_;         // of the terms that identify equal obligations
  std::vector<z3::expr> kept_;  // terms keep their identity while they live
  std::map<Terms, ObligationResult> known_;
};

// Runs the work for 0 .. count on that many threads, each with its own prover. A thread takes the next free number:
// neighboring proofs share obligations.
void work_on_all(size_t count, size_t threads, const ProverOptions& options,
                 const std::function<void(Prover&, size_t)>& work);

// ---- Obligations as SMT-LIB 2.6 files, and a second solver to answer them again (smtlib.cc)

// A solver for the prover's queries.
z3::solver new_solver(z3::context& context, const ProverOptions& options);

// The parts of a goal: those of a conjunction, also behind an implication.
std::vector<z3::expr> split(const z3::expr& goal);

// The obligation as text, for a solver that reads (reset) and several (check-sat). First it denies each part of the
// goal, with the assumptions that the part needs. Then it asks for the hypotheses alone, with all facts and an example
// that a second solver only has to confirm. Then it asks the same with the mutant denied.
Export export_obligation(const std::string& name, const Question& question,
                         const ProverOptions& options);

// The answers that a second solver should give to those texts, and gives.
struct SecondOpinion {
  int64_t questions = 0;
  std::vector<std::string> disagreements;  // obligations, with the answers
  std::string failure;                     // if the solver could not be run
  double seconds = 0;
};

// Gives each file to `command` (such as "cvc5"), as many at a time as there are processors. files[i] holds exports[i].
SecondOpinion ask_second_solver(const std::string& command, const std::vector<std::string>& files,
                                const std::vector<std::vector<Export>>& exports);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_PROVER_H_
