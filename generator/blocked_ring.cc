// Blocked ring allgather(v), which keeps all links busy if contributions differ. Rank i has b_i blocks; an empty
// contribution is one empty block. s has the prefix sums of b_i, and b is their sum. In round k, rank i sends block
// s_{i+1} - 1 - k (mod b) and receives block s_i - 1 - k. A rank sends blocks of its own, or blocks that arrived in
// round k - b_i. So b_i rounds may be in flight.
#include "generator/blocked_ring.h"

#include <fmt/core.h>

#include "generator/algorithms.h"

namespace quadrille {

// The runtime chooses B in bytes of one message, whose length must fit in an int for MPI.
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

std::string blocks_of_round() {
  return R"(    let x = wrap(s[rank + 1] - 1 - k, total)
    let y = wrap(s[rank] - 1 - k, total)
    let i = locate(s, x)
    let j = locate(s, y)
)" + block_bytes("    ", "x", "i") +
         block_bytes("    ", "y", "j");
}

std::string block_rounds(const std::string& iteration) {
  return fmt::format(R"(define round(source, target, offset)
  as wrap(s[target] - 1 - (s[source] + offset div B), s[ranks])
define passes(source, target, offset)
  as y(target, round(source, target, offset){0}) - s[j(target, round(source, target, offset){0})]
)",
                     iteration);
}

std::string block_bounds(const std::vector<std::pair<std::string, std::string>>& blocks) {
  std::string text = "fits\n";
  for (const auto& [block, of] : blocks)
    text += fmt::format(R"(  use monotone(0, {0} - s[{1}], B)
  use monotone({0} - s[{1}], 0, B)
  use monotone({0} - s[{1}] + 1, (m[{1}] + B - 1) div B, B)
)",
                        block, of);
  return text;
}

// The bytes of block n of a contribution are those with offset div B = n.
std::string block_arrivals(const std::string& where) {
  return fmt::format(R"(cover
  with receive 1 where k = round(source, target, offset){}
  use monotone(offset div B, -1, B)
  use monotone(b[source], offset div B, B)
  use monotone((m[source] + B - 1) div B, 0, B)
  use monotone(passes(source, target, offset), offset div B, B)
  use monotone(offset div B, passes(source, target, offset), B)
once receive 1
  use monotone(offset div B + 1, y - s[j], B)
  use monotone(y - s[j] + 1, offset div B, B)
)",
                     where);
}

namespace {

std::string program(const Choices&) {
  return R"(
-- Contributions are cut into blocks of B bytes. Rank i has max(1, ceil(m_i/B)) blocks. In each round a rank sends one block
-- to its right neighbour: first its own, from the last one down, then its left neighbour's, and so on. A block that is
-- empty, or that its receiver owns, is not sent. As many rounds may be in flight as the rank has blocks.
-- Use: for long contributions, above all uneven ones
-- Source: Traeff et al. 2008, blocked ring
-- Cost: b - 1 rounds of B bytes, for b blocks in all: (b - 1)(alpha + beta B)
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
)" + blocks_of_round() +
         R"(    step k after k - b[rank]
      if j != rank and ylow < yhigh
        receive recv[j]@ylow..yhigh from left
      if i != right and xlow < xhigh
        send recv[i]@xlow..xhigh to right
)";
}

std::string proof(const Choices&) {
  return R"(theorem neighbours_agree(k, u)
  given 1 < ranks and 0 <= k and k < s[ranks] - 1 and 0 <= u and u < ranks
  show x(u, k) = y(wrap(u + 1, ranks), k)
theorem last_rounds_skipped(k, u)
  given 1 < ranks and 0 <= k and k < s[ranks] - 1 and 0 <= u and u < ranks
  show j(u, k) = u ? s[ranks] - b[u] <= k : k < s[ranks] - b[u]
)" + block_bounds({{"x", "i"}, {"y", "j"}}) +
         block_rounds() +
         R"(match send 1
  use monotone(0, x - s[i], B)
  with receive 1 where k = k
match receive 1
  use monotone(0, y - s[j], B)
  with send 1 where k = k
held send 1
  with receive 1 where k = k - b[rank]
)" + block_arrivals() +
         R"(keys k
  from k
  to k + 1
)";
}

}  // namespace

Algorithm blocked_ring() { return {"blocked-ring", Collective::kAllgather, {}, program, proof}; }

}  // namespace quadrille
