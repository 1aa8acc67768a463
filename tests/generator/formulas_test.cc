// Formulas for the numbers of schedules for any nodes stay in bounds for every job. Their flag makes them again.
#include "generator/formulas.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/encode.h"
#include "schedule/text.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille::formulas_test {

using testing::HasSubstr;

// Returns the value that the algorithm's first number has on nodes of these sizes.
int64_t value(const std::string& name, const std::string& text, const std::vector<int64_t>& sizes) {
  const Variant& variant = variant_named(Collective::kAlltoall, name);
  const Job job = job_for_any_nodes(variant, text);
  return on_nodes(variant.program, job, {topology_of(sizes)}).value().parameters[0];
}

std::string refusal(const std::string& name, const std::string& text) {
  const Variant& variant = variant_named(Collective::kAlltoall, name);
  const auto formula = read_formula(variant.algorithm->numbers[0], text, variant.program);
  return formula.ok() ? "taken" : formula.error().message;
}

TEST(Formulas, ARadixIsNeverMoreThanTheRanksNorLessThanTwo) {
  EXPECT_EQ(value("tuna", "8", {9}), 8);
  EXPECT_EQ(value("tuna", "8", {8}), 8);
  EXPECT_EQ(value("tuna", "8", {4}), 4);
  EXPECT_EQ(value("tuna", "8", {1}), 2);
  EXPECT_EQ(value("tuna", "", {1}), 2);
  EXPECT_EQ(value("tuna", "ranks div 2", {2}), 2);
  EXPECT_EQ(value("tuna", "ranks*ranks", {3}), 3);
  EXPECT_EQ(value("tuna-coalesced", "size[length(size) - 1]", {1, 5, 2}), 5);
}

TEST(Formulas, OtherNumbersAreNeverLessThanTheLeastOfTheirKind) {
  EXPECT_EQ(value("scattered", "1000", {4}), 1000);
  EXPECT_EQ(value("scattered", "ranks div 8", {4}), 1);
  EXPECT_EQ(value("scattered", "ranks div 8", {32}), 4);
  EXPECT_EQ(value("hierarchical-overlapped", "length(size) - 2", {3}), 0);
  EXPECT_EQ(value("hierarchical-overlapped", "length(size) - 2", {1, 1, 1}), 1);
}

// tuna's radix depends on the number of ranks, tuna-coalesced's on the size of the largest node.
TEST(Formulas, TheRootIsTheLeastPowerOfTwoWhoseSquareIsNoLess) {
  for (int64_t ranks = 1; ranks <= 300; ++ranks) {
    int64_t root = 2;
    while (root * root < ranks) root *= 2;
    EXPECT_EQ(value("tuna", "sqrt", {ranks}), root) << ranks;
    EXPECT_EQ(value("tuna-coalesced", "sqrt", {1, ranks, 1}), root) << ranks;
  }
  EXPECT_EQ(value("tuna", "sqrt", {16384}), 128);
  EXPECT_EQ(value("tuna", "sqrt", {16385}), 256);
  EXPECT_EQ(value("tuna", "sqrt", {1 << 20}), 256);
}

TEST(Formulas, BetweenGroupsTheyAreNumbers) {
  const Program between =
      parse_program("algorithm a for alltoall between groups\nparameter radix\n", "test").value();
  const Number radix{"radix", 3, NumberKind::kRadix, ""};
  EXPECT_EQ(read_formula(radix, "", between).value(), constant(3));
  EXPECT_EQ(read_formula(radix, "80", between).value(), constant(80));
  EXPECT_EQ(formula_flag(radix, between, constant(80)), " --radix 80");
  EXPECT_EQ(read_formula(radix, "1", between).error().message,
            "--radix: 1 is less than 2, the least that there is");
  for (const char* text : {"ranks", "sqrt", "ranks div 2"})
    EXPECT_THAT(read_formula(radix, text, between).error().message,
                HasSubstr("--radix: a parameter of a program between groups is a number"));
}

