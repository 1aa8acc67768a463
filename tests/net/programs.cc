#include "tests/net/programs.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/net/jobs.h"
#include "tests/support/effort.h"
#include "tests/support/topologies.h"

namespace quadrille::net {
namespace {

unsigned next_kind = 0;
unsigned next_seed = 1;
int way_number = 0;
int ways_told = 0, ways_taken = 0;

void expect_way(const Scheduled& scheduled, Ways ways, int calls) {
  std::vector<NetCall> all;
  ways.seed = next_seed++;
  ways.block_size = ways.seed % 3 == 0 ? 64 : ways.seed % 3 == 1 ? 5 : 17;
  const bool is_alltoall = scheduled.program.collective == Collective::kAlltoall;
  for (int i = 0; i < calls; ++i) {
    // Blocks are large only where that makes a difference.
    if (is_alltoall && next_kind % kAlltoallKinds == 10 && !scheduled.forwards) ++next_kind;
    const unsigned kind = next_kind++, seed = ways.seed * 8 + static_cast<unsigned>(i);
    all.push_back(is_alltoall ? alltoall_call(kind, seed) : allgather_call(kind, seed));
  }
  // What a binding keeps of a call serves the same counts again, elsewhere in memory.
  if (!is_alltoall || ways.seed % 2 == 0) all.back() = all.front();
  if (!is_alltoall) all.push_back(all.front());
  expect_calls(scheduled, ways, all);
}

}  // namespace

void expect_all_ways(const Scheduled& scheduled, int calls, int thinning) {
  check(thinning % 2 == 1, "windows and kinds of sends go in powers of two");
  for (const int window : {1, 2, 3, 16})
    for (const bool is_synchronous : {false, true})
      for (const bool is_eager : {false, true}) {
        if (testing::Test::HasFailure()) return;
        if (way_number++ % (one_in(thinning) * kThinning) != 0) continue;
        ++ways_taken;
        expect_way(scheduled, {window, is_synchronous, is_eager}, calls);
      }
}

void tell_ways() {
  fmt::print("{} of {} ways, all of them with EVERY_CASE=1\n", ways_taken, way_number - ways_told);
  ways_told = way_number;
  ways_taken = 0;
}

std::vector<std::vector<int64_t>> all_sizes(int64_t least, int64_t most) {
  std::vector<std::vector<int64_t>> result;
  for (const auto& sizes : all_node_vectors(most)) {
    int64_t ranks = 0;
    for (const int64_t size : sizes) ranks += size;
    if (ranks >= least && std::is_sorted(sizes.begin(), sizes.end())) result.push_back(sizes);
  }
  return result;
}

std::vector<std::vector<int64_t>> random_sizes(int count, int64_t least, int64_t most) {
  std::mt19937 random(1851);
  std::vector<std::vector<int64_t>> result;
  for (int i = 0; i < count; ++i) {
    std::vector<int64_t> sizes;
    int64_t left = least + static_cast<int64_t>(random() % static_cast<unsigned>(most - least + 1));
    const unsigned largest = i % 3 == 0 ? static_cast<unsigned>(left) : 5;
    while (left > 0) {
      sizes.push_back(std::min<int64_t>(left, 1 + static_cast<int64_t>(random() % largest)));
      if (i % 3 == 0) sizes.back() = left;
      left -= sizes.back();
    }
    std::sort(sizes.begin(), sizes.end());
    result.push_back(std::move(sizes));
  }
  return result;
}

void expect_all_ways(Collective collective, const std::vector<int64_t>& sizes, int calls,
                     int thinning) {
  for (const Scheduled& one : scheduled_on(collective, sizes))
    expect_all_ways(one, calls, thinning);
}

void expect_changing_counts(const Scheduled& scheduled) {
  for (const int window : {2, 16}) {
    if (testing::Test::HasFailure()) return;
    const unsigned seed = next_seed++;
    const Collective collective = scheduled.program.collective;
    std::vector<NetCall> calls;
    for (const unsigned drawn : {seed, seed, seed + 1, seed, seed + 2})
      calls.push_back(call_at_places(collective, drawn));
    expect_calls(scheduled, {.window = window, .is_eager = seed % 2 == 0, .seed = seed}, calls);
  }
}

void expect_changing_counts(Collective collective, const std::vector<int64_t>& sizes) {
  for (const Scheduled& one : scheduled_on(collective, sizes)) expect_changing_counts(one);
}

}  // namespace quadrille::net
