// The nodes that the runtime finds for a schedule that serves any, without MPI.
#ifndef QUADRILLE_TESTS_SUPPORT_FOUND_NODES_H_
#define QUADRILLE_TESTS_SUPPORT_FOUND_NODES_H_

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/program/program.h"
#include "schedule/topology.h"

namespace quadrille {

// Outlives the place that it fills in.
class FoundNodes {
 public:
  explicit FoundNodes(const Topology& nodes) {
    for (const Run& run : nodes.runs()) runs_.push_back({run.nodes, run.size});
    topology_ = {runs_.data(), static_cast<int64_t>(runs_.size()), nodes.nodes(), nodes.ranks()};
  }
  FoundNodes(const FoundNodes&) = delete;
  FoundNodes& operator=(const FoundNodes&) = delete;

  // As binding does it. Returns why it cannot be.
  std::string take(const quadrille_program& program, quadrille_place& place) {
    place.ranks = topology_.ranks;
    place.topologies = &topology_;
    if (topology_.ranks > program.most_ranks) return "too many ranks";
    std::copy(std::begin(program.parameters), std::end(program.parameters), parameters_);
    const char* error = quadrille_formulas_evaluate(&program, &place, parameters_);
    place.parameters = parameters_;
    return error ? error : "";
  }

 private:
  std::vector<quadrille_node_run> runs_;
  quadrille_topology topology_;
  int64_t parameters_[QUADRILLE_MAX_PARAMETERS] = {};
};

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_FOUND_NODES_H_
