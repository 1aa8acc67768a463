// A program's proof as the verifier reads it (verifier/prove/proof.h): the code's bytes, and what
// its author says of it.
#ifndef QUADRILLE_GENERATOR_PROOF_FILE_H_
#define QUADRILLE_GENERATOR_PROOF_FILE_H_

#include <string>

#include "generator/registry.h"

namespace quadrille {

std::string proof_file(const Algorithm& algorithm, const Choices& choices);

// "alltoall.factor+drop", "alltoall-between-groups.direct": what the file is called, and what `check` calls
// the program.
std::string proof_name(const Algorithm& algorithm, const Choices& choices);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_PROOF_FILE_H_
