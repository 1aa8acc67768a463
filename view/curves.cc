// Each curve has its name at its end. Names that would overlap are moved apart. A strip above the curves names the
// algorithm that is best at each size. Only these have colours. The dashes change when the colours repeat, so that no
// two of 28 look alike.
#include "view/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulate/export.h"
#include "view/assets.h"
#include "view/pack.h"

namespace quadrille {
namespace {

constexpr double kWidth = 900, kHeight = 480, kLeft = 70, kRight = 230, kTop = 34, kBottom = 44;
constexpr double kLine = 14;   // from one name to the next
constexpr double kStrip = 26;  // from the names of the strip to the curves
constexpr double kLetter = 7;  // at most, on the average

constexpr const char* kStyle =
    R"(.curves text { font: 12px sans-serif; fill: var(--ink) } .curves .title { font-weight: bold; font-size: 14px }
.curves .ground { fill: var(--ground) } .curves .grid { stroke: var(--line) } .curves .x { text-anchor: middle } .curves .y { text-anchor: end }
.curves path { fill: none; stroke-width: 2 } .curves .guide { stroke: var(--line); stroke-width: 1 } .curves .limit { stroke: var(--ink); stroke-dasharray: 2 4 } .curves .native { stroke: var(--ink); stroke-width: 3 }
.curves path.other { stroke: var(--faint); stroke-width: 1; opacity: .6 } .curves text.other { fill: var(--faint) } .curves .strip { stroke-width: 8 }
.curves .c0 { stroke: #0072b2 } .curves .c1 { stroke: #d55e00 } .curves .c2 { stroke: #009e73 } .curves .c3 { stroke: #cc79a7 } .curves .c4 { stroke: #e69f00 } .curves .c5 { stroke: #56b4e9 } .curves .c6 { stroke: #8c6d1f }
.curves .d1 { stroke-dasharray: 8 3 } .curves .d2 { stroke-dasharray: 3 3 } .curves .d3 { stroke-dasharray: 10 3 2 3 }
)";
constexpr size_t kColours = 7, kDashes = 4;

constexpr const char* kOther = "other";  // a curve that is never the best

struct Named {
  const Curve* curve;
  std::string classes;
  double end = 0, name = 0;  // heights of its last point and of its name
};

// A part of the axis in which one curve is the lowest.
struct Best {
  const Curve* curve;
  double left, right;
};

class Plot {
 public:
  explicit Plot(const Curves& curves) : curves_(curves) {
    find_best();
    for (const Curve& curve : curves.curves) add(curve, look(curve));
    if (curves.native) add(*curves.native, "native");
    if (curves.bound) add(*curves.bound, "limit");
  }

  std::string svg() {
    if (all_.empty()) return "";
    low_ = std::floor(std::log10(least_)), high_ = std::ceil(std::log10(most_));
    if (high_ == low_) high_ += 1;
    const std::string strip = this->strip();
    place_names();
    const double height = std::max(bottom() + kBottom, all_.back().name + kLine);
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"curves\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\">\n<style>{2}{3}</style>\n<rect width=\"{0}\" height=\"{1}\" "
        "class=\"ground\"/>\n<text x=\"8\" y=\"20\" class=\"title\">{4}</text>\n{5}",
        kWidth, height, kPaletteCss, kStyle, escaped(curves_.title), grid());
    for (const bool other : {true, false})  // those with colours lie above
      for (const Named& one : all_)
        if ((one.classes == kOther) == other) text += drawn(one);
    text += strip;
    return text + "</svg>\n";
  }

 private:
  // Finds the parts of the axis in which one algorithm is the fastest.
  void find_best() {
    for (size_t i = 0; i < curves_.bytes.size(); ++i) {
      const auto time = [&](const Curve& curve) { return curve.times[i].value_or(INT64_MAX); };
      const auto best = std::ranges::min_element(curves_.curves, {}, time);
      if (best == curves_.curves.end() || !best->times[i]) continue;
      if (best_.empty() || best_.back().curve != &*best)
        best_.push_back({&*best, i == 0 ? kLeft : (x(i - 1) + x(i)) / 2, 0});
      best_.back().right = i + 1 == curves_.bytes.size() ? kWidth - kRight : (x(i) + x(i + 1)) / 2;
    }
  }

  std::string look(const Curve& curve) const {
    const auto part = std::ranges::find(best_, &curve, &Best::curve);
    const auto i = static_cast<size_t>(part - best_.begin());
    return part == best_.end() ? kOther
                               : fmt::format("c{} d{}", i % kColours, i / kColours % kDashes);
  }

