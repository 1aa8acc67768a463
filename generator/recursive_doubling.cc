// Recursive doubling allgather(v) for any number of ranks. Let q be the greatest power of two that is at most p.
// Rank i serves rank q + i. Group and peer come from rank div w, not from bits. The peer is w above if the group's
// number is even, and w below if it is odd.
//
// A group's blocks are two runs: those of its own ranks, and those of the extra ranks that its ranks serve. The last
// message to an extra rank is as long as all blocks. A message of empty blocks only is not sent.
#include <fmt/core.h>

#include "generator/algorithms.h"
#include "generator/programs.h"

namespace quadrille {
namespace {

// Returns the first of the extra ranks that ranks from `first` on serve. These may serve none.
std::string extra(const std::string& first) { return fmt::format("q + min({}, extras)", first); }

// Returns an expression for the bytes of the group that begins at `first`.
std::string bytes(const std::string& first) {
  return fmt::format("sums[{0} + w] - sums[{0}] + sums[{1}] - sums[{2}]", first,
                     extra(first + " + w"), extra(first));
}

// Returns the pieces of a message of all blocks of the group.
std::string blocks(const std::string& first) {
  return fmt::format(R"(
          for i in {0} .. {0} + w
            if 0 < m[i]
              recv[i]
          for i in {1} .. {2}
            if 0 < m[i]
              recv[i]
)",
                     first, extra(first), extra(first + " + w"));
}

// The program of an extra rank. Its last receive may be posted at once.
constexpr const char* kExtraRank = R"(
if q <= rank
  step 0 after -1
    if 0 < m[rank]
      send recv[rank] to rank - q
  step digits + 1 after -1
    if 0 < sums[ranks] - m[rank]
      receive from rank - q
        for i in 0 .. ranks
          if i != rank and 0 < m[i]
            recv[i]
)";

std::string program() {
  return std::string(R"(
-- Groups of 1, 2, 4, .. ranks meet in pairs, and each rank exchanges all that its group has with its partner. Ranks beyond
-- the greatest power of two give their block to a partner first, and receive the others' blocks from it in the end.
-- Use: for short contributions, above all on a power of two of ranks
-- Source: Thakur, Rabenseifner and Gropp 2005, section 4.1, with the fold of section 4.4
-- Cost: floor(log2 p) exchanges a rank, and two more messages for each rank beyond the greatest power of two
algorithm recursive-doubling for allgather
port exchange per rank
in_place
table m = counts
table sums = prefix(m)
table pow = powers(2, ranks)

copy send[0] to recv[rank]
let digits = locate(pow, ranks)
let q = pow[digits]
let extras = ranks - q
)") + kExtraRank +
         R"(
else
  if rank < extras
    step 0 after -1
      if 0 < m[q + rank]
        receive recv[q + rank] from q + rank
  for x in 0 .. digits
    let w = pow[x]
    let group_number = rank div w
    let mine = group_number*w
    let theirs = group_number mod 2 = 0 ? mine + w : mine - w
    let peer = theirs + (rank - mine)
    step x + 1
      if 0 < )" +
         bytes("theirs") + R"(
        receive from peer
)" + blocks("theirs") +
         R"(
      if 0 < )" +
         bytes("mine") + R"(
        send to peer
)" + blocks("mine") +
         R"(
  if rank < extras
    step digits + 1
      if 0 < sums[ranks] - m[q + rank]
        send to q + rank
          for i in 0 .. ranks
            if i != q + rank and 0 < m[i]
              recv[i]
)";
}

}  // namespace

Algorithm recursive_doubling() {
  return with_written_proof("recursive-doubling", Collective::kAllgather, program());
}

}  // namespace quadrille
