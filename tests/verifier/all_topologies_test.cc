// check_all_topologies() leaves no topology out. It refutes a program that is wrong on only one of them, or for one
// parameter, root, or list of counts.
#include "verifier/all_topologies.h"

#include <gtest/gtest.h>

#include <set>

#include "schedule/text.h"
#include "tests/verifier/walks.h"

namespace quadrille::verifier::all_topologies_test {

Program parsed(const std::string& text) { return parse_program(text, "program").value(); }

AllTopologies checked(const std::string& text, int64_t up_to) {
  return check_all_topologies(parsed(text), up_to, std::nullopt, {}).value();
}

TEST(AllTopologies, HasEveryMultisetOfNodeSizesOnceFewerRanksFirst) {
  std::set<std::string> wanted, found;
  for (const std::vector<int64_t>& sizes : ascending_node_vectors(8))
    wanted.insert(topology_of(sizes).text());
  int64_t ranks = 0;
  for (const std::vector<Topology>& groups : all_topologies(1, 8)) {
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_TRUE(found.insert(groups[0].text()).second) << groups[0].text();
    EXPECT_LE(ranks, groups[0].ranks());
    ranks = groups[0].ranks();
  }
  EXPECT_EQ(found, wanted);
}

TEST(AllTopologies, HasEveryPairOfGroupsInBothOrders) {
  std::set<std::string> wanted, found;
  for (const std::vector<int64_t>& one : ascending_node_vectors(5))
    for (const std::vector<int64_t>& two : ascending_node_vectors(5))
      if (topology_of(one).ranks() + topology_of(two).ranks() <= 6)
        wanted.insert(nodes_text({topology_of(one), topology_of(two)}));
  for (const std::vector<Topology>& groups : all_topologies(2, 6))
    EXPECT_TRUE(found.insert(nodes_text(groups)).second) << nodes_text(groups);
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(found.count("1 and 2,3"), 1U);
  EXPECT_EQ(found.count("2,3 and 1"), 1U);
}

// Returns an all-to-all that lacks its last round if the condition holds.
std::string shift(const std::string& lines, const std::string& condition) {
  return "algorithm a for alltoall\n" + lines +
         "copy send[rank] to recv[rank]\nfor k in 1 .. ranks - (" + condition +
         " ? 1 : 0)\n  step k\n    send send[wrap(rank + k, ranks)] to wrap(rank + k, ranks)\n"
         "    receive recv[wrap(rank - k, ranks)] from wrap(rank - k, ranks)\n";
}

TEST(AllTopologies, FindsTheOneTopologyOnWhichAProgramIsWrong) {
  const std::string text = shift("table size = nodes\n",
                                 "length(size) = 2 and size[0] = 2 and size[length(size) - 1] = 3");
  const AllTopologies right = checked(text, 4);
  EXPECT_FALSE(right.failing);
  EXPECT_EQ(right.checked, 1 + 2 + 3 + 5);
  const AllTopologies wrong = checked(text, 8);
  ASSERT_TRUE(wrong.failing);
  EXPECT_EQ(wrong.failing->text(), "2,3");
  EXPECT_EQ(wrong.failing->violation.property, Property::kCoverage);
}

TEST(AllTopologies, FindsTheOnePairOfGroupsOnWhichAProgramIsWrong) {
  const std::string text =
      "algorithm a for alltoall between groups\ntable size = nodes\ntable other = remote_nodes\n"
      "step 0\n  for k in 0 .. remote_ranks\n"
      "    if length(size) = 2 and ranks = 3 and length(other) = 1 and remote_ranks = 4\n"
      "      send send[0] to remote k\n    else\n      send send[k] to remote k\n"
      "    receive recv[k] from remote k\n";
  EXPECT_FALSE(checked(text, 6).failing);
  const AllTopologies wrong = checked(text, 7);
  ASSERT_TRUE(wrong.failing);
  EXPECT_EQ(nodes_text(wrong.failing->job.groups), "1,2 and 4");
}

TEST(AllTopologies, FindsTheOneParameterForWhichAProgramIsWrong) {
  const AllTopologies wrong = checked(shift("parameter r\n", "ranks = 5 and r = 4"), 6);
  ASSERT_TRUE(wrong.failing);
  EXPECT_EQ(wrong.failing->job.parameters, std::vector<int64_t>{4});
  EXPECT_EQ(wrong.failing->text(), "5x1, parameter 4");
  // The extreme values that are tried are 0 and the number of ranks.
  for (const std::string value : {"0", "5"})
    EXPECT_TRUE(checked(shift("parameter r\n", "ranks = 5 and r = " + value), 5).failing) << value;
}

TEST(AllTopologies, GivesAParameterOfTheCallOnlyItsValueInTheCall) {
  const AllTopologies wrong =
      checked(shift("parameter r\nparameter B at call\n", "ranks = 3 and r = 2 and B = 1"), 4);
  ASSERT_TRUE(wrong.failing);
  EXPECT_EQ(wrong.failing->job.parameters, (std::vector<int64_t>{2, kRuleNone}));
  EXPECT_EQ(wrong.failing->call.parameters, std::vector<int64_t>{1});
  EXPECT_EQ(wrong.failing->text(), "3x1, parameter 2, parameter 1");
}

// Programs that are right only for blocks of one size: a block waits in another one's place, or has no known length.
struct OneSize {
  const char *failing, *program;
};
constexpr OneSize kOneSize[] = {
    {"3x1, counts 3000,0,5000",
     "algorithm a for allgather\nrequire ranks = 3\ncopy send[0] to recv[rank]\n"
     "let left = wrap(rank - 1, ranks)\nlet right = wrap(rank + 1, ranks)\n"
     "step 0\n  send send[0] to right\n  receive recv[right] from left\n"
     "copy recv[right] to recv[left]\n"
     "step 1\n  send send[0] to left\n  receive recv[right] from right\n"},
    // Rank 4 receives block 0 in the place of block 8.
    {"9x1, counts 3000,0,5000,2000,7000,4000,1000,6000,3001",
     "algorithm a for allgather\nrequire ranks = 9\ncopy send[0] to recv[rank]\n"
     "for k in 1 .. ranks\n  let source = wrap(rank - k, ranks)\n"
     "  let slot = rank = 4 and source = 0 ? 8 : source\n"
     "  step k\n    send send[0] to wrap(rank + k, ranks)\n    receive recv[slot] from source\n"
     "  if slot != source\n    copy recv[slot] to recv[source]\n"},
    {"2x1, counts 3000,0",
     "algorithm a for reduce-scatter\nrequire ranks = 2\ncopy send[1 - rank] to recv[0]\n"
     "step 0\n  send recv[0] to 1 - rank\n  receive recv[0] from 1 - rank\n"
     "if rank = 0\n  reduce left send[0] into recv[0]\nelse\n  reduce right send[1] into "
     "recv[0]\n"},
    {"2x1 and 2x1, counts 3000,0 and 5000,2000",
     "algorithm a for allgather between groups\nrequire ranks = 2 and remote_ranks = 2\n"
     "step 0\n  for d in 0 .. 2\n    if rank = 0\n      send send[0] to remote d\n"
     "  receive recv[1] from remote 0\ncopy recv[1] to recv[0]\n"
     "step 1\n  for d in 0 .. 2\n    if rank = 1\n      send send[0] to remote d\n"
     "  receive recv[1] from remote 1\n"},
    {"3x1",
     "algorithm a for alltoall\nrequire ranks = 3\ncopy send[rank] to recv[rank]\n"
     "let left = wrap(rank - 1, ranks)\nlet right = wrap(rank + 1, ranks)\n"
     "step 0\n  send send[left] to left\n  receive recv[left] from right\n"
     "copy recv[left] to recv[right]\n"
     "step 1\n  send send[right] to right\n  receive recv[left] from left\n"},
    {"3x1",
     "algorithm a for alltoall\nrequire ranks = 3\ntemporary 1 blocks\n"
     "copy send[rank] to recv[rank]\n"
     "let left = wrap(rank - 1, ranks)\nlet right = wrap(rank + 1, ranks)\n"
     "step 0\n  send send[right] to right\n  receive recv[left] from left\n"
     "step 1\n  send send[left] to right\n  receive temp[0] from left\n"
     "step 2\n  send temp[0] to right\n  receive recv[right] from left\n"},
    {"3x1",
     "algorithm a for gather\nrequire ranks = 3\ntemporary 1 blocks\n"
     "let near = wrap(root + 1, ranks)\nlet far = wrap(root + 2, ranks)\n"
     "if rank = root\n  copy send[0] to recv[root]\n"
     "step 0\n  if rank = far\n    send send[0] to near\n"
     "  if rank = near\n    receive temp[0] from far\n"
     "step 1\n  if rank = near\n    send temp[0] to root\n"
     "  if rank = root\n    receive recv[far] from near\n"
     "step 2\n  if rank = near\n    send send[0] to root\n"
     "  if rank = root\n    receive recv[near] from near\n"},
    {"3x1",
     "algorithm a for scatter\nrequire ranks = 3\n"
     "let near = wrap(root + 1, ranks)\nlet far = wrap(root + 2, ranks)\n"
     "if rank = root\n  copy send[root] to recv[0]\n"
     "step 0\n  if rank = root\n    send sized send[far] to near\n"
     "  if rank = near\n    receive sized recv[0] from root\n"
     "step 1\n  if rank = near\n    send sized recv[0] to far\n"
     "  if rank = far\n    receive sized recv[0] from near\n"
     "step 2\n  if rank = root\n    send sized send[near] to near\n"
     "  if rank = near\n    receive sized recv[0] from root\n"},
};

TEST(AllTopologies, RefutesAProgramThatIsRightForBlocksOfOneSizeOnly) {
  for (const auto& [failing, program] : kOneSize) {
    const AllTopologies wrong = checked(program, 9);
    ASSERT_TRUE(wrong.failing) << program;
    EXPECT_EQ(wrong.failing->text(), failing);
    EXPECT_EQ(wrong.failing->violation.property, Property::kLength) << program;
    // The search that goes with a proof also refutes it.
    EXPECT_TRUE(find_failing_job(parsed(program))) << program;
  }
}

TEST(AllTopologies, AcceptsABlockOnItsWayThatKeepsItsLength) {
  std::string text = kOneSize[5].program;
  for (const auto& [word, by] : {std::pair<std::string, std::string>{"  send ", "  send sized "},
                                 {"  receive ", "  receive sized "}})
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
      text.replace(at, word.size(), by);
  const AllTopologies right = checked(text, 4);
  EXPECT_FALSE(right.failing);
  EXPECT_EQ(right.checked, 3);
}

TEST(AllTopologies, FindsTheOneRootForWhichAProgramIsWrong) {
  const auto broadcast = [](const std::string& condition) {
    return "algorithm a for broadcast\nif rank = root\n  copy send[0] to recv[0]\n"
           "for k in 1 .. ranks\n  step k\n    if rank = root and (" +
           condition +
           " ? 0 : 1) = 1\n      send send[0] to wrap(root + k, ranks)\n"
           "    if rank = wrap(root + k, ranks)\n      receive recv[0] from root\n";
  };
  EXPECT_FALSE(checked(broadcast("ranks = 0"), 5).failing);
  const AllTopologies wrong = checked(broadcast("root = 3 and ranks = 5"), 5);
  ASSERT_TRUE(wrong.failing);
  EXPECT_EQ(wrong.failing->call.root, 3);
}

TEST(AllTopologies, FindsCountsForWhichAProgramIsWrongOnTheFewestRanks) {
  // Only the first byte of a contribution is sent, so the program is wrong for counts of 2 and more.
  const std::string text =
      "algorithm a for allgather\ntable m = counts\ncopy send[0] to recv[rank]\n"
      "for k in 1 .. ranks\n  let left = wrap(rank - k, ranks)\n  step k\n"
      "    if 0 < m[rank]\n      send send[0]@0..min(m[rank], 1) to wrap(rank + k, ranks)\n"
      "    if 0 < m[left]\n      receive recv[left]@0..min(m[left], 1) from left\n";
  const AllTopologies wrong = checked(text, 8);
  ASSERT_TRUE(wrong.failing);
  EXPECT_EQ(wrong.failing->job.groups[0].ranks(), 2);
  EXPECT_EQ(wrong.failing->violation.property, Property::kCoverage);
}

// Returns an allgather that lacks its last round if the condition holds.
std::string gathered(const std::string& lines, const std::string& condition) {
  return "algorithm a for allgather\n" + lines +
         "table m = counts\nlet last = m[ranks - 1]\nif 0 < m[rank]\n  copy send[0] to recv[rank]\n"
         "for k in 1 .. ranks - (" +
         condition +
         " ? 1 : 0)\n  let left = wrap(rank - k, ranks)\n  step k\n    if 0 < m[rank]\n"
         "      send send[0] to wrap(rank + k, ranks)\n    if 0 < m[left]\n"
         "      receive recv[left] from left\n";
}

TEST(AllTopologies, TriesAllListsOfCountsWithinTheLimits) {
  const CountsTried tried = counts_tried(parsed(gathered("", "ranks = 0")), 8);
  EXPECT_EQ(tried.ranks_of_small, 4);
  EXPECT_EQ(tried.ranks_of_great, 6);
  const auto fails = [](int64_t ranks, const std::string& count) {
    const std::string all = " and m[0] = " + count + " and last = " + count;
    return checked(gathered("", "ranks = " + std::to_string(ranks) + all), ranks)
        .failing.has_value();
  };
  const std::string great = std::to_string(kMaxCount - 1);
  EXPECT_TRUE(fails(tried.ranks_of_small, "2"));
  EXPECT_FALSE(fails(tried.ranks_of_small + 1, "2"));
  EXPECT_TRUE(fails(tried.ranks_of_great, great));
  EXPECT_FALSE(fails(tried.ranks_of_great + 1, great));
  // A search of fewer ranks has lower limits.
  EXPECT_EQ(counts_tried(parsed(gathered("", "ranks = 0")), 3).ranks_of_small, 3);
  EXPECT_EQ(counts_tried(parsed(gathered("", "ranks = 0")), 3).ranks_of_great, 3);
}

TEST(AllTopologies, TriesOneCountOnMoreRanksThanLists) {
  const auto reduced = [](const std::string& condition) {
    return "algorithm a for broadcast\ntable m = counts\nif 0 < m[0] and rank = root\n"
           "  copy send[0] to recv[0]\nfor k in 1 .. ranks - (" +
           condition +
           " ? 1 : 0)\n  step k\n    if 0 < m[0] and rank = root\n"
           "      send send[0] to wrap(root + k, ranks)\n"
           "    if 0 < m[0] and rank = wrap(root + k, ranks)\n      receive recv[0] from root\n";
  };
  const int64_t most = counts_tried(parsed(reduced("ranks = 0")), 8).ranks_of_small;
  EXPECT_EQ(most, 6);
  EXPECT_TRUE(checked(reduced("m[0] = 2 and ranks = 6"), 6).failing);
  EXPECT_FALSE(checked(reduced("m[0] = 2 and ranks = 7"), 7).failing);
}

TEST(AllTopologies, TriesCountsOfGroupsWithinTheLimits) {
  const auto between = [](int64_t first, int64_t second) {
    const std::string a = std::to_string(first), b = std::to_string(second);
    return "algorithm a for allgather between groups\ntable m = counts\ntable n = remote_counts\n"
           "let wrong = group = 0 and ranks = " +
           a + " and remote_ranks = " + b + " and m[0] = 2 ? 1 : group = 1 and ranks = " + b +
           " and remote_ranks = " + a +
           " and n[0] = 2 ? 1 : 0\nif wrong = 0\n  step 0\n    for k in 0 .. remote_ranks\n"
           "      if 0 < m[rank]\n        send send[0] to remote k\n      if 0 < n[k]\n"
           "        receive recv[k] from remote k\n";
  };
  const int64_t most = counts_tried(parsed(between(1, 1)), 4).ranks_of_a_group;
  EXPECT_TRUE(checked(between(1, most), most + 1).failing);
  EXPECT_TRUE(checked(between(most, 1), most + 1).failing);
  const int64_t small = counts_tried(parsed(between(1, 1)), 8).ranks_of_small;
  EXPECT_EQ(most + 1, small);
  EXPECT_FALSE(checked(between(2, most), most + 2).failing);
}

TEST(AllTopologies, TriesSoManyCasesOfATopology) {
  // On 4 ranks, 3 parameters and 4 counts have 4 * 4 * 4 * 81 = 5184 cases. The last count changes most slowly.
  const auto of_counts = [](const std::string& last) {
    return gathered("parameter p\nparameter q\nparameter r\n",
                    "ranks = 4 and m[0] = 2 and last = " + last +
                        " and m[min(1, ranks - 1)] = 2 and m[min(2, ranks - 1)] = 2");
  };
  EXPECT_EQ(counts_tried(parsed(of_counts("2")), 4).cases, 5000);
  EXPECT_TRUE(checked(of_counts("1"), 4).failing);
  EXPECT_FALSE(checked(of_counts("2"), 4).failing);
}

TEST(AllTopologies, CountsTheTopologiesThatTheProgramRefuses) {
  const AllTopologies some = checked(shift("require ranks mod 2 = 0\n", "ranks = 0"), 6);
  EXPECT_FALSE(some.failing);
  EXPECT_EQ(some.checked, 2 + 5 + 11);
  EXPECT_EQ(some.refused, 1 + 3 + 7);
  EXPECT_EQ(checked(shift("require 9 < ranks\n", "ranks = 0"), 6).checked, 0);
}

TEST(AllTopologies, NamesTheTopologyOnWhichAProgramCannotBeBound) {
  const Program program =
      parsed(shift("table t[i in 0 .. 1] = 1 div (ranks = 3 ? 0 : 1)\n", "ranks = 0"));
  const Result<AllTopologies> all = check_all_topologies(program, 4, std::nullopt, {});
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().message.rfind("on nodes 3x1: ", 0), 0U) << all.error().message;
}

TEST(AllTopologies, ChecksThePortsThatAreAskedAbout) {
  const Program program = parsed(shift("", "ranks = 0"));
  EXPECT_FALSE(check_all_topologies(program, 4, 4, {})->failing);
  const Result<AllTopologies> one = check_all_topologies(program, 4, 1, {});
  ASSERT_TRUE(one->failing);
  EXPECT_EQ(one->failing->violation.property, Property::kPort);
}

}  // namespace quadrille::verifier::all_topologies_test
