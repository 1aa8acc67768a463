// The plot of times over sizes: each curve has its points in order, its name, and a style of its own.
#include "view/curves.h"
#include "tests/support/matches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace quadrille {
namespace {

using testing::HasSubstr;

const Curves kCurves{"alltoall on nodes 4x8",
                     {8, 1024, 1 << 20},
                     {{"linear", {1000, 2000, 900000}}, {"<tuna>", {500, std::nullopt, 950000}}},
                     Curve{"no schedule takes less", {400, 700, 800000}},
                     Curve{"measured", {3000, 4000, 1000000}}};

struct Path {
  std::vector<std::pair<double, double>> points;
  std::string classes;
};

std::vector<Path> paths_of(const std::string& svg) {
  std::vector<Path> paths;
  for (const Match& path : matches(svg, R"re(<path d="(M[^h"]*)" class="([^"]*)"/>)re")) {
    if (path.groups[2] == "guide") continue;
    paths.push_back({{}, path.groups[2]});
    for (const Match& point : matches(path.groups[1], "[ML]([0-9.]+),([0-9.]+)"))
      paths.back().points.emplace_back(std::stod(point.groups[1]), std::stod(point.groups[2]));
  }
  return paths;
}

TEST(Curves, RunFromTheLeftAndSlowerTimesAreHigher) {
  const std::vector<Path> paths = paths_of(curves_svg(kCurves));
  ASSERT_EQ(paths.size(), 4u);
  for (const Path& path : paths)
    for (size_t i = 1; i < path.points.size(); ++i) {
      EXPECT_GT(path.points[i].first, path.points[i - 1].first);
      EXPECT_LT(path.points[i].second, path.points[i - 1].second);
    }
}

TEST(Curves, AreAsFarApartAsTheLogarithmsOfTheirTimes) {
  Curves curves{"a", {8, 16}, {{"one", {10, 100}}, {"other", {1000, 1000}}}, {}, {}};
  const std::vector<Path> paths = paths_of(curves_svg(curves));
  ASSERT_EQ(paths.size(), 2u);  // from the top, so the slower one first
  const double low = paths[1].points[0].second, middle = paths[1].points[1].second;
  EXPECT_NEAR(low - middle, middle - paths[0].points[0].second, 0.2);
}

TEST(Curves, HaveSizesThatDoNotOverlap) {
  Curves curves{"a", {8, 32, 128, 192, 200}, {{"one", {10, 100, 200, 300, 400}}}, {}, {}};
  const std::string svg = curves_svg(curves);
  std::map<double, std::string> sizes;
  for (const Match& size : matches(svg, R"re(x="([0-9.]+)" y="[0-9.]+" class="x">([^<]*)<)re"))
    sizes[std::stod(size.groups[1])] = size.groups[2];
  EXPECT_EQ(sizes.rbegin()->second, "200 B");
  EXPECT_EQ(sizes.begin()->second, "8 B");
  EXPECT_EQ(sizes.size(), 4u);  // the label of 192 B has no room
  for (auto each = sizes.begin(), next = std::next(each); next != sizes.end(); each = next++)
    EXPECT_GE(next->first - each->first, 50);
}

TEST(Curves, HaveTheirNamesAndALookOfTheirOwn) {
  const std::string svg = curves_svg(kCurves);
  for (const char* words : {">linear<", ">&lt;tuna&gt;<", ">no schedule takes less<", ">measured<",
                            ">alltoall on nodes 4x8<", ">8 B<", ">1 KiB<", ">1 MiB<"})
    EXPECT_THAT(svg, HasSubstr(words));
  Curves many{"many", {}, {}, {}, {}};
  for (int i = 0; i < 28; ++i) {  // each is the fastest at one size
    many.bytes.push_back(8 << i);
    many.curves.push_back({std::to_string(i), std::vector<std::optional<int64_t>>(28, 200)});
    many.curves.back().times[i] = 100;
  }
  std::set<std::string> looks;
  for (const Path& path : paths_of(curves_svg(many))) looks.insert(path.classes);
  EXPECT_EQ(looks.size(), 28u);
}

TEST(Curves, ThatAreNeverTheFastestAreGreyAndTheStripNamesTheOthers) {
  const Curves curves{
      "a",
      {8, 64, 512, 4096},
      {{"first-with-a-long-name", {1, 1, 9, 9}}, {"never", {5, 5, 5, 5}}, {"second", {9, 9, 4, 4}}},
      {},
      {}};
  const std::string svg = curves_svg(curves);
  struct Part {
    std::string curve, name;
    double left, width, text, line;
  };
  std::vector<Part> parts;
  for (const Match& part :
       matches(svg, R"re(<path d="M([0-9.]+),0 h([0-9.]+)" class="([^"]*) strip"/>[^\n]*<text )re"
                    R"re(x="([0-9.]+)" y="([-0-9.]+)" class="best">([^<]*)<)re"))
    parts.push_back({part.groups[3], part.groups[6], std::stod(part.groups[1]),
                     std::stod(part.groups[2]), std::stod(part.groups[4]),
                     std::stod(part.groups[5])});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "second");
  EXPECT_EQ(parts[1].name, "first-with-a-long-name");
  EXPECT_NEAR(parts[1].left + parts[1].width, parts[0].left, 0.2);
  EXPECT_NE(parts[0].curve, parts[1].curve);
  std::multiset<std::string> looks;
  for (const Path& path : paths_of(svg)) looks.insert(path.classes);
  EXPECT_EQ(looks, (std::multiset<std::string>{parts[0].curve, parts[1].curve, "other"}));
  EXPECT_THAT(svg, testing::ContainsRegex("class=\"other\">never<"));
}

TEST(Curves, HaveNamesInTheStripThatDoNotOverlap) {
  Curves curves{"a", {}, {}, {}, {}};
  for (int i = 0; i < 9; ++i) {
    curves.bytes.push_back(8 << 2 * i);
    curves.curves.push_back(
        {"hierarchical-overlapped", std::vector<std::optional<int64_t>>(9, 20)});
    curves.curves.back().times[i] = 10;
  }
  std::map<double, std::vector<double>> lines;  // where names begin, by height
  for (const Match& name :
       matches(curves_svg(curves), R"re(x="([0-9.]+)" y="([-0-9.]+)" class="best">)re"))
    lines[std::stod(name.groups[2])].push_back(std::stod(name.groups[1]));
  EXPECT_GE(lines.size(), 3u);
  for (auto& [height, begins] : lines) {
    std::ranges::sort(begins);
    for (size_t i = 1; i < begins.size(); ++i) EXPECT_GE(begins[i] - begins[i - 1], 23 * 6);
  }
  EXPECT_LE(lines.rbegin()->first, 0);
}

TEST(Curves, HaveAGapWhereATimeIsMissing) {
  EXPECT_EQ(paths_of(curves_svg(kCurves))[1].points.size() +
                paths_of(curves_svg(kCurves))[2].points.size() +
                paths_of(curves_svg(kCurves))[3].points.size() +
                paths_of(curves_svg(kCurves))[0].points.size(),
            11u);
  EXPECT_THAT(curves_svg(kCurves), testing::ContainsRegex("M[0-9.]+,[0-9.]+ M[0-9.]+,[0-9.]+ \""));
}

TEST(Curves, WithoutAnyTimeAreNoPicture) {
  EXPECT_EQ(curves_svg({}), "");
  EXPECT_EQ(curves_svg({"none", {8}, {{"a", {std::nullopt}}}, {}, {}}), "");
}

}  // namespace
}  // namespace quadrille
