// The proofs of TuNA. Of a block that has i to go, what lies below digit x is i - f with f = q*up + z*w: a
// multiple of w, and of every lower power (lemmas divides, multiple, whole). So its last hop was in the
// highest digit of i - f, and two hops of it are in order (same, below). A distance of one hop has one
// digit (no_hop); from i to i + 1 slots go up by 1, but where i + 1 is such a distance (next), so that
// two blocks that are stored have two slots (own_slot), all of which there are (stored).
#include "generator/tuna_proof.h"

#include "generator/lemmas.h"

namespace quadrille {
namespace {

constexpr const char* kDigits = R"(define digit(d)
  as locate(pow, d)
define part(d)
  as d div pow[digit(d)]
lemma digits(d)
  given 0 < d and d < ranks
  show 0 <= digit(d) and digit(d) < length(pow) - 1 and 1 <= part(d) and part(d) < radix and part(d)*pow[digit(d)] <= d and d < part(d)*pow[digit(d)] + pow[digit(d)]
  use monotone(part(d) + 1, 1, pow[digit(d)])
  use monotone(radix, part(d), pow[digit(d)])
lemma divides(a, t)
  given 0 <= a
  show pow[a + t] = (pow[a + t] div pow[a])*pow[a]
  induction t from 0 to length(pow) - 1 - a
  use quotient(pow[a + t], pow[a], 1)
  use quotient(pow[a + t + 1], pow[a], radix*(pow[a + t] div pow[a]))
  use monotone(pow[a + t], (pow[a + t] div pow[a])*pow[a], radix)
  use monotone((pow[a + t] div pow[a])*pow[a], pow[a + t], radix)
lemma multiple(m, x, a)
  given 0 <= m and 0 <= a and a <= x and x < length(pow)
  show m*pow[x] = m*(pow[x] div pow[a])*pow[a] and 0 <= m*(pow[x] div pow[a])
  use divides(a, x - a)
  use monotone(pow[x], (pow[x] div pow[a])*pow[a], m)
  use monotone((pow[x] div pow[a])*pow[a], pow[x], m)
  use monotone(pow[x] div pow[a] + 1, 0, pow[a])
  use monotone(0, pow[x] div pow[a], m)
lemma whole(q, z, x, a)
  given 0 <= q and 0 <= z and 0 <= a and a <= x and x + 1 < length(pow)
  show ((q*pow[x + 1] + z*pow[x]) div pow[a])*pow[a] = q*pow[x + 1] + z*pow[x]
  use multiple(q, x + 1, a)
  use multiple(z, x, a)
  use quotient(q*pow[x + 1] + z*pow[x], pow[a], q*(pow[x + 1] div pow[a]) + z*(pow[x] div pow[a]))
lemma same(q, z, q2, z2, x, i)
  given 0 <= x and x + 1 < length(pow)
  given 1 <= z and z < radix and 1 <= z2 and z2 < radix
  given q*pow[x + 1] + z*pow[x] <= i and i < q*pow[x + 1] + z*pow[x] + pow[x]
  given q2*pow[x + 1] + z2*pow[x] <= i and i < q2*pow[x + 1] + z2*pow[x] + pow[x]
  show q = q2 and z = z2
  use monotone(q + 1, q2, pow[x + 1])
  use monotone(q2 + 1, q, pow[x + 1])
  use monotone(1, z, pow[x])
  use monotone(1, z2, pow[x])
  use monotone(z + 1, radix, pow[x])
  use monotone(z2 + 1, radix, pow[x])
  use monotone(z + 1, z2, pow[x])
  use monotone(z2 + 1, z, pow[x])
lemma below(q, z, x, q2, z2, x2, i)
  given 0 <= x and x < x2 and x2 + 1 < length(pow)
  given 0 <= q2 and 0 <= z2 and 1 <= z and z < radix
  given q*pow[x + 1] + z*pow[x] <= i and i < q*pow[x + 1] + z*pow[x] + pow[x]
  given q2*pow[x2 + 1] + z2*pow[x2] <= i
  show z*pow[x] <= i - q2*pow[x2 + 1] - z2*pow[x2] and (i - q2*pow[x2 + 1] - z2*pow[x2] < pow[x + 1] ? i - q2*pow[x2 + 1] - z2*pow[x2] < z*pow[x] + pow[x] : 0 = 0)
  use whole(q2, z2, x2, x + 1)
  use monotone(1, z, pow[x])
  use monotone(z + 1, radix, pow[x])
  use monotone(q + 1, (q2*pow[x2 + 1] + z2*pow[x2]) div pow[x + 1], pow[x + 1])
  use monotone((q2*pow[x2 + 1] + z2*pow[x2]) div pow[x + 1] + 1, q, pow[x + 1])
  use monotone((q2*pow[x2 + 1] + z2*pow[x2]) div pow[x + 1], q, pow[x + 1])
)";

constexpr const char* kSlots = R"(define way(source, target)
  as wrap(source - target, ranks)
define slot(i)
  as i - 2 - locate(hop, i)
lemma hops(k)
  given 0 <= k and k < length(hop)
  show hop[k] = (k mod (radix - 1) + 1)*pow[k div (radix - 1)] and 0 <= k div (radix - 1) and k div (radix - 1) < length(pow) - 1 and 1 <= k mod (radix - 1) + 1 and k mod (radix - 1) + 1 < radix
  use monotone(k div (radix - 1) + 1, 0, radix - 1)
  use monotone(length(pow) - 1, k div (radix - 1), radix - 1)
lemma rises(k)
  given 0 <= k and k + 1 < length(hop)
  show hop[k] < hop[k + 1]
  use hops(k)
  use hops(k + 1)
  use monotone((k + 1) div (radix - 1) + 1, k div (radix - 1), radix - 1)
  use monotone(k div (radix - 1) + 2, (k + 1) div (radix - 1), radix - 1)
  use monotone(k mod (radix - 1) + 1, radix - 1, pow[k div (radix - 1)])
  use monotone(1, (k + 1) mod (radix - 1) + 1, pow[(k + 1) div (radix - 1)])
  use monotone(pow[k div (radix - 1) + 1], 0, 1)
lemma ascends(k, t)
  given 0 <= k
  show hop[k] <= hop[k + t]
  induction t from 0 to length(hop) - 1 - k
  use rises(k + t)
lemma next(o)
  show locate(hop, o) <= locate(hop, o + 1) and locate(hop, o + 1) <= locate(hop, o) + 1 and (locate(hop, o) < locate(hop, o + 1) ? hop[locate(hop, o + 1)] = o + 1 : 0 = 0)
  use ascends(locate(hop, o + 1) + 1, locate(hop, o) - locate(hop, o + 1) - 1)
  use rises(locate(hop, o) + 1)
  use ascends(locate(hop, o) + 2, locate(hop, o + 1) - locate(hop, o) - 2)
lemma slots(o, t)
  show slot(o) <= slot(o + t)
  induction t from 0 to ranks
  use next(o + t)
lemma own_slot(o, i)
  given 0 <= o and o < i and i < ranks
  given hop[locate(hop, i)] != i
  show slot(o) < slot(i)
  use slots(o, i - 1 - o)
  use next(i - 1)
lemma first_slot()
  given 2 <= ranks
  show slot(1) = 0 - 1 and 1 <= length(hop)
  use hops(0)
  use rises(0)
  use quotient(0, radix - 1, 0)
  use monotone(0 mod (radix - 1) + 1, 1, pow[0 div (radix - 1)])
  use monotone(1, 0 mod (radix - 1) + 1, pow[0 div (radix - 1)])
  use ascends(1, locate(hop, 1) - 1)
  use monotone(1, length(pow) - 1, radix - 1)
define index(i)
  as digit(i)*(radix - 1) + part(i) - 1
theorem closed_slot(i)
  given 1 <= i and i < ranks
  show slot(i) = i - 1 - digit(i)*(radix - 1) - part(i)
  use digits(i)
  use monotone(0, digit(i), radix - 1)
  use monotone(digit(i) + 1, length(pow) - 1, radix - 1)
  use hops(index(i))
  use quotient(index(i), radix - 1, digit(i))
  use monotone(index(i) mod (radix - 1) + 1, part(i), pow[index(i) div (radix - 1)])
  use hops(index(i) + 1)
  use quotient(index(i) + 1, radix - 1, digit(i))
  use quotient(index(i) + 1, radix - 1, digit(i) + 1)
  use monotone(part(i) + 1, (index(i) + 1) mod (radix - 1) + 1, pow[(index(i) + 1) div (radix - 1)])
  use monotone(1, (index(i) + 1) mod (radix - 1) + 1, pow[(index(i) + 1) div (radix - 1)])
  use ascends(index(i) + 1, locate(hop, i) - index(i) - 1)
  use ascends(locate(hop, i) + 1, index(i) - 1 - locate(hop, i))
refute printed_slot(i)
  given 1 <= i and i < ranks and hop[locate(hop, i)] != i
  show 0 <= i - 1 - (locate(pow, i - 1) + 1)*(radix - 1) - i div pow[locate(pow, i - 1) + 1]
lemma no_hop(g, x, i, k)
  given 0 <= x and x < length(pow) and 1 <= g
  given g*pow[x] < i and i < g*pow[x] + pow[x]
  given 0 <= k and k < length(hop)
  show hop[k] != i
  use hops(k)
  use monotone(k mod (radix - 1) + 2, radix, pow[k div (radix - 1)])
  use monotone(pow[k div (radix - 1) + 1], 0, 1)
  use monotone(1, g, pow[x])
  use multiple(k mod (radix - 1) + 1, k div (radix - 1), x)
  use monotone((k mod (radix - 1) + 1)*(pow[k div (radix - 1)] div pow[x]), g, pow[x])
  use monotone(g + 1, (k mod (radix - 1) + 1)*(pow[k div (radix - 1)] div pow[x]), pow[x])
lemma stored(g, x, i)
  given 0 <= x and x < length(pow) and 1 <= g
  given g*pow[x] < i and i < g*pow[x] + pow[x] and i < ranks
  show hop[locate(hop, i)] != i and 0 <= slot(i) and slot(i) < ranks - 2 - locate(hop, ranks - 1)
  use monotone(1, g, pow[x])
  use first_slot()
  use no_hop(g, x, i, locate(hop, i))
  use own_slot(1, i)
  use slots(i, ranks - 1 - i)
)";

