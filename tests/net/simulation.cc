// The scheduler draws again and again which rank continues, or that a message arrives. The seed also sets a run's
// style: whether messages arrive early or late, whether one rank is much slower than the others, and how often ranks
// change.
#include "tests/net/simulation.h"

#include <fmt/format.h>

#include "schedule/result.h"
#include "tests/net/world.h"

namespace quadrille::net {

World* world = nullptr;
std::function<void(int, int)> on_switch;

namespace {

constexpr size_t kMostProblems = 12;
int last_rank = -1;

std::vector<int> ranks_that_can(const Fibers& fibers) {
  std::vector<int> result;
  for (int r = 0; r < world->machine.ranks; ++r) {
    const Rank& rank = world->ranks[static_cast<size_t>(r)];
    if (!fibers.has_ended(r) && (!rank.can_go_on || rank.can_go_on())) result.push_back(r);
  }
  if (result.size() > 1) std::erase(result, world->slow);
  return result;
}

void go_on(Fibers& fibers, int rank) {
  if (on_switch && rank != last_rank) on_switch(last_rank, rank);
  last_rank = rank;
  fibers.resume(rank);
}

void report_deadlock(const Fibers& fibers) {
  std::string text = "nobody can go on:";
  for (int r = 0; r < world->machine.ranks; ++r)
    text += fibers.has_ended(r) ? fmt::format("\n  rank {} is done", r)
                                : fmt::format("\n  rank {} waits for {}", r,
                                              world->ranks[static_cast<size_t>(r)].awaits);
  world->problems.push_back(text);
  world->ended = "a deadlock";
}

bool all_have_ended(const Fibers& fibers) {
  for (int r = 0; r < world->machine.ranks; ++r)
    if (!fibers.has_ended(r)) return false;
  return true;
}

void schedule(Fibers& fibers) {
  while (world->ended.empty() && !all_have_ended(fibers)) {
    const std::vector<int> able = ranks_that_can(fibers);
    const auto ranks = static_cast<unsigned>(able.size());
    const unsigned weight = can_deliver() ? world->deliver_weight : 0;
    if (ranks == 0 && !can_deliver()) return report_deadlock(fibers);
    if (ranks == 0 || world->random() % (ranks + weight) >= ranks)
      deliver_one();
    else
      go_on(fibers, able[world->random() % ranks]);
  }
  while (can_deliver()) deliver_one();
}

void at_rank(const std::function<void(MPI_Comm)>& body) {
  MPI_Comm comm;
  if (world->machine.remote > 0)
    comm = make_groups(MPI_COMM_WORLD, world->machine.ranks - world->machine.remote);
  else
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  body(comm);
  MPI_Comm_free(&comm);
}

}  // namespace

World::World(const Machine& machine)
    : machine(machine), random(machine.seed), ranks(static_cast<size_t>(machine.ranks)) {
  constexpr unsigned kPauses[] = {2, 1, 8, 0}, kWeights[] = {1, 8, 0, 3};
  pause_odds = kPauses[random() % 4];
  deliver_weight = kWeights[random() % 4];
  if (machine.ranks > 1 && random() % 3 == 0)
    slow = static_cast<int>(random() % static_cast<unsigned>(machine.ranks));
}

int this_rank() { return Fibers::current(); }

void problem(const std::string& what) {
  if (!world) check(false, what.c_str());
  if (world->problems.size() < kMostProblems)
    world->problems.push_back(fmt::format("rank {}: {}", this_rank(), what));
}

void maybe_pause() {
  check(world != nullptr && this_rank() >= 0, "a function of MPI is called outside a simulation");
  if (world->pause_odds == 0 || world->random() % world->pause_odds != 0) return;
  world->current().can_go_on = nullptr;
  Fibers::pause();
}

void wait_until(const std::function<bool()>& holds, const std::string& what) {
  maybe_pause();
  Rank& rank = world->current();
  if (holds()) return;
  rank.can_go_on = holds;
  rank.awaits = what;
  Fibers::pause();
  rank.can_go_on = nullptr;
}

Outcome simulate(const Machine& machine, const std::function<void(MPI_Comm)>& body) {
  check(world == nullptr, "a simulation starts within another");
  World simulated(machine);
  world = &simulated;
  last_rank = -1;
  const int64_t types = live_types();
  std::vector<int> all;
  for (int r = 0; r < machine.ranks; ++r) all.push_back(r);
  const auto context = make_context(all);
  for (int r = 0; r < machine.ranks; ++r) {
    Rank& rank = simulated.ranks[static_cast<size_t>(r)];
    rank.world = make_communicator(context, r, true);
    if (machine.world_returns_errors) set_handler(rank.world, MPI_ERRORS_RETURN);
    rank.self = make_communicator(make_context({r}), r, true);
  }
  {
    Fibers fibers(machine.ranks, [&](int) { at_rank(body); });
    schedule(fibers);
  }
  if (simulated.ended.empty()) {  // as in MPI_Finalize
    Fibers fibers(machine.ranks, [](int) { delete_attributes_of_self(); });
    schedule(fibers);
  }
  if (on_switch && last_rank >= 0) on_switch(last_rank, -1);
  check_requests_are_over();
  if (simulated.ended.empty()) {
    check_communicators_are_freed();
    if (live_types() != types)
      simulated.problems.push_back(
          fmt::format("{} datatypes were not freed", live_types() - types));
  }
  close_communicators();
  world = nullptr;
  Outcome outcome{std::move(simulated.problems), {}};
  for (Rank& rank : simulated.ranks) outcome.listings.push_back(std::move(rank.listing));
  return outcome;
}

bool mark(int number) {
  Rank& rank = world->current();
  Event event{Event::Kind::kMark};
  event.tag = number;
  rank.listing.push_back(event);
  return rank.active.empty();
}

std::string Outcome::text() const { return fmt::format("{}", fmt::join(problems, "\n")); }

}  // namespace quadrille::net