TEST(Formulas, WhateverTheNodesAreTheProgramTakesThem) {
  for (const Variant& variant : variants()) {
    if (!variant.algorithm->proof) continue;
    for (const char* text : {"", "8", "ranks - 3", "sqrt"}) {
      const Job any = job_for_any_nodes(variant, text);
      for (const std::vector<int64_t>& sizes : all_node_vectors(5)) {
        // There is no job if the algorithm accepts no number on these nodes.
        for (const Job& given : jobs_on(variant, sizes)) {
          const Job job = on_nodes(variant.program, any, given.groups).value();
          const auto bound = bind(variant.program, job, plain_call(variant.program, job), 0);
          EXPECT_TRUE(bound.ok()) << variant.name << " on " << topology_of(sizes).text() << ": "
                                  << bound.error().message;
        }
      }
    }
  }
}

TEST(Formulas, AreToldByTheFlagThatMakesThem) {
  for (const char* name : {"tuna", "scattered", "hierarchical-overlapped", "tuna-coalesced"})
    for (const char* text : {"3", "100", "ranks div 2", "ranks <= 4 ? 2 : 3"}) {
      const Variant& variant = variant_named(Collective::kAlltoall, name);
      const Number& number = variant.algorithm->numbers[0];
      const Expression formula = read_formula(number, text, variant.program).value();
      const bool is_number = std::isdigit(static_cast<unsigned char>(text[0])) != 0;
      EXPECT_EQ(formula_flag(number, variant.program, formula),
                is_number ? fmt::format(" {} {}", flag_of(number.name), text)
                          : fmt::format(" {} '{}'", flag_of(number.name), text));
    }
  for (const char* name : {"tuna", "tuna-coalesced"}) {
    const Variant& variant = variant_named(Collective::kAlltoall, name);
    const Number& number = variant.algorithm->numbers[0];
    const auto flag = [&](const std::string& text) {
      return formula_flag(number, variant.program,
                          read_formula(number, text, variant.program).value());
    };
    EXPECT_EQ(flag("sqrt"), " --radix sqrt");
    EXPECT_EQ(flag(""), "");
    EXPECT_EQ(flag("2"), "");
  }
}

TEST(Formulas, ThatAreNoneAreRefused) {
  EXPECT_EQ(refusal("tuna", "1"), "--radix: 1 is less than 2, the least that there is");
  EXPECT_EQ(refusal("scattered", "0"), "--block-count: 0 is less than 1, the least that there is");
  EXPECT_THAT(refusal("scattered", "sqrt"), HasSubstr("--block-count:1:"));
  EXPECT_THAT(refusal("tuna", "size[0]"), HasSubstr("--radix:1:"));
  EXPECT_THAT(refusal("tuna", "8x"), HasSubstr("--radix:1:"));
  EXPECT_THAT(refusal("tuna", "99999999999999999999"), HasSubstr("--radix:1:"));
}

TEST(Formulas, AJobSaysInWordsWhatIsRequiredOfTheRanksAlone) {
  EXPECT_EQ(job_for_any_nodes(variant_named(Collective::kAlltoall, "xor")).needs,
            "a power of two of ranks");
  EXPECT_EQ(job_for_any_nodes(variant_named(Collective::kAlltoall, "factor-even")).needs,
            "an even number of ranks");
  EXPECT_EQ(job_for_any_nodes(variant_named(Collective::kAlltoall, "tuna")).needs, "");
  EXPECT_EQ(job_for_any_nodes(variant_named(Collective::kAlltoall, "factor")).needs, "");
}

// A file for any nodes is no longer than one for given nodes, apart from the words that say what it needs.
TEST(Formulas, AFileForAnyNodesIsNoLongerThanOneForAFew) {
  for (const Variant& variant : variants()) {
    if (!variant.algorithm->proof) continue;
    const Job any = job_for_any_nodes(variant);
    const std::vector<Job> given = jobs_on(variant, {1, 1, 2, 4});
    if (given.empty()) continue;
    EXPECT_LE(encode(variant.program, any).size(),
              encode(variant.program, given[0]).size() + (any.needs.empty() ? 0 : 32))
        << variant.name;
  }
}

}  // namespace quadrille::formulas_test
