// Random programs, run: what the checker calls right brings every byte to its place, by every entrance, window and
// timing, or is refused as not served; what it refutes may be refused, fail, wait for ever or bring something else, but
// it binds or is refused, ends, and touches nothing beside the blocks.
//
// PROGRAMS says how many are drawn, SEED which; a failure names the seed of its program, which SEED gives back.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/net/failures.h"
#include "tests/support/effort.h"
#include "tests/support/plain_walk.h"
#include "tests/support/random_programs.h"
#include "verifier/check.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace quadrille::net {
namespace {

constexpr unsigned kMostSeconds = 60;  // of a simulation

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// What runs, for the handler of the alarm.
std::string current;

void tell_and_exit(int) {
  constexpr char kHangs[] = "hangs: ";
  if (write(STDERR_FILENO, kHangs, sizeof kHangs - 1) < 0 ||
      write(STDERR_FILENO, current.data(), current.size()) < 0)
    _exit(3);
  _exit(2);
}

// What a deadlock leaves on the stacks of ranks that do not end is forgotten.
class Forgetting {
 public:
#ifdef __SANITIZE_ADDRESS__
  Forgetting() { __lsan_disable(); }
  ~Forgetting() { __lsan_enable(); }
#else
  Forgetting() { alarm(kMostSeconds); }
  ~Forgetting() { alarm(0); }
#endif
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;
};

// A drawn program with a call of small blocks.
struct Trial {
  Trial(const RandomCase& drawn, uint64_t seed)
      : scheduled(drawn.program, drawn.job, fmt::format("seed {}", seed)), call(drawn.call) {
    ways.window = static_cast<int>(1 + seed % 3 * seed % 17);
    ways.is_synchronous = seed % 5 == 0;
    ways.is_eager = seed / 2 % 2 == 0;
    ways.seed = static_cast<unsigned>(seed);
    ways.block_size = 1 + static_cast<int64_t>(seed % 20);
    for (int64_t& parameter : call.parameters) parameter = ways.block_size;
    const bool gathers = drawn.program.collective == Collective::kAllgather;
    entrance = static_cast<Entrance>(seed / 4 % (gathers ? 2 : 4));
    real = real_ranks(scheduled.program, machine_of(scheduled, ways).node_of);
  }

  // Blocks in place have one length both ways.
  int units(int source, int target) const {
    return uneven ? static_cast<int>((source * target + source + target + ways.seed) % 4) : 2;
  }
  // What the checker says of the call; nothing where it does not bind. Binding tries an allgather without
  // contributions, so that has to be right as well.
  std::optional<verifier::Report> report() {
    std::vector<int64_t> counts;
    for (const int rank : real) counts.push_back(8 * units(rank, rank));
    if (call.counts.empty()) return checked();
    call.counts = {std::vector<int64_t>(real.size(), 0)};
    const std::optional<verifier::Report> of_nothing = checked();
    if (!of_nothing || of_nothing->violation) return of_nothing;
    call.counts = {counts};
    return checked();
  }
  std::optional<verifier::Report> checked() const {
    Program program = scheduled.program;
    program.port = {};  // a port says nothing of what a call brings
    Result<verifier::Report> found = verifier::check_schedule(program, scheduled.job, call, {});
    if (!found.ok()) return std::nullopt;
    return std::move(found).value();
  }

  Scheduled scheduled;
  Call call;
  Ways ways;
  Entrance entrance;
  std::vector<int> real;
  bool uneven = true;
};

struct Fate {
  std::vector<int> bound, called;  // error classes, by rank; -1 of what did not come to an end
  bool right = true;               // where a call was a success
  std::vector<std::string> problems;

