// Reads node lists in all notations. Each malformed list is refused with a sentence.
#include "schedule/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quadrille {

bool operator==(const Result<Topology>& a, const Result<Topology>& b) {
  return a.ok() && b.ok() && *a == *b;
}

}  // namespace quadrille

namespace quadrille::topology_test {

using testing::ElementsAre;

std::string error_of(const Result<Topology>& result) {
  return result.ok() ? "accepted: " + result->text() : result.error().message;
}

TEST(Nodes, AreSortedAndRunLengthCoded) {
  const Topology topology = parse_nodes("3,1,2").value();
  EXPECT_THAT(topology.sizes(), ElementsAre(1, 2, 3));
  EXPECT_EQ(topology.ranks(), 6);
  EXPECT_EQ(topology.nodes(), 3);
  EXPECT_EQ(topology.text(), "1,2,3");
}

TEST(Nodes, ReadCountsTimesSizes) {
  EXPECT_THAT(parse_nodes("4x8")->runs(), ElementsAre(quadrille::Run{4, 8}));
  EXPECT_THAT(parse_nodes("512x16,5")->runs(),
              ElementsAre(quadrille::Run{1, 5}, quadrille::Run{512, 16}));
  EXPECT_EQ(parse_nodes("512x16,5")->ranks(), 8197);
  EXPECT_EQ(parse_nodes("512x16,5")->text(), "5,512x16");
}

TEST(Nodes, MergeEqualSizesHoweverTheyAreWritten) {
  EXPECT_EQ(parse_nodes("8,8,8,8"), parse_nodes("4x8"));
  EXPECT_EQ(parse_nodes("2x8,1,8,8"), parse_nodes("1,4x8"));
  EXPECT_EQ(parse_nodes(" 1 , 2 "), parse_nodes("2,1"));
}

TEST(Nodes, ReadWhatTheyPrint) {
  for (const char* list : {"1", "1,2,3", "4x8", "5,512x16", "2x1,3x2,7x9,100"})
    EXPECT_EQ(parse_nodes(list)->text(), list);
}

TEST(Nodes, ReachTheLargestJobAndNoFurther) {
  EXPECT_EQ(parse_nodes("1048576")->ranks(), kMaxRanks);
  EXPECT_EQ(parse_nodes("65536x16")->ranks(), kMaxRanks);
  EXPECT_EQ(error_of(parse_nodes("1048577")), "--nodes: more than 1048576 ranks; check the counts");
}

TEST(Nodes, RefuseWhatIsNoCount) {
  EXPECT_EQ(error_of(parse_nodes("0")), "--nodes: a node of 0 ranks; every node has at least 1");
  EXPECT_EQ(error_of(parse_nodes("1,-2")),
            "--nodes: a node of -2 ranks; every node has at least 1");
  EXPECT_EQ(error_of(parse_nodes("0x4")), "--nodes: 0 nodes of 4 ranks; a count is at least 1");
  EXPECT_EQ(error_of(parse_nodes("-1x4")), "--nodes: -1 nodes of 4 ranks; a count is at least 1");
}

TEST(Nodes, RefuseAbsurdCountsOfAnyLength) {
  for (const char* list :
       {"1000000000000000000000000000000", "1,1000000000000000000000000000000",
        "1000000000000000000000000000000x1", "1x1000000000000000000000000000000", "2147483648",
        "4294967296x4294967296", "9223372036854775807x2", "8388608,8388608,1"})
    EXPECT_EQ(error_of(parse_nodes(list)), "--nodes: more than 1048576 ranks; check the counts")
        << list;
}

TEST(Nodes, RefuseMalformedListsWithAnExample) {
  for (const char* list : {"", ",", "1,", ",1", "1,,2", "x", "4x", "x8", "4x8x2", "1;2", "one",
                           "1.5", "4X8", "+3", "1 2", "0x10g", "16(x512)", "--3"})
    EXPECT_EQ(error_of(parse_nodes(list)),
              "--nodes: '" + std::string(list) +
                  "' is not a node list; write sizes like 1,2,3 or 4x8 or 512x16,5");
}

TEST(Slurm, ReadsTasksPerNode) {
  EXPECT_EQ(parse_slurm("16(x512),5"), parse_nodes("512x16,5"));
  EXPECT_EQ(parse_slurm("2(x3),1"), parse_nodes("1,2,2,2"));
  EXPECT_EQ(parse_slurm("7"), parse_nodes("7"));
}

TEST(Slurm, RefusesOtherNotations) {
  for (const char* list : {"", "4x8", "16(512)", "16(x512", "(x2)", "16(x)", "16(x2)3", "16(x2),"})
    EXPECT_EQ(
        error_of(parse_slurm(list)),
        "--slurm: '" + std::string(list) +
            "' is not a node list; write sizes like 16(x512),5, as SLURM_TASKS_PER_NODE does");
  EXPECT_EQ(error_of(parse_slurm("3(x0)")), "--slurm: 0 nodes of 3 ranks; a count is at least 1");
}

TEST(Hostfile, ReadsBothDialects) {
  EXPECT_EQ(parse_hostfile("a slots=2\nb:3\nc\n", "hosts"), parse_nodes("1,2,3"));
  EXPECT_EQ(parse_hostfile("a\tslots=2 max_slots=9", "hosts"), parse_nodes("2"));
}

TEST(Hostfile, SkipsCommentsAndEmptyLines) {
  EXPECT_EQ(parse_hostfile("# the rack\n\n  a slots=2 # fast\n\t\nb:1\r\n", "hosts"),
            parse_nodes("1,2"));
}

TEST(Hostfile, AddsUpAHostThatIsNamedAgain) {
  EXPECT_EQ(parse_hostfile("a:2\nb\na\na slots=4\n", "hosts"), parse_nodes("1,7"));
}

TEST(Hostfile, ExpandsBrackets) {
  const auto read = [](const std::string& text) { return parse_hostfile(text, "hosts"); };
  EXPECT_EQ(read("node[01-03]:5"), parse_nodes("3x5"));
  EXPECT_EQ(read("node[01-03,07,9] slots=2\nhead"), parse_nodes("1,5x2"));
  EXPECT_EQ(read("r[1-2]n[08-11]-ib:3"), parse_nodes("8x3"));
  EXPECT_EQ(read("n[5]"), parse_nodes("1"));
}

TEST(Hostfile, ExpandedHostsAreTheHostsOfThatName) {
  const auto read = [](const std::string& text) { return parse_hostfile(text, "hosts"); };
  EXPECT_EQ(read("n[08-11]:2\nn08\nn11:4\nn8:9"), parse_nodes("2,2,3,6,9"));
  EXPECT_EQ(read("n[8-11]:2\nn8"), parse_nodes("2,2,2,3"));
}

TEST(Hostfile, RefusesListsThatItCannotExpand) {
  const auto refusal = [](const std::string& text) { return error_of(parse_hostfile(text, "f")); };
  for (const char* list : {"n[01-03", "n[]", "n[1,]", "n[3-1]", "n[a-b]", "n[-1]", "n[1-2-3]", "n]",
                           "n[[1]]", "a,b", "^a", "+n0", "n[1]x]", "n[1234567890123456789]"})
    EXPECT_EQ(
        refusal("a\n" + std::string(list) + ":2"),
        "f:2: '" + std::string(list) + "' is not a host or a list of hosts like node[01-03,07]");
  for (const char* list : {"n[0-1048576]", "n[1-1025]m[1-1024]", "n[1-9,0-1048567]"})
    EXPECT_EQ(refusal(list),
              "f:1: '" + std::string(list) + "' names more than 1048576 hosts; check the ranges");
  EXPECT_EQ(refusal("n[1-1024]:1025"), "f: more than 1048576 ranks; check the counts");
}

TEST(Hostfile, RefusesBadLinesByNumber) {
  const auto refusal = [](const std::string& text) { return error_of(parse_hostfile(text, "f")); };
  const std::string remedy = "is not a host line; write 'host slots=4' or 'host:4'";
  EXPECT_EQ(refusal("a\nb slots=x\n"), "f:2: 'b slots=x' " + remedy);
  EXPECT_EQ(refusal("a slots=0"), "f:1: 'a slots=0' " + remedy);
  EXPECT_EQ(refusal("a:-3"), "f:1: 'a:-3' " + remedy);
  EXPECT_EQ(refusal("a 4"), "f:1: 'a 4' " + remedy);
  EXPECT_EQ(refusal(":4"), "f:1: ':4' " + remedy);
  EXPECT_EQ(refusal("a:1048577"), "f:1: more than 1048576 ranks on 'a'; check the counts");
  EXPECT_EQ(refusal("a:1048576\n\na"), "f:3: more than 1048576 ranks on 'a'; check the counts");
  EXPECT_EQ(refusal("a:1048576\nb"), "f: more than 1048576 ranks; check the counts");
  EXPECT_EQ(refusal(""), "f: no nodes; give at least one");
  EXPECT_EQ(refusal("# nobody\n"), "f: no nodes; give at least one");
}

}  // namespace quadrille::topology_test
