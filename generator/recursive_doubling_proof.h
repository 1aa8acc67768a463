// The proof of recursive doubling: exclusive or is proven over bit-vectors.
#ifndef QUADRILLE_GENERATOR_RECURSIVE_DOUBLING_PROOF_H_
#define QUADRILLE_GENERATOR_RECURSIVE_DOUBLING_PROOF_H_

#include <string>

#include "generator/registry.h"

namespace quadrille {

std::string recursive_doubling_proof(const Choices& choices);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_RECURSIVE_DOUBLING_PROOF_H_
