// Topologies for tests: all small ones, and large random ones that RapidCheck can shrink.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "schedule/binding.h"
#include "schedule/topology.h"

namespace quadrille {

// Returns every list of node sizes, in every order, whose sum is at most `most_ranks`: 2^most_ranks - 1 lists.
inline std::vector<std::vector<int64_t>> all_node_vectors(int64_t most_ranks) {
  std::vector<std::vector<int64_t>> result;
  std::vector<std::vector<int64_t>> unfinished = {{}};
  while (!unfinished.empty()) {
    std::vector<int64_t> sizes = unfinished.back();
    unfinished.pop_back();
    int64_t ranks = 0;
    for (const int64_t size : sizes) ranks += size;
    if (!sizes.empty()) result.push_back(sizes);
    for (int64_t next = 1; ranks + next <= most_ranks; ++next) {
      unfinished.push_back(sizes);
      unfinished.back().push_back(next);
    }
  }
  return result;
}

// Returns all vectors of node sizes in ascending order, which is the order in a file.
inline std::vector<std::vector<int64_t>> ascending_node_vectors(int64_t most_ranks) {
  std::vector<std::vector<int64_t>> result = all_node_vectors(most_ranks);
  std::erase_if(result, [](const auto& sizes) { return !std::ranges::is_sorted(sizes); });
  return result;
}

inline Topology topology_of(const std::vector<int64_t>& sizes) {
  std::vector<Run> runs;
  for (const int64_t size : sizes) runs.push_back({1, size});
  return Topology::from_runs(runs).value();
}

// Returns the bindings of all groups. The program must serve the job.
inline std::vector<Binding> bind_all(const Program& program, const Job& job, const Call& call) {
  std::vector<Binding> bindings;
  for (int64_t group = 0; group < program.groups; ++group)
    bindings.push_back(bind(program, job, call, group).value());
  return bindings;
}

inline Job job_of(const std::vector<int64_t>& sizes) { return {{topology_of(sizes)}, {}}; }

}  // namespace quadrille
