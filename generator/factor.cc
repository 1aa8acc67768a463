// Flat factor all-to-all: the complete graph on p ranks with self-loops decomposes into p 1-factors.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string program(const Choices& choices) {
  const bool drop = choices.at("self-loops") == "drop";
  return std::string(R"(
-- All pairs of ranks fall into p rounds. In round i, rank u meets rank (i - u) mod p. The relation is symmetric, so both
-- directions of a pair travel in one exchange. Two ranks u and w meet in round (u + w) mod p and in no other.
-- Use: for long blocks on a network without nodes, or with one rank on each node, for any number of ranks
-- Source: Sanders and Traeff 2002, section 2, figure 1
-- Cost: p rounds; a rank exchanges in p - 1 of them and copies its own block in one
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

std::string proof(const Choices& choices) {
  const bool drop = choices.at("self-loops") == "drop";
  return std::string(R"(theorem range(round, u)
  given 0 <= round and round < ranks and 0 <= u and u < ranks
  show 0 <= peer(u, round) and peer(u, round) < ranks
theorem involution(round, u)
  given 0 <= round and round < ranks and 0 <= u and u < ranks
  show peer(peer(u, round), round) = u
theorem meet_in_one_round(round, u, w)
  given 0 <= round and round < ranks and 0 <= u and u < ranks and 0 <= w and w < ranks
  show peer(u, round) = w ? round = wrap(u + w, ranks) : round != wrap(u + w, ranks)
match receive 1
  with send 1 where round = round
match send 1
  with receive 1 where round = round
cover
  with receive 1 where round = wrap(source + target, ranks)
)") + (drop ? "" : "copies\n  with copy 1 where round = wrap(rank + rank, ranks)\n") +
         R"(keys round
  from round
  to round + 1
)";
}

}  // namespace

Algorithm factor() {
  return {"factor", Collective::kAlltoall, {self_loops_option()}, program, proof};
}

}  // namespace quadrille
