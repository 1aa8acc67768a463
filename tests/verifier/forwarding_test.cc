// Tests what the comments of TuNA on nodes, and of hierarchical-overlapped, claim about servers, batches, dependencies
// and temporary blocks. algorithms_test.cc verifies the programs, and counts their messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "generator/encode.h"
#include "tests/support/effort.h"
#include "tests/support/property.h"
#include "tests/support/variants.h"
#include "tests/verifier/walks.h"
#include "verifier/check.h"

namespace quadrille::verifier::forwarding_test {

const Program& program_of(bool staggered) {
  return variant_named(Collective::kAlltoall, staggered ? "tuna-staggered" : "tuna-coalesced")
      .program;
}

Job job(const std::vector<int64_t>& sizes, int64_t radix, int64_t block_count) {
  return {{topology_of(sizes)}, {radix, block_count}, {}};
}

struct Message {
  int64_t key, source, target;
};

// Collects the steps of all ranks. Steps whose keys are at least the number of ranks belong to the second stage.
struct Steps : Listener {
  struct Step {
    int64_t key, after;
    int64_t messages = 0;
  };
  std::vector<std::vector<Step>> steps;  // by rank
  std::vector<Message> sends;
  std::vector<int64_t> slots;  // by rank: one more than the highest temporary block in use

  void start(int64_t rank) {
    rank_ = rank;
    steps.emplace_back();
    slots.push_back(0);
  }
  void step(int64_t key, std::optional<int64_t> after) {
    steps.back().push_back({key, after.value()});
  }
  void message(const MessageHead& head) {
    ++steps.back().back().messages;
    if (head.direction == Direction::kSend)
      sends.push_back({steps.back().back().key, rank_, head.peer});
  }
  void piece(const PieceValue& piece) {
    if (piece.buffer == Buffer::kTemporary) slots.back() = std::max(slots.back(), piece.block + 1);
  }

 private:
  int64_t rank_ = 0;
};

Steps steps_of(bool staggered, const Job& job) {
  const Program& program = program_of(staggered);
  return walk_all<Steps>(program, bind(program, job, {}, 0).value());
}

// Returns what is wrong in the second stage, or "".
std::string second_stage_fault(const Job& job, const Steps& all) {
  const int64_t ranks = job.groups[0].ranks();
  const std::vector<int64_t> sizes = job.groups[0].sizes();
  const std::vector<size_t> node = node_of_ranks(job.groups[0]);
  std::map<std::pair<int64_t, size_t>, std::set<size_t>> sources;  // nodes, by key and target node
  std::map<std::pair<size_t, int64_t>, std::set<int64_t>> servers;
  std::vector<std::set<int64_t>> served(ranks);
  for (const Message& message : all.sends) {
    if (node[message.source] == node[message.target]) {
      if (message.key >= ranks) return "a message inside a node in the second stage";
      continue;
    }
    if (message.key < ranks) return "a message between nodes in the first stage";
    sources[{message.key, node[message.target]}].insert(node[message.source]);
    servers[{node[message.source], message.target}].insert(message.source);
    served[message.source].insert(message.target);
  }
  for (const auto& [at, from] : sources)
    if (from.size() != 1) return "two nodes send to one at a time";
  for (const auto& [pair, those] : servers)
    if (those.size() != 1) return "two servers";
  // All ranks of a node serve the same number of ranks, themselves included, give or take one.
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const int64_t size = sizes[node[rank]], least = ranks / size;
    const auto count = static_cast<int64_t>(served[rank].size()) + 1;
    if (count < least || count > least + (ranks % size != 0)) return "serves unevenly";
  }
  return "";
}

std::string batch_fault(bool staggered, const Job& job, const Steps& all) {
  const int64_t ranks = job.groups[0].ranks(), block_count = job.parameters[1];
  const int64_t first = ranks + 1;  // the least key of the second stage
  for (const std::vector<Steps::Step>& steps : all.steps) {
    int64_t earlier = 0;
    for (const Steps::Step& step : steps) {
      if (step.messages == 0) return "an empty step";
      if (step.key < first) {
        if (!staggered && step.messages != 2) return "not one send and one receive";
        earlier = step.key;
        continue;
      }
      if (step.after < earlier) return "does not wait for the first stage";
      if (step.after != first - 1 + (step.key - first) / block_count * block_count)
        return "not a batch";
    }
  }
  return "";
}

