// Neighbor exchange allgather(v) for an even number of ranks. Ranks r = 2q and 2q + 1 are pair q of N = p / 2 pairs.
// From round 1 on a rank exchanges by turns with its neighbor in the other pair and in its own pair. It sends the
// two blocks that it received in the previous round, and in round 1 those of its own pair. So in round t an even
// rank receives the blocks of pair q - (t + 1)/2 if t is odd, and q + t/2 if t is even. An odd rank receives those
// of the mirrored pair.
#include <fmt/core.h>

#include "generator/algorithms.h"

namespace quadrille {
namespace {

// Returns a message of the two blocks of a pair of ranks, which is not sent if both are empty.
std::string pair_message(const std::string& message, const std::string& pair) {
  return fmt::format(R"(
    if 0 < m[2*{1}] + m[2*{1} + 1]
      {0} peer
        for i in 2*{1} .. 2*{1} + 2
          if 0 < m[i]
            recv[i]
)",
                     message, pair);
}

// `side` is 1 on even ranks, whose partner in the pair is above them, and -1 on odd ones. A rank sends the pair that
// its peer, a rank of the other kind, receives.
std::string program(const Choices&) {
  return R"(
-- Ranks 2q and 2q + 1 are a pair and exchange their blocks. In every later round each rank exchanges two blocks with a
-- neighbour, alternately the left and the right one.
-- Use: for contributions of middle and large size on an even number of ranks: it has half the rounds of a ring
-- Source: Chen et al. 2005
-- Cost: p/2 rounds, with the bytes of a ring
-- Needs: an even number of ranks
algorithm neighbor-exchange for allgather
port exchange per rank
in_place
table m = counts
require ranks mod 2 = 0

copy send[0] to recv[rank]
let q = rank div 2
let N = ranks div 2
let side = rank mod 2 = 0 ? 1 : -1
step 0
  if 0 < m[rank + side]
    receive recv[rank + side] from rank + side
  if 0 < m[rank]
    send recv[rank] to rank + side
for t in 1 .. N
  let odd = t mod 2
  let peer = odd = 1 ? wrap(rank - side, ranks) : rank + side
  let gets = wrap(odd = 1 ? q - side*((t + 1) div 2) : q + side*(t div 2), N)
  let gives = wrap(odd = 1 ? q + side*(t div 2) : q - side*(t div 2), N)
  step t
)" + pair_message("receive from", "gets") +
         pair_message("send to", "gives");
}

// away: how many pairs a block travels on the way of odd rounds. In even rounds it travels the other way round.
std::string proof(const Choices&) {
  return R"(define pairs(p)
  as p div 2
define away(source, target)
  as target mod 2 = 0 ? wrap(target div 2 - source div 2, pairs(ranks)) : wrap(source div 2 - target div 2, pairs(ranks))
match send 1
  with receive 1
match receive 1
  with send 1
match send 2
  with receive 2 where t = t, i = i
match receive 2
  with send 2 where t = t, i = i
held send 2
  with receive 1 if t = 1
  with receive 2 where t = t - 1, i = i
cover
  with receive 1 if source div 2 = target div 2
  with receive 2 where t = 2*away(source, target) - 1, i = source if 2*away(source, target) <= pairs(ranks)
  with receive 2 where t = 2*(pairs(ranks) - away(source, target)), i = source
keys t
  from t
  to t + 1
)";
}

}  // namespace

Algorithm neighbor_exchange() {
  return {"neighbor-exchange", Collective::kAllgather, {}, program, proof};
}

}  // namespace quadrille