  // Returns the strip, and makes room for it. A name begins where its part does, and stands above those to its right
  // that it would run into.
  std::string strip() {
    if (best_.empty()) return "";
    std::string text =
        fmt::format("<text x=\"{}\" y=\"4\" class=\"y\">fastest</text>\n", kLeft - 6);
    std::vector<double> begins;  // of the leftmost name in each line, from the lowest line
    for (auto part = best_.rbegin(); part != best_.rend(); ++part) {
      const double end = part->left + kLetter * static_cast<double>(part->curve->name.size());
      const auto line = std::ranges::find_if(begins, [&](double begin) { return end < begin; });
      const double name = -8 - kLine * static_cast<double>(line - begins.begin());
      if (line == begins.end())
        begins.push_back(part->left);
      else
        *line = part->left;
      text += fmt::format(
          "<path d=\"M{0:.1f},0 h{1:.1f}\" class=\"{2} strip\"/><path d=\"M{0:.1f},0 v{3}\" "
          "class=\"guide\"/><text x=\"{4:.1f}\" y=\"{5}\" class=\"best\">{6}</text>\n",
          part->left, part->right - part->left, look(*part->curve), name - 8, part->left + 3, name,
          escaped(part->curve->name));
    }
    top_ += kLine * static_cast<double>(begins.size() - 1) + kStrip;
    return fmt::format("<g transform=\"translate(0 {})\">{}</g>\n", top_ - kLine, text);
  }

  double bottom() const { return kHeight - kBottom + top_ - kTop; }

  void add(const Curve& curve, const std::string& classes) {
    bool any = false;
    for (const std::optional<int64_t>& time : curve.times) {
      if (!time) continue;
      any = true;
      least_ = std::min(least_, std::max<double>(1, static_cast<double>(*time)));
      most_ = std::max(most_, static_cast<double>(*time));
    }
    if (any) all_.push_back({&curve, classes});
  }

  double x(size_t index) const {
    const auto position = [](int64_t bytes) { return std::log2(static_cast<double>(bytes) + 1); };
    const double first = position(curves_.bytes.front()), last = position(curves_.bytes.back());
    const double part =
        last > first ? (position(curves_.bytes[index]) - first) / (last - first) : 0;
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  double y(double time) const {
    const double part = (std::log10(std::max(1.0, time)) - low_) / (high_ - low_);
    return bottom() - part * (bottom() - top_);
  }

  // Places the names from the top, each at least a line below the one above it.
  void place_names() {
    for (Named& one : all_)
      for (const std::optional<int64_t>& time : one.curve->times)
        if (time) one.end = y(static_cast<double>(*time));
    std::ranges::stable_sort(all_, {}, &Named::end);
    const double room = bottom() - kLine * static_cast<double>(all_.size());
    double next = top_;
    for (Named& one : all_) {
      one.name = std::max(next, std::min(one.end, std::max(top_, room) + next - top_));
      next = one.name + kLine;
    }
  }

  std::string grid() const {
    std::string text;
    for (auto power = static_cast<int>(low_); power <= static_cast<int>(high_); ++power) {
      const double time = std::pow(10, power);
      text += fmt::format(
          "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" class=\"grid\"/><text "
          "x=\"{3}\" y=\"{4:.1f}\" class=\"y\">{5}</text>\n",
          kLeft, y(time), kWidth - kRight, kLeft - 6, y(time) + 4,
          time_text(std::llround(1e3 * time)));
    }
    constexpr double kLeast = 54;  // the least space between two written sizes
    double next = HUGE_VAL;
    for (size_t i = curves_.bytes.size(); i-- > 0;) {
      if (next - x(i) < kLeast) continue;
      next = x(i);
      text += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" class=\"grid\"/><text "
          "x=\"{0:.1f}\" y=\"{3}\" class=\"x\">{4}</text>\n",
          next, top_, bottom(), bottom() + 18, size_text(curves_.bytes[i]));
    }
    return text;
  }

  std::string drawn(const Named& one) const {
    std::string path;
    bool open = false;
    double last = 0;
    for (size_t i = 0; i < one.curve->times.size() && i < curves_.bytes.size(); ++i) {
      const std::optional<int64_t>& time = one.curve->times[i];
      if (time) {
        last = x(i);
        path +=
            fmt::format("{}{:.1f},{:.1f} ", open ? "L" : "M", last, y(static_cast<double>(*time)));
      }
      open = time.has_value();
    }
    const double name = kWidth - kRight + 18;
    return fmt::format(
        "<path d=\"{}\" class=\"{}\"/><path d=\"M{:.1f},{:.1f} L{:.1f},{:.1f}\" "
        "class=\"guide\"/><path d=\"M{:.1f},{:.1f} h22\" class=\"{}\"/><text x=\"{:.1f}\" "
        "y=\"{:.1f}\" class=\"{}\">{}</text>\n",
        path, one.classes, last, one.end, name - 4, one.name, name, one.name, one.classes,
        name + 28, one.name + 4, one.classes == kOther ? kOther : "", escaped(one.curve->name));
  }

  const Curves& curves_;
  std::vector<Named> all_;
  std::vector<Best> best_;  // from the left
  double top_ = kTop;       // where the curves begin
  double least_ = 1e18, most_ = 1;
  double low_ = 0, high_ = 1;  // powers of ten
};

}  // namespace

std::string curves_svg(const Curves& curves) {
  return curves.bytes.empty() ? "" : Plot(curves).svg();
}

}  // namespace quadrille