  bool is_bound() const {
    return std::all_of(bound.begin(), bound.end(), [](int code) { return code == MPI_SUCCESS; });
  }
  bool succeeds() const {
    return is_bound() &&
           std::all_of(called.begin(), called.end(), [](int code) { return code == MPI_SUCCESS; });
  }
  bool waits() const { return std::find(called.begin(), called.end(), -1) != called.end(); }
};

void at_rank(const Trial& trial, MPI_Comm comm, Fate& fate) {
  const auto own = static_cast<size_t>(this_rank());
  const quadrille_bind_options options = {
      sizeof options, QUADRILLE_LAYOUT_SHARED, trial.ways.window, trial.ways.is_synchronous,
      trial.scheduled.takes_block_size ? trial.ways.block_size : 0};
  quadrille_schedule schedule = QUADRILLE_SCHEDULE_NULL;
  const Bytes& file = trial.scheduled.file;
  int code = quadrille_load_memory(file.data(), file.size(), &schedule);
  if (code == MPI_SUCCESS) code = quadrille_bind(schedule, comm, &options);
  fate.bound[own] = quadrille_error_class(code);
  if (code == MPI_SUCCESS) {
    const mpi::Shape& ints = mpi::integer_shapes()[0];
    const auto units = [&](int source, int target) { return trial.units(source, target); };
    Attempt attempt(trial.scheduled.program.collective, trial.entrance, comm, trial.ways.seed, ints,
                    ints, {units, units});
    fate.called[own] = attempt.call(schedule);
    attempt.expect_rest_untouched(fmt::format("rank {}", own));
    fate.right &= fate.called[own] != MPI_SUCCESS || attempt.is_right();
  }
  if (schedule != QUADRILLE_SCHEDULE_NULL) quadrille_free(&schedule);
}

Fate run(const Trial& trial) {
  const auto ranks = static_cast<size_t>(trial.scheduled.ranks);
  Fate fate{std::vector<int>(ranks, -1), std::vector<int>(ranks, -1), true, {}};
  const Forgetting forgetting;
  fate.problems = simulate(machine_of(trial.scheduled, trial.ways), [&](MPI_Comm comm) {
                    at_rank(trial, comm, fate);
                  }).problems;
  return fate;
}

struct Tally {
  int drawn = 0, right = 0, not_served = 0, wrong = 0, unbound = 0;
  int refused = 0, failed = 0, waiting = 0, elsewhere = 0;
};

void expect_right(const Fate& fate, Tally& tally) {
  EXPECT_TRUE(fate.problems.empty()) << fmt::format("{}", fmt::join(fate.problems, "\n"));
  if (fate.bound[0] == MPI_ERR_UNSUPPORTED_OPERATION) {
    ++tally.not_served;
    return;
  }
  ++tally.right;
  EXPECT_TRUE(fate.succeeds()) << fmt::format("bind {}, call {}", fmt::join(fate.bound, " "),
                                              fmt::join(fate.called, " "));
  EXPECT_TRUE(fate.right);
}

// What a program may bring about that waits for ever, or receives twice into one place.
bool is_of_the_program(const std::string& problem) {
  for (const char* const part : {"nobody can go on", "overlaps that of", "before it was over"})
    if (problem.find(part) != std::string::npos) return true;
  return false;
}

void expect_harmless(const Fate& fate, Tally& tally) {
  ++tally.wrong;
  for (const std::string& problem : fate.problems)
    EXPECT_TRUE(is_of_the_program(problem)) << problem;
  // Binding comes to an end whatever the program is.
  EXPECT_EQ(std::count(fate.bound.begin(), fate.bound.end(), -1), 0)
      << fmt::format("{}", fmt::join(fate.problems, "\n"));
  if (!fate.is_bound())
    ++tally.refused;
  else if (fate.waits())
    ++tally.waiting;
  else if (!fate.succeeds())
    ++tally.failed;
  else if (!fate.right)
    ++tally.elsewhere;
}

void add(uint64_t seed, Tally& tally) {
  ++tally.drawn;
  const std::optional<RandomCase> drawn = random_case(seed);
  if (!drawn) return;
  // collectives_test calls the others.
  const Collective collective = drawn->program.collective;
  if (collective != Collective::kAlltoall && collective != Collective::kAllgather) return;
  Trial trial(*drawn, seed);
  current = drawn->text + trial.ways.text() + "\n";
  const testing::ScopedTrace trace(__FILE__, __LINE__, current);
  std::optional<verifier::Report> report = trial.report();
  if (report && !report->violation && !report->any_counts) {
    trial.uneven = false;
    report = trial.report();
  }
  const Fate fate = run(trial);
  if (!report) {
    ++tally.unbound;
    EXPECT_FALSE(fate.is_bound() && fate.succeeds());
    return;
  }
  report->violation ? expect_harmless(fate, tally) : expect_right(fate, tally);
}

TEST(RandomPrograms, RunAsTheCheckerSays) {
  signal(SIGALRM, tell_and_exit);
  const uint64_t programs = from_environment("PROGRAMS", 1500 / kThinning);
  const uint64_t first = from_environment("SEED", 1);
  Tally tally;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed) add(seed, tally);
  fmt::print(
      "{} drawn: {} right, {} right and not served, {} do not bind, {} wrong: {} refused, {} fail, "
      "{} wait, {} bring something else\n",
      tally.drawn, tally.right, tally.not_served, tally.unbound, tally.wrong, tally.refused,
      tally.failed, tally.waiting, tally.elsewhere);
  if (programs < 100) return;  // a few, to look at
  EXPECT_GT(tally.right, tally.drawn / 5);
  for (const int some :
       {tally.unbound, tally.refused, tally.failed, tally.waiting, tally.elsewhere})
    EXPECT_GT(some, tally.drawn / 100);
}

}  // namespace
}  // namespace quadrille::net
