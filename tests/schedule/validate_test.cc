// Every rule of validate has a program that only this rule refuses.
#include <gtest/gtest.h>

#include <regex>

#include "schedule/program.h"
#include "schedule/text.h"

namespace quadrille {
namespace {

std::string refusal(const Program& program) {
  const Result<bool> valid = validate(program);
  return valid.ok() ? "valid" : valid.error().message;
}

// What the text form's reader, which validates, says of a program; text_test.cc asks for the place.
std::string refusal_of_text(const std::string& text) {
  const Result<Program> program = parse_program(text, "f");
  if (program.ok()) return "valid";
  return std::regex_replace(program.error().message, std::regex("^f:[1-9][0-9]*:[1-9][0-9]*: "),
                            "f: ");
}
std::string in_alltoall(const std::string& body) {
  return refusal_of_text("algorithm a for alltoall\n" + body);
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

TEST(Validate, TypesExpressions) {
  EXPECT_EQ(in_alltoall("let x = rank < 1"), "f: a condition stands where a number is wanted");
  EXPECT_EQ(in_alltoall("if rank\n  let x = 1"), "f: a number stands where a condition is wanted");
  EXPECT_EQ(in_alltoall("require 1"), "f: a number stands where a condition is wanted");
  EXPECT_EQ(in_alltoall("let x = (rank < 1) + 1"),
            "f: an operator on numbers is given a condition");
  EXPECT_EQ(in_alltoall("if rank and rank < 1\n  let x = 1"), "f: 'and' joins conditions");
  EXPECT_EQ(in_alltoall("let x = rank ? 1 : 2"), "f: 'c ? a : b' wants a condition c");
  EXPECT_EQ(in_alltoall("let x = rank < 1 ? 1 : rank < 2"),
            "f: 'c ? a : b' wants a and b of one type");
}

TEST(Validate, ADeclarationDependsOnNoRank) {
  for (const char* text :
       {"require rank < 2", "table t = powers(2, rank)", "table t[i in 0 .. rank] = i",
        "table t[i in 0 .. 3] = i + rank", "temporary rank blocks"})
    EXPECT_EQ(in_alltoall(text), "f: 'rank' in a declaration, which means the same at all ranks");
  EXPECT_EQ(in_alltoall("require ranks < 2\nlet x = rank"), "valid");
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

TEST(Validate, LimitsDepth) {
  Expression deep = constant(1);
  for (int i = 0; i < kMaxDepth; ++i) deep = apply(Operator::kAdd, {deep, constant(1)});
  EXPECT_EQ(with_let(deep), "valid");
  EXPECT_EQ(with_let(apply(Operator::kAdd, {deep, constant(1)})),
            "an expression deeper than 40 operators");

  Program program = small();
  for (int i = 0; i < kMaxDepth - 1; ++i)
    program.body = {{If{apply(Operator::kLess, {constant(0), constant(1)}), program.body, {}}}};
  EXPECT_EQ(refusal(program), "valid");
  program.body = {{If{apply(Operator::kLess, {constant(0), constant(1)}), program.body, {}}}};
  program.body = {{If{apply(Operator::kLess, {constant(0), constant(1)}), program.body, {}}}};
  EXPECT_EQ(refusal(program), "statements deeper than 40");
}

TEST(Validate, LimitsVariablesTablesAndParameters) {
  Program program = small();
  for (int i = 0; i < kMaxVariables; ++i) program.body.push_back({Let{{"x"}, constant(i)}});
  EXPECT_EQ(refusal(program), "valid");
  program.body.push_back({Let{{"x"}, constant(0)}});
  EXPECT_EQ(refusal(program), "more than 48 variables in scope");

  program = small();
  program.tables.resize(kMaxTables);
  EXPECT_EQ(refusal(program), "valid");
  program.tables.resize(kMaxTables + 1);
  EXPECT_EQ(refusal(program), "more than 16 tables");

  program = small();
  program.parameters.resize(kMaxParameters);
  EXPECT_EQ(refusal(program), "valid");
  program.parameters.resize(kMaxParameters + 1);
  EXPECT_EQ(refusal(program), "more than 16 parameters");
}

TEST(Validate, KeepsVariablesToTheirScope) {
  EXPECT_EQ(in_alltoall("for i in 0 .. 2\n  let x = i\nlet y = 1"), "valid");
  Program program = small();
  program.body = {{For{{"i"}, constant(0), constant(2), {{Let{{"x"}, variable(0)}}}}},
                  {Let{{"y"}, variable(0)}}};
  EXPECT_EQ(refusal(program), "a variable that is not in scope");
}

TEST(Validate, PutsStatementsWhereTheyBelong) {
  const std::string message = "send send[0] to 1";
  EXPECT_EQ(in_alltoall(message), "f: a message outside a step");
  EXPECT_EQ(in_alltoall("step 1\n  " + message), "valid");
  EXPECT_EQ(in_alltoall("step 1\n  step 2\n    " + message), "f: a step inside a step");
  EXPECT_EQ(in_alltoall("send[0]"), "f: a piece outside a message");
  EXPECT_EQ(in_alltoall("step 1\n  send to 1\n    " + message), "f: a message inside a message");
  EXPECT_EQ(in_alltoall("step 1\n  send to 1\n    copy send[0] to recv[0]"),
            "f: a copy inside a message");
  EXPECT_EQ(in_alltoall("copy recv[0] to send[0]"), "f: a copy into the send buffer");
}

TEST(Validate, KnowsNoLengthsOfBlocksInAnAllToAll) {
  const std::string flaw =
      "f: a part of a block in an all-to-all, where no rank knows how long all blocks are";
  EXPECT_EQ(in_alltoall("step 1\n  send send[0]@0..1 to 1"), flaw);
  EXPECT_EQ(in_alltoall("step 1\n  receive recv[0]@0..0 from 1"), flaw);
  EXPECT_EQ(in_alltoall("copy send[0] to temp[0]@0..1"), flaw);
  EXPECT_EQ(refusal_of_text("algorithm a for allgather\ncopy send[0]@0..1 to recv[0]@0..1"),
            "valid");
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

TEST(Validate, KnowsScansOnOneGroup) {
  EXPECT_EQ(refusal_of_text("algorithm f for scan between groups"),
            "f: a scan between groups, which MPI does not have");
  EXPECT_EQ(refusal_of_text("algorithm f for exscan between groups"),
            "f: an exscan between groups, which MPI does not have");
  EXPECT_EQ(refusal_of_text("algorithm f for scan\nreduce left send[0] into recv[0]"), "valid");
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

TEST(Validate, TakesNoReduceScatterForOneInPlace) {
  EXPECT_EQ(refusal_of_text("algorithm f for reduce-scatter\nin_place\n"),
            "f: 'in_place' in a reduce-scatter, whose input is always copied before a call in "
            "place; leave it out");
  EXPECT_EQ(refusal_of_text("algorithm f for allreduce\nin_place\n"), "valid");
}

TEST(Validate, KeepsReductionsToCollectivesWithAnOperator) {
  const std::string reduce = "reduce left send[0] into recv[0]";
  EXPECT_EQ(in_alltoall(reduce), "f: 'reduce' in a collective without an operator");
  EXPECT_EQ(refusal_of_text("algorithm a for allreduce\n" + reduce), "valid");
  EXPECT_EQ(refusal_of_text("algorithm a for allreduce\nreduce left recv[0] into send[0]"),
            "f: a reduction into the send buffer");
  EXPECT_EQ(refusal_of_text("algorithm a for allreduce\nstep 1\n  send to 1\n    " + reduce),
            "f: a reduction inside a message");
}

TEST(Validate, KeepsReceivesThatCombineToWhatCanBeCombined) {
  EXPECT_EQ(in_alltoall("step 1\n  receive left recv[0] from 1"),
            "f: a receive that combines in a collective without an operator");
  const auto in_allreduce = [](const std::string& message) {
    return refusal_of_text("algorithm a for allreduce\nstep 1\n  " + message);
  };
  EXPECT_EQ(in_allreduce("receive left recv[0] from 1"), "valid");
  EXPECT_EQ(in_allreduce("receive right from 1\n    temp[0]\n    recv[0]@0..1"), "valid");
  EXPECT_EQ(in_allreduce("send left recv[0] to 1"), "f: a send that combines");
  EXPECT_EQ(in_allreduce("receive left nothing from 1"), "f: a message that combines nothing");
  EXPECT_EQ(in_allreduce("receive left from 1"), "f: a message that combines nothing");
  EXPECT_EQ(in_allreduce("receive left send[0] from 1"),
            "f: a message received into the send buffer");
  EXPECT_EQ(in_allreduce("receive left from 1\n    for i in 0 .. 2\n      send[i]"),
            "f: a message received into the send buffer");
  EXPECT_EQ(in_alltoall("step 1\n  receive send[1] from 1"),
            "f: a message received into the send buffer");
}

TEST(Validate, KeepsTheOtherGroupToProgramsForTwo) {
  EXPECT_EQ(in_alltoall("let x = remote_ranks"), "f: 'remote_ranks' in a program for one group");
  EXPECT_EQ(in_alltoall("step 1\n  send send[0] to remote 1"),
            "f: 'remote' in a program for one group");
  EXPECT_EQ(in_alltoall("table t = remote_nodes"), "f: a remote table in a program for one group");
  EXPECT_EQ(in_alltoall("table t = remote_counts"), "f: a remote table in a program for one group");
  EXPECT_EQ(refusal_of_text("algorithm a for allgather between groups\ntable t = remote_counts\n"
                            "step remote_ranks\n  send send[0] to remote 1"),
            "valid");
  Program program = small();
  program.groups = 3;
  EXPECT_EQ(refusal(program), "a program is for 1 or 2 groups");
}

TEST(Validate, KeepsTheRootToRootedCollectives) {
  EXPECT_EQ(in_alltoall("let x = root"), "f: 'root' in a collective without a root");
  EXPECT_EQ(refusal_of_text("algorithm a for broadcast\nlet x = root"), "valid");
}

TEST(Validate, MakesTablesFromEarlierOnes) {
  Program program = small();
  program.tables.resize(1);
  for (const TableKind kind : {TableKind::kPrefix, TableKind::kDistinct})
    for (const int64_t source : {0, 1, -1}) {
      program.tables[0].kind = kind;
      program.tables[0].source = source;
      EXPECT_EQ(refusal(program), "a table is made from a later table");
    }
  EXPECT_EQ(in_alltoall("table t[i in 0 .. 3] = i < 2"),
            "f: a condition stands where a number is wanted");
  EXPECT_EQ(in_alltoall("table t = powers(2 < 3, 4)"),
            "f: a condition stands where a number is wanted");
}

}  // namespace
}  // namespace quadrille
