// The text form: what is printed reads back as the same program, and every malformed text is
// refused where it goes wrong.
#include "schedule/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "tests/schedule/random_expressions.h"
#include "tests/support/programs.h"

namespace quadrille {
namespace {

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

TEST(Text, ReadsBackEveryShapeThatItPrints) {
  for (const std::string& name : shape_names()) expect_round_trip(shape(name));
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
        "wrap(rank - 1, ranks)", "min(rank, max(2, ranks))", "-1*rank", "(rank < 1 ? 2 : 3) + 1"})
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

struct Refusal {
  const char* text;     // after the heading, which is line 1
  const char* message;  // line, column, and what is wrong
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithItsPlaceAndWhatToDo) {
  const Result<Program> program =
      parse_program(std::string("algorithm a for alltoall\n") + GetParam().text, "f.txt");
  ASSERT_FALSE(program.ok()) << GetParam().text;
  EXPECT_EQ(program.error().message, std::string("f.txt:") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Words, Refused,
    testing::Values(
        Refusal{"let x = 1 $ 2", "2:11: '$ 2' is no part of the language; see docs/language.md"},
        Refusal{"let x = 9223372036854775808", "2:9: 9223372036854775808 has more than 64 bits"},
        Refusal{"let x = 9223372036854775809",
                "2:9: '922337203685' is no part of the language; see docs/language.md"},
        Refusal{"let x = 1a", "2:9: '1a' is no part of the language; see docs/language.md"},
        Refusal{"\tlet x = 1",
                "2:1: '\tlet x = 1' is no part of the language; see docs/language.md"},
        Refusal{"let", "2:4: expected a name before the end of the line"},
        Refusal{"let 3 = 1", "2:5: expected a name before '3'"},
        Refusal{"let rank = 1", "2:5: 'rank' is a word of the language; choose another name"},
        Refusal{"let x 1", "2:7: expected '=' before '1'"},
        Refusal{"let x = 1 2", "2:11: '2' is left over; a statement ends before it"},
        Refusal{"jump", "2:1: 'jump' does not start a statement; see docs/language.md"},
        Refusal{"else", "2:1: 'else' does not start a statement; see docs/language.md"}));

INSTANTIATE_TEST_SUITE_P(
    Expressions, Refused,
    testing::Values(
        Refusal{"let x =", "2:8: a value is wanted before the end of the line"},
        Refusal{"let x = * 2", "2:9: '*' stands where a value is wanted"},
        Refusal{"let x = (1", "2:11: expected ')' before the end of the line"},
        Refusal{"let x = y",
                "2:9: 'y' is not defined here; name a variable in scope or a parameter"},
        Refusal{"let x = f(1)",
                "2:9: 'f' is not a function; there are min, max, wrap, length and locate"},
        Refusal{"let x = min(1)", "2:14: min() takes two operands"},
        Refusal{"let x = t[1]", "2:10: 't' is not a table; declare it with 'table'"},
        Refusal{"let x = locate(t, 1)", "2:16: 't' is not a table; declare it with 'table'"},
        Refusal{"let x = 1 < 2 ? 3", "2:18: expected ':' before the end of the line"}));

INSTANTIATE_TEST_SUITE_P(
    Declarations, Refused,
    testing::Values(
        Refusal{"port both per rank", "2:6: a port is 'exchange' or 'one+one'"},
        Refusal{"port exchange per job", "2:19: expected 'rank' before 'job'"},
        Refusal{"table t = sums(nodes)",
                "2:11: 'sums' does not make a table; write one of nodes, remote_nodes, counts, "
                "remote_counts, prefix, distinct, powers"},
        Refusal{"table t = prefix(u)", "2:18: 'u' is not a table; declare it with 'table'"},
        Refusal{"table t[i in 1 .. 3] = i", "2:14: the index of a table starts at 0"},
        Refusal{"parameter p at start", "2:16: expected 'call' before 'start'"},
        Refusal{"parameter p\ntable p = nodes", "3:7: 'p' is declared twice"},
        Refusal{"temporary 3 blocks\ntemporary 4 blocks", "3:1: 'temporary' is declared twice"},
        Refusal{"temporary 3", "2:12: expected 'blocks' before the end of the line"}));

INSTANTIATE_TEST_SUITE_P(
    Statements, Refused,
    testing::Values(
        Refusal{"for i in 0 to 3", "2:12: expected '..' before 'to'"},
        Refusal{"step 1\n    send send[0] to 1\n  send send[0] to 1",
                "4:3: indented unlike the statements before it"},
        Refusal{"step 1\n  send send[0] from 1", "3:16: expected 'to' before 'from'"},
        Refusal{"step 1\n  receive buffer[0] from 1", "3:11: 'buffer' is not send, recv or temp"},
        Refusal{"step 1\n  send send[0]@1 to 1", "3:18: expected '..' before 'to'"},
        Refusal{"copy send[0]", "2:13: expected 'to' before the end of the line"},
        Refusal{"reduce up recv[0] into recv[1]", "2:8: expected 'left' before 'up'"},
        Refusal{"let x = 1\n  let y = 2", "3:3: indented unlike the statements before it"},
        Refusal{"step 1\n  receive up recv[0] from 1", "3:11: 'up' is not send, recv or temp"},
        Refusal{"step 1\n  receive left recv[0] to 1", "3:24: expected 'from' before 'to'"}));

INSTANTIATE_TEST_SUITE_P(
    Meaning, Refused,
    testing::Values(
        Refusal{"let x = rank < 1", "2:1: a condition stands where a number is wanted"},
        Refusal{"let x = 1\nif rank < 2\n  if x\n    let y = 1\nif x\n  let z = 1",
                "4:3: a number stands where a condition is wanted"},
        Refusal{"let x = 1; send send[0] to 1", "2:12: a message outside a step"},
        Refusal{"step 1\n  send send[1] to 1\n  step 2", "4:3: a step inside a step"},
        Refusal{"step 1\n  send send[1 < 2] to 1\n  send send[1] to 1",
                "3:3: a condition stands where a number is wanted"},
        Refusal{"step 1\n  send send[1] to 1\n  send to 2\n    send[1]\n    send[1 < 2]",
                "6:5: a condition stands where a number is wanted"},
        Refusal{"copy recv[0] to send[0]", "2:1: a copy into the send buffer"},
        Refusal{"parameter p\nrequire 1 < p\nrequire p",
                "4:1: a number stands where a condition is wanted"},
        Refusal{"table a = nodes\ntable b = remote_nodes",
                "3:1: a remote table in a program for one group"},
        Refusal{"temporary 3 < 4 blocks", "2:1: a condition stands where a number is wanted"},
        Refusal{"let x = root", "2:1: 'root' in a collective without a root"}));

INSTANTIATE_TEST_SUITE_P(
    Limits, Refused,
    testing::Values(
        Refusal{"let a123456789b123456789c123456789d123456789e123456789f123456789g123 = 1",
                "2:5: a name has at most 63 letters; this one has 64"},
        Refusal{"parameter a\nparameter b\nparameter c\nparameter d\nparameter e\nparameter f\n"
                "parameter g\nparameter h\nparameter i\nparameter j\nparameter k\nparameter l\n"
                "parameter m\nparameter n\nparameter o\nparameter p\nparameter q",
                "1:1: more than 16 parameters"}));

TEST(Text, RefusesBadHeadings) {
  const auto refusal = [](const std::string& text) {
    const Result<Program> program = parse_program(text, "f");
    return program.ok() ? "accepted" : program.error().message;
  };
  EXPECT_EQ(refusal(""), "f: no program in it");
  EXPECT_EQ(refusal("-- only this\n"), "f: no program in it");
  EXPECT_EQ(refusal("program a"), "f:1:1: expected 'algorithm' before 'program'");
  EXPECT_EQ(refusal("algorithm _a for alltoall"),
            "f:1:11: the name of an algorithm starts and ends with a letter or a digit");
  EXPECT_EQ(refusal("algorithm a- for alltoall"), "f:1:18: expected 'for' before 'alltoall'");
  EXPECT_EQ(refusal("algorithm a for everything"),
            "f:1:17: 'everything' is not a collective; choose one of alltoall, allgather, "
            "broadcast, gather, scatter, reduce, allreduce, reduce-scatter, scan, exscan, barrier");
  EXPECT_EQ(refusal("algorithm a for alltoall between friends"),
            "f:1:34: expected 'groups' before 'friends'");
}

TEST(Text, LimitsTheWordsOfAStatement) {
  std::string sum = "algorithm a for alltoall\nlet x = 1";
  for (int i = 0; i < 600; ++i) sum += "+1";
  const Result<Program> program = parse_program(sum, "f");
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().message,
              testing::HasSubstr("more than 1000 words in a statement; split it with let"));
}

}  // namespace
}  // namespace quadrille
