// Walks the ranks of a program for a test's sink.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/plain_walk.h"
#include "tests/support/topologies.h"

namespace quadrille {

// Walks one rank after another, and calls sink.start(rank) before each.
template <class Sink>
Sink walk_all(const Program& program, const Binding& binding) {
  Sink sink;
  for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
    sink.start(rank);
    EXPECT_EQ(PlainWalk(program, binding, rank, sink).run(), WalkEnd::kEnd);
  }
  return sink;
}

inline std::vector<size_t> node_of_ranks(const Topology& topology) {
  std::vector<size_t> nodes;
  const std::vector<int64_t> sizes = topology.sizes();
  for (size_t node = 0; node < sizes.size(); ++node) nodes.insert(nodes.end(), sizes[node], node);
  return nodes;
}

}  // namespace quadrille