constexpr const char* kWitnesses = R"(defined
  use monotone(length(pow), 1, radix - 1)
  use monotone(pow[0], 0, 1)
  use monotone(1, length(pow), radix - 1)
  use monotone(k div (radix - 1) + 1, 0, radix - 1)
  use monotone(length(pow) - 1, k div (radix - 1), radix - 1)
  use monotone(length(pow) - 1, (k + 1) div (radix - 1), radix - 1)
  use monotone((k + 1) div (radix - 1) + 1, k div (radix - 1), radix - 1)
  use monotone(k div (radix - 1) + 2, (k + 1) div (radix - 1), radix - 1)
  use monotone(k mod (radix - 1) + 1, radix - 1, pow[k div (radix - 1)])
  use monotone(1, (k + 1) mod (radix - 1) + 1, pow[(k + 1) div (radix - 1)])
  use monotone(pow[k div (radix - 1) + 1], 0, 1)
  use monotone(1, z, w)
  use monotone(0, q, up)
  use slots(1, ranks - 2)
  use first_slot()
match send 1
  use monotone(1, z, w)
  use monotone(0, q, up)
  use monotone(q, 0, up)
  with receive 1 where x = x, z = z, q = q, i = i if q = 0
  with receive 2 where x = x, z = z, q = q, i = i
