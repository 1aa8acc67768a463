// The text form: a printed program reads back unchanged, and each malformed text is refused where its error is
// (cases/texts.cases).
#include "schedule/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "tests/schedule/random_expressions.h"
#include "tests/support/cases.h"

namespace quadrille::text_test {

void expect_round_trip(const Program& program) {
  const std::string text = print(program);
  const Result<Program> again = parse_program(text, "printed");
  ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
  EXPECT_EQ(*again, program) << text;
  EXPECT_EQ(names(*again), names(program)) << text;
  EXPECT_EQ(print(*again), text);
}

TEST(Text, ReadsBackEveryAlgorithmThatItPrints) {
  int programs = 0;
  for (const Algorithm& algorithm : algorithms())
    for (const Choices& choices : all_choices(algorithm)) {
      expect_round_trip(make_program(algorithm, choices));
      ++programs;
    }
  EXPECT_GE(programs, 22);
}

TEST(Text, ReadsBackTheExtremeNumbers) {
  Program program = program_around_expressions();
  for (const int64_t value : {INT64_MIN, INT64_MIN + 1, int64_t{-1}, int64_t{0}, INT64_MAX})
    for (const Operator op : {Operator::kSubtract, Operator::kMultiply})
      program.requirements.push_back(
          apply(Operator::kLess, {apply(op, {leaf(Operator::kRanks), constant(value)}),
                                  apply(op, {constant(value), leaf(Operator::kRanks)})}));
  expect_round_trip(program);
}

PROPERTY(Text, ReadsBackRandomExpressions) {
  Program program = program_around_expressions();
  program.body = {{Let{{"x"}, constant(1)}},
                  {Let{{"y"}, constant(2)}},
                  {If{random_condition(4), {{Let{{"z"}, random_number(4)}}}, {}}}};
  REQUIRE(validate(program).ok());
  const Result<Program> again = parse_program(print(program), "printed");
  REQUIRE(again.ok());
  REQUIRE(*again == program);
}

TEST(Text, PutsParenthesesWherePrecedenceAsksForThemOnly) {
  const auto printed = [](const std::string& expression) {
    const Program program =
        parse_program("algorithm a for alltoall\nlet x = " + expression, "text").value();
    const std::string text = print(program);
    const size_t start = text.find("let x = ") + 8;
    return text.substr(start, text.find('\n', start) - start);
  };
  for (const char* kept :
       {"rank + 1 - ranks", "rank - (1 - ranks)", "(rank + 1)*2", "rank*2 + 1", "rank div 2 mod 3",
        "rank div (2 mod 3)", "rank xor 1", "rank < 1 ? 2 : rank = 3 and 4 <= rank ? 5 : 6",
        "rank = 1 or rank = 2 and ranks = 4 or rank = 3 ? 1 : 2",
        "(rank = 1 or rank = 2) and ranks = 4 ? 1 : 2",
        "rank = 1 or (rank = 2 or rank = 3) ? 1 : 2", "wrap(rank - 1, ranks)",
        "min(rank, max(2, ranks))", "-1*rank", "(rank < 1 ? 2 : 3) + 1"})
    EXPECT_EQ(printed(kept), kept);
  EXPECT_EQ(printed("((rank)+(1))"), "rank + 1");
  EXPECT_EQ(printed("3 > rank ? 1 : 0"), "rank < 3 ? 1 : 0");
}

TEST(Text, TakesSemicolonsForLinesAndSkipsComments) {
  const auto parsed = [](const std::string& body) {
    return parse_program("algorithm a for alltoall\n" + body, "text").value();
  };
  EXPECT_EQ(parsed("let x = 1;  let y = x\n"), parsed("let x = 1 -- one\n\n-- two\nlet y = x\r\n"));
}

// Returns "valid", or the place and the sentence of the refusal.
std::string answer_to(const std::string& text) {
  const Result<Program> program = parse_program(text, "f");
  if (program.ok()) return "valid";
  EXPECT_TRUE(program.error().message.starts_with("f:")) << program.error().message;
  return program.error().message.substr(program.error().message.starts_with("f: ") ? 3 : 2);
}

TEST(Text, IsRefusedWithItsPlaceAndWhatToDo) {
  const std::vector<TextCase> cases = read_cases("tests/schedule/cases");
  for (const TextCase& one : cases)
    for (const auto& [key, value] : one.expectations) {
      ASSERT_TRUE(key == "valid" || key == "refused") << one.title;
      EXPECT_EQ(answer_to(one.program), key == "valid" ? "valid" : value) << one.title;
    }
  EXPECT_GE(cases.size(), 108u);
  EXPECT_EQ(answer_to(""), "no program in it");
}

TEST(Text, LimitsTheWordsOfAStatement) {
  std::string sum = "algorithm a for alltoall\nlet x = 1";
  for (int i = 0; i < 600; ++i) sum += "+1";
  const Result<Program> program = parse_program(sum, "f");
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().message,
              testing::HasSubstr("more than 1000 words in a statement; split it with let"));
}

}  // namespace quadrille::text_test
