// A program's text and the statements of its proof, proven.
#ifndef QUADRILLE_TESTS_PROVE_PROOFS_H_
#define QUADRILLE_TESTS_PROVE_PROOFS_H_

#include <string>
#include <vector>

#include "tests/support/cases.h"
#include "verifier/prove/prover.h"

namespace quadrille {

struct Proving {
  std::string error;                                // why there is nothing to prove, or empty
  std::vector<verifier::ObligationResult> results;  // of every obligation
  std::vector<std::string> failed;                  // the names of those that failed
  std::string failure;                              // the reason for the first of them

  bool proven() const { return error.empty() && failed.empty(); }
};

std::string proof_text(const std::string& program, const std::string& statements);

// The whole procedure, through the text of a proof file. `program` must parse.
Proving prove(const std::string& program, const std::string& statements,
              const verifier::ProverOptions& options = {});

// `text` with `from`, which it must contain, replaced.
std::string changed(std::string text, const std::string& from, const std::string& to);

// The corpus in tests/prove/cases; cases_test.cc explains its expectations.
const std::vector<TextCase>& proof_cases();
// The case whose title begins with this.
const TextCase& proof_case(const std::string& title);

// The nodes on which the checker refutes the program, and the violation: "1,1: coverage"; "" if there are none.
std::string smallest_failure(const std::string& program);

// "algorithm factor for alltoall" and a proof that holds.
extern const char* const kFactor;
extern const char* const kFactorProof;

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_PROVE_PROOFS_H_