match send 2
  use monotone(1, z, w)
  use monotone(0, q, up)
  use monotone(q, 0, up)
  use monotone(up, radix*w, q)
  use monotone(radix*w, up, q)
  use monotone(0, q, radix)
  use stored(q*radix + z, x, i)
  with receive 1 where x = x, z = z, q = q, i = i if q = 0
  with receive 2 where x = x, z = z, q = q, i = i
match receive 1
  use monotone(1, z, w)
  use monotone(0, q, up)
  use monotone(q, 0, up)
  with send 1 where x = x, z = z, q = q, i = i if i = f
  with send 2 where x = x, z = z, q = q, i = i
match receive 2
  use monotone(1, z, w)
  use monotone(0, q, up)
  use monotone(1, q, up)
  use monotone(z + 1, radix, w)
  use stored(q, x + 1, i)
  with send 1 where x = x, z = z, q = q, i = i if i = f
  with send 2 where x = x, z = z, q = q, i = i
carries send 2
  source wrap(rank + i - f, ranks)
  target wrap(rank - f, ranks)
carries receive 2
  source wrap(rank + i - q*up, ranks)
  target wrap(rank - q*up, ranks)
held send 2
  use monotone(1, z, w)
  use monotone(0, q, up)
  with receive 2 where x = digit(i - f), z = part(i - f), q = f div pow[digit(i - f) + 1], i = i
  use digits(i - f)
  use whole(q, z, x, digit(i - f) + 1)
  use monotone((ranks - 1 - part(i - f)*pow[digit(i - f)]) div pow[digit(i - f) + 1] + 1, f div pow[digit(i - f) + 1], pow[digit(i - f) + 1])
  use monotone(f div pow[digit(i - f) + 1] + 1, 0, pow[digit(i - f) + 1])
  use monotone(f div pow[digit(i - f) + 1], 0, pow[digit(i - f) + 1])
