// The figure as SVG: a column for each rank, nodes as shaded bands, a row for each step, arrows between ranks. Arrows
// of a row that would cross are drawn above each other.
#include <fmt/core.h>

#include <algorithm>

#include "view/figure.h"

namespace quadrille {
namespace {

constexpr int kColumn = 34, kLane = 15, kLeft = 150, kTop = 74, kGap = 26, kPadding = 5,
              kRowGap = 7, kGroupGap = 40;

// The columns of ranks. There is space between nodes, and more between groups.
std::vector<int> columns(const Figure& figure) {
  std::vector<int> x;
  int next = kLeft;
  for (size_t node = 0; node < figure.node_sizes.size(); ++node) {
    if (node == figure.first_nodes) next += kGroupGap;
    for (int64_t i = 0; i < figure.node_sizes[node]; ++i, next += kColumn)
      x.push_back(next + kColumn / 2);
    next += kGap;
  }
  return x;
}

// The lane of each arc in its row, from the top: the first lane in which it crosses nothing.
std::vector<int> lanes(const std::vector<Arc>& arcs) {
  std::vector<int> result;
  std::vector<int64_t> free_from;  // by lane: the first free column
  for (const Arc& arc : arcs) {
    const auto [left, right] = std::minmax(arc.source, arc.target);
    const auto lane = std::find_if(free_from.begin(), free_from.end(),
                                   [&, left = left](int64_t from) { return from <= left; });
    result.push_back(lane - free_from.begin());
    if (lane == free_from.end())
      free_from.push_back(right + 1);
    else
      *lane = right + 1;
  }
  return result;
}

std::string arrow(const Arc& arc, const std::vector<int>& x, int y) {
  if (arc.source == arc.target)
    return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" class=\"copy\"/>\n", x[arc.source], y);
  const char* style = arc.kind == ArcKind::kToken      ? "token"
                      : arc.kind == ArcKind::kCombines ? "combine"
                      : arc.both_ways                  ? "both"
                                                       : "one";
  const int direction = x[arc.target] > x[arc.source] ? 1 : -1;
  return fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"{} marker-end=\"url(#to)\"/>\n",
      x[arc.source] + 3 * direction * arc.both_ways, y, x[arc.target] - 3 * direction, y, style,
      arc.both_ways ? " marker-start=\"url(#from)\"" : "");
}

std::string bands(const Figure& figure, const std::vector<int>& x, int height) {
  std::string text;
  int64_t rank = 0;
  for (size_t node = 0; node < figure.node_sizes.size(); ++node) {
    const int64_t size = figure.node_sizes[node];
    const int left = x[rank] - kColumn / 2;
    const int64_t width = size * kColumn + int64_t{2} * kPadding;
    text += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" class=\"node\"/>\n",
        left - kPadding, kTop - 42, width, height - kTop + 36);
    text += fmt::format("<text x=\"{}\" y=\"{}\" class=\"name\">{}</text>\n",
                        left + size * kColumn / 2, kTop - 26, figure.node_name(node));
    for (int64_t i = 0; i < size; ++i, ++rank)
      text += fmt::format(
          "<text x=\"{0}\" y=\"{1}\" class=\"rank\">{2}</text>\n"
          "<line x1=\"{0}\" y1=\"{3}\" x2=\"{0}\" y2=\"{4}\" class=\"column\"/>\n",
          x[rank], kTop - 8, figure.rank_name(rank), kTop, height - 10);
  }
  return text;
}

constexpr const char* kStyle = R"(<style>
text { font: 12px sans-serif; fill: #222 } .title { font-weight: bold; font-size: 14px }
.name, .rank { text-anchor: middle } .name { font-size: 11px } .step { text-anchor: end; fill: #666 } .heading { fill: #06c; font-size: 11px }
.node { fill: #eef3f8; stroke: #c5d3e0 } .column { stroke: #d5dee7 }
.both { stroke: #c02020; stroke-width: 2 } .one { stroke: #2060c0; stroke-width: 2 }
.token { stroke: #999; stroke-dasharray: 3 2 } .copy { fill: #2c9040 } .combine { stroke: #d07800; stroke-width: 2 }
</style>
<defs>
<marker id="to" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0 L9,4 L0,8 z" fill="#333"/></marker>
<marker id="from" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="2" refY="4" orient="auto"><path d="M9,0 L0,4 L9,8 z" fill="#333"/></marker>
</defs>
)";

}  // namespace

std::string as_svg(const Figure& figure) {
  const std::vector<int> x = columns(figure);
  std::string rows;
  int y = kTop + kRowGap;
  for (const FigureRow& row : figure.rows) {
    const std::vector<int> lane_of = lanes(row.arcs);
    const int lane_count = 1 + *std::max_element(lane_of.begin(), lane_of.end());
    if (!row.heading.empty())
      rows += fmt::format("<text x=\"8\" y=\"{}\" class=\"heading\">{}</text>\n", y + kLane - 3,
                          row.heading);
    rows += fmt::format("<text x=\"{}\" y=\"{}\" class=\"step\">{}</text>\n", kLeft - 12,
                        y + kLane - 3, row.key);
    for (size_t i = 0; i < row.arcs.size(); ++i)
      rows += arrow(row.arcs[i], x, y + kLane / 2 + lane_of[i] * kLane);
    y += lane_count * kLane + kRowGap;
  }
  const int width = x.back() + kColumn, height = y + 12;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\">\n{2}"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<text x=\"8\" y=\"20\" "
      "class=\"title\">{3}</text>\n"
      "{4}{5}</svg>\n",
      width, height, kStyle, figure.title, bands(figure, x, height), rows);
}

}  // namespace quadrille
