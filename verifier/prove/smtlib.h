// Obligations as SMT-LIB 2.6 files, and a second solver to answer them again.
#ifndef QUADRILLE_VERIFIER_PROVE_SMTLIB_H_
#define QUADRILLE_VERIFIER_PROVE_SMTLIB_H_

#include <string>
#include <vector>

#include "verifier/prove/prover.h"

namespace quadrille::verifier {

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

#endif  // QUADRILLE_VERIFIER_PROVE_SMTLIB_H_
