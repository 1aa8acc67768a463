// The rows and columns of a picture. Up to a limit each rank has its own. In a larger job a lane is a node, several
// nodes, or a part of a node: ranks that follow each other.
#ifndef QUADRILLE_VIEW_LANES_H_
#define QUADRILLE_VIEW_LANES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "view/figure.h"

namespace quadrille {

struct Lane {
  std::string name;  // "3", "node 3", "nodes 4-7", "ranks 8-15"
  int64_t first = 0, ranks = 0;
  size_t node = 0;  // the first one
};

struct Lanes {
  std::vector<Lane> all;
  std::vector<int32_t> of_rank;
  std::vector<int32_t> node_of_rank;
  const char* unit = "rank";  // "node", "group of nodes", "part of a node"

  int32_t count() const { return static_cast<int32_t>(all.size()); }
  bool by_rank() const { return all.size() == of_rank.size(); }
};

// At most about `most` lanes.
Lanes lanes_of(const Figure& figure, int64_t most);

// The messages of a step from one lane to another, or inside one. Copies are left out.
struct LaneArc {
  int32_t from, to;
  bool between;  // nodes
  bool combines;
  bool token;
  int64_t messages;
};
// In the order of `from` and `to`. Both directions are listed.
std::vector<LaneArc> lane_arcs(const FigureRow& row, const Lanes& lanes);

}  // namespace quadrille

#endif  // QUADRILLE_VIEW_LANES_H_
