// The obligations of programs that combine what arrives with what is there: for each kind a program of which
// it fails, with the smallest job on which the checker sees it go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::HasSubstr;

// The ring of an allgather, reversed.
const std::string kRing = R"(algorithm ring for reduce-scatter
port one+one per rank
commutative
temporary ranks blocks
for d in 0 .. ranks
  copy send[d] to temp[d]
for k in 0 .. ranks - 1
  step k
    receive left temp[wrap(rank - 2 - k, ranks)] from wrap(rank - 1, ranks)
    send temp[wrap(rank - 1 - k, ranks)] to wrap(rank + 1, ranks)
copy temp[rank] to recv[0]
)";

const std::string kRingProof = matched(1, "k = k") + R"(held send 1
  with copy 1 where d = wrap(rank - 1, ranks) if k = 0
  with receive 1 where k = k - 1
base receive 1
  with copy 1 where d = wrap(rank - 2 - k, ranks)
held copy 2
  with copy 1 where d = rank if ranks = 1
  with receive 1 where k = ranks - 2
carries send 1
  source rank - k
  number k + 1
  target wrap(rank - 1 - k, ranks)
carries receive 1
  source rank - 1 - k
  number k + 2
  target wrap(rank - 2 - k, ranks)
carries copy 2
  source rank + 1 - ranks
  number ranks
  target rank
used copy 1
  with copy 2 if ranks = 1
  with send 1 where k = 0 if d = wrap(rank - 1, ranks)
  with receive 1 where k = wrap(rank - 2 - d, ranks)
used receive 1
  with copy 2 if k = ranks - 2
  with send 1 where k = k + 1
cover
  with copy 2
keys d
  from 0
  to 0
keys k
  from k
  to k + 1
)";

TEST(Reductions, OfARingAreProven) { expect_fate(kRing, kRingProof, {}, ""); }

// Each block goes straight to its rank, which adds up in the order of ranks.
const std::string kPairwise = R"(algorithm pairwise for reduce-scatter
port one+one per rank
temporary ranks blocks
for t in 1 .. ranks
  step t after -1
    receive temp[wrap(rank - t, ranks)] from wrap(rank - t, ranks)
    send send[wrap(rank + t, ranks)] to wrap(rank + t, ranks)
copy send[rank] to temp[rank]
for s in 1 .. ranks
  reduce right temp[s] into temp[0]
copy temp[0] to recv[0]
)";

const std::string kPairwiseProof = matched(1, "t = t") + R"(carries receive 1
  source wrap(rank - t, ranks)
  target rank
held reduce 1
  with copy 1 if s = rank
  with receive 1 where t = wrap(rank - s, ranks)
base reduce 1
  with reduce 1 where s = s - 1 if 1 < s
  with copy 1 if rank = 0
  with receive 1 where t = rank
carries reduce 1
  source 0
  number s + 1
  target rank
held copy 2
  with copy 1 if ranks = 1
  with reduce 1 where s = ranks - 1
carries copy 2
  source 0
  number ranks
  target rank
used receive 1
  with reduce 1 where s = 1 if rank = t
  with reduce 1 where s = wrap(rank - t, ranks)
used copy 1
  with copy 2 if ranks = 1
  with reduce 1 where s = 1 if rank = 0
  with reduce 1 where s = rank
used reduce 1
  with copy 2 if s = ranks - 1
  with reduce 1 where s = s + 1
cover
  with copy 2
keys t
  from t
  to t + 1
)";

TEST(Reductions, InTheOrderOfRanksAreProven) { expect_fate(kPairwise, kPairwiseProof, {}, ""); }

}  // namespace
}  // namespace quadrille
