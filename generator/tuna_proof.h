// The proofs of TuNA, flat and on nodes, for all ranks, nodes of any sizes and every radix.
#ifndef QUADRILLE_GENERATOR_TUNA_PROOF_H_
#define QUADRILLE_GENERATOR_TUNA_PROOF_H_

#include <string>

#include "generator/registry.h"

namespace quadrille {

std::string tuna_proof(const Choices& choices);
std::string tuna_coalesced_proof(const Choices& choices);
std::string tuna_staggered_proof(const Choices& choices);

// Lemmas about the digits of distances, which all have in common.
std::string tuna_digits();

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_TUNA_PROOF_H_
