// A trial draws the kind of call, the lengths, the datatypes and the way to bind from its seed.
#include "tests/net/trials.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace quadrille::net {
namespace {

constexpr unsigned kMostSeconds = 60;  // that a simulation may take

// The text of the running trial, for the handler of the alarm.
std::string current;

void tell_and_exit(int) {
  constexpr char kHangs[] = "hangs: ";
  if (write(STDERR_FILENO, kHangs, sizeof kHangs - 1) < 0 ||
      write(STDERR_FILENO, current.data(), current.size()) < 0)
    _exit(3);
  _exit(2);
}

// After a deadlock, ranks that have not ended still have objects on their stacks. The leak checker ignores these.
class Forgetting {
 public:
#ifdef __SANITIZE_ADDRESS__
  Forgetting() { __lsan_disable(); }
  ~Forgetting() { __lsan_enable(); }
#else
  Forgetting() {
    signal(SIGALRM, tell_and_exit);
    alarm(kMostSeconds);
  }
  ~Forgetting() { alarm(0); }
#endif
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;
};

bool are_successes(const std::vector<int>& codes) {
  return std::ranges::all_of(codes, [](int code) { return code == MPI_SUCCESS; });
}

using Counts = std::vector<std::vector<int64_t>>;

Counts zeros_like(Counts counts) {
  for (std::vector<int64_t>& of_group : counts) std::ranges::fill(of_group, 0);
  return counts;
}

}  // namespace

bool Fate::is_bound() const { return are_successes(bound); }
bool Fate::succeeds() const { return is_bound() && are_successes(called); }
bool Fate::waits() const { return std::ranges::find(called, -1) != called.end(); }

CollectiveTrial::CollectiveTrial(const RandomCase& drawn, uint64_t seed, bool is_in_order)
    : drawn(drawn),
      scheduled(fmt::format("seed {}", seed), drawn.program, drawn.job),
      is_persistent(seed % 7 == 0),
      is_in_order(is_in_order) {
  constexpr LengthKind kLengths[] = {LengthKind::kNone,   LengthKind::kOne,    LengthKind::kEqual,
                                     LengthKind::kEqual,  LengthKind::kUneven, LengthKind::kUneven,
                                     LengthKind::kUneven, LengthKind::kLong,   LengthKind::kLong};
  Random random(seed);
  ways.window = static_cast<int>(1 + seed % 3 * seed % 17);
  ways.is_synchronous = seed % 5 == 0;
  ways.is_eager = seed / 2 % 2 == 0;
  ways.seed = static_cast<unsigned>(seed);
  ways.block_size = drawn.call.parameters.empty() ? 0 : drawn.call.parameters[0];
  ways.are_ranges = seed % 3 == 0 && drawn.program.groups == 2;
  call.collective = drawn.program.collective;
  call.groups = scheduled.groups;
  call.lengths = any_of(kLengths, random);
  // It would take long if the program cut long blocks into a few bytes.
  if (!drawn.call.parameters.empty() && call.lengths == LengthKind::kLong)
    call.lengths = LengthKind::kUneven;
  call.length_seed = static_cast<unsigned>(below(random, 1000));
  call.form = static_cast<int>(below(random, 3));
  call.root = static_cast<int>(drawn.call.root);
  if (!is_in_order && call.groups.remote == 0)  // `drawn` means a place of the schedule
    call.root = real_ranks(drawn.program, machine().node_of)[static_cast<size_t>(call.root)];
  call.in_place = can_be_in_place(call.collective, call.groups) && one_in(random, 2);
  call.layout = static_cast<unsigned>(below(random, 1000));
  call.seed = static_cast<unsigned>(random());
  const bool combines = reduces(call.collective);
  do {
    call.types = static_cast<unsigned>(below(random, combines ? mpi::elements().size() : 1000));
  } while (combines && drawn.program.commutative && !mpi::elements()[call.types].commutes);
}

