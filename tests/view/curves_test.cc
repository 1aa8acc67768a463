// The plot of times over sizes: each curve has its points in order, its name, and a style of its own.
#include "view/curves.h"
#include "tests/support/matches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  Curves many{"many", {8, 16}, {}, {}, {}};
  for (int i = 0; i < 28; ++i) many.curves.push_back({std::to_string(i), {100 + i, 200 + i}});
  std::set<std::string> looks;
  for (const Path& path : paths_of(curves_svg(many))) looks.insert(path.classes);
  EXPECT_EQ(looks.size(), 28u);
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
