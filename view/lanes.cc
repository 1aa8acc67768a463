#include "view/lanes.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace quadrille {
namespace {

constexpr size_t kFewNodes = 8;  // with fewer, each node becomes several lanes

// Puts ranks into lanes, one node after another.
class Maker {
 public:
  explicit Maker(const Figure& figure) : figure_(figure) {}

  // Makes lanes of `ranks` ranks from each node.
  Lanes by_ranks(int64_t ranks) {
    for (size_t node = 0; node < figure_.node_sizes.size(); ++node)
      for (int64_t left = figure_.node_sizes[node]; left > 0; left -= ranks)
        add(node, std::min(ranks, left));
    name_by_rank();
    return finish(ranks == 1 ? "rank" : "part of a node");
  }

  // Makes a lane of each `nodes` nodes of a group.
  Lanes by_nodes(size_t nodes) {
    const auto& sizes = figure_.node_sizes;
    for (size_t node = 0; node < sizes.size();) {
      const size_t end = node < figure_.first_nodes ? figure_.first_nodes : sizes.size();
      const size_t last = std::min(node + nodes, end);
      add(node, std::accumulate(sizes.begin() + node, sizes.begin() + last, int64_t{0}));
      const std::string first = figure_.node_name(node);
      constexpr size_t kWord = std::string_view("node ").size();
      lanes_.all.back().name = last == node + 1
                                   ? first
                                   : fmt::format("nodes {}-{}", first.substr(kWord),
                                                 figure_.node_name(last - 1).substr(kWord));
      node = last;
    }
    return finish(nodes == 1 ? "node" : "group of nodes");
  }

 private:
  void add(size_t node, int64_t ranks) {
    const int32_t lane = lanes_.count();
    lanes_.all.push_back({"", static_cast<int64_t>(lanes_.of_rank.size()), ranks, node});
    lanes_.of_rank.insert(lanes_.of_rank.end(), ranks, lane);
  }

  void name_by_rank() {
    for (Lane& lane : lanes_.all) {
      lane.name = figure_.rank_name(lane.first);
      if (lane.ranks > 1)
        lane.name =
            fmt::format("ranks {}-{}", lane.name, figure_.rank_name(lane.first + lane.ranks - 1));
    }
  }

  Lanes finish(const char* unit) {
    lanes_.unit = unit;
    for (size_t node = 0; node < figure_.node_sizes.size(); ++node)
      lanes_.node_of_rank.insert(lanes_.node_of_rank.end(), figure_.node_sizes[node],
                                 static_cast<int32_t>(node));
    return std::move(lanes_);
  }

  const Figure& figure_;
  Lanes lanes_;
};

}  // namespace

Lanes lanes_of(const Figure& figure, int64_t most) {
  const auto nodes = static_cast<int64_t>(figure.node_sizes.size());
  const int64_t ranks =
      std::accumulate(figure.node_sizes.begin(), figure.node_sizes.end(), int64_t{0});
  Maker maker(figure);
  if (ranks <= most) return maker.by_ranks(1);
  if (figure.node_sizes.size() < kFewNodes) return maker.by_ranks((ranks + most - 1) / most);
  return maker.by_nodes(static_cast<size_t>((nodes + most - 1) / most));
}

std::vector<LaneArc> lane_arcs(const FigureRow& row, const Lanes& lanes) {
  std::map<std::tuple<int32_t, int32_t, bool, bool, bool>, int64_t> counts;
  const auto add = [&](int64_t from, int64_t to, ArcKind kind) {
    const bool between = lanes.node_of_rank[from] != lanes.node_of_rank[to];
    ++counts[{lanes.of_rank[from], lanes.of_rank[to], between, kind == ArcKind::kCombines,
              kind == ArcKind::kToken}];
  };
  for (const Arc& arc : row.arcs) {
    if (arc.source == arc.target) continue;
    add(arc.source, arc.target, arc.kind);
    if (arc.both_ways) add(arc.target, arc.source, arc.kind);
  }
  std::vector<LaneArc> arcs;
  for (const auto& [place, messages] : counts)
    arcs.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), std::get<3>(place),
                    std::get<4>(place), messages});
  return arcs;
}

}  // namespace quadrille
