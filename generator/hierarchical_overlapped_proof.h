// The proof of hierarchical-overlapped, for nodes of any sizes and every number of early ones.
#ifndef QUADRILLE_GENERATOR_HIERARCHICAL_OVERLAPPED_PROOF_H_
#define QUADRILLE_GENERATOR_HIERARCHICAL_OVERLAPPED_PROOF_H_

#include <string>

#include "generator/registry.h"

namespace quadrille {

std::string hierarchical_overlapped_proof(const Choices& choices);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_HIERARCHICAL_OVERLAPPED_PROOF_H_
