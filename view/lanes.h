// Lanes are the rows and columns of a picture. Up to a limit, each rank has its own lane. In a larger job, a lane has
// consecutive ranks: a node, several nodes, or a part of a node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view/figure.h"

namespace quadrille {

struct Lane {
  std::string name;  // "3", "node 3", "nodes 4-7", "ranks 8-15"
  int64_t first = 0, ranks = 0;
  size_t node = 0;  // the node of its first rank
};

struct Lanes {
  std::vector<Lane> all;
  std::vector<int32_t> of_rank;
  std::vector<int32_t> node_of_rank;
  const char* unit = "rank";  // "node", "group of nodes", "part of a node"

  int32_t count() const { return static_cast<int32_t>(all.size()); }
  bool by_rank() const { return all.size() == of_rank.size(); }
};

// Divides the ranks of the figure into `most` lanes, or a few more where nodes or groups end.
Lanes lanes_of(const Figure& figure, int64_t most);

// The messages of a step from one lane to another, or inside one. Copies are left out.
struct LaneArc {
  int32_t from, to;
  bool between;  // the two lanes' ranks are on different nodes
  bool combines;
  bool token;
  int64_t messages;
};
// Returns the messages of a row in the order of `from` and `to`. An arc in both directions counts for each.
std::vector<LaneArc> lane_arcs(const FigureRow& row, const Lanes& lanes);

}  // namespace quadrille
