// The proofs of TuNA on nodes of any sizes. In the first stage it is TuNA's on the ranks of a node, where
// the block in window t at a rank u that still has y ranks to go down to its server is for t*mine +
// (u - y) mod mine (lemmas turn, own, residue, source_of), and slots are pairs of t and i (lemmas pair,
// inside, in_slots). In the second a rank serves d where d - rank is a multiple of mine.
#include <fmt/core.h>

#include "generator/lemmas.h"
#include "generator/tuna_proof.h"

namespace quadrille {
namespace {

constexpr const char* kLemmas = R"(define back(source, target)
  as wrap(source - target, size[locate(base, target)])
lemma turn(u, m)
  given 0 < m
  show (u + m) mod m = u mod m
  use quotient(u + m, m, u div m + 1)
lemma own(u, y, t, m)
  given 0 < m and 0 <= y and y < m
  given t*m + (u - y) mod m = u
  show y = 0
  use monotone(t - (u - y) div m, 0, m)
  use monotone(1, t - (u - y) div m, m)
lemma residue(u, y, y2, m)
  given 0 <= y and y < m and 0 <= y2 and y2 < m
  given (u - y) mod m = (u - y2) mod m
  show y = y2
  use monotone((u - y) div m + 1, (u - y2) div m, m)
  use monotone((u - y2) div m + 1, (u - y) div m, m)
lemma inside(t, y, m)
  given 0 < m and 0 <= t and t < (ranks - 1 - y) div m + 1
  show 0 <= t*m and t*m + y < ranks
  use monotone(0, t, m)
  use monotone(t, (ranks - 1 - y) div m, m)
lemma source_of(u, home, y, i, t, m)
  given 0 <= y and y <= i and i < m and 0 < i
  given home <= u and u < home + m
  show t*m + (u - y) mod m != home + wrap(u - home + i - y, m)
  use monotone(t - (u - y) div m, 0, m)
  use monotone(1, t - (u - y) div m, m)
  use monotone(t - (u - y) div m, 0 - 1, m)
  use monotone(t - (u - y) div m, 1, m)
  use monotone(2, t - (u - y) div m, m)
lemma in_slots(d, i, m)
  given 0 <= d and d < ranks and 0 < m and 0 <= i and i < m
  show 0 <= d - d mod m + i and d - d mod m + i < ranks - 1 + m
  use monotone(d div m + 1, 0, m)
  use monotone(0, d div m, m)
)";

constexpr const char* kFirstStage = R"(defined
  use monotone(1, z, w)
  use monotone(0, q, up)
match send 1
  use monotone(1, z, w)
  use monotone(0, q, up)
  use turn(rank - f, mine)
  use own(home + wrap(l - h, mine), q*up, t, mine)
  use source_of(rank, home, f, i, t, mine)
  use monotone(1, q, up)
  use inside(t, low, mine)
  with receive 1 where x = x, z = z, q = q, i = i, t = t if t*mine + low = home + wrap(l - h, mine)
  with receive 2 where x = x, z = z, q = q, i = i, t = t
match send 2
  use monotone(1, z, w)
  use monotone(0, q, up)
  use turn(rank - f, mine)
  use own(home + wrap(l - h, mine), q*up, t, mine)
  use source_of(rank, home, f, i, t, mine)
  use monotone(1, q, up)
  use inside(t, low, mine)
  with receive 1 where x = x, z = z, q = q, i = i, t = t if t*mine + low = home + wrap(l - h, mine)
  with receive 2 where x = x, z = z, q = q, i = i, t = t
match receive 1
  use monotone(1, z, w)
  use monotone(0, q, up)
  use turn(rank - q*up - mine, mine)
  use own(rank, q*up, t, mine)
  use source_of(rank, home, q*up, i, t, mine)
  use monotone(1, q, up)
  use inside(t, low, mine)
  with send 1 where x = x, z = z, q = q, i = i, t = t if i = f
  with send 2 where x = x, z = z, q = q, i = i, t = t
match receive 2
  use monotone(1, z, w)
  use monotone(0, q, up)
  use turn(rank - q*up - mine, mine)
  use own(rank, q*up, t, mine)
  use source_of(rank, home, q*up, i, t, mine)
  use monotone(1, q, up)
  use inside(t, low, mine)
  with send 1 where x = x, z = z, q = q, i = i, t = t if i = f
  with send 2 where x = x, z = z, q = q, i = i, t = t
carries send 2
  source home + wrap(l + i - f, mine)
  target t*mine + low
carries receive 2
  source home + wrap(l + i - q*up, mine)
  target t*mine + low
carries send 4
  source home + s
  target d
held send 2
  use monotone(1, z, w)
  use monotone(0, q, up)
  use own(rank, f, t, mine)
  with receive 2 where x = digit(i - f), z = part(i - f), q = f div pow[digit(i - f) + 1], i = i, t = t
  use digits(i - f)
  use whole(q, z, x, digit(i - f) + 1)
  use monotone((mine - 1) div pow[digit(i - f) + 1] + 1, f div pow[digit(i - f) + 1], pow[digit(i - f) + 1])
  use monotone(f div pow[digit(i - f) + 1] + 1, 0, pow[digit(i - f) + 1])
)";

