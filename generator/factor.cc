// Flat factor all-to-all (Sanders and Traeff 2002, section 2, figure 1).
//
// Idea: the complete graph on p ranks with self-loops falls into p 1-factors; in round i rank u meets (i - u) mod p. The
// relation is symmetric, so both directions of a pair travel in one exchange, and u and w meet in round (u + w)
// mod p and in no other.
// Cost: p rounds, of which every rank spends one with itself. Precondition: none.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string program(const Choices& choices) {
  const bool drop = choices.at("self-loops") == "drop";
  return std::string(R"(
algorithm factor for alltoall
port exchange per rank
in_place
)") + (drop ? "copy send[rank] to recv[rank]\n" : "") +
         R"(
for round in 0 .. ranks
  let peer = wrap(round - rank, ranks)
  if peer != rank
    step round after -1
      receive recv[peer] from peer
      send send[peer] to peer
)" + (drop ? "" : R"(
  else
    step round after -1
      copy send[rank] to recv[rank]
)");
}

std::string proof(const Choices&) { return ""; }

}  // namespace

Algorithm factor() {
  return {"factor",
          Collective::kAlltoall,
          "a 1-factorization of all ranks: in round i, rank u exchanges with (i - u) mod p",
          "Sanders and Traeff 2002, section 2",
          "none",
          {self_loops_option()},
          program,
          proof};
}

}  // namespace quadrille
