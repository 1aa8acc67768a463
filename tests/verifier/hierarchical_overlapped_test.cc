// Tests what the comment of hierarchical-overlapped claims about dependencies and temporary blocks.
// algorithms_test.cc verifies the program, and counts its messages.
#include <gtest/gtest.h>

#include "tests/support/variants.h"
#include "tests/verifier/walks.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

const Program& program() {
  static const Program kProgram =
      make_program(*find_algorithm(Collective::kAlltoall, "hierarchical-overlapped"), {});
  return kProgram;
}

Job job(const std::vector<int64_t>& sizes, int64_t early) {
  return {{topology_of(sizes)}, {early}, {}};
}

// Checks that one rank's steps have the claimed kinds and dependencies, and use only two ranges of temporary blocks.
struct Shape : Listener {
  int64_t first, end;  // the ranks of its node
  int64_t ranks, part, early;
  std::string fault;

  void step(int64_t its_key, std::optional<int64_t> its_after) {
    key = its_key;
    after = its_after.value();
  }
  void message(const MessageHead& head) {
    const bool inside = first <= head.peer && head.peer < end;
    const int64_t node = key - ranks;  // between nodes: the target is that many nodes on
    if (key < ranks) {
      if (!inside) fault = "gathers from another node";
      if (after >= 0) fault = "what is gathered waits";
    } else if (!inside) {
      if (after != (node <= early ? -1 : ranks - 1)) fault = "between nodes";
    } else if (after <= ranks || after > ranks + early) {
      fault = "what is spread does not wait for its node";
    }
  }
  void piece(const PieceValue& piece) {
    if (piece.buffer != Buffer::kTemporary) return;
    const int64_t size = end - first, slots = (ranks + size - 1) / size * size;
    if (piece.block >= part + slots || (slots <= piece.block && piece.block < part))
      fault = "too many slots";
  }

  int64_t key = 0, after = 0;  // of the step
};

TEST(HierarchicalOverlapped, ExchangesInsideNodesWhileTheNetworkIsBusy) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 3, 3, 5}, {1, 1, 4}, {3, 3, 3}})
    for (const int64_t early : {0, 1, 2}) {
      const Job small = job(sizes, early);
      const Binding binding = bind(program(), small, {}, 0).value();
      const int64_t ranks = small.groups[0].ranks();
      int64_t first = 0;
      for (const int64_t size : sizes) {
        for (int64_t rank = first; rank < first + size; ++rank) {
          Shape shape{{}, first, first + size, ranks, ranks - 1 + sizes.back(), early, ""};
          EXPECT_EQ(PlainWalk(program(), binding, rank, shape).run(), WalkEnd::kEnd);
          EXPECT_EQ(shape.fault, "") << "rank " << rank << ", early " << early;
        }
        first += size;
      }
    }
}

TEST(HierarchicalOverlapped, NeedsBothPartsOfTheBuffer) {
  Program smaller = program();
  smaller.temporary_blocks = apply(Operator::kDivide, {smaller.temporary_blocks, constant(2)});
  const Job small = job({1, 4}, 1);
  const Binding binding = bind(smaller, small, {}, 0).value();
  const Report report = execute(smaller, small, {}, {binding}, {});
  ASSERT_TRUE(report.violation);
  EXPECT_EQ(report.violation->property, Property::kBlock) << report.violation->detail;
}

}  // namespace
}  // namespace quadrille::verifier
