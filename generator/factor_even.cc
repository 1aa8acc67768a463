// Flat factor all-to-all for an even number of ranks: q = p - 1 of them are on the circle. In round i the rank that
// would meet itself is i/2 or (i + q)/2. All self-loops are in round q, which can be dropped.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string program(const Choices& choices) {
  const bool drop = choices.at("self-loops") == "drop";
  return std::string(R"(
-- The circle method: p - 1 ranks stand on a circle and one rank in its centre. In round i, rank u on the circle meets rank
-- (i - u) mod (p - 1). The one rank that would meet itself meets the centre instead. All copies of a rank to itself share
-- one round.
-- Use: in place of factor where the number of ranks is even: no rank idles in any exchange
-- Source: Sanders and Traeff 2002, section 2, last paragraph
-- Cost: p - 1 rounds of one exchange a rank, and one round of copies
-- Needs: an even number of ranks
algorithm factor-even for alltoall
port exchange per rank
in_place
require ranks mod 2 = 0
let q = ranks - 1
)") + (drop ? "copy send[rank] to recv[rank]\n" : "") +
         R"(
for round in 0 .. q
  let across = wrap(round - rank, q)
  let peer = rank = q ? (round mod 2 = 0 ? round div 2 : (round + q) div 2) : across = rank ? q : across
  step round after -1
    receive recv[peer] from peer
    send send[peer] to peer
)" + (drop ? "" : R"(
step q after -1
  copy send[rank] to recv[rank]
)");
}

std::string proof(const Choices&) {
  return R"(define meeting(u, w)
  as u = ranks - 1 ? wrap(2*w, ranks - 1) : w = ranks - 1 ? wrap(2*u, ranks - 1) : wrap(u + w, ranks - 1)
theorem range(round, u)
  given 0 <= round and round < ranks - 1 and 0 <= u and u < ranks and ranks mod 2 = 0
  show 0 <= peer(u, round) and peer(u, round) < ranks and peer(u, round) != u
theorem involution(round, u)
  given 0 <= round and round < ranks - 1 and 0 <= u and u < ranks and ranks mod 2 = 0
  show peer(peer(u, round), round) = u
theorem meet_in_one_round(round, u, w)
  given 0 <= round and round < ranks - 1 and 0 <= u and u < ranks and 0 <= w and w < ranks and u != w and ranks mod 2 = 0
  show peer(u, round) = w ? round = meeting(u, w) : round != meeting(u, w)
match receive 1
  with send 1 where round = round
match send 1
  with receive 1 where round = round
cover
  with receive 1 where round = meeting(source, target)
keys round
  from round
  to round + 1
)";
}

}  // namespace

Algorithm factor_even() {
  return {"factor-even", Collective::kAlltoall, {self_loops_option()}, program, proof};
}

}  // namespace quadrille
