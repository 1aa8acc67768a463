// A rank serves those whose distance from it is a multiple of its node's size; of the ranks from b on
// it serves the one at b + (rank - b) mod mine and each mine-th after it (lemma serves). Slots are
// pairs of a rank that is served and a rank of the node (lemma slot).
#include "generator/hierarchical_overlapped_proof.h"

#include "generator/lemmas.h"

namespace quadrille {

namespace {

constexpr const char* kStatements = R"(define home_of(r)
  as base[locate(base, r)]
define size_of(r)
  as size[locate(base, r)]
define server(source, target)
  as home_of(target) + (source - home_of(target)) mod size_of(target)
define distance(source, target)
  as wrap(locate(base, target) - locate(base, source), length(size))
lemma serves(r, u, b, m)
  given 0 < m and b <= r
  given (r - u) mod m = 0
  show r mod m = u mod m and (r - b) mod m = (u - b) mod m and 0 <= (r - b) div m
  use quotient(r, m, u div m + (r - u) div m)
  use quotient(r - b, m, (u - b) div m + (r - u) div m)
  use monotone((r - b) div m + 1, 0, m)
lemma served(u, b, k, m)
  given 0 < m and 0 <= k
  show (b + (u - b) mod m + k*m - u) mod m = 0 and (b + (u - b) mod m + k*m) mod m = u mod m and (b + (u - b) mod m + k*m - b) div m = k and b <= b + (u - b) mod m + k*m
  use quotient(b + (u - b) mod m + k*m - u, m, k - (u - b) div m)
  use quotient(b + (u - b) mod m + k*m, m, u div m + k - (u - b) div m)
  use quotient(b + (u - b) mod m + k*m - b, m, k)
  use monotone(0, k, m)
lemma slot(r, j, m)
  given 0 < m and 0 <= j and j < m and 0 <= r
  show 0 <= r - r mod m + j and r - r mod m + j <= r + m - 1 and r - r mod m = (r div m)*m
  use monotone(0, r div m, m)
  use monotone(r div m + 1, 0, m)
lemma residue(u, v, m)
  given 0 < m and u - m < v and v < u + m
  given u mod m = v mod m
  show u = v
  use monotone(u div m + 1, v div m, m)
  use monotone(v div m + 1, u div m, m)
match send 1
  with receive 1 where h = h
match receive 1
  with send 1 where h = h
match send 2
  use served(up, base[b], k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
  use slot(first + k*mine, l, mine)
  with receive 2 where h = h, m = m, k = k
match receive 2
  use served(rank, base[b], k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
  use slot(first + k*mine, down, mine)
  with send 2 where h = h, m = m, k = k
match send 3
  use quotient(rank - base[b] - (rank - base[b]) mod size[b], size[b], (rank - base[b]) div size[b])
  with receive 3 where e = e, s = rank, j = d - base[b] if d = base[b] + (rank - base[b]) mod size[b]
  with receive 4 where e = e, s = rank, j = d - base[b]
match receive 3
  use quotient(s - home, mine, (s - rank) div mine)
  with send 3 where e = e, d = home + j
match receive 4
  use quotient(s - home, mine, (s - rank) div mine)
  use slot(s, j, mine)
  with send 3 where e = e, d = home + j
match send 4
  use quotient(d - home, mine, (d - rank) div mine)
  with receive 5 where m = m, s = home + s
match send 5
  use quotient(d - home, mine, (d - rank) div mine)
  use slot(d, s, mine)
  with receive 5 where m = m, s = home + s
match receive 5
  use quotient(rank - base[c] - (rank - base[c]) mod size[c], size[c], (rank - base[c]) div size[c])
  with send 4 where m = m, d = rank, s = s - base[c] if s = base[c] + (rank - base[c]) mod size[c]
  with send 5 where m = m, d = rank, s = s - base[c]
match send 6
  use served(rank, base[c], k, mine)
  use monotone(k, (base[c + 1] - 1 - own) div mine, mine)
  use slot(own + k*mine, up, mine)
  with receive 6 where f = f, i = i, k = k
match receive 6
  use served(down, base[c], k, mine)
  use monotone(k, (base[c + 1] - 1 - theirs) div mine, mine)
  with send 6 where f = f, i = i, k = k
carries receive 2
  source home + down
  target first + k*mine
carries receive 4
  source s
  target home + j
carries send 5
  source home + s
  target d
carries send 6
  source own + k*mine
  target home + up
held send 5
  use serves(d, rank, base[b], mine)
  use monotone((base[b + 1] - 1 - base[b] - (rank - base[b]) mod mine) div mine + 1, (d - base[b]) div mine, mine)
  with receive 2 where h = wrap(l - s, mine), m = m, k = (d - base[b]) div mine
held send 6
  use monotone(0, f, ranks)
  use served(rank, base[c], k, mine)
  use monotone(k, (base[c + 1] - 1 - own) div mine, mine)
  with receive 4 where e = f, s = own + k*mine, j = up
cover
  with receive 1 where h = wrap(target - source, size_of(target)) if locate(base, source) = locate(base, target)
  with receive 5 where m = distance(source, target), s = source if early < distance(source, target)
  with receive 3 where e = distance(source, target), s = source, j = target - home_of(target) if (source - target) mod size_of(target) = 0
  with receive 6 where f = distance(source, target), i = wrap(target - server(source, target), size_of(target)), k = (source - home_of(source)) div size_of(target)
  use quotient(source - server(source, target), size_of(target), (source - home_of(target)) div size_of(target))
  use serves(source, server(source, target), home_of(source), size_of(target))
  use monotone(0, (source - home_of(source)) div size_of(target), size_of(target))
  use monotone((base[locate(base, source) + 1] - 1 - home_of(source) - (source - home_of(source)) mod size_of(target)) div size_of(target) + 1, (source - home_of(source)) div size_of(target), size_of(target))
once send 1
  use served(up, base[b], k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
once send 2
  use served(up, base[b], k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
  use served(up_2, base[b_2], k_2, mine)
  use monotone(k_2, (base[b_2 + 1] - 1 - first_2) div mine, mine)
  use residue(up, up_2, mine)
once send 3
  use served(up, base[b], k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
once send 4
  use served(up, base[b], k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
  use serves(d_2, rank, base[b_2], mine)
  use residue(up, rank, mine)
once send 6
  use served(rank, base[c], k, mine)
  use served(rank, base[c_2], k_2, mine)
  use monotone(k, (base[c + 1] - 1 - own) div mine, mine)
  use monotone(k_2, (base[c_2 + 1] - 1 - own_2) div mine, mine)
apart send 5
  use served(rank, base[b], k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
  use slot(first + k*mine, down, mine)
  use slot(s, j, mine)
  use serves(d_2, rank, base[b_2], mine)
  use slot(d_2, s_2, mine)
  use pair((first + k*mine) div mine, down, d_2 div mine, s_2, mine)
apart send 6
  use served(rank, base[b], k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
  use slot(first + k*mine, down, mine)
  use serves(s, rank, base[c], mine)
  use slot(s, j, mine)
  use served(rank, base[c_2], k_2, mine)
  use monotone(k_2, (base[c_2 + 1] - 1 - own_2) div mine, mine)
  use slot(own_2 + k_2*mine, up_2, mine)
  use pair(s div mine, j, (own_2 + k_2*mine) div mine, up_2, mine)
once receive 2
  use served(rank, base[b], k, mine)
  use served(rank, base[b_2], k_2, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
  use monotone(k_2, (base[b_2 + 1] - 1 - first_2) div mine, mine)
once receive 6
  use served(down, base[c], k, mine)
  use monotone(k, (base[c + 1] - 1 - theirs) div mine, mine)
  use serves(theirs + k*mine, rank, base[c], mine)
  use residue(down, rank, mine)
  use quotient(theirs + k*mine - home, mine, (theirs + k*mine - down) div mine)
keys h
  from h
  to h + 1
keys e
  from ranks + e
  to ranks + e + 1
keys m
  from ranks + m
  to ranks + m + 1
keys f
  from f*ranks + ranks + length(size)
  to f*ranks + 2*ranks + length(size)
keys i
  from f*ranks + ranks + length(size) + i
  to f*ranks + ranks + length(size) + i + 1
)";

}  // namespace

std::string hierarchical_overlapped_proof(const Choices&) {
  return std::string(kQuotientLemma) + kPairLemma + kStatements;
}

}  // namespace quadrille
