// The nodes that a schedule is made for: run-length coded sizes in ascending order. A schedule does not depend on the
// job's own order of nodes; binding sorts them (runtime/quadrille.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/limits.h"
#include "schedule/result.h"

namespace quadrille {

struct Run {
  int64_t nodes;  // number of nodes
  int64_t size;   // ranks on each node
  friend bool operator==(const Run&, const Run&) = default;
};

inline std::string ranks_text(int64_t ranks) {
  return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

class Topology {
 public:
  // Sorts by size and merges equal sizes. Refuses counts below 1 and more than kMaxRanks ranks.
  static Result<Topology> from_runs(std::vector<Run> runs);

  const std::vector<Run>& runs() const { return runs_; }
  int64_t nodes() const { return nodes_; }
  int64_t ranks() const { return ranks_; }
  std::vector<int64_t> sizes() const;  // one entry per node, ascending
  std::string text() const;  // in the form that parse_nodes reads: "1,2,3", "4x8", "5,512x16"

  friend bool operator==(const Topology&, const Topology&) = default;

 private:
  std::vector<Run> runs_;
  int64_t nodes_ = 0;
  int64_t ranks_ = 0;
};

// Returns the number of ranks of all groups together.
int64_t ranks_of(const std::vector<Topology>& groups);

// Reads the sizes of nodes: "1,2,3", "4x8" (four nodes of 8 ranks), or "512x16,5". Errors begin with `flag`.
Result<Topology> parse_nodes(std::string_view text, const char* flag = "--nodes");
// Reads the form of SLURM_TASKS_PER_NODE: "16(x512),5". Errors begin with "--slurm".
Result<Topology> parse_slurm(std::string_view text);
// Reads the text of a host file. A line is "host slots=N" (Open MPI), "host:N" (MPICH), or "host" for one rank. A
// host that is named again gets more ranks. "node[01-03,07]" names four hosts, each with the ranks of its line.
// Errors begin with `name`.
Result<Topology> parse_hostfile(std::string_view text, const std::string& name);

}  // namespace quadrille
