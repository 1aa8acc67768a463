// Proves programs that tests write as text, with the statements of their proofs.
#pragma once

#include <string>
#include <vector>

#include "tests/support/cases.h"
#include "verifier/prove/prover.h"

namespace quadrille {

struct Proving {
  std::string error;                                // why the proof is refused, or empty
  std::vector<verifier::ObligationResult> results;  // of all obligations
  std::vector<std::string> failed;                  // names of the obligations that failed
  std::string failure;                              // why the first of these failed
  std::vector<std::string> explained;               // what `prove` says of these, with their names

  bool proven() const { return error.empty() && failed.empty(); }
};

// Returns the text of a proof file. `program` must parse.
std::string proof_text(const std::string& program, const std::string& statements);

// Makes a proof file, reads it and proves it. `program` must parse.
Proving prove(const std::string& program, const std::string& statements, bool explains = false);

// Returns `text` with `from`, which it must contain, replaced by `to`.
std::string changed(std::string text, const std::string& from, const std::string& to);

// Returns all cases of tests/prove/cases; cases_test.cc explains their expectations.
const std::vector<TextCase>& proof_cases();
// Returns the case whose title begins with this. There must be one.
const TextCase& proof_case(const std::string& title);

// Returns the smallest job on which the checker refutes the program, with the property: "1,1: coverage"; or "".
std::string smallest_failure(const std::string& program);

// The text of "algorithm factor for alltoall", and the statements of a proof that holds.
extern const char* const kFactor;
extern const char* const kFactorProof;

}  // namespace quadrille