constexpr const char* kSecondStage = R"(held send 4
{row}  with receive 2 where x = digit(wrap(s - l, mine)), z = part(wrap(s - l, mine)), q = 0, i = wrap(s - l, mine), t = d div mine
  use digits(wrap(s - l, mine))
  use monotone((mine - 1) div pow[digit(wrap(s - l, mine)) + 1] + 1, 0, pow[digit(wrap(s - l, mine)) + 1])
  use quotient(d, mine, rank div mine + (d - rank) div mine)
  use monotone(d div mine + 1, 0, mine)
  use monotone((ranks - 1 - rank mod mine) div mine + 1, d div mine, mine)
{late}once send 1
{row}  use monotone(0, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use monotone(1, z_2, w_2)
  use monotone(z_2 + 1, radix, w_2)
  use monotone(0, q_2, up_2)
  use same(q, z, q_2, z_2, x, i)
  use below(q, z, x, q_2, z_2, x_2, i)
  use below(q_2, z_2, x_2, q, z, x, i)
  use pair(t, low, t_2, low_2, mine)
  use residue(rank, f, f_2, mine)
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
  use pair(t, low, t_2, low_2, mine)
  use residue(rank, f, f_2, mine)
once send 4
{row}{other_row}  use monotone(0, q, up)
  use monotone(1, z, w)
  use quotient(d_2, mine, rank div mine + (d_2 - rank) div mine)
  use pair(t, low, d_2 div mine, d_2 mod mine, mine)
  use residue(rank, f, 0, mine)
once send 3
{row}{other_row}  use monotone(0, q, up)
  use monotone(1, z, w)
  use quotient(d_2, mine, rank div mine + (d_2 - rank) div mine)
  use pair(t, low, d_2 div mine, d_2 mod mine, mine)
  use residue(rank, f, 0, mine)
apart send 2
{row}  use pair(t, i, t_2, i_2, mine)
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
apart send 4
{row}{other_row}  use pair(t, i, d_2 div mine, wrap(s_2 - l, mine), mine)
  use monotone(0, q, up)
  use monotone(q, 0, up)
  use monotone(1, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use digits(wrap(s_2 - l, mine))
  use quotient(wrap(s_2 - l, mine), w, z)
  use monotone(1, part(wrap(s_2 - l, mine)), pow[digit(wrap(s_2 - l, mine))])
  use pair(d div mine, wrap(s - l, mine), d_2 div mine, wrap(s_2 - l, mine), mine)
  use quotient(d, mine, rank div mine + (d - rank) div mine)
  use quotient(d_2, mine, rank div mine + (d_2 - rank) div mine)
cover
  with receive 1 where x = digit(back(source, target)), z = part(back(source, target)), q = 0, i = back(source, target), t = target div size[locate(base, target)] if locate(base, source) = locate(base, target)
  use digits(back(source, target))
  use monotone((size[locate(base, target)] - 1) div pow[digit(back(source, target)) + 1] + 1, 0, pow[digit(back(source, target)) + 1])
  use monotone(target div size[locate(base, target)] + 1, 0, size[locate(base, target)])
  use monotone((ranks - 1 - target mod size[locate(base, target)]) div size[locate(base, target)] + 1, target div size[locate(base, target)], size[locate(base, target)])
  with receive 3 where m = wrap(locate(base, target) - locate(base, source), length(size)), s = source{shift}
once receive 1
  use own(rank, q*up, t, mine)
  use monotone(0, q, up)
  use monotone(1, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use quotient(i, w, z)
  use quotient(rank, mine, t)
once receive 2
  use pair(t, i, t_2, i_2, mine)
  use monotone(0, q, up)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
  use monotone(1, z_2, w_2)
  use monotone(z_2 + 1, radix, w_2)
  use monotone(0, q_2, up_2)
  use same(q, z, q_2, z_2, x, i)
keys x
  from min(pow[x], ranks)
  to min(pow[x + 1], ranks)
  use monotone(1, z, w)
  use monotone(z + 1, radix, w)
keys z
  from min(z*w, ranks)
  to min(z*w + 1, ranks)
)";

constexpr const char* kCoalesced = R"(match send 3
  use quotient(d - home, mine, (d - rank) div mine)
  with receive 3 where m = m, s = home + s
match send 4
  use quotient(d - home, mine, (d - rank) div mine)
  use in_slots(d, wrap(s - l, mine), mine)
  with receive 3 where m = m, s = home + s
match receive 3
  use quotient(rank - base[c] - (rank - base[c]) mod size[c], size[c], (rank - base[c]) div size[c])
  with send 3 where m = m, d = rank, s = s - base[c] if s = base[c] + (rank - base[c]) mod size[c]
  with send 4 where m = m, d = rank, s = s - base[c]
)";

constexpr const char* kCoalescedKeys = R"(keys m
  from ranks + m
  to ranks + m + 1
)";

