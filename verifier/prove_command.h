// The `prove` command.
#ifndef QUADRILLE_VERIFIER_PROVE_COMMAND_H_
#define QUADRILLE_VERIFIER_PROVE_COMMAND_H_

#include <string>
#include <vector>

#include "verifier/prove/prover.h"

namespace quadrille::verifier {

struct ProveArguments {
  std::vector<std::string> names;  // of built-in proofs; all where empty
  std::vector<std::string> files;  // proofs to prove instead
  std::string program;             // a text, or a schedule file, that the proof is of
  std::string folder;              // where exports go; empty: nowhere
  std::string second_solver;       // a command; empty: none
  int64_t limit = kMostWork;       // of a question, in units of Z3
  bool verbose = false;
};

// Prints verdicts; returns the exit code.
int prove_command(const ProveArguments& arguments);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_COMMAND_H_
