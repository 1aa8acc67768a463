// A plain MPI program with random collectives, counts, datatypes and operators, on communicators that come and go. It
// checks every byte that a call receives, and the bytes beside them. In most calls, arguments that are not significant
// at a rank are junk. Some calls are repeated with other data, so that schedules are compared.
//
// The environment has CALLS, SEED and LONGEST: how often a call is repeated at most.
#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "tests/mpi/calls.h"
#include "tests/mpi/handles.h"
#include "tests/support/effort.h"

namespace quadrille::mpi {
namespace {

constexpr size_t kCommunicators = 6;
constexpr Collective kCollectives[] = {
    Collective::kAlltoall,  Collective::kAlltoall,      Collective::kAllgather,
    Collective::kAllgather, Collective::kAllreduce,     Collective::kBroadcast,
    Collective::kGather,    Collective::kReduceScatter, Collective::kReduce,
    Collective::kScatter,   Collective::kScan,          Collective::kExscan,
    Collective::kBarrier};

// All ranks draw the same numbers.
std::mt19937 random_numbers;

unsigned draw(unsigned choices) { return static_cast<unsigned>(random_numbers()) % choices; }

Member made() {
  MPI_Comm comm;
  const unsigned ranks = static_cast<unsigned>(all()), colors = 1 + draw(3);
  const int first = 1 + static_cast<int>(draw(std::max(ranks - 1, 1u)));
  std::vector<int> colors_of(ranks);
  for (int& color : colors_of) color = static_cast<int>(draw(colors));
  const unsigned kind = draw(ranks > 1 ? 4 : 3);
  if (kind == 3) return {between_groups(first), {first, all() - first}, own()};
  if (kind == 0)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  else
    MPI_Comm_split(MPI_COMM_WORLD, colors_of[static_cast<size_t>(own())],
                   kind == 1 ? own() : -own(), &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return of_one_group(comm);
}

CollectiveCall drawn_call(const Groups& groups) {
  Collective collective = kCollectives[draw(std::size(kCollectives))];
  if (groups.remote > 0 && (collective == Collective::kScan || collective == Collective::kExscan))
    collective = Collective::kAllreduce;
  CollectiveCall call =
      draw_calls(collective, groups, {.is_large_rare = true}, random_numbers, 1)[0];
  if (groups.all() == 1) call.layout = kFixedPlaces;  // as in each_function()
  if (call.form == 2) call.form = static_cast<int>(draw(2)) * 2;
#ifdef OPEN_MPI
  // Open MPI takes the counts and sizes of one rank for those of another.
  if (!reduces(collective)) call.types += kUnitsAreElements;
#else
  // MPICH 4.0 is slow with long messages of several basic types, and it is wrong in the other calls here.
  const bool is_long = call.lengths >= LengthKind::kLone;
  if (!reduces(collective) && is_long && call.types % 5 == 4) call.types = 1;
  const bool is_split = collective == Collective::kGather || collective == Collective::kScatter;
  if (is_long && ((is_split && groups.remote > 0) || collective == Collective::kAllgather))
    call.types = 0;
  if (collective == Collective::kReduce && call.root > 0) call.in_place = false;
  if (collective == Collective::kReduceScatter && !elements()[call.types].commutes) call.types = 0;
#endif
  return call;
}

// Ends all ranks at the first wrong call, after the launcher has had time to pass the messages on.
void make(const CollectiveCall& call, const Member& at, unsigned number) {
  expect_right(call, at, fmt::format("call {}: {}, place {}", number, call.text(), at.place));
  if (!testing::Test::HasFailure()) return;
  usleep(200000);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Prints how far a long run is, every ten seconds.
void say_progress(unsigned call, unsigned calls) {
  static double last = MPI_Wtime();
  if (own() > 0 || MPI_Wtime() - last < 10) return;
  long all = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  fmt::print(stderr, "soak: {} of {} calls, {} KiB\n", call, calls, 4 * pages);
  last = MPI_Wtime();
}

TEST(RandomCalls, BringEveryByteWhereItBelongs) {
  const auto calls = static_cast<unsigned>(from_environment("CALLS", 300)),
             longest = static_cast<unsigned>(from_environment("LONGEST", 1));
  random_numbers.seed(static_cast<unsigned>(from_environment("SEED", 1)));
  std::vector<Member> members(kCommunicators);
  for (Member& member : members) member = made();
  for (unsigned number = 0; number < calls;) {
    Member& at = members[draw(kCommunicators)];
    if (draw(60) == 0) {
      MPI_Comm_free(&at.comm);
      at = made();
    }
    CollectiveCall call = drawn_call(at.groups);
    unsigned left = 1;
    if (draw(16) == 0) left += draw(draw(8) > 0 ? longest / 32 + 1 : longest);
    for (; left > 0 && number < calls; --left, ++number) {
      call.seed = static_cast<unsigned>(random_numbers());
      make(call, at, number);
      say_progress(number, calls);
    }
  }
  for (Member& member : members) MPI_Comm_free(&member.comm);
}

}  // namespace
}  // namespace quadrille::mpi
