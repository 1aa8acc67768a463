// Compares the checker in key order with the general one on mutants of TuNA. algorithms_test.cc compares the two on
// every all-to-all. Also tests the queue, which returns ranks in the order of their keys, however far apart these are.
// The checker takes loops of exchanges at once (ExchangeLoop).
#include "verifier/key_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "generator/registry.h"
#include "schedule/text.h"
#include "schedule/walk.h"
#include "tests/support/effort.h"
#include "tests/support/mutants.h"
#include "tests/support/property.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "tests/verifier/reports.h"

namespace quadrille::verifier::key_order_test {

const Variant& tuna() { return variant_named(Collective::kAlltoall, "tuna"); }

Job tuna_job(int64_t ranks, int64_t radix) {
  Job job = job_of({ranks});
  job.parameters = {radix};
  return job;
}

// With one temporary block less, some rank names a block that does not exist.
TEST(KeyOrderChecker, FindsEverySlotOfTunaInUse) {
  Program program = tuna().program;
  program.temporary_blocks =
      apply(Operator::kMaximum,
            {constant(0), apply(Operator::kSubtract, {program.temporary_blocks, constant(1)})});
  for (int64_t ranks = 4; ranks <= 16; ++ranks)
    for (int64_t radix = 2; radix < ranks - 1; ++radix) {
      const Result<Report> report = check_schedule(program, tuna_job(ranks, radix), {}, {});
      ASSERT_TRUE(report->violation) << ranks << " ranks, radix " << radix;
      EXPECT_EQ(report->violation->property, Property::kBlock);
    }
}

TEST(KeyOrderChecker, SaysWhatTheGeneralOneSaysOfMutants) {
  const std::vector<Mutant> all = mutants(tuna().program);
  int served = 0, refuted = 0;
  for (size_t i = 0; i < all.size(); i += kThinning)
    for (const auto& [ranks, radix] : {std::pair<int64_t, int64_t>{6, 4}, {7, 2}, {9, 3}}) {
      const Program& program = all[i].program;
      const Job job = tuna_job(ranks, radix);
      const Result<Binding> binding = bind(program, job, {}, 0);
      if (!binding.ok() || !fits_key_order(program)) continue;
      const std::string found =
          verdict_beside([&] { return execute(program, job, {}, {*binding}, {}); },
                         check_key_order(program, job, *binding, {}),
                         fmt::format("{} ranks, radix {}: {}", ranks, radix, all[i].description));
      served += found != "unclear";
      refuted += found != "unclear" && found != "verified";
    }
  EXPECT_GE(served, 900 / kThinning);
  EXPECT_GE(refuted, 500 / kThinning);
}

TEST(KeyOrderChecker, LeavesGreatJobsToTheGeneralChecker) {
  EXPECT_EQ(check_key_order(tuna().program, tuna_job(65536, 2),
                            bind(tuna().program, tuna_job(65536, 2), {}, 0).value(), {})
                .has_value(),
            false);
}

// ---- The queue

// Puts each rank's next key into the queue when the rank is visited. Returns the ranks visited at each key.
std::map<int64_t, std::set<int32_t>> visited(const std::vector<std::vector<int64_t>>& keys) {
  KeyQueue queue(keys.size());
  std::vector<size_t> next(keys.size(), 0);
  const auto add = [&](int32_t rank) {
    if (next[rank] < keys[rank].size()) queue.add(rank, keys[rank][next[rank]++]);
  };
  for (size_t rank = 0; rank < keys.size(); ++rank) add(rank);
  std::map<int64_t, std::set<int32_t>> result;
  int64_t last = std::numeric_limits<int64_t>::min();
  while (!queue.empty()) {
    int32_t rank = queue.advance();
    EXPECT_GE(queue.now(), last);
    last = queue.now();
    while (rank >= 0) {
      const int32_t following = queue.take(rank);
      EXPECT_TRUE(result[queue.now()].insert(rank).second);
      add(rank);
      rank = following;
    }
  }
  return result;
}

std::map<int64_t, std::set<int32_t>> expected(const std::vector<std::vector<int64_t>>& keys) {
  std::map<int64_t, std::set<int32_t>> result;
  for (size_t rank = 0; rank < keys.size(); ++rank)
    for (const int64_t key : keys[rank]) result[key].insert(rank);
  return result;
}

PROPERTY(KeyQueue, ComesToEveryKeyOfEveryRankInOrder) {
  std::vector<std::vector<int64_t>> keys;
  const int64_t spread = drawn_of<int64_t>(10, 5000, 1000000000);
  for (int rank = drawn(1, 6); rank > 0; --rank) {
    const auto list = drawn_list(drawn(0, 40), -spread, spread);
    const std::set<int64_t> set(list.begin(), list.end());
    keys.emplace_back(set.begin(), set.end());
  }
  REQUIRE(visited(keys) == expected(keys));
}

TEST(KeyQueue, ReachesFromTheLeastKeyToTheGreatest) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                    kGreatest = std::numeric_limits<int64_t>::max();
  const std::vector<std::vector<int64_t>> keys = {
      {kLeast, -5, kGreatest}, {kLeast + 1, 4091, kGreatest - 4096}, {kGreatest - 1, kGreatest}};
  EXPECT_EQ(visited(keys), expected(keys));
}

// Ignores what is in no loop.
struct NoSink : SinkOf<NoSink> {};

// Returns how many loops of exchanges a rank's walk has.
int loops_of(const Program& program, const Binding& binding, int64_t rank) {
  const Code code = Code::compile(program).value();
  std::vector<int64_t> registers(code.registers());
  Walker walker;
  NoSink others;
  StridedBatch batch;
  int loops = 0;
  code.start(binding, rank, walker, registers.data());
  for (Pause pause; (pause = code.run<PauseAtLoops>(binding, walker, registers.data(), others)) !=
                    Pause::kEnd;) {
    batch.more = pause == Pause::kLoop;
    while (batch.more && code.batch(binding, walker, registers.data(), batch) &&
           ExchangeLoop::of(batch, rank, binding.place.ranks)) {
      code.take(walker, registers.data(), batch);
      ++loops;
    }
  }
  return loops;
}

// algorithms_test.cc and tests/mutation/verdict_test.cc compare what the checker finds in them.
TEST(LoopsOfExchanges, AreFoundInDirectSchedules) {
  for (const char* name : {"factor", "hierarchical-factor", "hierarchical-circle"}) {
    const Variant& variant = variant_named(Collective::kAlltoall, name);
    const Job job = jobs_on(variant, {4, 4, 4, 4})[0];
    EXPECT_GT(loops_of(variant.program, bind(variant.program, job, {}, 0).value(), 3), 0) << name;
  }
}

TEST(LoopsOfExchanges, HoldOneBlockEachWayOfThePeerAndNothingElse) {
  const auto loops = [](const std::string& step) {
    const Program program =
        parse_program("algorithm a for alltoall\nfor i in 1 .. ranks\n" + step, "loop").value();
    const Binding binding = bind(program, job_of({5}), {}, 0).value();
    return loops_of(program, binding, 0);
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

}  // namespace quadrille::verifier::key_order_test
