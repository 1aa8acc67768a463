// Bruck allgather(v) with radix k (Bruck et al. 1997, section 4: concatenation).
//
// Idea: before digit x a rank holds the blocks of the k^x ranks from itself upwards; it sends them
// to the k - 1 ranks that lie h = k^x, 2 k^x, .. below it and receives as many from those above, so
// that it holds k^(x+1), and in the last digit what is still missing. Blocks arrive where they
// belong, in the receive buffer, so nothing is rotated. Cost: ceil(log_k p) digits of at most k - 1
// messages, which may all be in flight together: few starts for small contributions; radix p is
// direct exchange. Precondition: 2 <= radix, and radix <= p where p > 2.
//
// A message of which all blocks are empty is not sent: prefix sums of the counts tell both ends.
#include <fmt/format.h>

#include "generator/algorithms.h"

namespace quadrille {
namespace {

// The bytes of the n blocks from `first` on, round the ring of blocks.
std::string bytes(const std::string& first) {
  return fmt::format(
      "({0} + n <= ranks ? sums[{0} + n] : sums[ranks] + sums[{0} + n - ranks]) - sums[{0}]",
      first);
}

// The pieces of a message of these blocks.
std::string blocks(const std::string& first) {
  return fmt::format(R"(
          for i in 0 .. n
            let block = wrap({} + i, ranks)
            if 0 < m[block]
              recv[block]
)",
                     first);
}

std::string program(const Choices&) {
  return R"(
algorithm bruck for allgather
port one+one per rank
in_place
parameter radix
table m = counts
table sums = prefix(m)
table pow = powers(radix, ranks)
require 2 <= radix and radix <= max(2, ranks)

copy send[0] to recv[rank]
for x in 0 .. length(pow) - 1
  let held = pow[x]
  for z in 1 .. min(radix, (ranks - 1) div held + 1)
    let h = z*held
    let n = min(held, ranks - h)
    let source = wrap(rank + h, ranks)
    step x*radix + z after x*radix
      if 0 < )" +
         bytes("source") + R"(
        receive from source
)" + blocks("source") +
         R"(
      if 0 < )" +
         bytes("rank") + R"(
        send to wrap(rank - h, ranks)
)" + blocks("rank");
}

}  // namespace

Algorithm bruck() {
  return {"bruck",
          Collective::kAllgather,
          "a rank holds radix times as many blocks after each digit: few messages",
          "Bruck et al. 1997, section 4",
          "a radix of 2 to p",
          {},
          program,
          nullptr,
          {{"radix", 2, 2, true,
            "how many times as many blocks a rank holds after each digit: 2 for the fewest "
            "messages, the number of ranks to send every block straight where it belongs"}}};
}

}  // namespace quadrille