// With {row}: the k-th rank that a rank serves on a node.
constexpr const char* kStaggered = R"(match send 3
  use quotient(k*mine, mine, k)
{row}  use quotient(d - home, mine, (d - rank) div mine)
  with receive 3 where m = m, s = s
match send 4
  use quotient(k*mine, mine, k)
{row}  use quotient(d - home, mine, (d - rank) div mine)
  use in_slots(d, wrap(s - l, mine), mine)
  with receive 3 where m = m, s = s
match receive 3
  use quotient(l - (base[c] + (rank - base[c]) mod size[c] - home) mod size[c], size[c], (base[c] + (rank - base[c]) mod size[c] - home) div size[c] + (rank - base[c]) div size[c])
  use monotone((base[c] + (rank - base[c]) mod size[c] - home) div size[c] + (rank - base[c]) div size[c] + 1, 0, size[c])
  use monotone((mine - 1 - (base[c] + (rank - base[c]) mod size[c] - home) mod size[c]) div size[c] + 1, (l - (base[c] + (rank - base[c]) mod size[c] - home) mod size[c]) div size[c], size[c])
  with send 3 where m = m, s = s, k = (l - (base[c] + (rank - base[c]) mod size[c] - home) mod size[c]) div size[c] if s = (rank - base[c]) mod size[c]
  with send 4 where m = m, s = s, k = (l - (base[c] + (rank - base[c]) mod size[c] - home) mod size[c]) div size[c]
)";

constexpr const char* kStaggeredKeys = R"(keys m
  from ranks + 1 + (m - 1)*size[length(size) - 1]
  to ranks + 1 + m*size[length(size) - 1]
keys s
  from ranks + 1 + (m - 1)*size[length(size) - 1] + s
  to ranks + 2 + (m - 1)*size[length(size) - 1] + s
port
  use monotone(k + 1, k_2, mine)
  use monotone(k_2 + 1, k, mine)
)";

constexpr const char* kRow = R"(  use monotone(0, m - 1, size[length(size) - 1])
  use quotient(d - rank, mine, k - (rank - base[b]) div mine)
  use monotone(0, k, mine)
  use monotone(k, (base[b + 1] - 1 - first) div mine, mine)
)";

constexpr const char* kOtherRow =
    R"(  use quotient(d_2 - rank, mine, k_2 - (rank - base[b_2]) div mine)
  use monotone(0, k_2, mine)
  use monotone(k_2, (base[b_2 + 1] - 1 - first_2) div mine, mine)
  use monotone(k + 1, k_2, mine)
  use monotone(k_2 + 1, k, mine)
)";

// That what comes late in the second stage comes after the first.
constexpr const char* kLateCoalesced = R"(  use monotone(0, (m - 1) div block_count, block_count)
  use monotone((m - 1) div block_count + 1, 0, block_count)
)";

constexpr const char* kLateStaggered = R"(  use monotone(0, number div block_count, block_count)
  use monotone(number div block_count + 1, 0, block_count)
)";

std::string second_stage(const char* row, const char* other_row, const char* late,
                         const char* shift) {
  return fmt::format(kSecondStage, fmt::arg("row", row), fmt::arg("other_row", other_row),
                     fmt::arg("late", late), fmt::arg("shift", shift));
}

}  // namespace

std::string tuna_coalesced_proof(const Choices&) {
  return tuna_digits() + kPairLemma + kLemmas + kFirstStage + kCoalesced +
         second_stage("", "", kLateCoalesced, "") + kCoalescedKeys;
}

std::string tuna_staggered_proof(const Choices&) {
  return tuna_digits() + kPairLemma + kLemmas + kFirstStage +
         fmt::format(kStaggered, fmt::arg("row", kRow)) +
         second_stage(kRow, kOtherRow, kLateStaggered, " - base[locate(base, source)]") +
         kStaggeredKeys;
}

}  // namespace quadrille
