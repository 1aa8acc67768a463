// Each curve has its name at its end. Names that would overlap are moved apart. The dashes change when the colours
// repeat, so that no two of 28 curves look alike.
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
constexpr double kLine = 14;  // from one name to the next

constexpr const char* kStyle =
    R"(.curves text { font: 12px sans-serif; fill: var(--ink) } .curves .title { font-weight: bold; font-size: 14px }
.curves .ground { fill: var(--ground) } .curves .grid { stroke: var(--line) } .curves .x { text-anchor: middle } .curves .y { text-anchor: end }
.curves path { fill: none; stroke-width: 2 } .curves .guide { stroke: var(--line); stroke-width: 1 } .curves .limit { stroke: var(--ink); stroke-dasharray: 2 4 } .curves .native { stroke: var(--ink); stroke-width: 3 }
.curves .c0 { stroke: #0072b2 } .curves .c1 { stroke: #d55e00 } .curves .c2 { stroke: #009e73 } .curves .c3 { stroke: #cc79a7 } .curves .c4 { stroke: #e69f00 } .curves .c5 { stroke: #56b4e9 } .curves .c6 { stroke: #8c6d1f }
.curves .d1 { stroke-dasharray: 8 3 } .curves .d2 { stroke-dasharray: 3 3 } .curves .d3 { stroke-dasharray: 10 3 2 3 }
)";
constexpr size_t kColours = 7, kDashes = 4;

struct Named {
  const Curve* curve;
  std::string classes;
  double end = 0, name = 0;  // heights of its last point and of its name
};

class Plot {
 public:
  explicit Plot(const Curves& curves) : curves_(curves) {
    for (size_t i = 0; i < curves.curves.size(); ++i)
      add(curves.curves[i], fmt::format("c{} d{}", i % kColours, i / kColours % kDashes));
    if (curves.native) add(*curves.native, "native");
    if (curves.bound) add(*curves.bound, "limit");
  }

  std::string svg() {
    if (all_.empty()) return "";
    low_ = std::floor(std::log10(least_)), high_ = std::ceil(std::log10(most_));
    if (high_ == low_) high_ += 1;
    place_names();
    const double height = std::max(kHeight, all_.back().name + kLine);
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"curves\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\">\n<style>{2}{3}</style>\n<rect width=\"{0}\" height=\"{1}\" "
        "class=\"ground\"/>\n<text x=\"8\" y=\"20\" class=\"title\">{4}</text>\n{5}",
        kWidth, height, kPaletteCss, kStyle, escaped(curves_.title), grid());
    for (const Named& one : all_) text += drawn(one);
    return text + "</svg>\n";
  }

 private:
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
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }

  // Places the names from the top, each at least a line below the one above it.
  void place_names() {
    for (Named& one : all_)
      for (const std::optional<int64_t>& time : one.curve->times)
        if (time) one.end = y(static_cast<double>(*time));
    std::stable_sort(all_.begin(), all_.end(),
                     [](const Named& one, const Named& other) { return one.end < other.end; });
    const double room = kHeight - kBottom - kLine * static_cast<double>(all_.size());
    double next = kTop;
    for (Named& one : all_) {
      one.name = std::max(next, std::min(one.end, std::max(kTop, room) + next - kTop));
      next = one.name + kLine;
    }
  }

  std::string grid() const {
    std::string text;
    for (auto power = static_cast<int>(low_); power <= static_cast<int>(high_); ++power) {
      const double time = std::pow(10, power);
      text += fmt::format(
          "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" class=\"grid\"/><text "
          "x=\"{3}\" "
          "y=\"{4:.1f}\" class=\"y\">{5}</text>\n",
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
          next, kTop, kHeight - kBottom, kHeight - kBottom + 18, size_text(curves_.bytes[i]));
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
        "class=\"guide\"/><path "
        "d=\"M{:.1f},{:.1f} h22\" class=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        path, one.classes, last, one.end, name - 4, one.name, name, one.name, one.classes,
        name + 28, one.name + 4, escaped(one.curve->name));
  }

  const Curves& curves_;
  std::vector<Named> all_;
  double least_ = 1e18, most_ = 1;
  double low_ = 0, high_ = 1;  // powers of ten
};

}  // namespace

std::string curves_svg(const Curves& curves) {
  return curves.bytes.empty() ? "" : Plot(curves).svg();
}

}  // namespace quadrille