std::optional<verifier::Report> CollectiveTrial::report() const {
  const Counts counts = this->counts();
  std::vector<Counts> all = {counts};
  if (!counts.empty()) all.push_back(zeros_like(counts));
  if (counts.size() == 2 && counts[0].size() == counts[1].size() && !rooted(call.collective))
    all.push_back({counts[1], counts[0]});
  std::optional<verifier::Report> report;
  for (; !all.empty(); all.pop_back()) {
    report = checked(all.back(), drawn.call.root);
    if (!report || report->violation) break;
  }
  return report;
}

std::optional<verifier::Report> CollectiveTrial::report_of_binding() const {
  return checked(counts(), 0);
}

std::optional<verifier::Report> CollectiveTrial::checked(const Counts& counts, int64_t root) const {
  Call asked = drawn.call;
  asked.counts = counts;
  asked.root = root;
  Program program = drawn.program;
  program.port = {};  // ports have no effect on data
  Result<verifier::Report> found = verifier::check_schedule(program, drawn.job, asked, {});
  if (!found.ok()) return std::nullopt;
  return std::move(found).value();
}

std::string CollectiveTrial::text() const {
  return fmt::format("{}{}{}\n{}\n", drawn.text, ways.text(), is_persistent ? ", persistent" : "",
                     call.text());
}

Machine CollectiveTrial::machine() const {
  Machine machine = machine_of(scheduled, ways);
  if (!is_in_order) return machine;
  machine.node_of.clear();
  int node = 0;
  for (const Topology& topology : drawn.job.groups)
    for (const int64_t size : topology.sizes())
      machine.node_of.insert(machine.node_of.end(), static_cast<size_t>(size), node++);
  return machine;
}

Counts CollectiveTrial::counts() const {
  Counts counts = counts_of(call);
  if (is_in_order || counts.empty()) return counts;
  const std::vector<int64_t> by_place = counts[0];
  const std::vector<int> real = real_ranks(drawn.program, machine().node_of);
  for (size_t r = 0; r < real.size(); ++r) counts[0][r] = by_place[static_cast<size_t>(real[r])];
  return counts;
}

int CollectiveTrial::call_once(CollectivePart& part, quadrille_schedule schedule, MPI_Comm comm) {
  if (is_persistent) return part.run_persistent(schedule, comm);
  int all = call.groups.all() - 1;  // if the call is wrong, a barrier may let ranks go too early
  return part.run(schedule, comm, is_right ? entered : all);
}

void CollectiveTrial::at_rank(MPI_Comm comm, Fate& fate) {
  const auto own = static_cast<size_t>(this_rank());
  quadrille_schedule schedule = QUADRILLE_SCHEDULE_NULL;
  int code = quadrille_load_memory(scheduled.file.data(), scheduled.file.size(), &schedule);
  if (code == MPI_SUCCESS) code = bind(schedule, scheduled, call.groups, ways, comm);
  fate.bound[own] = quadrille_error_class(code);
  if (code == MPI_SUCCESS) {
    CollectivePart part(call, this_rank());
    fate.called[own] = quadrille_error_class(call_once(part, schedule, comm));
    part.expect_rest_untouched(fmt::format("rank {}", own), is_right);
    fate.right &= fate.called[own] != MPI_SUCCESS || part.is_right();
  }
  if (schedule != QUADRILLE_SCHEDULE_NULL) quadrille_free(&schedule);
}

Fate CollectiveTrial::run() {
  entered = 0;
  const auto ranks = static_cast<size_t>(call.groups.all());
  Fate fate{std::vector<int>(ranks, -1), std::vector<int>(ranks, -1), true, {}};
  current = text();
  const Forgetting forgetting;
  fate.problems = simulate(machine(), [&](MPI_Comm comm) { at_rank(comm, fate); }).problems;
  return fate;
}

}  // namespace quadrille::net
