#include "tests/net/runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/support/effort.h"
#include "tests/support/topologies.h"

namespace quadrille::net {
namespace {

constexpr int kMarks = 10;  // marks of one call at most

// ---- One job

struct Session {
  const Scheduled& scheduled;
  const std::vector<Run>& runs;
  Groups groups;
  std::vector<int> entered;     // for each run, how many ranks have entered
  std::vector<MPI_Comm> users;  // for each rank, the communicator of its calls
};

std::string text_of(const Session& session) {
  std::string text = session.scheduled.name + "\n";
  for (const Run& run : session.runs) {
    text += run.call.text() + "; " + run.ways.text();
    text += run.how == How::kOnce          ? "\n"
            : run.how == How::kThreeStarts ? ", persistent\n"
                                           : ", two\n";
  }
  return text;
}

CollectiveCall another(CollectiveCall call) {
  ++call.length_seed;
  call.layout = (call.layout + 1) % mpi::kFixedPlaces;
  ++call.seed;
  return call;
}

void run_at_rank(Session& session, size_t i, quadrille_schedule schedule, MPI_Comm comm) {
  const Run& run = session.runs[i];
  const std::string what = fmt::format("call {}, rank {}", i, this_rank());
  const int first = kMarks * static_cast<int>(i);
  if (run.how == How::kOnce) {
    mark(first);
    expect_right(run.call, this_rank(), schedule, comm, session.entered[i], what);
    EXPECT_TRUE(mark(first + 1)) << what << ": requests are left";
    return;
  }
  Persistent one(run.call, this_rank());
  expect_success(one.make(schedule, comm), "make");
  for (int start = 0; run.how == How::kThreeStarts && start < 3; ++start) {
    mark(first + 2 * start);
    one.start(run.call.seed + static_cast<unsigned>(start));
    one.wait(what);
    EXPECT_TRUE(mark(first + 2 * start + 1)) << what << ": requests are left";
  }
  if (run.how == How::kTwoAtOnce) {
    Persistent other(another(run.call), this_rank());
    expect_success(other.make(schedule, comm), "make");
    one.start(run.call.seed);
    other.start(run.call.seed + 1);
    one.wait(what);
    other.wait(what + ", the other");
    other.start(run.call.seed + 2);
    one.start(run.call.seed + 3);
    expect_right(another(another(run.call)), this_rank(), schedule, comm, session.entered[i],
                 what + ", a plain one");
    other.wait(what + ", the other again");
    one.wait(what + ", again");
    other.free();
  }
  one.free();
}

void at_rank(Session& session, MPI_Comm comm) {
  session.users[static_cast<size_t>(this_rank())] = comm;
  const Bound bound(session.scheduled, session.groups, session.runs[0].ways, comm);
  for (size_t i = 0; i < session.runs.size() && !testing::Test::HasFailure(); ++i) {
    const Ways& ways = session.runs[i].ways;
    if (i > 0 && ways.text() != session.runs[i - 1].ways.text())
      expect_success(bind(bound, session.scheduled, session.groups, ways, comm), "bind again");
    run_at_rank(session, i, bound, comm);
  }
}

// Expects that calls send nothing in the user's communicator, and synchronously if the schedule was bound so.
void expect_own_sends(const Session& session, const Outcome& outcome) {
  for (size_t rank = 0; rank < outcome.listings.size(); ++rank) {
    const Run* run = nullptr;  // whose call is under way
    for (const Event& event : outcome.listings[rank]) {
      if (event.kind == Event::Kind::kMark)
        run = event.tag % 2 == 0 ? &session.runs[static_cast<size_t>(event.tag / kMarks)] : nullptr;
      const bool is_to_itself = event.peer == static_cast<int>(rank);
      if (!run || event.kind != Event::Kind::kSend || is_to_itself) continue;
      EXPECT_NE(event.comm, session.users[rank]);
      EXPECT_EQ(event.is_synchronous, run->ways.is_synchronous);
    }
  }
}

}  // namespace

void expect_runs(const Scheduled& scheduled, const std::vector<Run>& runs) {
  const bool is_fixed = scheduled.groups.ranks > 0;
  const Groups groups = runs[0].call.groups;
  const Machine machine =
      is_fixed ? machine_of(scheduled, runs[0].ways) : machine_of(scheduled, groups, runs[0].ways);
  Session session{scheduled, runs, groups, std::vector<int>(runs.size()),
                  std::vector<MPI_Comm>(static_cast<size_t>(machine.ranks))};
  testing::ScopedTrace trace(__FILE__, __LINE__, text_of(session));
  const Outcome outcome = simulate(machine, [&](MPI_Comm comm) { at_rank(session, comm); });
  EXPECT_TRUE(outcome.problems.empty()) << outcome.text();
  if (groups.remote == 0) expect_own_sends(session, outcome);  // groups exchange counts, too
}

// ---- Sizes and ways

std::vector<std::vector<int64_t>> all_sizes(int64_t least, int64_t most) {
  std::vector<std::vector<int64_t>> result;
  for (const auto& sizes : ascending_node_vectors(most))
    if (topology_of(sizes).ranks() >= least) result.push_back(sizes);
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
    std::ranges::sort(sizes);
    result.push_back(std::move(sizes));
  }
  return result;
}

