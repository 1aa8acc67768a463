// Runs the queries of a proof. For each obligation the solver is asked three times. The hypotheses alone must be
// satisfiable: else they would prove anything. With the goal denied they must not be. With a mutant of the goal denied
// they must be: else the obligation proves nothing. Every other answer is a failure, also "unknown".
#ifndef QUADRILLE_VERIFIER_PROVE_PROVER_H_
#define QUADRILLE_VERIFIER_PROVE_PROVER_H_

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "verifier/prove/obligations.h"

namespace quadrille::verifier {

// An obligation as text for another solver (smtlib.cc), and what the answers must be, in order.
struct Export {
  std::string name;  // of the obligation
  std::string smtlib;
  std::vector<z3::check_result> expected;
};

// What an obligation asks, in a context of its own: an answer must not depend on earlier questions, which depend on the
// load of the machine.
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
  std::vector<Export> exports;  // where asked for; what an earlier proof has is not exported again
  int64_t known = 0;            // obligations that are, term by term, those of an earlier proof
  double seconds = 0;
};

// Several times what the heaviest question of the programs that come with Quadrille takes.
inline constexpr unsigned kMostWork = 200'000'000;

struct ProverOptions {
  // Of a question, in the solver's own units, which no load of the machine changes; 0: any.
  unsigned most_work = kMostWork;
  bool keep_exports = false;
};

// Proves one proof after another. Programs that are alike share most of their obligations, which are asked once.
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
  z3::context context_;         // of the terms that tell which obligations are alike
  std::vector<z3::expr> kept_;  // terms keep their identity while they live
  std::map<Terms, ObligationResult> known_;
};

// Does the work for 0 .. count, on that many threads, each with a prover of its own. A thread takes the next free
// number: neighboring proofs share obligations.
void work_on_all(size_t count, size_t threads, const ProverOptions& options,
                 const std::function<void(Prover&, size_t)>& work);

// ---- Obligations as SMT-LIB 2.6 files, and a second solver to answer them again (smtlib.cc)

// A solver for the prover's queries.
z3::solver new_solver(z3::context& context, const ProverOptions& options);

// What a goal asks, one thing at a time: the parts of a conjunction, also behind an implication.
std::vector<z3::expr> split(const z3::expr& goal);

// The obligation as text, for a solver that reads (reset) and several (check-sat). First each part of the goal is
// denied, with the assumptions that it needs. Then the hypotheses alone are asked, with all facts and an example,
// which a second solver only has to confirm. Then the same with the mutant denied.
Export export_obligation(const std::string& name, const Question& question,
                         const ProverOptions& options);

// What a solver that was given those texts should say, and says.
struct SecondOpinion {
  int64_t questions = 0;
  std::vector<std::string> disagreements;  // obligations, with what was answered
  std::string failure;                     // where the solver could not be run
  double seconds = 0;
};

// Gives each file to `command` (such as "cvc5"), as many at a time as there are processors.
// exports[i] is what files[i] holds.
SecondOpinion ask_second_solver(const std::string& command, const std::vector<std::string>& files,
                                const std::vector<std::vector<Export>>& exports);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_PROVER_H_
