// Lemmas that several proofs begin with.
#ifndef QUADRILLE_GENERATOR_LEMMAS_H_
#define QUADRILLE_GENERATOR_LEMMAS_H_

namespace quadrille {

// What a quotient is by what lies between its multiples.
inline constexpr const char* kQuotientLemma = R"(lemma quotient(a, b, g)
  given 0 < b
  given g*b <= a
  given a < g*b + b
  show a div b = g and (a div b)*b = g*b
  use monotone(a div b + 1, g, b)
  use monotone(g + 1, a div b, b)
  use monotone(a div b, g, b)
  use monotone(g, a div b, b)
)";

// t*m + y, with y below m, is a pair.
inline constexpr const char* kPairLemma = R"(lemma pair(t, y, t2, y2, m)
  given 0 <= y and y < m and 0 <= y2 and y2 < m
  given t*m + y = t2*m + y2
  show t = t2 and y = y2
  use monotone(t + 1, t2, m)
  use monotone(t2 + 1, t, m)
)";

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_LEMMAS_H_
