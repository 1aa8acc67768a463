// Blocked ring allgather(v) with one call at a time. Traeff et al. assume that a rank sends and receives at once.
// The order of calls is ours.
//
// A potential shows that this cannot deadlock with synchronous sends. The message of rank i in round k has the
// potential 3k if i is even, 3k + 1 if i is even and the last rank, and 3k + 2 if i is odd. The last rank may be
// even and then sends to an even rank. The program uses the potential as the key.

#include "generator/algorithms.h"
#include "generator/blocked_ring.h"

namespace quadrille {
namespace {

std::string program(const Choices&) {
  return R"(
-- The rounds of blocked-ring as blocking calls: even ranks send first, odd ranks receive first. It cannot deadlock with
-- synchronous sends: a potential grows along the calls of every rank.
-- Use: on a system that cannot send and receive at the same time
-- Source: ours: the rounds of Traeff et al. 2008, blocked ring, by blocking calls
-- Cost: 2(b - 1) calls a rank, for b blocks in all; a round lasts two calls, or three if p is odd
algorithm blocked-ring-blocking for allgather
port one+one per rank
in_place
)" + block_declarations() +
         R"(
copy send[0] to recv[rank]
let total = s[ranks]
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
let sends = rank mod 2 = 1 ? 2 : right = 0 ? 1 : 0
let receives = left mod 2 = 1 ? 2 : rank = 0 ? 1 : 0
if 1 < ranks
  for k in 0 .. total - 1
    for turn in 0 .. 2
      if turn = rank mod 2
        let x = wrap(s[rank + 1] - 1 - k, total)
        let i = locate(s, x)
)" + block_bytes("        ", "x", "i") +
         R"(
        if i != right and xlow < xhigh
          step 3*k + sends
            send recv[i]@xlow..xhigh to right
      else
        let y = wrap(s[rank] - 1 - k, total)
        let j = locate(s, y)
)" + block_bytes("        ", "y", "j") +
         R"(
        if j != rank and ylow < yhigh
          step 3*k + receives
            receive recv[j]@ylow..yhigh from left
)";
}

std::string proof(const Choices&) {
  const std::string receives = "target mod 2 = 1 ? 0 : 1";
  return block_bounds({{"x", "i"}, {"y", "j"}}) + block_rounds(", " + receives) +
         R"(match send 1
  with receive 1 where k = k, turn = right mod 2 = 1 ? 0 : 1
  use monotone(0, x - s[i], B)
match receive 1
  with send 1 where k = k, turn = left mod 2
  use monotone(0, y - s[j], B)
held send 1
  with receive 1 where k = k - b[rank], turn = rank mod 2 = 1 ? 0 : 1
)" + block_arrivals(", turn = " + receives) +
         R"(keys k
  from 3*k
  to 3*k + 3
keys turn
  from turn = rank mod 2 ? 3*k + sends(rank) : 3*k + receives(rank)
  to (turn = rank mod 2 ? 3*k + sends(rank) : 3*k + receives(rank)) + 1
)";
}

}  // namespace

Algorithm blocked_ring_blocking() {
  return {"blocked-ring-blocking", Collective::kAllgather, {}, program, proof};
}

}  // namespace quadrille
