// Recursive multiplying, an allreduce. There are as many seats as the largest power of the radix that is at most p.
// Each seat stands for one or more adjacent ranks: its first rank combines their contributions. In round x, seats
// whose numbers differ in digit x alone exchange their sums. They hold sums of adjacent ranks, so each seat combines
// them in the order of ranks. It begins with the first one, so all ranks have the same bits. MPICH puts rank r
// beyond the seats to seat r mod the number of seats; its operators must commute then. The temporary buffer has one
// block for each seat of a group.
#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

constexpr const char* kProgram = R"(
-- Recursive doubling with groups of radix ranks in place of pairs: all ranks of a group exchange their sums in one round. If
-- p is no power of the radix, each rank of the groups stands for several adjacent ranks. It combines their contributions
-- first and sends them the result last. So the order of ranks is kept, and all ranks get the same bits.
-- Use: for short vectors, where a round costs more than a message: with p a power of the radix, or a little above
-- Source: Ruefenacht, Bull and Booth 2017; MPICH, src/mpi/coll/allreduce/allreduce_intra_recursive_multiplying.c
-- Cost: floor(log_r p) rounds for radix r, with r - 1 messages of the whole vector in each, and two more rounds if p is no power of r
-- Needs: a radix of 2 to p
algorithm recursive-multiplying for allreduce
parameter radix
table mine = counts
table pow = powers(radix, ranks)
table first[w in 0 .. pow[locate(pow, ranks)] + 1] = w*(ranks div pow[locate(pow, ranks)]) + min(w, ranks mod pow[locate(pow, ranks)])
require 2 <= radix and radix <= max(2, ranks)
temporary radix blocks

let top = locate(pow, ranks)
let v = locate(first, rank)
let n = first[v + 1] - first[v]
if 0 < mine[0]
  if first[v] < rank
    step 0
      send send[0] to first[v]
    step 1 + top
      receive recv[0] from first[v]
  else
    copy send[0] to recv[0]
    step 0
      for i in 1 .. n
        receive temp[i]@0..mine[0] from rank + i
    for j in 1 .. n
      reduce right temp[j]@0..mine[0] into recv[0]
    for x in 0 .. top
      let h = pow[x]
      let up = pow[x + 1]
      let d = (v - v div up*up) div h
      step 1 + x
        for z in 0 .. radix
          let peer = first[v + (z - d)*h]
          if z != d
            receive temp[z]@0..mine[0] from peer
            send recv[0] to peer
      for q in 1 .. d
        reduce right temp[q]@0..mine[0] into temp[0]@0..mine[0]
      if 0 < d
        reduce left temp[0]@0..mine[0] into recv[0]
      for y in d + 1 .. radix
        reduce right temp[y]@0..mine[0] into recv[0]
    step 1 + top
      for k in 1 .. n
        send recv[0] to rank + k
)";

}  // namespace

Algorithm recursive_multiplying() {
  return with_written_proof("recursive-multiplying", Collective::kAllreduce, kProgram,
                            {{"radix", 4, NumberKind::kRadix,
                              "how many ranks exchange in a round: 2 is recursive doubling"}});
}

}  // namespace quadrille