namespace {

unsigned next_kind = 0;
unsigned next_seed = 1;
int way_number = 0;

// Draws a run. By `kind`, calls alternate between forms, in place or not, and plain or persistent.
Run drawn(const Scheduled& scheduled, unsigned kind, const Ways& ways, unsigned seed) {
  constexpr How kHows[] = {How::kOnce, How::kThreeStarts, How::kOnce, How::kTwoAtOnce, How::kOnce};
  std::mt19937 random(seed);
  mpi::Allowed allowed = scheduled.allowed();
  allowed.is_large_rare = true;
  Run run{draw_calls(scheduled.program.collective, scheduled.groups, allowed, random, 1)[0], ways,
          kHows[kind / 6 % 5]};
  // A program may cut long blocks into a few bytes, and comparing long blocks takes long.
  if (run.call.lengths >= LengthKind::kLone && (scheduled.takes_block_size || random() % 4 != 0))
    run.call.lengths = LengthKind::kUneven;
  run.call.form = static_cast<int>(kind % 3);
  run.call.in_place = kind / 3 % 2;
  return run;
}

void expect_way(const Scheduled& scheduled, Ways ways, int calls) {
  std::vector<Run> runs;
  ways.seed = next_seed++;
  ways.block_size = ways.seed % 3 == 0 ? 64 : ways.seed % 3 == 1 ? 5 : 17;
  for (int i = 0; i < calls; ++i)
    runs.push_back(drawn(scheduled, next_kind++, ways, ways.seed * 8 + static_cast<unsigned>(i)));
  // The binding reuses the data that it keeps of a call for equal counts at other addresses.
  Run same = runs.front();
  ++same.call.seed;
  same.call.layout = (same.call.layout + 1) % mpi::kFixedPlaces;
  const bool is_alltoall = scheduled.program.collective == Collective::kAlltoall;
  if (!is_alltoall || ways.seed % 2 == 0) runs.back() = same;
  if (!is_alltoall) runs.push_back(runs.front());
  expect_runs(scheduled, runs);
}

}  // namespace

void expect_all_ways(const Scheduled& scheduled, int calls, int thinning) {
  check(thinning % 2 == 1, "windows and kinds of sends go in powers of two");
  for (const int window : {1, 2, 3, 16})
    for (const bool is_synchronous : {false, true})
      for (const bool is_eager : {false, true}) {
        if (testing::Test::HasFailure()) return;
        if (way_number++ % (one_in(thinning) * kThinning) != 0) continue;
        expect_way(scheduled, {window, is_synchronous, is_eager}, calls);
      }
}

void expect_all_ways(Collective collective, const std::vector<std::vector<int64_t>>& all_sizes,
                     int calls, int thinning) {
  const int first = way_number;
  const unsigned taken = next_seed;
  for (const auto& sizes : all_sizes)
    for (const Scheduled& one : scheduled_on(collective, sizes))
      expect_all_ways(one, calls, thinning);
  fmt::print("{} of {} ways, all of them with EVERY_CASE=1\n", next_seed - taken,
             way_number - first);
}

void expect_changing_counts(const Scheduled& scheduled) {
  constexpr LengthKind kKinds[] = {LengthKind::kUneven, LengthKind::kSparse, LengthKind::kEqual,
                                   LengthKind::kFirst};
  for (const int window : {2, 16}) {
    if (testing::Test::HasFailure()) return;
    const unsigned seed = next_seed++;
    std::vector<Run> runs;
    for (const unsigned drawn : {seed, seed, seed + 1, seed, seed + 2}) {
      const CollectiveCall call{.collective = scheduled.program.collective,
                                .groups = scheduled.groups,
                                .lengths = kKinds[mpi::mix(drawn) % 4],
                                .length_seed = drawn,
                                .form = 1,
                                .layout = mpi::kFixedPlaces,
                                .seed = static_cast<unsigned>(runs.size())};
      runs.push_back(
          {call, {.window = window, .is_eager = seed % 2 == 0, .block_size = 5, .seed = seed}});
    }
    expect_runs(scheduled, runs);
  }
}

}  // namespace quadrille::net