once send 1
  use monotone(0, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use monotone(1, z_2, w_2)
  use monotone(z_2 + 1, radix, w_2)
  use monotone(0, q_2, up_2)
  use same(q, z, q_2, z_2, x, i)
  use below(q, z, x, q_2, z_2, x_2, i)
  use below(q_2, z_2, x_2, q, z, x, i)
once send 2
  use monotone(0, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use monotone(1, z_2, w_2)
  use monotone(z_2 + 1, radix, w_2)
  use monotone(0, q_2, up_2)
  use same(q, z, q_2, z_2, x, i)
  use below(q, z, x, q_2, z_2, x_2, i)
  use below(q_2, z_2, x_2, q, z, x, i)
apart send 2
  use monotone(1, q, up)
  use stored(q, x + 1, i)
  use monotone(up_2, radix*w_2, q_2)
  use monotone(radix*w_2, up_2, q_2)
  use monotone(0, q_2, radix)
  use stored(q_2*radix + z_2, x_2, i_2)
  use own_slot(i, i_2)
  use own_slot(i_2, i)
  use monotone(0, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use monotone(1, z_2, w_2)
  use monotone(z_2 + 1, radix, w_2)
  use monotone(0, q_2, up_2)
  use same(q, z, q_2, z_2, x, i)
  use below(q, z, x, q_2, z_2, x_2, i)
  use digits(i_2 - f_2)
  use quotient(i_2 - f_2, w, z)
  use monotone(1, part(i_2 - f_2), pow[digit(i_2 - f_2)])
  use whole(q_2, z_2, x_2, x + 1)
  use monotone(q + 1, f_2 div up, up)
  use monotone(f_2 div up + 1, q, up)
cover
  with receive 1 where x = digit(way(source, target)), z = part(way(source, target)), q = 0, i = way(source, target)
  use digits(way(source, target))
  use monotone((ranks - 1 - part(way(source, target))*pow[digit(way(source, target))]) div pow[digit(way(source, target)) + 1] + 1, 0, pow[digit(way(source, target)) + 1])
once receive 1
  use monotone(q, 0, up)
  use monotone(0, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use quotient(i, w, z)
once receive 2
  use stored(q, x + 1, i)
  use stored(q_2, x_2 + 1, i_2)
  use own_slot(i, i_2)
  use own_slot(i_2, i)
  use monotone(1, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use monotone(1, q_2, up_2)
  use monotone(1, z_2, w_2)
  use monotone(z_2 + 1, radix, w_2)
  use same(q, z, q_2, z_2, x, i)
keys x
  from pow[x]
  to pow[x + 1]
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
keys z
  from z*w
  to z*w + 1
)";

}  // namespace

std::string tuna_digits() { return std::string(kQuotientLemma) + kDigits; }

std::string tuna_proof(const Choices&) { return tuna_digits() + kSlots + kWitnesses; }

}  // namespace quadrille
