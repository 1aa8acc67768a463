// Where Kang et al. 2019, Algorithm 2, is literally wrong, the prover and the checker say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/prove/proofs.h"

namespace quadrille {
namespace {

using testing::Contains;
using testing::ElementsAre;
using Changes = std::vector<std::pair<std::string, std::string>>;

const Algorithm& algorithm() { return *find_algorithm(Collective::kAllgather, "segment-map-v", 2); }

std::string own_proof() { return algorithm().proof({}); }

std::string program_with(const Changes& changes) {
  std::string program = print(make_program(algorithm(), {}));
  for (const auto& [from, to] : changes) program = changed(program, from, to);
  return program;
}

// Under its own proof.
Fate fate(const Changes& changes) { return quadrille::fate(program_with(changes), own_proof()); }

// Line 7: segment i from the ceiling of K / q on, and not from i times that. So nobody gets the first bytes.
TEST(GroupsErrata, ASegmentBeginsAtAMultipleOfItsLength) {
  const std::string begin =
      "(k < R[ranks] mod remote_ranks ? R[ranks] div remote_ranks + 1 : st[k])";
  const Fate printed = fate({{"let low = tt[rank]",
                              "let low = rank < Q[remote_ranks] mod ranks ? Q[remote_ranks] div "
                              "ranks + 1 : tt[rank]"},
                             {"max(st[k], first) <", "max(" + begin + ", first) <"},
                             {"max(st[k], first) - first", "max(" + begin + ", first) - first"}});
  EXPECT_THAT(printed.failed, Contains("held send 2, case 1"));
  EXPECT_EQ(printed.smallest_failure, "1 and 2x1, counts 1 and 0,0: held");
}

// Line 3: the remainder of a contribution, and not that of all of them.
TEST(GroupsErrata, WhatIsLeftOverIsLeftOfTheWhole) {
  const Fate printed = fate({{"R[ranks] mod remote_ranks)", "mine[0] mod remote_ranks)"},
                             {"Q[remote_ranks] mod ranks)", "theirs[0] mod ranks)"}});
  EXPECT_THAT(printed.failed, ElementsAre("lemma tt_ends", "lemma st_ends"));
  EXPECT_EQ(printed.smallest_failure, "2x1 and 2x1, counts 0,1 and 0,0: defined");
}

// Line 23: to the ranks of the sender's own group, so that no send meets its receive.
TEST(GroupsErrata, SegmentsGoToTheOtherGroup) {
  const std::string printed = program_with({{"to remote k", "to k"}});
  EXPECT_EQ(prove(printed, own_proof()).error,
            "test.proof: receive 1 cannot be matched with send 1");
  EXPECT_EQ(smallest_failure(printed), "1 and 1, counts 1 and 0: self-message");
}

}  // namespace
}  // namespace quadrille
