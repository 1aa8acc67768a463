// The proof of recursive doubling: ranks below q stand in groups of 1, 2, 4, .. that halve evenly
// (lemmas whole, even, inside), and of two such ranks i and r, level(i, r) = floor(log2(i xor r)) is the
// step in which r receives what i has gathered, its own block among it (lemmas meet, met).
#include "generator/recursive_doubling_proof.h"

#include "generator/lemmas.h"

namespace quadrille {
namespace {

constexpr const char* kLemmas = R"(define groups(x)
  as pow[digits(0)] div pow[x]
define group_of(r, x)
  as r div pow[x]
define sibling(r, x)
  as group_of(r, x) mod 2 = 0 ? group_of(r, x)*pow[x] + pow[x] : group_of(r, x)*pow[x] - pow[x]
define level(i, r)
  as locate(pow, i xor r)
lemma halves(a, b)
  given 0 < b
  given 0 <= a
  show (a div (2*b))*2 <= a div b and a div b <= (a div (2*b))*2 + 1
  use monotone(a div b + 1, (a div (2*b))*2, b)
  use monotone((a div (2*b))*2 + 2, a div b, b)
lemma whole(t)
  show pow[digits(0)] = groups(digits(0) - t)*pow[digits(0) - t]
  induction t from 0 to digits(0)
  use quotient(pow[digits(0)], pow[digits(0)], 1)
  use quotient(pow[digits(0)], pow[digits(0) - t - 1], 2*groups(digits(0) - t))
  use monotone(groups(digits(0) - t) + 1, 0, pow[digits(0) - t])
  use monotone(pow[digits(0) - t], 2*pow[digits(0) - t - 1], groups(digits(0) - t))
  use monotone(2*pow[digits(0) - t - 1], pow[digits(0) - t], groups(digits(0) - t))
lemma even(x)
  given 0 <= x
  given x < digits(0)
  show pow[digits(0)] = groups(x)*pow[x] and groups(x) = 2*groups(x + 1)
  use whole(digits(0) - x)
  use whole(digits(0) - x - 1)
  use quotient(pow[digits(0)], pow[x], 2*groups(x + 1))
  use monotone(groups(x + 1) + 1, 0, pow[x + 1])
  use monotone(pow[x + 1], 2*pow[x], groups(x + 1))
  use monotone(2*pow[x], pow[x + 1], groups(x + 1))
lemma inside(r, x)
  given 0 <= r
  given r < pow[digits(0)]
  given 0 <= x
  given x < digits(0)
  show 0 <= group_of(r, x)*pow[x] and group_of(r, x)*pow[x] + pow[x] <= pow[digits(0)] and 0 <= sibling(r, x) and sibling(r, x) + pow[x] <= pow[digits(0)]
  use even(x)
  use monotone(groups(x), group_of(r, x), pow[x])
  use monotone(group_of(r, x) + 2, groups(x), pow[x])
  use monotone(group_of(r, x) + 1, groups(x), pow[x])
  use monotone(group_of(r, x) + 1, 0, pow[x])
  use monotone(0, group_of(r, x), pow[x])
  use monotone(1, group_of(r, x), pow[x])
lemma meet(i, r)
  given 0 <= i
  given 0 <= r
  given i < pow[digits(0)]
  given r < pow[digits(0)]
  given i != r
  show 0 <= level(i, r) and level(i, r) < digits(0) and 0 <= sibling(r, level(i, r)) and sibling(r, level(i, r)) <= i and i < sibling(r, level(i, r)) + pow[level(i, r)] and sibling(r, level(i, r)) + pow[level(i, r)] <= pow[digits(0)]
  use quotient(i, pow[0], i)
  use monotone(pow[0], 1, i)
  use monotone(1, pow[0], i)
  use quotient(r, pow[0], r)
  use monotone(pow[0], 1, r)
  use monotone(1, pow[0], r)
  use xor_groups(pow, 0, i, r)
  use quotient(i, pow[digits(0)], 0)
  use quotient(r, pow[digits(0)], 0)
  use xor_groups(pow, digits(0), i, r)
  use xor_groups(pow, level(i, r), i, r)
  use xor_groups(pow, level(i, r) + 1, i, r)
  use halves(i, pow[level(i, r)])
  use halves(r, pow[level(i, r)])
  use monotone(group_of(i, level(i, r)), group_of(r, level(i, r)) + 1, pow[level(i, r)])
  use monotone(group_of(r, level(i, r)) + 1, group_of(i, level(i, r)), pow[level(i, r)])
  use monotone(group_of(i, level(i, r)), group_of(r, level(i, r)) - 1, pow[level(i, r)])
  use monotone(group_of(r, level(i, r)) - 1, group_of(i, level(i, r)), pow[level(i, r)])
  use inside(r, level(i, r))
lemma met(i, r, x)
  given 0 <= i
  given 0 <= r
  given i < pow[digits(0)]
  given r < pow[digits(0)]
  given 0 <= x
  given x < digits(0)
  given sibling(r, x) <= i
  given i < sibling(r, x) + pow[x]
  show level(i, r) = x
  use quotient(i, pow[x], group_of(r, x) + 1)
  use quotient(i, pow[x], group_of(r, x) - 1)
  use xor_groups(pow, x, i, r)
  use xor_groups(pow, x + 1, i, r)
  use halves(i, pow[x])
  use halves(r, pow[x])
)";

constexpr const char* kWitnesses = R"(defined
  use inside(rank, x)
match send 1
  with receive 2
match receive 2
  with send 1
match send 2
  use inside(rank, x)
  use quotient(peer, w, group_number + 1)
  use quotient(peer, w, group_number - 1)
  with receive 3 where x = x, i = i
match send 3
  use inside(rank, x)
  use quotient(peer, w, group_number + 1)
  use quotient(peer, w, group_number - 1)
  with receive 4 where x = x, i = i
match receive 3
  use inside(rank, x)
  use quotient(peer, w, group_number + 1)
  use quotient(peer, w, group_number - 1)
  with send 2 where x = x, i = i
match receive 4
  use inside(rank, x)
  use quotient(peer, w, group_number + 1)
  use quotient(peer, w, group_number - 1)
  with send 3 where x = x, i = i
match send 4
  with receive 1 where i = i
match receive 1
  with send 4 where i = i
held send 2
  use inside(rank, x)
  with receive 3 where x = level(i, rank), i = i
  use meet(i, rank)
  use xor_groups(pow, x, i, rank)
  use quotient(i, w, group_number)
  use monotone(0, sums[i], 1)
held send 3
  use inside(rank, x)
  with receive 2 if i = q + rank
  with receive 4 where x = level(i - q, rank), i = i
  use meet(i - q, rank)
  use xor_groups(pow, x, i - q, rank)
  use quotient(i - q, w, group_number)
  use monotone(0, sums[i], 1)
held send 4
  with receive 3 where x = level(i, rank), i = i if i < q
  use meet(i, rank)
  use monotone(0, sums[i], 1)
  with receive 4 where x = level(i - q, rank), i = i
  use meet(i - q, rank)
  use monotone(0, sums[i], 1)
cover
  with receive 1 where i = source if pow[digits(0)] <= target
  use monotone(sums[source], sums[target], 1)
  with receive 3 where x = level(source, target), i = source if source < pow[digits(0)]
  use meet(source, target)
  use monotone(0, sums[source], 1)
  with receive 2 if source = pow[digits(0)] + target
  with receive 4 where x = level(source - pow[digits(0)], target), i = source
  use meet(source - pow[digits(0)], target)
  use monotone(0, sums[source], 1)
once receive 3
  use inside(rank, x)
  use met(i, rank, x)
once receive 4
  use inside(rank, x)
  use met(i - q, rank, x)
keys x
  from x + 1
  to x + 2
)";

}  // namespace

std::string recursive_doubling_proof(const Choices&) {
  return std::string(kQuotientLemma) + kLemmas + kWitnesses;
}

}  // namespace quadrille
