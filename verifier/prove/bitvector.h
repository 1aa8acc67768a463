// What is used of exclusive or, proven over bit-vectors for up to 2^20 ranks.
#ifndef QUADRILLE_VERIFIER_PROVE_BITVECTOR_H_
#define QUADRILLE_VERIFIER_PROVE_BITVECTOR_H_

#include <vector>

#include "verifier/prove/obligations.h"

namespace quadrille::verifier {

// The facts behind the axioms xor_range, xor_cancel and xor_groups (axioms.h), as obligations of their own.
std::vector<Obligation> bitvector_obligations();

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_BITVECTOR_H_
