// Jobs for any nodes: which formulas are accepted, their values on given nodes, and the refusals.
#include "schedule/any_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/text.h"
#include "tests/support/topologies.h"

namespace quadrille::any_nodes_test {

using testing::HasSubstr;

Program program(const std::string& declarations = "") {
  const std::string heading =
      "algorithm a for alltoall\nparameter r\nparameter B at call\n"
      "table size = nodes\ntable base = prefix(size)\ntable pow = powers(r, ranks)\n";
  return parse_program(heading + declarations, "test").value();
}

Job job(const std::string& formula) {
  return {{}, {0, 7}, {}, {parse_formula(formula, program(), "--r").value(), {}}};
}

int64_t value(const std::string& formula, const std::vector<int64_t>& sizes) {
  return on_nodes(program(), job(formula), {topology_of(sizes)}).value().parameters[0];
}

std::string parse_refusal(const std::string& formula) {
  const Result<Expression> parsed = parse_formula(formula, program(), "--r");
  return parsed.ok() ? "taken" : parsed.error().message;
}

std::string refusal(const Job& job, const std::vector<int64_t>& sizes) {
  const Result<Job> placed = on_nodes(program(), job, {topology_of(sizes)});
  return placed.ok() ? "taken" : placed.error().message;
}

TEST(AnyNodes, AFormulaIsEvaluatedWithRanksAndNodeSizes) {
  EXPECT_EQ(value("3", {1, 2}), 3);
  EXPECT_EQ(value("ranks", {3, 1, 2}), 6);
  EXPECT_EQ(value("max(2, min(8, ranks))", {1, 1, 2}), 4);
  EXPECT_EQ(value("length(size)", {3, 1, 2}), 3);
  EXPECT_EQ(value("size[length(size) - 1]", {3, 1, 2}), 3);
  EXPECT_EQ(value("size[0]", {3, 1, 2}), 1);
  EXPECT_EQ(value("locate(size, 2)", {3, 1, 2}), 1);
  EXPECT_EQ(value("ranks <= 4 ? 2 : 4", {4}), 2);
  EXPECT_EQ(value("ranks <= 4 ? 2 : 4", {5}), 4);
}

TEST(AnyNodes, OneJobIsPutOnNodesOfAllKinds) {
  const Job any = job("ranks div length(size)");
  for (const std::vector<int64_t>& sizes : all_node_vectors(6)) {
    const Result<Job> placed = on_nodes(program(), any, {topology_of(sizes)});
    ASSERT_TRUE(placed.ok());
    EXPECT_FALSE(serves_any_nodes(*placed));
    EXPECT_EQ(placed->groups, std::vector<Topology>{topology_of(sizes)});
    EXPECT_EQ(placed->parameters[0], topology_of(sizes).ranks() / topology_of(sizes).nodes());
    EXPECT_EQ(placed->parameters[1], 7);
  }
  EXPECT_TRUE(serves_any_nodes(any));
}

TEST(AnyNodes, AFormulaDependsOnNothingElse) {
  EXPECT_THAT(parse_refusal("rank"), HasSubstr("'rank' in a declaration, which means the same"));
  for (const char* formula : {"base[1]", "pow[0]", "length(base)", "1 + group"})
    EXPECT_THAT(parse_refusal(formula),
                HasSubstr("--r: a parameter depends on numbers, 'ranks' and node sizes alone"))
        << formula;
  EXPECT_EQ(parse_refusal("ranks + size[0]"), "taken");
  EXPECT_THAT(parse_refusal("r + 1"), HasSubstr("'r'"));
  EXPECT_THAT(parse_refusal("ranks <"), HasSubstr("--r:1:"));
  EXPECT_THAT(parse_refusal("1 2"), HasSubstr("--r:1:"));
  EXPECT_THAT(parse_refusal("1\n2"), HasSubstr("--r: '1\n2' is not one expression"));
  EXPECT_THAT(parse_refusal(" "), HasSubstr("is not one expression"));
  EXPECT_THAT(parse_refusal("ranks < 3"), HasSubstr("a condition stands where a number is wanted"));
  EXPECT_THAT(parse_refusal("root"), HasSubstr("'root' in a collective without a root"));
}

// A formula would have a different value in each group.
TEST(AnyNodes, BetweenGroupsAFormulaIsANumber) {
  const Program between = parse_program(
                              "algorithm a for alltoall between groups\nparameter r\n"
                              "table size = nodes\n",
                              "test")
                              .value();
  for (const char* formula : {"ranks", "1 + 2", "size[0]", "remote_ranks"})
    EXPECT_THAT(parse_formula(formula, between, "--r").error().message,
                HasSubstr("--r: a parameter of a program between groups is a number"))
        << formula;
  Job any{{}, {0}, {}, {parse_formula("7", between, "--r").value()}};
  const std::vector<Topology> groups = {topology_of({1, 2}), topology_of({4})};
  const Job placed = on_nodes(between, any, groups).value();
  EXPECT_EQ(placed.groups, groups);
  EXPECT_EQ(placed.parameters[0], 7);
  any.most_ranks = 3;
  EXPECT_EQ(on_nodes(between, any, groups).error().message,
            "a is proven for up to 3 ranks, and nodes 4 have 4");
}

TEST(AnyNodes, ASpelledFormulaComesBackFromItsText) {
  for (const char* formula : {"max(2, min(8, ranks))", "size[length(size) - 1] div 2"})
    EXPECT_EQ(formula_text(program(), parse_formula(formula, program(), "--r").value()), formula);
}

TEST(AnyNodes, AFormulaWithoutAValueThereIsRefused) {
  EXPECT_EQ(refusal(job("10 div (ranks - 3)"), {4}), "taken");
  EXPECT_EQ(refusal(job("10 div (ranks - 3)"), {1, 2}),
            "r = 10 div (ranks - 3) has no value on nodes 1,2: a divisor that is not positive");
  EXPECT_THAT(refusal(job("size[2]"), {1, 2}), HasSubstr("an index outside its table"));
}

TEST(AnyNodes, MoreRanksThanTheJobServesAreRefused) {
  Job any = job("2");
  any.most_ranks = 4;
  EXPECT_EQ(refusal(any, {2, 2}), "taken");
  EXPECT_EQ(refusal(any, {2, 3}), "a is proven for up to 4 ranks, and nodes 2,3 have 5");
}

TEST(AnyNodes, AFormulaMayLackAValueOnSomeNodes) {
  const auto always = [](const std::string& formula) {
    return has_value_on_all_nodes(parse_formula(formula, program(), "--r").value());
  };
  for (const char* formula :
       {"8", "ranks", "max(2, min(8, ranks))", "ranks div 2", "ranks mod length(size)", "size[0]",
        "size[length(size) - 1] div 2", "ranks*ranks", "ranks < 4 ? 2 : ranks - 3",
        "8 div (1 + locate(size, ranks) + 1)"})
    EXPECT_TRUE(always(formula)) << formula;
  for (const char* formula :
       {"ranks div 0", "8 mod 0", "ranks div (ranks - 1)", "8 div (ranks - 2)", "size[5]",
        "size[ranks - 1]", "ranks*ranks*ranks*ranks*ranks", "size[0] mod (1 - ranks)"})
    EXPECT_FALSE(always(formula)) << formula;
}

}  // namespace quadrille::any_nodes_test
