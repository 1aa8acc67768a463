// Draws the figure as SVG. Up to 32 ranks, it has a column for each rank, nodes as shaded bands, a row for each step,
// and arrows. Arrows of a row that would cross are drawn one above the other. A larger figure has a square for each
// step: one row for each sending lane, one column for each receiving lane. Colour says whether a message passes
// between nodes. Shape says which way it goes and whether its data is reduced.
#include <fmt/core.h>

#include <algorithm>

#include "view/assets.h"
#include "view/figure.h"
#include "view/lanes.h"
#include "view/pack.h"

namespace quadrille {
namespace {

constexpr int64_t kMostColumns = 32, kMostLanes = 64;

constexpr const char* kStyle =
    R"(.figure text { font: 12px sans-serif; fill: var(--ink) }
.figure .title { font-weight: bold; font-size: 14px } .figure .name, .figure .rank { text-anchor: middle }
.figure .name, .figure .heading { font-size: 11px } .figure .step { text-anchor: end } .figure .step, .figure .heading { fill: var(--faint) }
.figure .ground { fill: var(--ground) } .figure .node { fill: var(--panel); stroke: var(--line) }
.figure .column { stroke: var(--line) } .figure .now { fill: var(--mark); opacity: 0 }
.figure .between, .figure .inside { stroke-width: 2; fill: none } .figure .token { stroke-dasharray: 4 3 }
.figure .between { stroke: var(--between) } .figure .inside { stroke: var(--inside) }
.figure .copy, .figure .head { fill: var(--ink) } .figure .sum { fill: var(--ground); stroke: var(--ink); stroke-width: 1.5 }
.figure .cell { stroke: none } .figure .between.cell { fill: var(--between) } .figure .inside.cell { fill: var(--inside) }
)";
constexpr const char* kMarkers =
    R"(<defs>
<marker id="to" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0 L9,4 L0,8 z" class="head"/></marker>
<marker id="from" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="2" refY="4" orient="auto"><path d="M9,0 L0,4 L9,8 z" class="head"/></marker>
<marker id="sum" markerUnits="userSpaceOnUse" markerWidth="18" markerHeight="12" refX="15" refY="6" orient="auto"><path d="M0,2 L9,6 L0,10 z" class="head"/><circle cx="12" cy="6" r="4" class="sum"/><path d="M9.5,6 h5 M12,3.5 v5" class="sum"/></marker>
<marker id="sums" markerUnits="userSpaceOnUse" markerWidth="18" markerHeight="12" refX="3" refY="6" orient="auto"><path d="M18,2 L9,6 L18,10 z" class="head"/><circle cx="6" cy="6" r="4" class="sum"/><path d="M3.5,6 h5 M6,3.5 v5" class="sum"/></marker>
</defs>
)";

// What a legend has to explain.
struct Kinds {
  bool between = false, inside = false, combines = false, token = false, copy = false;
};

Kinds kinds_of(const Figure& figure, const Lanes& lanes) {
  Kinds kinds;
  for (const FigureRow& row : figure.rows)
    for (const Arc& arc : row.arcs) {
      const bool crosses = lanes.node_of_rank[arc.source] != lanes.node_of_rank[arc.target];
      kinds.copy |= arc.source == arc.target;
      kinds.between |= crosses;
      kinds.inside |= !crosses && arc.source != arc.target;
      kinds.combines |= arc.kind == ArcKind::kCombines;
      kinds.token |= arc.kind == ArcKind::kToken;
    }
  return kinds;
}

// Draws samples with words, side by side.
class Legend {
 public:
  void add(bool shown, const std::string& sample, int length, const char* words) {
    if (!shown) return;
    text_ +=
        fmt::format("<g transform=\"translate({} 40)\">{}<text x=\"{}\" y=\"4\">{}</text></g>\n",
                    x_, sample, length, words);
    x_ += length + 7 * static_cast<int>(std::string_view(words).size()) + 14;
  }
  const std::string& text() const { return text_; }
  int width() const { return x_; }

 private:
  std::string text_;
  int x_ = 8;
};

std::string whole_svg(const Figure& figure, int width, int height, const std::string& content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\">\n<style>{2}{3}</style>\n{4}<rect width=\"{0}\" height=\"{1}\" "
      "class=\"ground\"/>\n<text x=\"8\" y=\"20\" class=\"title\">{5}</text>\n{6}</svg>\n",
      width, height, kPaletteCss, kStyle, kMarkers, escaped(figure.title), content);
}

// ---- Arrows between the columns of ranks

