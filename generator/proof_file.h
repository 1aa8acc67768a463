// Writes a program's proof in the form that the verifier reads (verifier/prove/proof.h): the bytes of the code, and
// the author's statements about it.
#pragma once

#include <string>

#include "generator/registry.h"

namespace quadrille {

std::string proof_file(const Algorithm& algorithm, const Choices& choices);

// Returns the name of the file, and of the program in the output of `check`: "alltoall.factor+drop",
// "alltoall-between-groups.direct".
std::string proof_name(const Algorithm& algorithm, const Choices& choices);

}  // namespace quadrille
