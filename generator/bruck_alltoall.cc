// Bruck's all-to-all with any radix (index). As in tuna.cc, a round sends the blocks whose distance has a certain
// digit. Blocks stay in the temporary buffer until the last round. The copies do what rotations do in the paper.
// There all blocks have one size; here lengths travel with the blocks, so it serves any sizes.
#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

// The pieces that a round sends. The blocks that it receives take their places.
constexpr const char* kBlocks = R"(
          for q in 0 .. (ranks - 1 - h) div up + 1
            let f = q*up + h
            for i in f .. min(f + w, ranks)
              temp[i - 1]
)";

std::string program() {
  return R"(
-- A block hops as in tuna. First all blocks are copied into a buffer, in the order of their distances. In the end they are
-- copied to the receive buffer.
-- Use: as the baseline that MPI libraries have for small blocks. tuna sends the same messages with fewer copies and less memory
-- Source: Bruck et al. 1997, section 3
-- Cost: the messages of tuna, and two copies a block
-- Needs: a radix of 2 to p
algorithm bruck for alltoall
port one+one per rank
parameter radix
table pow = powers(radix, ranks)
require 2 <= radix and radix <= max(2, ranks)
temporary ranks - 1 blocks

copy send[rank] to recv[rank]
for i in 1 .. ranks
  copy send[wrap(rank - i, ranks)] to temp[i - 1]
for x in 0 .. length(pow) - 1
  let w = pow[x]
  let up = pow[x + 1]
  for z in 1 .. radix
    let h = z*w
    if h < ranks
      step h after w - 1
        send sized to wrap(rank - h, ranks))" +
         std::string(kBlocks) + R"(
        receive sized from wrap(rank + h, ranks))" +
         kBlocks + R"(
for i in 1 .. ranks
  copy temp[i - 1] to recv[wrap(rank + i, ranks)]
)";
}

}  // namespace

Algorithm bruck_alltoall() {
  return with_written_proof("bruck", Collective::kAlltoall, program(), {digit_radix()});
}

}  // namespace quadrille
