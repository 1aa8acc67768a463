// Lemmas `by bits`. Z3 decides them as questions about bit-vectors, without hints and without other lemmas. It knows
// the digits of a bit-vector, so it needs no lemma about powers of two, quotients and remainders.
//
// The question is about the same integers as the lemma. The conditions of the lemma bound its variables. Intervals
// (ranges.h) bound all values that occur in it, and bit-vectors get so many digits that these fit, with their signs.
//
// A lemma is about all integers within its conditions, also where the language gives an operator no value. There the
// rest of the proof, which Z3 decides for integers, holds whatever the value is. A lemma by bits takes these:
//   x div y = 0 and x mod y = x if y <= 0
//   wrap(x, m) = x + m if x < 0, x - m if m <= x, and else x
//   T[i], of powers of two, is 2^i if 0 <= i <= 62, and else 0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verifier/prove/obligations.h"
#include "verifier/prove/ranges.h"
#include "verifier/prove/reader.h"

namespace quadrille::verifier {

// Returns why bit-vectors cannot decide the lemma, and how to mend that; or nothing. `names` are its variables'.
std::optional<std::string> why_not_by_bits(const Program& program, const Lemma& lemma,
                                           const std::vector<std::string>& names,
                                           const LemmaRanges& ranges);

// Supposes the lemma's conditions, and makes what it shows the goal, over bit-vectors.
void ask_by_bits(Query& query, const Program& program, const Lemma& lemma,
                 const LemmaRanges& ranges);

}  // namespace quadrille::verifier