class Arrows {
 public:
  Arrows(const Figure& figure, const Lanes& ranks) : figure_(figure), ranks_(ranks) {
    int next = kLeft;
    for (size_t node = 0; node < figure.node_sizes.size(); ++node) {
      if (node == figure.first_nodes) next += kGroupGap;
      for (int64_t i = 0; i < figure.node_sizes[node]; ++i, next += kColumn)
        x_.push_back(next + kColumn / 2);
      next += kGap;
    }
    width_ = next;
    const Kinds kinds = kinds_of(figure, ranks);
    const auto sample = [&](const char* more, const char* head) {
      return fmt::format("<path d=\"M0,0 H26\" class=\"{}{}\"{}/>",
                         kinds.between ? "between" : "inside", more, head);
    };
    legend_.add(kinds.between, "<path d=\"M0,0 H26\" class=\"between\"/>", 32, "between nodes");
    legend_.add(kinds.inside, "<path d=\"M0,0 H26\" class=\"inside\"/>", 32, "inside a node");
    legend_.add(kinds.combines, sample("", " marker-end=\"url(#sum)\""), 32, "reduces");
    legend_.add(kinds.token, sample(" token", ""), 32, "without data");
    legend_.add(kinds.copy, "<circle cx=\"4\" cy=\"0\" r=\"4\" class=\"copy\"/>", 13,
                "copy in a rank");
    width_ = std::max(width_, legend_.width());
  }

  std::string svg() const {
    std::string rows;
    int y = kTop + kRowGap;
    for (size_t i = 0; i < figure_.rows.size(); ++i) rows += row(i, y);
    return whole_svg(figure_, width_, y + 12, legend_.text() + bands(y + 12) + rows);
  }

 private:
  static constexpr int kColumn = 34, kTrack = 15, kLeft = 150, kTop = 96, kGap = 26, kPadding = 5,
                       kRowGap = 7, kGroupGap = 40;

  // Returns the track of each arc of a row, counted from the top. An arc takes the first track where it crosses none.
  static std::vector<int> tracks_of(const std::vector<Arc>& arcs) {
    std::vector<int> result;
    std::vector<int64_t> free_from;  // by track: the first free column
    for (const Arc& arc : arcs) {
      const auto [left, right] = std::minmax(arc.source, arc.target);
      const auto track =
          std::ranges::find_if(free_from, [&, left = left](int64_t from) { return from <= left; });
      result.push_back(static_cast<int>(track - free_from.begin()));
      if (track == free_from.end())
        free_from.push_back(right + 1);
      else
        *track = right + 1;
    }
    return result;
  }

  std::string arrow(const Arc& arc, int y) const {
    const int from = x_[arc.source], to = x_[arc.target];
    if (arc.source == arc.target)
      return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" class=\"copy\"/>\n", from, y);
    const bool crosses = ranks_.node_of_rank[arc.source] != ranks_.node_of_rank[arc.target];
    const bool combines = arc.kind == ArcKind::kCombines;
    const int direction = to > from ? 1 : -1;
    return fmt::format(
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}{}\"{} "
        "marker-end=\"url(#{})\"/>\n",
        from + 3 * direction * arc.both_ways, y, to - 3 * direction, y,
        crosses ? "between" : "inside", arc.kind == ArcKind::kToken ? " token" : "",
        !arc.both_ways ? ""
        : combines     ? " marker-start=\"url(#sums)\""
                       : " marker-start=\"url(#from)\"",
        combines ? "sum" : "to");
  }

  std::string row(size_t index, int& y) const {
    const FigureRow& row = figure_.rows[index];
    const std::vector<int> track_of = tracks_of(row.arcs);
    const int height = kTrack * (1 + *std::ranges::max_element(track_of));
    std::string text = fmt::format(
        "<g data-row=\"{}\"><rect class=\"now\" x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
        index, y - kRowGap / 2, width_, height + kRowGap);
    if (!row.heading.empty())
      text += fmt::format("<text x=\"8\" y=\"{}\" class=\"heading\">{}</text>\n", y + kTrack - 3,
                          escaped(row.heading));
    text += fmt::format("<text x=\"{}\" y=\"{}\" class=\"step\">{}</text>\n", kLeft - 12,
                        y + kTrack - 3, row.key);
    for (size_t i = 0; i < row.arcs.size(); ++i)
      text += arrow(row.arcs[i], y + kTrack / 2 + track_of[i] * kTrack);
    y += height + kRowGap;
    return text + "</g>\n";
  }

  std::string bands(int height) const {
    std::string text;
    int64_t rank = 0;
    for (size_t node = 0; node < figure_.node_sizes.size(); ++node) {
      const int size = static_cast<int>(figure_.node_sizes[node]);
      const int left = x_[rank] - kColumn / 2;
      text += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" class=\"node\"/>\n"
          "<text x=\"{}\" y=\"{}\" class=\"name\">{}</text>\n",
          left - kPadding, kTop - 42, size * kColumn + 2 * kPadding, height - kTop + 36,
          left + size * kColumn / 2, kTop - 26, figure_.node_name(node));
      for (int i = 0; i < size; ++i, ++rank)
        text += fmt::format(
            "<text x=\"{0}\" y=\"{1}\" class=\"rank\">{2}</text>\n"
            "<line x1=\"{0}\" y1=\"{3}\" x2=\"{0}\" y2=\"{4}\" class=\"column\"/>\n",
            x_[rank], kTop - 8, figure_.rank_name(rank), kTop, height - 10);
    }
    return text;
  }

  const Figure& figure_;
  const Lanes& ranks_;
  std::vector<int> x_;  // by rank
  int width_ = 0;
  Legend legend_;
};

