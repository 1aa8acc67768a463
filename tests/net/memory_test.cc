// Memory that runs out at one rank, at each of its allocations in turn. Allgathers, and all-to-alls in place, are in
// found_test.cc.
#include <gtest/gtest.h>

#include "tests/net/failures.h"

namespace quadrille::net {
namespace {

using Parameters = std::vector<int64_t>;
constexpr bool kWhileBinding = true;

TEST(Memory, ThatRunsOutWhileBindingIsOneErrorEverywhere) {
  const Ways ways{.window = 2};
  EXPECT_GT(expect_survival({exchanging("hierarchical-factor", {1, 2}), ways, Entrance::kCounted, 0,
                             2, kWhileBinding}),
            10);
  EXPECT_GT(expect_survival({exchanging("tuna-coalesced", {1, 2}, {2, 1}), ways, Entrance::kCounted,
                             0, 2, kWhileBinding}),
            10);
  EXPECT_GT(expect_survival({gathering("blocked-ring-nodes", {1, 2}, {kRuleNone}), ways,
                             Entrance::kCounted, 0, 2, kWhileBinding}),
            10);
}

// They need none, or little, once they are bound.
TEST(Memory, ThatRunsOutInADirectAllToAllHangsNobody) {
  for (const bool is_eager : {false, true}) {
    const Ways ways{.window = 2, .is_eager = is_eager};
    for (const size_t shape : {0, 2}) {
      expect_survival({exchanging("spread-out", {4}), ways, Entrance::kCounted, shape});
      expect_survival({exchanging("scattered", {5}, {2}), ways, Entrance::kCounted, shape});
      expect_survival({exchanging("hierarchical-factor", {1, 3}), ways, Entrance::kCounted, shape});
    }
  }
}

TEST(Memory, ThatRunsOutWhileForwardingHangsNobody) {
  for (const bool is_eager : {false, true})
    for (const int window : {1, 2, 16})
      for (const size_t shape : {0, 2}) {
        const Ways ways{.window = window, .is_eager = is_eager};
        EXPECT_GT(
            expect_survival({exchanging("tuna", {5}, {2}), ways, Entrance::kCounted, shape, 2100}),
            1);
        EXPECT_GT(expect_survival({exchanging("tuna-coalesced", {2, 2}, {2, 1}), ways,
                                   Entrance::kCounted, shape, 2100}),
                  1);
      }
}

TEST(Memory, ThatRunsOutWhileAPersistentCallIsMadeIsOneErrorEverywhere) {
  for (const Entrance entrance : {Entrance::kPersistent, Entrance::kPersistentInPlace})
    for (const size_t shape : {0, 2}) {
      const Ways ways{.window = 2};
      EXPECT_GT(expect_survival({exchanging("tuna", {4}, {2}), ways, entrance, shape}), 5);
      EXPECT_GT(expect_survival({exchanging("factor", {4}), ways, entrance, shape}), 5);
    }
}

}  // namespace
}  // namespace quadrille::net
