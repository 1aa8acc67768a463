// TuNA, all-to-all of tunable radix. A block's first hop (digits below x are 0: i = f) is from the send buffer.
// After its last hop (no digits above x: q = 0) it has arrived. The rounds of a digit touch different blocks, so all
// of them may be in flight together. The key of a step is its distance.
//
// Temporary buffer: every distance i of several hops has a slot: the number of such distances below i. Distances of
// one hop need none. The ascending table `hop` has these, so locate(hop, i) + 1 is their number in 1 .. i. There are
// p - (K + 1) slots. (The paper has a closed form with ceil(log_radix i), which is right only for radix 2.)
#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

constexpr const char* kProgram = R"(
-- A block for the rank i below has distance i. Written with the radix, i is a sum of hops z*radix^x, one for each nonzero
-- digit. In round (x, z) every rank sends to the rank z*radix^x below it all blocks whose digit x is z. Between hops a block
-- stays in a temporary buffer of p - (K + 1) blocks, for K messages a rank.
-- Use: for small blocks, and with a larger radix for blocks of middle size. On nodes of several ranks take tuna-coalesced
-- Source: Fan et al. 2024, section III, Algorithm 1
-- Cost: one message a rank for each distance z*radix^x below p; a block travels once for each nonzero digit of its distance
-- Needs: a radix of 2 to p
algorithm tuna for alltoall
port one+one per rank
parameter radix
table pow = powers(radix, ranks)
table hop[k in 0 .. (length(pow) - 1)*(radix - 1)] = (k mod (radix - 1) + 1)*pow[k div (radix - 1)]
require 2 <= radix and radix <= max(2, ranks)
temporary ranks - 2 - locate(hop, ranks - 1) blocks

copy send[rank] to recv[rank]
for x in 0 .. length(pow) - 1
  let w = pow[x]
  let up = pow[x + 1]
  for z in 1 .. radix
    let h = z*w
    if h < ranks
      step h after w - 1
        send sized to wrap(rank - h, ranks)
          for q in 0 .. (ranks - 1 - h) div up + 1
            let f = q*up + h
            for i in f .. min(f + w, ranks)
              if i = f
                send[wrap(rank - i, ranks)]
              else
                temp[i - 2 - locate(hop, i)]
        receive sized from wrap(rank + h, ranks)
          for q in 0 .. (ranks - 1 - h) div up + 1
            let f = q*up + h
            for i in f .. min(f + w, ranks)
              if q = 0
                recv[wrap(rank + i, ranks)]
              else
                temp[i - 2 - locate(hop, i)]
)";

}  // namespace

Algorithm tuna() {
  return with_written_proof("tuna", Collective::kAlltoall, kProgram, {digit_radix()});
}

}  // namespace quadrille
