// The checker in key order takes loops of exchanges at once (ExchangeLoop). Their messages must equal the walk's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "schedule/text.h"
#include "schedule/walk.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/check.h"
#include "verifier/key_order.h"

namespace quadrille::verifier {
namespace {

// Collects the block messages of a walk: key, whether it is a send, peer, buffer, block.
struct BlockMessages : SinkOf<BlockMessages> {
  void block_message(const MessageHead& head, Buffer buffer, int64_t block) {
    all.push_back(
        {key, head.direction == Direction::kSend, head.peer, static_cast<int64_t>(buffer), block});
  }
  int64_t key = 0;
  std::vector<std::array<int64_t, 5>> all;
};

// The block messages of a rank, sorted. If `by_loops`, expands loops of exchanges from their strides.
struct LoopedWalk {
  LoopedWalk(const Program& program, const Binding& binding, int64_t rank, bool by_loops) {
    const Code code = Code::compile(program).value();
    std::vector<int64_t> registers(code.registers());
    Walker walker;
    BlockMessages found;
    StridedBatch batch;
    code.start(binding, rank, walker, registers.data());
    Pause pause;
    do {
      pause = code.run<PauseAtLoops>(binding, walker, registers.data(), found);
      found.key = walker.key;
      if (pause != Pause::kLoop || !by_loops) continue;
      for (batch.more = true; batch.more && code.batch(binding, walker, registers.data(), batch);) {
        const auto loop = ExchangeLoop::of(batch, rank, binding.place.ranks);
        if (!loop) break;
        code.take(walker, registers.data(), batch);
        tell(*loop, found);
      }
    } while (pause != Pause::kEnd);
    messages = std::move(found.all);
    std::sort(messages.begin(), messages.end());
  }

  void tell(ExchangeLoop loop, BlockMessages& found) {
    for (++loops; loop.left > 0; --loop.left, loop.next()) {
      found.key = loop.key;
      found.block_message({Direction::kReceive, false, false, loop.peer}, Buffer::kReceive,
                          loop.peer);
      found.block_message({Direction::kSend, false, false, loop.peer}, Buffer::kSend, loop.peer);
    }
  }

  std::vector<std::array<int64_t, 5>> messages;
  int loops = 0;
};

TEST(LoopsOfExchanges, HoldTheMessagesOfTheWalk) {
  int with_loops = 0;
  for (const Variant& variant : variants_of(Collective::kAlltoall)) {
    const Program& program = variant.program;
    int loops = 0;
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 4, 5}, {4, 4, 4, 4}}) {
      for (const Job& job : jobs_on(variant, sizes)) {
        const Binding binding = bind(program, job, {}, 0).value();
        for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
          const LoopedWalk walk(program, binding, rank, true);
          EXPECT_EQ(walk.messages, LoopedWalk(program, binding, rank, false).messages)
              << program.algorithm.text << ", rank " << rank;
          loops += walk.loops;
        }
      }
    }
    with_loops += loops > 0;
    const bool direct = variant.name == "factor" || (variant.name.starts_with("hierarchical") &&
                                                     program.port.kind == PortKind::kExchange);
    EXPECT_TRUE(loops > 0 || !direct) << program.algorithm.text;
  }
  EXPECT_GE(with_loops, 5);
}

TEST(LoopsOfExchanges, HoldOneBlockEachWayOfThePeerAndNothingElse) {
  const auto loops = [](const std::string& step) {
    const Program program =
        parse_program("algorithm a for alltoall\nfor i in 1 .. ranks\n" + step, "loop").value();
    const Binding binding = bind(program, job_of({5}), {}, 0).value();
    return LoopedWalk(program, binding, 0, true).loops;
  };
  EXPECT_EQ(loops("  step i after -1\n    send send[i] to i\n    receive recv[i] from i\n"), 1);
  EXPECT_EQ(loops("  step 3*i\n    receive recv[i] from i\n    send send[i] to i\n"), 1);
  EXPECT_EQ(loops("  step i after i - 2\n    send send[i] to i\n    receive recv[i] from i\n"), 1);
  for (const char* other :
       {"  step i\n    send send[i] to i\n", "  step i\n    receive recv[i] from i\n",
        "  step i\n    send send[i] to i\n    send send[i] to i\n",
        "  step i\n    send send[i - 1] to i\n    receive recv[i] from i\n",
        "  step i\n    send send[i] to i\n    receive recv[i] from i - 1\n",
        "  step i\n    send send[i] to i\n    receive recv[ranks - i] from ranks - i\n",
        "  step i\n    send send[1] to i\n    receive recv[i] from i\n",
        "  step i\n    send recv[i] to i\n    receive recv[i] from i\n",
        "  step 9 - i\n    send send[i] to i\n    receive recv[i] from i\n",
        "  step i\n    send send[i + 1] to i + 1\n    receive recv[i + 1] from i + 1\n",
        "  step i\n    send sized to i\n      send[i]\n    receive recv[i] from i\n"})
    EXPECT_EQ(loops(other), 0) << other;
}

}  // namespace
}  // namespace quadrille::verifier
