// Flat factor all-to-all for an even number of ranks (Sanders and Traeff 2002, end of section 2).
//
// Idea: the circle method. With q = p - 1 ranks on a circle and rank q in its centre, round i < q pairs u with
// (i - u) mod q, and the one rank that would meet itself, i/2 or (i + q)/2, with the centre. All self-loops are left for
// round q, which can then be dropped.
// Cost: p - 1 exchanges a rank, all ranks busy in each. Precondition: p even.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string program(const Choices& choices) {
  const bool drop = choices.at("self-loops") == "drop";
  return std::string(R"(
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

std::string proof(const Choices&) { return ""; }

}  // namespace

Algorithm factor_even() {
  return {"factor-even",
          Collective::kAlltoall,
          "the circle method: every rank exchanges in each of p - 1 rounds, all self-loops in one more",
          "Sanders and Traeff 2002, section 2, last paragraph",
          "an even number of ranks",
          {self_loops_option()},
          program,
          proof};
}

}  // namespace quadrille
