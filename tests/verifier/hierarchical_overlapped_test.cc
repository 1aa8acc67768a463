// hierarchical-overlapped: the checker verifies it, exhaustively on few ranks and at random on more. The claims of its
// comment about messages, dependencies and the temporary buffer are tested, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/effort.h"
#include "tests/support/property.h"
#include "tests/support/variants.h"
#include "tests/verifier/reports.h"
#include "tests/verifier/walks.h"

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

int64_t modulo(int64_t number, int64_t divisor) { return (number % divisor + divisor) % divisor; }

// The number of ranks of node `of` that the rank serves. Its own node has `size` ranks.
int64_t served(const std::vector<int64_t>& sizes, size_t of, int64_t rank, int64_t size) {
  const int64_t first =
      std::accumulate(sizes.begin(), sizes.begin() + static_cast<long>(of), int64_t{0});
  int64_t count = 0;
  for (int64_t other = first; other < first + sizes[of]; ++other)
    count += modulo(other - rank, size) == 0;
  return count;
}

// The number of messages: one for each two ranks of a node, and one from each rank to each early node. For a node that
// is not early, one from each rank to each rank of it that it serves. For each two ranks of a node and early node, one
// if it has data.
int64_t messages(const Topology& topology, int64_t early) {
  const std::vector<int64_t> sizes = topology.sizes();
  const auto nodes = static_cast<int64_t>(sizes.size());
  int64_t count = 0, rank = 0;
  for (int64_t a = 0; a < nodes; ++a)
    for (int64_t i = 0; i < sizes[a]; ++i, ++rank) {
      count += sizes[a] - 1;
      for (int64_t m = 1; m < nodes; ++m) {
        const auto to = static_cast<size_t>((a + m) % nodes),
                   from = static_cast<size_t>(modulo(a - m, nodes));
        count += m <= early ? 1 : served(sizes, to, rank, sizes[a]);
        if (m <= early && served(sizes, from, rank, sizes[a]) > 0) count += sizes[a] - 1;
      }
    }
  return count;
}

std::string fault(const Job& job) {
  const Result<Binding> binding = bind(program(), job, {}, 0);
  if (!binding.ok()) return binding.error().message;
  const Report report = execute(program(), job, {}, {*binding}, {});
  if (report.violation) return verdict(report);
  if (report.uneven) return "needs equal blocks";
  if (report.messages != messages(job.groups[0], job.parameters[0])) return "messages";
  return "";
}

TEST(HierarchicalOverlapped, IsRightOnAllNodesOfAtMostElevenRanks) {
  int number = 0;
  for (const std::vector<int64_t>& sizes : ascending_node_vectors(11))
    for (const int64_t early : {0, 1, 2, 3, 64}) {
      if (++number % kThinning != 0) continue;
      ASSERT_EQ(fault(job(sizes, early)), "") << topology_of(sizes).text() << ", early " << early;
    }
}

TEST(HierarchicalOverlapped, IsRightOnRandomNodes) {
  EXPECT_TRUE(holds("verified, with the messages that are said", [] {
    const auto nodes = drawn(1, 11);
    const auto sizes = drawn_list(nodes, 1, 17);
    const auto early = drawn(0, nodes + 2);
    REQUIRE(fault(job(sizes, early)) == "");
  }));
}

// Checks one rank's steps: they have the claimed kinds and dependencies, and use two parts of the buffer.
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
