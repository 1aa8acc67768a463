// Properties that every entry of the registry has.
#include "generator/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace quadrille::registry_test {

TEST(Registry, FindsEveryAlgorithmByItsNameAndNoOther) {
  for (const Algorithm& algorithm : algorithms())
    EXPECT_EQ(find_algorithm(algorithm.collective, algorithm.name, algorithm.groups), &algorithm);
  EXPECT_EQ(find_algorithm(Collective::kAlltoall, "factory"), nullptr);
  EXPECT_EQ(find_algorithm(Collective::kAllgather, "factor"), nullptr);
  EXPECT_EQ(find_algorithm(Collective::kAlltoall, "tuna", 2), nullptr);
  EXPECT_EQ(find_algorithm(Collective::kAlltoall, "direct"), nullptr);
}

TEST(Registry, SaysWhatUsersAskOfAnAlgorithm) {
  for (const Algorithm& algorithm : algorithms()) {
    const Opening says = opening_of(algorithm);
    for (const std::string& words : {says.idea, says.use, says.source, says.cost, says.needs})
      EXPECT_FALSE(words.empty()) << algorithm.name;
    for (const Option& option : algorithm.options) {
      EXPECT_GE(option.values.size(), 2u) << algorithm.name << " " << option.name;
      for (const std::string& value : option.values)
        EXPECT_THAT(option.help, testing::HasSubstr(value + ": ")) << algorithm.name;
    }
  }
}

TEST(Registry, NamesEveryProgramDifferently) {
  std::set<std::string> names;
  size_t programs = 0;
  for (const Algorithm& algorithm : algorithms())
    for (const Choices& choices : all_choices(algorithm)) {
      const Program program = make_program(algorithm, choices);
      EXPECT_EQ(program.algorithm.text, full_name(algorithm, choices));
      EXPECT_EQ(program.collective, algorithm.collective);
      EXPECT_EQ(program.groups, algorithm.groups);
      names.insert(purpose_of(algorithm.collective, algorithm.groups) + program.algorithm.text);
      ++programs;
    }
  EXPECT_EQ(names.size(), programs);
}

TEST(Registry, TakesTheFirstValueOfAnOptionForItsDefault) {
  const Algorithm& algorithm = *find_algorithm(Collective::kAlltoall, "hierarchical-factor");
  EXPECT_EQ(all_choices(algorithm).size(), 8u);
  EXPECT_EQ(
      full_name(algorithm, {{"self-loops", "keep"}, {"intra", "one-way"}, {"pacing", "free"}}),
      "hierarchical-factor");
  EXPECT_EQ(
      full_name(algorithm, {{"self-loops", "drop"}, {"intra", "one-way"}, {"pacing", "token"}}),
      "hierarchical-factor+drop+token");
}

}  // namespace quadrille::registry_test
