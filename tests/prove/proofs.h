// A program's text and the statements of its proof, proven.
#ifndef QUADRILLE_TESTS_PROVE_PROOFS_H_
#define QUADRILLE_TESTS_PROVE_PROOFS_H_

#include <string>
#include <vector>

#include "verifier/prove/prover.h"

namespace quadrille {

struct Proving {
  std::string error;                                // why there is nothing to prove; else empty
  std::vector<verifier::ObligationResult> results;  // of every obligation
  std::vector<std::string> failed;                  // the names of those that failed
  std::string failure;                              // of the first of them: why

  bool proven() const { return error.empty() && failed.empty(); }
};

// The text of a proof file.
std::string proof_text(const std::string& program, const std::string& statements);

// The whole way, through the text of a proof file. `program` must parse.
Proving prove(const std::string& program, const std::string& statements,
              const verifier::ProverOptions& options = {});

// `text` with one thing, which must be in it, in the place of another.
std::string changed(std::string text, const std::string& from, const std::string& to);

// The statements that send and receive of this number match, with these values for their variables.
std::string matched(int number, const std::string& values = "");

// On which nodes the checker refutes it, and how: "1,1: coverage"; "" where it does not.
std::string smallest_failure(const std::string& program);

// Which obligations of the program fail, in order, and where it goes wrong.
struct Fate {
  std::vector<std::string> failed;
  std::string smallest_failure;
};
Fate fate(const std::string& program, const std::string& statements);
void expect_fate(const std::string& program, const std::string& statements,
                 const std::vector<std::string>& failed, const std::string& smallest_failure);

// "algorithm factor for alltoall" and a proof that holds.
extern const char* const kFactor;
extern const char* const kFactorProof;

// Of an allgather that goes through all pairs of ranks s and d, in loops of these names.
extern const char* const kDirectProof;

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_PROVE_PROOFS_H_
