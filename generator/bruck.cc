// Bruck allgather(v) with any radix (concatenation). The last digit brings the rest that is missing. Nothing is
// rotated. All messages of a digit may be in flight together. A message without bytes is not sent. Both ends know
// this from prefix sums of the counts.
#include <fmt/core.h>

#include "generator/algorithms.h"

namespace quadrille {
namespace {

// Returns an expression for the bytes of n blocks from `first` on, round the ring of blocks.
std::string bytes(const std::string& first) {
  return fmt::format(
      "({0} + n <= ranks ? sums[{0} + n] : sums[ranks] + sums[{0} + n - ranks]) - sums[{0}]",
      first);
}

// Returns the pieces of a message of these blocks.
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
-- Before digit x a rank holds the blocks of the radix^x ranks from itself upwards. It sends them to the radix - 1 ranks that
-- are radix^x, 2 radix^x, .. below it. It receives blocks from those above in the same way. Blocks arrive where they belong,
-- in the receive buffer.
-- Use: for short contributions on any number of ranks. Radix p is a direct exchange
-- Source: Bruck et al. 1997, section 4
-- Cost: ceil(log p to the base radix) digits of at most radix - 1 messages a rank
-- Needs: a radix of 2 to p
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

// A block from d ranks above arrives in the highest digit of d: d = part * pow[digit] + rest.
std::string proof(const Choices&) {
  return R"(define digit(d)
  as locate(pow, d)
define part(d)
  as d div pow[digit(d)]
define rest(d)
  as d - part(d)*pow[digit(d)]
define way(source, target)
  as wrap(source - target, ranks)
lemma digits(d)
  given 0 < d and d < ranks
  show 0 <= digit(d) and digit(d) < length(pow) - 1 and 1 <= part(d) and part(d) < radix and part(d) <= (ranks - 1) div pow[digit(d)]
  use monotone(part(d) + 1, 1, pow[digit(d)])
  use monotone(radix, part(d), pow[digit(d)])
  use monotone((ranks - 1) div pow[digit(d)] + 1, part(d), pow[digit(d)])
defined
  use monotone(1, z, held)
  use monotone(z, (ranks - 1) div held, held)
match send 1
  use monotone(1, z, held)
  use monotone(z, (ranks - 1) div held, held)
  with receive 1 where x = x, z = z, i = i
match receive 1
  use monotone(1, z, held)
  use monotone(z, (ranks - 1) div held, held)
  with send 1 where x = x, z = z, i = i
held send 1
  with receive 1 where x = digit(i), z = part(i), i = rest(i)
  use digits(i)
  use monotone(digit(i) + 1, x, radix)
  use monotone(0, sums[block], 1)
cover
  with receive 1 where x = digit(way(source, target)), z = part(way(source, target)), i = rest(way(source, target))
  use digits(way(source, target))
  use monotone(0, sums[source], 1)
once receive 1
  use monotone(0, pow[x + 1], 1)
  use monotone(z + 1, radix, held)
  use monotone(part(way(block, rank)) + 1, z, held)
  use monotone(z + 1, part(way(block, rank)), held)
  use monotone(1, z, held)
  use monotone(z, (ranks - 1) div held, held)
keys x
  from x*radix + 1
  to x*radix + radix
keys z
  from x*radix + z
  to x*radix + z + 1
)";
}

}  // namespace

Algorithm bruck() {
  return {"bruck",
          Collective::kAllgather,
          {},
          program,
          proof,
          {{"radix", 2, NumberKind::kRadix,
            "the factor by which each digit multiplies the blocks of a rank: 2 sends the fewest "
            "messages, the number of ranks sends every block straight"}}};
}

}  // namespace quadrille
