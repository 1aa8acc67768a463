// The program has the coloring in tables. Row j of `meets` is the j-th matching. It begins at round start[j]. A node
// that meets itself is free. Row j of `before` says in how many rounds before a node had the same partner. When two
// nodes meet for the q-th time, rank q div v of the lesser exchanges with rank q mod v of the greater, which has v
// ranks. In a node's q-th free round, its q-th pair of ranks exchanges. After all pairs, two ranks a round copy their
// own blocks. If the time is odd, a last round has room for one copy. Tested by tests/cli/generator_test.sh.
#include "generator/optimal.h"

#include <fmt/format.h>

#include "schedule/text.h"
#include "verifier/prove/coloring.h"

namespace quadrille {
namespace {

constexpr const char* kProgram = R"(
algorithm {} for alltoall
port exchange per node
table size = nodes
table base = prefix(size)
table start = {}
table meets = {}
table before = {}

let a = locate(base, rank)
let mine = size[a]
let l = rank - base[a]
let pairs = mine*(mine - 1) div 2
for j in 0 .. length(start) - 1
  let b = meets[j*length(size) + a]
  let low = before[j*length(size) + a]
  let high = low + start[j + 1] - start[j]
  let key = start[j] - low
  if a < b
    for q in max(low, l*size[b]) .. min(high, (l + 1)*size[b])
      let peer = base[b] + q - l*size[b]
      step key + q after -1
        receive recv[peer] from peer
        send send[peer] to peer
  else
    if b < a
      for u in (low - l + mine - 1) div mine .. (high - l + mine - 1) div mine
        let peer = base[b] + u
        step key + u*mine + l after -1
          receive recv[peer] from peer
          send send[peer] to peer
    else
      for q in low .. min(high, pairs)
        let u = q mod mine
        let v = wrap(u + q div mine + 1, mine)
        if 0 < (l = u ? 1 : 0) + (l = v ? 1 : 0)
          let peer = base[a] + (l = u ? v : u)
          step key + q after -1
            receive recv[peer] from peer
            send send[peer] to peer
      let own = pairs + l div 2
      if low <= own and own < high
        step key + own after -1
          copy send[rank] to recv[rank]
)";

}  // namespace

Result<Program> optimal_program(const Topology& topology) {
  Result<verifier::Coloring> coloring = verifier::best_coloring(topology);
  if (!coloring.ok()) return coloring.error();
  const std::vector<int64_t> sizes = topology.sizes();
  const size_t nodes = sizes.size();
  std::vector<verifier::Meetings>& meetings = coloring->meetings;
  if (coloring->time % 2 == 1) {
    meetings.push_back({{}, 1});
    for (size_t a = 0; a < nodes; ++a) meetings.back().meets.push_back(a);
  }
  std::vector<int64_t> start = {0}, meets, before, met(nodes * nodes);
  for (const verifier::Meetings& each : meetings) {
    start.push_back(start.back() + each.rounds);
    for (size_t a = 0; a < nodes; ++a) {
      int64_t& rounds = met[a * nodes + each.meets[a]];
      meets.push_back(each.meets[a]);
      before.push_back(rounds);
      rounds += each.rounds;
    }
  }
  return parse_program(fmt::format(kProgram, kOptimal, fmt::join(start, ", "),
                                   fmt::join(meets, ", "), fmt::join(before, ", ")),
                       kOptimal);
}

}  // namespace quadrille
