// Binding fills tables and checks requirements. Each refusal has its text.
#include "schedule/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/text.h"
#include "tests/support/topologies.h"

namespace quadrille::binding_test {

using testing::ElementsAre;
using testing::IsEmpty;

Program program(const std::string& declarations, const std::string& heading = "allgather") {
  return parse_program("algorithm a for " + heading + "\n" + declarations, "test").value();
}

// Returns the last table that the declarations define, on nodes of these sizes.
std::vector<int64_t> table(const std::string& declarations, const std::vector<int64_t>& sizes = {6},
                           const Call& call = {}) {
  return bind(program(declarations), job_of(sizes), call, 0).value().tables.back();
}

std::string refusal(const Program& program, const Job& job, const Call& call = {}) {
  const Result<Binding> binding = bind(program, job, call, 0);
  return binding.ok() ? "bound" : binding.error().message;
}
std::string refusal(const std::string& declarations, const Call& call = {}) {
  return refusal(program(declarations), job_of({1, 2, 3}), call);
}

TEST(Binding, NodesAreSortedAscending) {
  EXPECT_THAT(table("table size = nodes", {3, 1, 2, 1}), ElementsAre(1, 1, 2, 3));
}

TEST(Binding, PrefixHasOneEntryMoreThanItsSource) {
  EXPECT_THAT(table("table size = nodes\ntable base = prefix(size)", {3, 1, 2}),
              ElementsAre(0, 1, 3, 6));
  EXPECT_THAT(table("table none[i in 0 .. 0] = i\ntable sums = prefix(none)"), ElementsAre(0));
}

TEST(Binding, DistinctStartsWithZero) {
  EXPECT_THAT(table("table size = nodes\ntable done = distinct(size)", {3, 1, 1, 3, 2}),
              ElementsAre(0, 1, 2, 3));
}

TEST(Binding, PowersEndWithTheFirstThatReachesTheLimit) {
  EXPECT_THAT(table("table pow = powers(2, 8)"), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(table("table pow = powers(2, 9)"), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(table("table pow = powers(3, ranks)"), ElementsAre(1, 3, 9));
  EXPECT_THAT(table("table pow = powers(5, 1)"), ElementsAre(1));
  EXPECT_THAT(table("table pow = powers(5, -7)"), ElementsAre(1));
}

TEST(Binding, MapsAreExpressionsOfTheirIndex) {
  EXPECT_THAT(table("table size = nodes\ntable square[i in 0 .. 4] = i*i + size[0]", {6}),
              ElementsAre(6, 7, 10, 15));
  EXPECT_THAT(table("table none[i in 0 .. 0] = 1 div 0"), IsEmpty());
}

TEST(Binding, GreatestHasTheGreatestEntrySoFarAndNoNegativeOne) {
  EXPECT_THAT(table("table t = -2, 3, 1, 5, 4\ntable g = greatest(t)"),
              ElementsAre(0, 0, 3, 3, 5, 5));
  EXPECT_THAT(table("table t[i in 0 .. 0] = i\ntable g = greatest(t)"), ElementsAre(0));
}

TEST(Binding, LiteralsStandInTheProgram) {
  EXPECT_THAT(table("table t = 7"), ElementsAre(7));
  EXPECT_THAT(table("table t = 3, -1, 2, -9223372036854775808"),
              ElementsAre(3, -1, 2, std::numeric_limits<int64_t>::min()));
}

TEST(Binding, CountsComeFromTheCall) {
  EXPECT_THAT(table("table m = counts\ntable at = prefix(m)", {2, 1}, {{{4, 0, 7}}, {}, 0}),
              ElementsAre(0, 4, 4, 11));
}

TEST(Binding, RemoteTablesAreTheOtherGroups) {
  const Program both = program(
      "table here = nodes\ntable there = remote_nodes\ntable m = counts\ntable n = remote_counts",
      "allgather between groups");
  const Job job{{topology_of({1, 2}), topology_of({4})}, {}};
  const Call call{{{1, 2, 3}, {4, 5, 6, 7}}, {}, 0};
  const Binding first = bind(both, job, call, 0).value(), second = bind(both, job, call, 1).value();
  EXPECT_THAT(first.tables, ElementsAre(ElementsAre(1, 2), ElementsAre(4), ElementsAre(1, 2, 3),
                                        ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(second.tables, ElementsAre(ElementsAre(4), ElementsAre(1, 2), ElementsAre(4, 5, 6, 7),
                                         ElementsAre(1, 2, 3)));
  EXPECT_EQ(first.place.ranks, 3);
  EXPECT_EQ(first.place.remote_ranks, 4);
  EXPECT_EQ(second.place.group, 1);
}

TEST(Binding, ParametersComeFromTheFileOrTheCall) {
  const Program two = program(
      "parameter a\nparameter b at call\nparameter c\ntable t[i in 0 .. 3] = i = 0 ? a : i = 1 ? b "
      ": c");
  Job job = job_of({2});
  job.parameters = {10, 0, 30};
  EXPECT_THAT(bind(two, job, {{}, {20}, 0}, 0)->tables[0], ElementsAre(10, 20, 30));
  EXPECT_EQ(refusal(two, job), "parameter 'b' has no value; give it with --parameter b=N");
  EXPECT_EQ(refusal(two, job, {{}, {kMaxParameter}, 0}), "bound");
  EXPECT_EQ(refusal(two, job, {{}, {kMaxParameter + 1}, 0}),
            "b = 1099511627777; a parameter is between -1099511627776 and 1099511627776");
}

TEST(Binding, AsksRequirements) {
  EXPECT_EQ(refusal("require ranks mod 2 = 0"), "bound");
  EXPECT_EQ(refusal("require ranks mod 4 = 0"),
            "a requires ranks mod 4 = 0, which does not hold for 6 ranks");
  EXPECT_EQ(refusal("require 1 div (ranks - 6) = 0"),
            "a requires 1 div (ranks - 6) = 0, which is undefined for 6 ranks: a divisor that is "
            "not positive");
}

// A requirement comes after the tables that it names. It protects the tables further below.
TEST(Binding, AsksARequirementBeforeTheTablesBelow) {
  const std::string undefined = "table u[i in 0 .. 2] = 1 div (6 - ranks + i)\n";
  EXPECT_EQ(refusal("table t = 5\n" + undefined + "require t[0] = ranks"),
            "a requires t[0] = ranks, which does not hold for 6 ranks");
  EXPECT_EQ(refusal("table t = 5\n" + undefined + "table v = 5\nrequire v[0] = ranks"),
            "u[0] is undefined: a divisor that is not positive");
  EXPECT_EQ(refusal("table t = 5\nrequire 1 div (6 - ranks) = 1\nrequire ranks < t[0]"),
            "a requires 1 div (6 - ranks) = 1, which is undefined for 6 ranks: a divisor that is "
            "not positive");
}

TEST(Binding, RefusesTablesThatMakeNoSense) {
  EXPECT_EQ(refusal("table t = powers(1, 8)"), "table 't': a radix of 1; it is at least 2");
  EXPECT_EQ(refusal("table t = powers(2, 9223372036854775807)"), "table 't' overflows");
  EXPECT_EQ(refusal("table t[i in 0 .. -1] = i"),
            "-1 entries of table 't'; between 0 and 1048720 are allowed on 6 ranks");
  EXPECT_EQ(refusal("table t[i in 0 .. 1048720] = i\ntable g = greatest(t)"),
            "1048721 entries of table 'g'; between 0 and 1048720 are allowed on 6 ranks");
  EXPECT_EQ(refusal("table t = 1, 3, 2\nrequire locate(t, 2) = 1"),
            "table 't' is searched but not ascending");
  EXPECT_EQ(refusal("table t[i in 0 .. 3] = 6 div (2 - i)"),
            "t[2] is undefined: a divisor that is not positive");
  EXPECT_EQ(refusal("table t[i in 0 .. 2] = 9223372036854775807\ntable u = prefix(t)"),
            "table 'u' overflows");
  EXPECT_EQ(refusal("table t[i in 0 .. 2] = i\ntable u = distinct(t)"),
            "table 'u': distinct() wants entries of at least 1");
}

TEST(Binding, SearchesAscendingTablesOnly) {
  const std::string falling = "table t[i in 0 .. 3] = 5 - i\n";
  EXPECT_EQ(refusal(falling + "let x = t[0]"), "bound");
  EXPECT_EQ(refusal(falling + "let x = locate(t, 2)"), "table 't' is searched but not ascending");
  EXPECT_EQ(refusal(falling + "table u = distinct(t)"), "table 't' is searched but not ascending");
}

TEST(Binding, WantsACountForEveryRank) {
  const std::string counts = "table m = counts";
  const std::string missing = "the program needs 6 counts for group 0; give them with --counts";
  EXPECT_EQ(refusal(counts), missing);
  EXPECT_EQ(refusal(counts, {{{1, 2, 3}}, {}, 0}),
            "3 counts are given for group 0, whose ranks are 6; give one a rank with --counts, as "
            "in 6x1024");
  EXPECT_EQ(refusal(counts, {{{1, 2, 3, 4, 5, -6}}, {}, 0}), "a count of -6; counts are 0 or more");
  EXPECT_EQ(refusal(counts, {{{1, 2, 3, 4, 5, 6}}, {}, 0}), "bound");
  EXPECT_EQ(refusal(counts, {{{1, 2, 3, 4, 5, kMaxCount}}, {}, 0}), "bound");
  EXPECT_EQ(refusal(counts, {{{1, 2, 3, 4, 5, kMaxCount + 1}}, {}, 0}),
            "a count of 1099511627777; counts are 1099511627776 at the most");
}

TEST(Binding, WantsOneCountOfAllRanksWhereThereIsOne) {
  const std::vector<Topology> nodes = {topology_of({2}), topology_of({1})};
  const auto error = [&](const std::string& purpose, const Call& call) {
    const Program program =
        parse_program("algorithm a for " + purpose + "\ntable m = counts\n", "one").value();
    const bool one = program.groups == 1;
    const auto binding =
        bind(program, {one ? std::vector<Topology>{nodes[0]} : nodes, {}}, call, 0);
    return binding.ok() ? "bound" : binding.error().message;
  };
  for (const std::string name : {"broadcast", "reduce", "allreduce", "scan", "exscan"}) {
    EXPECT_EQ(error(name, {{{3, 3}}, {}, 0}), "bound");
    EXPECT_EQ(error(name, {{{3, 4}}, {}, 0}),
              "counts of 3 and 4; of " + name + " all ranks have one count: give each the same");
  }
  EXPECT_EQ(error("allreduce between groups", {{{3, 3}, {3}}, {}, 0}), "bound");
  EXPECT_EQ(error("allreduce between groups", {{{3, 3}, {0}}, {}, 0}),
            "counts of 3 and 0; of allreduce all ranks have one count: give each the same");
  EXPECT_EQ(error("reduce-scatter", {{{3, 4}}, {}, 0}), "bound");
  EXPECT_EQ(error("allgather", {{{3, 4}}, {}, 0}), "bound");
}

TEST(Binding, BoundsTemporaryBlocks) {
  EXPECT_EQ(refusal("temporary 2*ranks blocks"), "bound");
  EXPECT_EQ(refusal("temporary ranks - 7 blocks"),
            "-1 temporary blocks; between 0 and 1048720 are allowed on 6 ranks");
}

TEST(Binding, TakesARootThatExists) {
  const Program rooted = program("", "broadcast");
  EXPECT_EQ(refusal(rooted, job_of({1, 2}), {{}, {}, 2}), "bound");
  for (const int64_t root : {-1, 3})
    EXPECT_EQ(refusal(rooted, job_of({1, 2}), {{}, {}, root}),
              "there is no rank " + std::to_string(root) +
                  " to be the root; give one of 0 to 2 with --root");
}

TEST(Binding, KnowsWhatAProgramDependsOn) {
  EXPECT_FALSE(uses_nodes(program("table m = counts")));
  EXPECT_TRUE(uses_nodes(program("table size = nodes")));
  EXPECT_TRUE(uses_counts(program("table m = counts")));
  EXPECT_FALSE(uses_counts(program("table size = nodes")));
}

}  // namespace quadrille::binding_test