std::string slot_fault(const Job& job, const Steps& all) {
  const int64_t ranks = job.groups[0].ranks();
  const std::vector<int64_t> sizes = job.groups[0].sizes();
  const std::vector<size_t> node = node_of_ranks(job.groups[0]);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const int64_t size = sizes[node[rank]];
    if (all.slots[rank] > (ranks + size - 1) / size * size) return "too many slots";
  }
  return "";
}

std::string shape_fault(bool staggered, const Job& job) {
  const Steps all = steps_of(staggered, job);
  std::string fault = second_stage_fault(job, all);
  if (fault.empty()) fault = batch_fault(staggered, job, all);
  return fault.empty() ? slot_fault(job, all) : fault;
}

TEST(TunaOnNodes, ServesEvenlyInBatchesFromOneNodeToOneNodeWithinItsSlots) {
  int number = 0;
  for (const std::vector<int64_t>& sizes : ascending_node_vectors(8))
    for (const int64_t radix : {2, 3})
      for (const int64_t block_count : {1, 2, 64})
        for (const bool staggered : {false, true}) {
          const int64_t ranks = topology_of(sizes).ranks();
          if (radix > std::max<int64_t>(2, ranks) || ++number % kThinning != 0) continue;
          ASSERT_EQ(shape_fault(staggered, job(sizes, radix, block_count)), "")
              << topology_of(sizes).text() << ", radix " << radix << ", block_count " << block_count
              << (staggered ? ", staggered" : "");
        }
}

TEST(TunaOnNodes, ServesEvenlyOnRandomNodes) {
  EXPECT_TRUE(holds("of the shape that is said", [] {
    const auto nodes = drawn(1, 11);
    const auto sizes = drawn_list(nodes, 1, 17);
    const int64_t ranks = topology_of(sizes).ranks();
    const auto radix = drawn(2, std::max<int64_t>(2, ranks) + 1);
    const auto block_count = drawn(1, 20);
    const bool staggered = drawn_bool();
    const Job random = job(sizes, radix, block_count);
    REQUIRE(shape_fault(staggered, random) == "");
  }));
}

TEST(TunaOnNodes, ExchangesBetweenRanksOfOneIndexWhereAllNodesHaveOneSize) {
  int between_nodes = 0;
  for (const Message& message : steps_of(false, job({4, 4, 4}, 2, 64)).sends) {
    if (message.source / 4 == message.target / 4) continue;
    EXPECT_EQ(message.source % 4, message.target % 4);
    ++between_nodes;
  }
  EXPECT_EQ(between_nodes, 12 * 2);
}

TEST(TunaOnNodes, TakesHalfAKilobyteForSixteenThousandRanks) {
  const Job large{{parse_nodes("512x32").value()}, {8, 32}, {}};
  EXPECT_LE(encode(program_of(false), large).size(), 512u);
}

// ---- hierarchical-overlapped

const Program& overlapped() {
  return variant_named(Collective::kAlltoall, "hierarchical-overlapped").program;
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
      const Job small{{topology_of(sizes)}, {early}, {}};
      const Binding binding = bind(overlapped(), small, {}, 0).value();
      const int64_t ranks = small.groups[0].ranks();
      int64_t first = 0;
      for (const int64_t size : sizes) {
        for (int64_t rank = first; rank < first + size; ++rank) {
          Shape shape{{}, first, first + size, ranks, ranks - 1 + sizes.back(), early, ""};
          EXPECT_EQ(PlainWalk(overlapped(), binding, rank, shape).run(), WalkEnd::kEnd);
          EXPECT_EQ(shape.fault, "") << "rank " << rank << ", early " << early;
        }
        first += size;
      }
    }
}

// ---- Both need all temporary blocks that they ask for

TEST(TemporaryBlocks, AreNotTooMany) {
  const Job of_tuna = job({1, 4}, 2, 1), of_overlapped{{topology_of({1, 4})}, {1}, {}};
  for (const auto& [original, op, by, small] :
       {std::tuple(&program_of(false), Operator::kSubtract, 1, &of_tuna),
        {&program_of(true), Operator::kSubtract, 1, &of_tuna},
        {&overlapped(), Operator::kDivide, 2, &of_overlapped}}) {
    Program program = *original;
    program.temporary_blocks = apply(op, {program.temporary_blocks, constant(by)});
    const Binding binding = bind(program, *small, {}, 0).value();
    const Report report = execute(program, *small, {}, {binding}, {});
    ASSERT_TRUE(report.violation);
    EXPECT_EQ(report.violation->property, Property::kBlock) << report.violation->detail;
  }
}

}  // namespace quadrille::verifier::forwarding_test
