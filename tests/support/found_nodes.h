// Gives the interpreter nodes for a schedule for any nodes, as the runtime does over MPI.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/program/program.h"
#include "schedule/topology.h"

namespace quadrille {

// The nodes of each group. They must outlive the context that take() fills in.
class FoundNodes {
 public:
  explicit FoundNodes(const std::vector<Topology>& groups) {
    for (size_t group = 0; group < groups.size(); ++group) {
      for (const Run& run : groups[group].runs()) runs_[group].push_back({run.nodes, run.size});
      topologies_[group] = {runs_[group].data(), static_cast<int64_t>(runs_[group].size()),
                            groups[group].nodes(), groups[group].ranks()};
    }
  }
  FoundNodes(const FoundNodes&) = delete;
  FoundNodes& operator=(const FoundNodes&) = delete;

  // Puts the program on these nodes, as binding does. Returns the reason if that is impossible, or an empty text.
  std::string take(const qd_program& program, qd_context& place) {
    place.ranks = topologies_[place.group].ranks;
    if (program.groups == 2) place.remote_ranks = topologies_[1 - place.group].ranks;
    place.topologies = topologies_;
    if (std::max(place.ranks, place.remote_ranks) > program.most_ranks) return "too many ranks";
    std::copy(std::begin(program.parameters), std::end(program.parameters), parameters_);
    const char* error = qd_formulas_evaluate(&program, &place, parameters_);
    place.parameters = parameters_;
    return error ? error : "";
  }

 private:
  std::vector<qd_node_run> runs_[2];
  qd_topology topologies_[2] = {};
  int64_t parameters_[QD_MAX_PARAMETERS] = {};
};

}  // namespace quadrille
