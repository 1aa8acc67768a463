// Blocked ring allgather(v) (Traeff et al. 2008).
//
// Idea: contributions of any lengths are cut into blocks of B bytes, and the blocks go round the
// ring of ranks one a round, so that a large contribution keeps all links busy at once. Rank i has
// b_i = max(1, ceil(m_i / B)) blocks, an empty contribution one empty block; s is their prefix sum,
// b the number of all. In round k rank i sends block s_{i+1} - 1 - k (mod b) and receives block s_i
// - 1 - k: its own blocks first, from the last one down, then its left neighbour's, and so on. An
// empty block is not sent, nor one that the receiver owns. Cost: b - 1 rounds of B bytes: (b - 1)
// (alpha + beta B), so B is chosen at the call from what all ranks know. Precondition: none.
//
// What is sent in round k is own or came in round k - b_i: so as many as b_i rounds may be in
// flight.
#include "generator/blocked_ring.h"

#include <fmt/format.h>

#include "generator/algorithms.h"

namespace quadrille {

// The runtime chooses B in bytes of one message, whose length MPI has in an int.
std::string block_declarations() {
  return R"(parameter B at call
table m = counts
table b[i in 0 .. ranks] = max(1, (m[i] + B - 1) div B)
table s = prefix(b)
require 1 <= B and B <= 2147483647
)";
}

std::string block_bytes(const std::string& indent, const std::string& name,
                        const std::string& owner) {
  return fmt::format("{0}let {1}low = ({1} - s[{2}])*B\n{0}let {1}high = min(m[{2}], {1}low + B)\n",
                     indent, name, owner);
}

namespace {

std::string program(const Choices&) {
  return R"(
algorithm blocked-ring for allgather
port one+one per rank
in_place
)" + block_declarations() +
         R"(
copy send[0] to recv[rank]
let total = s[ranks]
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
if 1 < ranks
  for k in 0 .. total - 1
    let x = wrap(s[rank + 1] - 1 - k, total)
    let y = wrap(s[rank] - 1 - k, total)
    let i = locate(s, x)
    let j = locate(s, y)
)" + block_bytes("    ", "x", "i") +
         block_bytes("    ", "y", "j") + R"(
    step k after k - b[rank]
      if j != rank and ylow < yhigh
        receive recv[j]@ylow..yhigh from left
      if i != right and xlow < xhigh
        send recv[i]@xlow..xhigh to right
)";
}

}  // namespace

Algorithm blocked_ring() {
  return {"blocked-ring",
          Collective::kAllgather,
          "contributions cut into blocks of B bytes, which go round a ring of ranks",
          "Traeff et al. 2008",
          "none",
          {},
          program,
          nullptr};
}

}  // namespace quadrille
