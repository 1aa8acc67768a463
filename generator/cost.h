// What a call of an all-to-all takes by a linear model of the machine, and the algorithm and numbers
// that take least. The model reads programs by walking them, so it knows nothing of any algorithm.
//
// The steps of a rank are rounds: those of a round wait for none of each other. A round takes alpha,
// between nodes where a message of it is; what it takes to copy blocks into messages and out of them; and
// what the messages take that the ranks of its node send. They share the node's port, which the gap of
// each message and beta for each byte between nodes keep busy, and its memory, which the gap of every
// message and beta for each byte inside keep busy, both at the same time: the longer counts. With a port a
// rank, it is what the rank sends itself, one after the other. The time of a call is that of the slowest
// rank.
// Integers only: one machine and one block size give one choice. runtime/calibrate.c measures a machine.
#ifndef QUADRILLE_GENERATOR_COST_H_
#define QUADRILLE_GENERATOR_COST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/registry.h"

namespace quadrille {

// Of our days: a message to another node starts in 2 us, and 10 GB a second leave a node.
inline constexpr LinearModel kCommonModel = {2000, 100};

struct Machine {
  LinearModel between = kCommonModel;  // nodes
  LinearModel inside = {500, 50};      // a node; a copy takes as long as the byte of a message
  int64_t gap_ns = 50;                 // from a message to the next
  int64_t copy_ns = 50;                // of a block into a message or out of it, beside its bytes
  PortScope port = PortScope::kNode;   // whether the ranks of a node share a port, and memory
  friend bool operator==(const Machine&, const Machine&) = default;
};

// What a rank does in a round, or in all.
struct Load {
  int64_t between = 0, inside = 0;  // messages that it sends to other nodes, to its own
  int64_t blocks_between = 0, blocks_inside = 0;  // that they carry
  int64_t copied = 0;  // blocks into messages and out of them; a block that travels alone is not
  friend bool operator==(const Load&, const Load&) = default;
};

// What a rank does in a call, of those that were looked at the one on its node that does most, in each
// respect.
struct Traffic {
  int64_t node_ranks = 0;    // of its node
  std::vector<Load> rounds;  // in their order
  int64_t in_flight = 0;     // blocks sent at most by steps that do not wait for each other
  Load total() const;
  int64_t rounds_between() const;
  int64_t rounds_inside() const;  // that send inside alone
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Of the least node, the one in the middle and the largest, a few ranks of each. The program is bound to
// the job and right for it.
std::vector<Traffic> traffic(const Program& program, const Job& job, const Binding& binding);

// Nanoseconds that a call with blocks of so many bytes takes; INT64_MAX where it is more.
int64_t call_time(const Machine& machine, const std::vector<Traffic>& traffic, int64_t bytes);

// An algorithm with its default options and the numbers of its file.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  std::vector<int64_t> numbers;  // in the order of algorithm->numbers
  std::vector<Traffic> traffic;
  int64_t time = 0;
};

// "tuna, radix = 4".
std::string candidate_text(const Candidate& candidate);

// Numbers that are not to be chosen, by name.
using Fixed = std::map<std::string, int64_t>;

// The best of each algorithm for alltoall that serves this topology and has those numbers, the best
// first; of equals the one that the registry has first, with the least numbers. Only `name` where that
// is not empty. block_count is chosen last: a power of two, the least with which there are no fewer
// rounds, but not so great that a rank has more than kInFlightBytes under way where it would have less
// with another.
std::vector<Candidate> best_candidates(const Topology& topology, int64_t bytes,
                                       const Machine& machine, const std::string& name,
                                       const Fixed& fixed);
inline constexpr int64_t kInFlightBytes = 1 << 16;

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_COST_H_
