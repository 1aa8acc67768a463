// The linker redirects the runtime's allocations to this file. It counts those of the process, so a rank's count is
// saved while another rank runs. MPI's own allocations are not counted.
#include "tests/net/shortage.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <ctime>

using std::size_t;

namespace quadrille::net {

Allocations allocations;

bool fails(size_t size) {
  allocations.bytes += static_cast<long>(size);
  return ++allocations.count == allocations.failing;
}

namespace {

constexpr long kMostAllocations = 2000;
std::vector<Allocations> allocations_of_rank;

void keep_allocations(int from, int to) {
  if (from >= 0) allocations_of_rank[static_cast<size_t>(from)] = allocations;
  allocations = to >= 0 ? allocations_of_rank[static_cast<size_t>(to)] : Allocations{};
}

// The outcome of a simulation in which one allocation fails.
struct Shortfall {
  int victim;
  long allocation;
  bool happened = false;
  std::vector<int> classes, entered;
};

int bind_once(const Shortage& s, const Groups& groups, MPI_Comm comm) {
  quadrille_schedule schedule;
  quadrille_load_memory(s.scheduled.file.data(), s.scheduled.file.size(), &schedule);
  const int code = bind(schedule, s.scheduled, groups, s.ways, comm);
  if (schedule != QUADRILLE_SCHEDULE_NULL) quadrille_free(&schedule);
  return code;
}

void at_rank(const Shortage& s, MPI_Comm comm, Shortfall& result) {
  const int place = this_rank();
  const Groups& groups = s.calls[0].groups;
  const auto short_of = [&](const auto& body) {
    const bool is_victim = place == result.victim;
    if (is_victim) arm(result.allocation);
    const int code = quadrille_error_class(body());
    if (is_victim && disarm()) result.happened = true;
    return result.classes[static_cast<size_t>(place)] = code;
  };
  if (s.while_binding) short_of([&] { return bind_once(s, groups, comm); });
  const Bound bound(s.scheduled, groups, s.ways, comm);
  for (size_t i = 0; i < s.calls.size(); ++i) {
    const std::string what = fmt::format("call {}, place {}", i, place);
    CollectivePart part(s.calls[i], place);
    const auto call = [&] {
      return s.is_persistent && i == s.at ? part.run_persistent(bound, comm)
                                          : part.run(bound, comm, result.entered[i]);
    };
    int code = MPI_SUCCESS;
    if (!s.while_binding && i == s.at)
      code = short_of(call);
    else
      expect_success(call(), what);
    EXPECT_TRUE(mark(static_cast<int>(i))) << what << ": requests are left";
    part.expect_rest_untouched(what);
    EXPECT_TRUE(code != MPI_SUCCESS || part.is_right()) << what;
    MPI_Barrier(comm);
  }
}

void expect_classes(const Shortage& s, const Shortfall& result) {
  const int own = result.classes[static_cast<size_t>(result.victim)];
  EXPECT_TRUE(own == MPI_SUCCESS ||
              (own == MPI_ERR_NO_MEM && (s.while_binding || s.is_persistent)) ||
              (own == MPI_ERR_ARG && s.while_binding))
      << "class " << own;
  for (size_t place = 0; place < result.classes.size(); ++place)
    EXPECT_EQ(result.classes[place], own) << "place " << place;
}

}  // namespace

CountedAllocations::CountedAllocations(int ranks) {
  allocations_of_rank.assign(static_cast<size_t>(ranks), {});
  on_switch = keep_allocations;
}

CountedAllocations::~CountedAllocations() { on_switch = nullptr; }

void arm(long n) { allocations = {0, n, 0}; }

bool disarm() {
  const bool failed = allocations.count >= allocations.failing;
  allocations.failing = 0;
  return failed;
}

std::string Shortage::text() const {
  std::string text =
      fmt::format("{}, {}{}{}\n", scheduled.name, ways.text(), is_persistent ? ", persistent" : "",
                  while_binding ? ", while binding" : "");
  for (size_t i = 0; i < calls.size(); ++i)
    text += calls[i].text() + (i == at ? ": short of memory\n" : "\n");
  return text;
}

long expect_no_harm(const Shortage& s) {
  testing::ScopedTrace trace(__FILE__, __LINE__, s.text());
  const Groups& groups = s.calls[0].groups;
  long most = 0;
  for (int victim = 0; victim < groups.all(); ++victim)
    for (long n = 1; n < kMostAllocations; ++n) {
      testing::ScopedTrace which(__FILE__, __LINE__, fmt::format("allocation {} of {}", n, victim));
      Shortfall result{victim, n, false, std::vector<int>(static_cast<size_t>(groups.all()), -1),
                       std::vector<int>(s.calls.size())};
      Ways ways = s.ways;
      ways.seed += static_cast<unsigned>(n);
      const CountedAllocations counted(groups.all());
      const Outcome outcome =
          simulate(s.scheduled.groups.ranks > 0 ? machine_of(s.scheduled, ways)
                                                : machine_of(s.scheduled, groups, ways),
                   [&](MPI_Comm comm) { at_rank(s, comm, result); });
      const bool has_ended =
          outcome.text() ==
          fmt::format("rank {}: the job is aborted with code {}", victim, MPI_ERR_NO_MEM);
      EXPECT_EQ(has_ended ? "" : outcome.text(), "");
      EXPECT_FALSE(has_ended && s.while_binding);
      if (outcome.problems.empty()) expect_classes(s, result);
      result.happened |= has_ended;
      most = std::max(most, n - 1);
      if (!result.happened || testing::Test::HasFailure()) break;
    }
  return most;
}

}  // namespace quadrille::net

// The linker requires these names.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* old, size_t size);
void* __real_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_malloc(size_t size) {
  return quadrille::net::fails(size) ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(size_t count, size_t size) {
  return quadrille::net::fails(count * size) ? nullptr : __real_calloc(count, size);
}
void* __wrap_realloc(void* old, size_t size) {
  return quadrille::net::fails(size) ? nullptr : __real_realloc(old, size);
}
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  return quadrille::net::fails(size) ? MAP_FAILED
                                     : __real_mmap(at, size, protection, flags, file, offset);
}
// The runtime waits before it ends the job. Here it does not.
int __wrap_nanosleep(const timespec*, timespec*) { return 0; }
// NOLINTEND(bugprone-reserved-identifier)
}
