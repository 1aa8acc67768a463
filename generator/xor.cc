// All-to-all by exclusive or, which is an involution. Round 0 holds all self-loops. The program requires a power of
// two as p xor (p - 1) = 2p - 1, which holds for powers of two only.
#include "generator/algorithms.h"

namespace quadrille {
namespace {

std::string program(const Choices& choices) {
  const bool drop = choices.at("self-loops") == "drop";
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
)") + (drop ? "" : "step 0 after -1\n  ") +
         R"(copy send[rank] to recv[rank]
for round in 1 .. ranks
  let peer = rank xor round
  step round after -1
    receive recv[peer] from peer
    send send[peer] to peer
)";
}

std::string proof(const Choices&) {
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

Algorithm xor_exchange() {
  return {"xor", Collective::kAlltoall, {self_loops_option()}, program, proof};
}

}  // namespace quadrille
