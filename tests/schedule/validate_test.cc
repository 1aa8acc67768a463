// Every rule of validate has a program that breaks this rule alone. These tests have the programs that no text can
// express, and the rules for many collectives. The other programs are in cases/texts.cases.
#include <gtest/gtest.h>

#include "schedule/program.h"
#include "schedule/text.h"
#include "tests/support/matches.h"

namespace quadrille::validate_test {

std::string refusal(const Program& program) {
  const Result<bool> valid = validate(program);
  return valid.ok() ? "valid" : valid.error().message;
}

// Returns the sentence with which the text reader refuses the text, or "valid". The reader validates the program.
std::string refusal_of_text(const std::string& text) {
  const Result<Program> program = parse_program(text, "f");
  if (program.ok()) return "valid";
  const std::string& message = program.error().message;
  const std::vector<Match> place = matches(message, "^f:[1-9][0-9]*:[1-9][0-9]*: ");
  return place.empty() ? message : "f: " + message.substr(place[0].groups[0].size());
}
Program small() {
  Program program;
  program.algorithm.text = "a";
  program.temporary_blocks = constant(0);
  program.parameters = {{{"p"}}};
  return program;
}

std::string with_let(const Expression& value) {
  Program program = small();
  program.body = {{Let{{"x"}, value}}};
  return refusal(program);
}

TEST(Validate, BoundsIndicesOfOperators) {
  EXPECT_EQ(with_let(leaf(Operator::kParameter, 0)), "valid");
  EXPECT_EQ(with_let(leaf(Operator::kParameter, 1)), "an unknown parameter");
  EXPECT_EQ(with_let(leaf(Operator::kParameter, -1)), "an unknown parameter");
  EXPECT_EQ(with_let(variable(0)), "a variable that is not in scope");
  EXPECT_EQ(with_let(variable(-1)), "a variable that is not in scope");
  for (const Operator op : {Operator::kElement, Operator::kLocate})
    EXPECT_EQ(with_let(apply(op, {constant(0)}, 0)), "a table that is not defined before its use");
  EXPECT_EQ(with_let(leaf(Operator::kLength, 0)), "a table that is not defined before its use");
}

TEST(Validate, CountsOperands) {
  EXPECT_EQ(with_let(apply(Operator::kAdd, {constant(1)})),
            "an operator with the wrong number of operands");
  EXPECT_EQ(with_let(apply(Operator::kRank, {constant(1)})),
            "an operator with the wrong number of operands");
  EXPECT_EQ(with_let(leaf(static_cast<Operator>(kOperatorCount))), "an unknown operator");
}

TEST(Validate, KeepsVariablesToTheirScope) {
  Program program = small();
  program.body = {{For{{"i"}, constant(0), constant(2), {{Let{{"x"}, variable(0)}}}}},
                  {Let{{"y"}, variable(0)}}};
  EXPECT_EQ(refusal(program), "a variable that is not in scope");
}

TEST(Validate, KnowsCountsWhereEveryRankDoes) {
  for (const std::string name : {"alltoall", "gather", "scatter"}) {
    const std::string article = name == "alltoall" ? "an all-to-all" : "a " + name;
    const std::string heading = "algorithm a for " + name + " between groups\n";
    for (const char* counts : {"table m = counts", "table m = remote_counts"})
      EXPECT_EQ(
          refusal_of_text(heading + counts),
          "f: a table of counts in " + article + ", where no rank knows how long all blocks are");
    EXPECT_EQ(
        refusal_of_text(heading + "copy send[0] to temp[0]@0..1"),
        "f: a part of a block in " + article + ", where no rank knows how long all blocks are");
    EXPECT_EQ(refusal_of_text(heading + "step 0\n  receive sized temp[0] from 1"), "valid");
  }
  for (const std::string name :
       {"allgather", "broadcast", "reduce", "allreduce", "reduce-scatter", "scan", "exscan"}) {
    const auto receive = [&](const std::string& what) {
      return refusal_of_text("algorithm f for " + name + "\ntable m = counts\nstep 0\n  receive " +
                             what);
    };
    EXPECT_THAT(receive("sized recv[0] from 1"),
                testing::HasSubstr(" " + name +
                                   ", where every rank knows how long all blocks are; "
                                   "leave out 'sized'"));
    const std::string unknown =
        "f: a whole temporary block is received, and its receiver does not know how long it is; "
        "name a range, temp[i]@0..n, or combine";
    EXPECT_EQ(receive("temp[0] from 1"), unknown);
    EXPECT_EQ(receive("from 1\n    recv[0]\n    temp[0]"), unknown);
    EXPECT_EQ(receive("temp[0]@0..m[0] from 1"), "valid");
    EXPECT_EQ(receive("recv[0] from 1"), "valid");
    EXPECT_EQ(refusal_of_text("algorithm f for " + name + "\nstep 0\n  send temp[0] to 1"),
              "valid");
  }
  EXPECT_EQ(refusal_of_text("algorithm f for reduce\nstep 0\n  receive left temp[0] from 1"),
            "valid");
}

TEST(Validate, MovesNothingInABarrier) {
  for (const char* groups : {"", " between groups"}) {
    const auto barrier = [&](const std::string& text) {
      return refusal_of_text("algorithm f for barrier" + std::string(groups) + "\n" + text);
    };
    EXPECT_EQ(barrier("step 0\n  send nothing to 1\n  receive nothing from 1"), "valid");
    for (const char* text : {"copy send[0] to recv[0]", "step 0\n  send temp[0] to 1",
                             "step 0\n  receive from 1\n    for i in 0 .. 2\n      recv[i]"})
      EXPECT_EQ(barrier(text), "f: a block in a barrier, which moves nothing");
    EXPECT_EQ(barrier("table m = counts"),
              "f: a table of counts in a barrier, which moves nothing");
    EXPECT_THAT(barrier("step 0\n  send sized nothing to 1"),
                testing::HasSubstr("a sized message in a barrier"));
  }
}

TEST(Validate, KnowsProgramsOfOneGroupAndOfTwo) {
  Program program = small();
  program.groups = 3;
  EXPECT_EQ(refusal(program), "a program is for 1 or 2 groups");
}

TEST(Validate, MakesTablesFromEarlierOnes) {
  Program program = small();
  program.tables.resize(1);
  for (const TableKind kind : {TableKind::kPrefix, TableKind::kDistinct, TableKind::kGreatest})
    for (const int64_t source : {0, 1, -1}) {
      program.tables[0].kind = kind;
      program.tables[0].source = source;
      EXPECT_EQ(refusal(program), "a table is made from a later table");
    }
}

TEST(Validate, BoundsTheLiteralsOfATable) {
  Program program = small();
  program.tables.resize(1);
  program.tables[0].kind = TableKind::kLiteral;
  EXPECT_EQ(refusal(program), "a table of numbers without numbers");
  program.tables[0].entries.resize(kMaxLiterals + 1);
  EXPECT_EQ(refusal(program), "a table of more than 256 numbers");
  program.tables[0].entries.resize(kMaxLiterals);
  EXPECT_TRUE(validate(program).ok());
}

}  // namespace quadrille::validate_test
