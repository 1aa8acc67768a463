// The obligations of programs between two groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::HasSubstr;

const std::string kDirect = R"(algorithm direct for alltoall between groups
step 0
  for i in 0 .. remote_ranks
    send sized send[i] to remote i
    receive sized recv[i] from remote i
)";

const std::string kDirectProof = R"(match send 1
  with receive 1 where i = rank
match receive 1
  with send 1 where i = rank
cover
  with receive 1 where i = source
)";

// Kang et al. 2019, Algorithm 2: all that a group sends lies in one row, of which each rank of the other gets an
// equal part; then the parts go round a ring.
const std::string kSegments = R"(algorithm segment-map-v for allgather between groups
table mine = counts
table theirs = remote_counts
table R = prefix(mine)
table Q = prefix(theirs)
table st[k in 0 .. remote_ranks + 1] = k*(R[ranks] div remote_ranks) + min(k, R[ranks] mod remote_ranks)
table tt[k in 0 .. ranks + 1] = k*(Q[remote_ranks] div ranks) + min(k, Q[remote_ranks] mod ranks)

let first = R[rank]
let end = R[rank + 1]
let low = tt[rank]
let high = tt[rank + 1]
step 0
  if low < high
    for j in locate(Q, low) .. locate(Q, high - 1) + 1
      if max(Q[j], low) < min(Q[j + 1], high)
        receive recv[j]@max(Q[j], low) - Q[j]..min(Q[j + 1], high) - Q[j] from remote j
  if first < end
    for k in locate(st, first) .. locate(st, end - 1) + 1
      if max(st[k], first) < min(st[k + 1], end)
        send send[0]@max(st[k], first) - first..min(st[k + 1], end) - first to remote k
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
for t in 0 .. ranks - 1
  let x = wrap(rank - t, ranks)
  let y = wrap(rank - 1 - t, ranks)
  step 1 + t
    if tt[y] < tt[y + 1]
      receive from left
        for j in locate(Q, tt[y]) .. locate(Q, tt[y + 1] - 1) + 1
          if max(Q[j], tt[y]) < min(Q[j + 1], tt[y + 1])
            recv[j]@max(Q[j], tt[y]) - Q[j]..min(Q[j + 1], tt[y + 1]) - Q[j]
    if tt[x] < tt[x + 1]
      send to right
        for j in locate(Q, tt[x]) .. locate(Q, tt[x + 1] - 1) + 1
          if max(Q[j], tt[x]) < min(Q[j + 1], tt[x + 1])
            recv[j]@max(Q[j], tt[x]) - Q[j]..min(Q[j + 1], tt[x + 1]) - Q[j]
)";

const std::string kSegmentsProof = R"(define theirs_each()
  as Q[remote_ranks] div ranks
define ours_each()
  as R[ranks] div remote_ranks
lemma theirs_positive()
  show 0 <= theirs_each()
  use monotone(theirs_each() + 1, 0, ranks)
lemma ours_positive()
  show 0 <= ours_each()
  use monotone(ours_each() + 1, 0, remote_ranks)
lemma tt_ascends(a, b)
  given 0 <= a
  given a <= b
  given b <= ranks
  show tt[a] <= tt[b]
  use theirs_positive()
  use monotone(a, b, theirs_each())
lemma st_ascends(a, b)
  given 0 <= a
  given a <= b
  given b <= remote_ranks
  show st[a] <= st[b]
  use ours_positive()
  use monotone(a, b, ours_each())
lemma tt_ends()
  show tt[0] = 0 and tt[ranks] = Q[remote_ranks]
lemma st_ends()
  show st[0] = 0 and st[remote_ranks] = R[ranks]
lemma tt_within(a)
  given 0 <= a
  given a <= ranks
  show 0 <= tt[a] and tt[a] <= Q[remote_ranks]
  use tt_ends()
  use tt_ascends(0, a)
  use tt_ascends(a, ranks)
lemma owner(a)
  given 0 <= a
  given a < Q[remote_ranks]
  show 0 <= locate(tt, a) and locate(tt, a) < ranks
  use tt_ends()
lemma st_owner(a)
  given 0 <= a
  given a < R[ranks]
  show 0 <= locate(st, a) and locate(st, a) < remote_ranks
  use st_ends()
match send 1
  with receive 1 where j = rank
  use st_owner(first)
  use st_owner(end - 1)
match receive 1
  with send 1 where k = rank
  use owner(Q[j])
  use owner(Q[j + 1] - 1)
  use tt_ascends(rank + 1, locate(tt, Q[j]))
  use tt_ascends(locate(tt, Q[j + 1] - 1) + 1, rank)
  use tt_within(rank)
  use tt_within(rank + 1)
match receive 2
  with send 2 where t = t, j = j
  use tt_within(y)
  use tt_within(y + 1)
match send 2
  with receive 2 where t = t, j = j
  use tt_within(x)
  use tt_within(x + 1)
held send 2
  with receive 1 where j = j if t = 0
  with receive 2 where t = t - 1, j = j
cover
  with receive 1 where j = source if locate(tt, Q[source] + offset) = target
  with receive 2 where t = wrap(target - 1 - locate(tt, Q[source] + offset), ranks), j = source
  use owner(Q[source] + offset)
once receive 1
  use owner(Q[j] + offset)
  use tt_ascends(rank + 1, locate(tt, Q[j] + offset))
  use tt_ascends(locate(tt, Q[j] + offset) + 1, rank)
  use tt_within(rank)
  use tt_within(rank + 1)
once receive 2
  use owner(Q[j] + offset)
  use tt_ascends(y + 1, locate(tt, Q[j] + offset))
  use tt_ascends(locate(tt, Q[j] + offset) + 1, y)
  use tt_within(y)
  use tt_within(y + 1)
keys t
  from 1 + t
  to 2 + t
fits
  use ours_positive()
  use theirs_positive()
  use monotone(0, k, ours_each())
  use monotone(k, remote_ranks, ours_each())
  use monotone(0, k, theirs_each())
  use monotone(k, ranks, theirs_each())
defined
  use monotone(R[ranks] div remote_ranks + 1, 0, remote_ranks)
  use monotone(Q[remote_ranks] div ranks + 1, 0, ranks)
  use tt_within(rank)
  use tt_within(rank + 1)
  use tt_within(x)
  use tt_within(y)
  use tt_within(x + 1)
  use tt_within(y + 1)
  use st_owner(first)
  use st_owner(end - 1)
)";

TEST(Groups, OfSegmentsAreProven) { expect_fate(kSegments, kSegmentsProof, {}, ""); }

TEST(Groups, OfAllToAllAreProven) { expect_fate(kDirect, kDirectProof, {}, ""); }

}  // namespace
}  // namespace quadrille
