// The runtime's allocations go through tests/mpi/allocations.cc, which counts those of the process: so each rank's
// count is kept while others run.
#include "tests/net/failures.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/mpi/allocations.h"

namespace quadrille::net {
namespace {

constexpr long kMostAllocations = 2000;
std::vector<mpi::Allocations> allocations_of_rank;

void keep_allocations(int from, int to) {
  if (from >= 0) allocations_of_rank[static_cast<size_t>(from)] = mpi::allocations;
  mpi::allocations = to >= 0 ? allocations_of_rank[static_cast<size_t>(to)] : mpi::Allocations{};
}

uint8_t byte_of(unsigned seed, int source, int target, int64_t k) {
  return static_cast<uint8_t>(mpi::mix(mpi::mix(seed + 3) + (static_cast<uint64_t>(source) << 40) +
                                       (static_cast<uint64_t>(target) << 20) +
                                       static_cast<uint64_t>(k)));
}

bool is_in_place(Entrance entrance) {
  return entrance == Entrance::kInPlace || entrance == Entrance::kPersistentInPlace;
}

bool is_persistent(Entrance entrance) {
  return entrance == Entrance::kPersistent || entrance == Entrance::kPersistentInPlace;
}

mpi::Side send_side(Collective collective, int own, int ranks, unsigned seed,
                    const mpi::Shape& shape, const Attempt::Units& units) {
  if (collective == Collective::kAllgather)
    return {{int64_t{units.sent(own, own)} * shape.per_unit}, {0}};
  return mpi::scattered(ranks, shape, 2 * seed, [&](int r) { return units.sent(own, r); });
}

std::vector<int> ints(const std::vector<int64_t>& values) { return mpi::as<int>(values); }

}  // namespace

Attempt::Attempt(Collective collective, Entrance entrance, MPI_Comm comm, unsigned seed,
                 const mpi::Shape& send, const mpi::Shape& receive, const Units& units)
    : collective_(collective),
      entrance_(entrance),
      comm_(comm),
      seed_(seed),
      own_(mpi::rank_in(comm)),
      send_(send),
      receive_(receive),
      out_(send_side(collective, own_, mpi::ranks_of(comm), seed, send, units)),
      in_(mpi::scattered(mpi::ranks_of(comm), receive, 2 * seed + 1,
                         [&](int r) {
                           return collective == Collective::kAllgather ? units.received(r, r)
                                                                       : units.received(r, own_);
                         })),
      from_(send, out_.counts, out_.displacements),
      to_(receive, in_.counts, in_.displacements) {
  const bool gathers = collective == Collective::kAllgather;
  const auto own_block = [&](int block, int64_t k) {
    return byte_of(seed, own_, gathers ? 0 : block, k);
  };
  from_.fill(own_block);
  sent_.emplace(from_);
  if (!is_in_place(entrance)) return;
  for (int block = 0; block < mpi::ranks_of(comm); ++block)
    for (int64_t k = 0; k < to_.block_bytes(block); ++k)
      if (!gathers || block == own_) to_.at(block, k) = own_block(block, k);
}

uint8_t Attempt::expected_byte(int block, int64_t k) const {
  return byte_of(seed_, block, collective_ == Collective::kAllgather ? 0 : own_, k);
}

int Attempt::persistent(quadrille_schedule schedule) {
  quadrille_request request;
  int code = quadrille_alltoallv_init(
      schedule, is_in_place(entrance_) ? MPI_IN_PLACE : from_.address(), ints(out_.counts).data(),
      ints(out_.displacements).data(), send_.type, to_.address(), ints(in_.counts).data(),
      ints(in_.displacements).data(), receive_.type, comm_, MPI_INFO_NULL, &request);
  if (code != MPI_SUCCESS) return code;
  code = quadrille_start(request);
  if (code == MPI_SUCCESS) code = quadrille_wait(request);
  EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
  return code;
}

int Attempt::call(quadrille_schedule schedule) {
  const void* const from = is_in_place(entrance_) ? MPI_IN_PLACE : from_.address();
  int code;
  if (is_persistent(entrance_))
    code = persistent(schedule);
  else if (collective_ == Collective::kAllgather)
    code = quadrille_allgatherv(schedule, from, static_cast<int>(out_.counts[0]), send_.type,
                                to_.address(), ints(in_.counts).data(),
                                ints(in_.displacements).data(), receive_.type, comm_);
  else
    code = quadrille_alltoallv(schedule, from, ints(out_.counts).data(),
                               ints(out_.displacements).data(), send_.type, to_.address(),
                               ints(in_.counts).data(), ints(in_.displacements).data(),
                               receive_.type, comm_);
  return quadrille_error_class(code);
}

bool Attempt::is_right() {
  for (int block = 0; block < static_cast<int>(in_.counts.size()); ++block)
    for (int64_t k = 0; k < to_.block_bytes(block); ++k)
      if (to_.at(block, k) != expected_byte(block, k)) return false;
  return true;
}

void Attempt::expect_rest_untouched(const std::string& what) {
  mpi::Buffer expected(receive_, in_.counts, in_.displacements);
  expected.fill([&](int block, int64_t k) { return to_.at(block, k); });
  to_.expect_equal(expected, what + ", beside the blocks");
  from_.expect_equal(*sent_, what + ", send buffer");
}

CountedAllocations::CountedAllocations(int ranks) {
  allocations_of_rank.assign(static_cast<size_t>(ranks), {});
  on_switch = keep_allocations;
}

CountedAllocations::~CountedAllocations() { on_switch = nullptr; }

void arm(long n) { mpi::allocations = {0, n, 0}; }

bool disarm() {
  const bool failed = mpi::allocations.count >= mpi::allocations.failing;
  mpi::allocations.failing = 0;
  return failed;
}

std::string Shortage::text() const {
  const char* const entrances[] = {"", ", in place", ", persistent", ", persistent in place"};
  return fmt::format("{}, {}{}, {}{}{}{}", scheduled.name, ways.text(),
                     entrances[static_cast<int>(entrance)], mpi::integer_shapes()[shape].name,
                     large_units > 2 ? ", large" : "", while_binding ? ", while binding" : "",
                     all_ranks ? ", at all ranks" : "");
}

namespace {

// What a simulation with one failing allocation came to.
struct Shortfall {
  bool happened = false;
  std::vector<int> classes;
};

int bind_short(const Scheduled& scheduled, MPI_Comm comm) {
  quadrille_schedule schedule;
  quadrille_load_memory(scheduled.file.data(), scheduled.file.size(), &schedule);
  const quadrille_bind_options options = {sizeof options, QUADRILLE_LAYOUT_SHARED, 2, 0,
                                          scheduled.takes_block_size ? 5 : 0};
  const int error_class = quadrille_error_class(quadrille_bind(schedule, comm, &options));
  if (schedule != QUADRILLE_SCHEDULE_NULL) quadrille_free(&schedule);
  return error_class;
}

Attempt attempt_of(const Shortage& s, MPI_Comm comm, unsigned seed) {
  const auto units = [&s](int source, int target) {
    return (source + target) % 3 == 0 ? s.large_units : (source + target) % 3;
  };
  const mpi::Shape& shape = mpi::integer_shapes()[s.shape];
  return Attempt(s.scheduled.program.collective, s.entrance, comm, seed, mpi::integer_shapes()[0],
                 shape, {units, units});
}

void at_rank(const Shortage& s, MPI_Comm comm, int victim, long n, Shortfall& result) {
  const int own = this_rank();
  const bool is_victim = s.all_ranks || own == victim;
  const auto short_of = [&](const auto& body) {
    if (is_victim) arm(n);
    result.classes[static_cast<size_t>(own)] = body();
    if (is_victim && disarm()) result.happened = true;
  };
  if (s.while_binding) short_of([&] { return bind_short(s.scheduled, comm); });
  const Bound bound(s.scheduled, s.ways, comm);
  if (!s.while_binding) {
    Attempt attempt = attempt_of(s, comm, s.ways.seed);
    short_of([&] { return attempt.call(bound); });
    attempt.expect_rest_untouched(fmt::format("allocation {}, rank {}", n, own));
    EXPECT_TRUE(result.classes[static_cast<size_t>(own)] != MPI_SUCCESS || attempt.is_right())
        << "allocation " << n << ", rank " << own;
  }
  MPI_Barrier(comm);
  Attempt next = attempt_of(s, comm, s.ways.seed + 1);
  EXPECT_EQ(next.call(bound), MPI_SUCCESS) << "the call after allocation " << n;
  EXPECT_TRUE(next.is_right()) << "the call after allocation " << n;
}

void expect_classes(const Shortage& s, const Shortfall& result, int victim, long n) {
  const bool is_collective = s.while_binding || is_persistent(s.entrance);
  const int own = result.classes[static_cast<size_t>(victim)];
  if (s.all_ranks && result.happened) {
    // Who lacks another's bytes may not come to ask for memory, and who needs none lacks nothing.
    EXPECT_GT(std::count(result.classes.begin(), result.classes.end(), MPI_ERR_NO_MEM), 0);
    return;
  }
  EXPECT_TRUE(own == MPI_SUCCESS || own == MPI_ERR_NO_MEM ||
              (s.while_binding && own == MPI_ERR_ARG))
      << "allocation " << n << " of rank " << victim << ": class " << own;
  for (const int other : result.classes) {
    EXPECT_TRUE(other == own || (!is_collective && own != MPI_SUCCESS))
        << "allocation " << n << " of rank " << victim << ": " << other << " and " << own;
  }
}

}  // namespace

long expect_survival(const Shortage& s) {
  testing::ScopedTrace trace(__FILE__, __LINE__, s.text());
  long most = 0;
  for (const int victim : {0, s.scheduled.ranks - 1})
    for (long n = 1; n < kMostAllocations; ++n) {
      Shortfall result{false, std::vector<int>(static_cast<size_t>(s.scheduled.ranks), -1)};
      const CountedAllocations counted(s.scheduled.ranks);
      Ways ways = s.ways;
      ways.seed += static_cast<unsigned>(n);
      const Outcome outcome = simulate(machine_of(s.scheduled, ways),
                                       [&](MPI_Comm comm) { at_rank(s, comm, victim, n, result); });
      EXPECT_TRUE(outcome.problems.empty())
          << "allocation " << n << " of rank " << victim << ": " << outcome.text();
      expect_classes(s, result, victim, n);
      most = std::max(most, n - 1);
      if (!result.happened || testing::Test::HasFailure()) break;
    }
  return most;
}

std::vector<int> outcomes(const Scheduled& scheduled, const Ways& ways,
                          const std::function<int(quadrille_schedule, MPI_Comm)>& body) {
  std::vector<int> classes(static_cast<size_t>(scheduled.ranks), -1);
  const Outcome outcome = simulate(machine_of(scheduled, ways), [&](MPI_Comm comm) {
    const Bound bound(scheduled, ways, comm);
    classes[static_cast<size_t>(this_rank())] = quadrille_error_class(body(bound, comm));
  });
  EXPECT_TRUE(outcome.problems.empty())
      << scheduled.name << ", " << ways.text() << ": " << outcome.text();
  return classes;
}

void expect_everywhere(const Scheduled& scheduled, const Ways& ways, int error_class,
                       const std::function<int(quadrille_schedule, MPI_Comm)>& body) {
  EXPECT_EQ(outcomes(scheduled, ways, body),
            std::vector<int>(static_cast<size_t>(scheduled.ranks), error_class));
}

}  // namespace quadrille::net