// ---- A square for each step

class Squares {
 public:
  explicit Squares(const Figure& figure)
      : figure_(figure),
        lanes_(lanes_of(figure, kMostLanes)),
        cell_(lanes_.count() > 32 ? 2 : 4),
        side_(cell_ * lanes_.count()) {
    const Kinds kinds = kinds_of(figure, lanes_);
    legend_.add(true, "", 0,
                lanes_.by_rank() ? "A square for each step: from ranks (down) to ranks (right)"
                                 : "A square for each step: from lanes (down) to lanes (right)");
    legend_.add(kinds.between, "<rect y=\"-6\" width=\"12\" height=\"12\" class=\"between cell\"/>",
                18, "between nodes");
    legend_.add(kinds.inside, "<rect y=\"-6\" width=\"12\" height=\"12\" class=\"inside cell\"/>",
                18, "inside a node");
    legend_.add(kinds.combines, "<path d=\"M6,-6 l6,6 -6,6 -6,-6z\" class=\"between cell\"/>", 18,
                "reduces");
  }

  std::string svg() const {
    std::string squares;
    const int across = std::max(1, kAcross / (side_ + kSpace));
    int x = kSpace, y = kTop;
    for (size_t i = 0; i < figure_.rows.size(); ++i) {
      if (i > 0 && i % across == 0) x = kSpace, y += side_ + kHeading;
      squares += square(i, x, y);
      x += side_ + kSpace;
    }
    const std::string lanes = fmt::format(
        "<text x=\"8\" y=\"60\" class=\"heading\">{}</text>\n",
        lanes_.by_rank() ? ""
                         : fmt::format("A lane is a {}: {} to {}.", lanes_.unit,
                                       lanes_.all.front().name, lanes_.all.back().name));
    const int width = std::max(legend_.width(), across * (side_ + kSpace) + kSpace);
    return whole_svg(figure_, width, y + side_ + kSpace, legend_.text() + lanes + squares);
  }

 private:
  static constexpr int kTop = 92, kSpace = 14, kHeading = 26, kAcross = 1200;

  std::string square(size_t index, int x, int y) const {
    const FigureRow& row = figure_.rows[index];
    std::string cells[2];
    for (const LaneArc& arc : lane_arcs(row, lanes_)) {
      const int left = x + cell_ * arc.to, top = y + cell_ * arc.from, half = cell_ / 2;
      cells[arc.between] += arc.combines
                                ? fmt::format("M{},{}l{},{} {},{} {},{}z", left + half, top, half,
                                              half, -half, half, -half, -half)
                                : fmt::format("M{},{}h{}v{}h{}z", left, top, cell_, cell_, -cell_);
    }
    const std::string name = row.heading.empty() ? fmt::format("{}", row.key)
                                                 : fmt::format("{} ({})", row.key, row.heading);
    return fmt::format(
        "<g data-row=\"{0}\"><rect class=\"now\" x=\"{1}\" y=\"{2}\" width=\"{3}\" "
        "height=\"{4}\"/>\n"
        "<text x=\"{5}\" y=\"{6}\" class=\"heading\">{7}</text>\n"
        "<rect x=\"{5}\" y=\"{8}\" width=\"{9}\" height=\"{9}\" class=\"node\"/>\n"
        "<path d=\"{10}\" class=\"inside cell\"/><path d=\"{11}\" class=\"between cell\"/></g>\n",
        index, x - 5, y - 17, side_ + 10, side_ + 22, x, y - 4, escaped(name), y, side_, cells[0],
        cells[1]);
  }

  const Figure& figure_;
  const Lanes lanes_;
  const int cell_, side_;
  Legend legend_;
};

}  // namespace

std::string as_svg(const Figure& figure) {
  const Lanes lanes = lanes_of(figure, kMostColumns);
  return lanes.by_rank() ? Arrows(figure, lanes).svg() : Squares(figure).svg();
}

}  // namespace quadrille
