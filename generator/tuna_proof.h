// The proof of TuNA, for all ranks and every radix.
#ifndef QUADRILLE_GENERATOR_TUNA_PROOF_H_
#define QUADRILLE_GENERATOR_TUNA_PROOF_H_

#include <string>

#include "generator/registry.h"

namespace quadrille {

std::string tuna_proof(const Choices& choices);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_TUNA_PROOF_H_
