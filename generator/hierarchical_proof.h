// The proof of the hierarchical programs (hierarchical.cc), for every choice of their options.
#ifndef QUADRILLE_GENERATOR_HIERARCHICAL_PROOF_H_
#define QUADRILLE_GENERATOR_HIERARCHICAL_PROOF_H_

#include <string>

#include "generator/registry.h"

namespace quadrille {

std::string hierarchical_factor_proof(const Choices& choices);
std::string hierarchical_circle_proof(const Choices& choices);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_HIERARCHICAL_PROOF_H_
