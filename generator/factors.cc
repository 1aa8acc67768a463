// All-to-alls that decompose the complete graph on p ranks into 1-factors. They have a choice of how a rank copies its own
// block. With factor, ranks meet themselves in different rounds. With factor-even the rank that would meet itself in round
// i is i/2 or (i + q)/2, for q = p - 1 ranks on the circle, and all self-loops are in round q. With xor they are in round 0.
// It requires a power of two as p xor (p - 1) = 2p - 1, which holds for powers of two only.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

bool drops_self_loops(const Choices& choices) { return choices.at("self-loops") == "drop"; }

std::string factor_program(const Choices& choices) {
  return std::string(R"(
-- All pairs of ranks fall into p rounds. In round i, rank u meets rank (i - u) mod p. The relation is symmetric, so both
-- directions of a pair travel in one exchange. Two ranks u and w meet in round (u + w) mod p and in no other.
-- Use: for long blocks on a network without nodes, or with one rank on each node, for any number of ranks
-- Source: Sanders and Traeff 2002, section 2, figure 1
-- Cost: p rounds; a rank exchanges in p - 1 of them and copies its own block in one
algorithm factor for alltoall
port exchange per rank
in_place
)") + (drops_self_loops(choices) ? "copy send[rank] to recv[rank]\n" : "") +
         R"(
for round in 0 .. ranks
  let peer = wrap(round - rank, ranks)
  if peer != rank
    step round after -1
      receive recv[peer] from peer
      send send[peer] to peer
)" + (drops_self_loops(choices) ? "" : R"(
  else
    step round after -1
      copy send[rank] to recv[rank]
)");
}

std::string factor_proof(const Choices& choices) {
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
)") +
         (drops_self_loops(choices)
              ? ""
              : "copies\n  with copy 1 where round = wrap(rank + rank, ranks)\n") +
         R"(keys round
  from round
  to round + 1
)";
}

std::string factor_even_program(const Choices& choices) {
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
)") + (drops_self_loops(choices) ? "copy send[rank] to recv[rank]\n" : "") +
         R"(
for round in 0 .. q
  let across = wrap(round - rank, q)
  let peer = rank = q ? (round mod 2 = 0 ? round div 2 : (round + q) div 2) : across = rank ? q : across
  step round after -1
    receive recv[peer] from peer
    send send[peer] to peer
)" + (drops_self_loops(choices) ? "" : R"(
step q after -1
  copy send[rank] to recv[rank]
)");
}

std::string factor_even_proof(const Choices&) {
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

std::string xor_program(const Choices& choices) {
  return std::string(R"(
-- In round i, rank u exchanges with rank u xor i. Two ranks u and w meet in round u xor w and in no other.
-- Use: in place of factor where the number of ranks is a power of two: no rank idles in any exchange
-- Source: Sanders and Traeff 2002, section 1, Related Work; Thakur, Rabenseifner and Gropp 2005, section 4.3
-- Cost: p - 1 rounds of one exchange a rank, and one round of copies
-- Needs: a power of two of ranks
algorithm xor for alltoall
port exchange per rank
in_place
require ranks xor (ranks - 1) = 2*ranks - 1
)") + (drops_self_loops(choices) ? "" : "step 0 after -1\n  ") +
         R"(copy send[rank] to recv[rank]
for round in 1 .. ranks
  let peer = rank xor round
  step round after -1
    receive recv[peer] from peer
    send send[peer] to peer
)";
}

std::string xor_proof(const Choices&) {
  return R"(theorem range(round, u)
  given 0 <= round and round < ranks and 0 <= u and u < ranks
  given ranks xor (ranks - 1) = 2*ranks - 1
  show 0 <= peer(u, round) and peer(u, round) < ranks
  use xor_range(u, round)
theorem involution(round, u)
  given 0 <= round and round < ranks and 0 <= u and u < ranks
  show peer(peer(u, round), round) = u
  use xor_cancel(u, round)
match receive 1
  with send 1 where round = round
  use xor_range(rank, round)
  use xor_cancel(rank, round)
match send 1
  with receive 1 where round = round
  use xor_range(rank, round)
  use xor_cancel(rank, round)
cover
  with receive 1 where round = source xor target
  use xor_range(source, target)
  use xor_cancel(source, target)
  use xor_cancel(source, source xor target)
once receive 1
  use xor_range(rank, round)
  use xor_cancel(rank, round)
  use xor_cancel(rank, rank xor round)
apart send 1
  use xor_range(rank, round)
  use xor_cancel(rank, round)
  use xor_cancel(rank, rank xor round)
keys round
  from round
  to round + 1
)";
}

}  // namespace

Algorithm factor() {
  return {"factor", Collective::kAlltoall, {self_loops_option()}, factor_program, factor_proof};
}

Algorithm factor_even() {
  return {"factor-even",
          Collective::kAlltoall,
          {self_loops_option()},
          factor_even_program,
          factor_even_proof};
}

Algorithm xor_exchange() {
  return {"xor", Collective::kAlltoall, {self_loops_option()}, xor_program, xor_proof};
}

}  // namespace quadrille
