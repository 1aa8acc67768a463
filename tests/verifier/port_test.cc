// Compares the verdict on ports with random timings. If it says "for every timing", no timing gives a node two
// exchanges at a time. For programs without tokens it says only "in lock-step", and some timing breaks the port.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "schedule/text.h"
#include "schedule/traverse.h"
#include "tests/support/mutants.h"
#include "tests/support/variants.h"
#include "tests/verifier/walks.h"
#include "verifier/check.h"

namespace quadrille::verifier::port_test {

struct Sent {
  int64_t source, target;
};

// Collects the sends of all ranks, by key.
class Traffic : public Listener {
 public:
  std::map<int64_t, std::vector<Sent>> sends;

  void start(int64_t rank) { rank_ = rank; }
  void step(int64_t key, std::optional<int64_t>) { key_ = key; }
  void message(const MessageHead& head) {
    if (head.direction == Direction::kSend) sends[key_].push_back({rank_, head.peer});
  }

 private:
  int64_t rank_ = 0, key_ = 0;
};

// Gives every message a random duration. Each rank does one step after another. Returns whether messages of two keys
// cross one node's border at the same time.
bool some_node_is_used_twice(const Traffic& traffic, const std::vector<size_t>& node,
                             std::mt19937& random) {
  std::vector<int64_t> free_from(node.size()), port_free_from(node.size());
  for (const auto& [key, sends] : traffic.sends) {
    std::map<int64_t, int64_t> done, port_done;
    for (const Sent& sent : sends) {
      const int64_t start = std::max(free_from[sent.source], free_from[sent.target]);
      const int64_t end = start + 1 + random() % 20;
      for (const int64_t rank : {sent.source, sent.target}) {
        done[rank] = std::max(done[rank], end);
        if (node[sent.source] == node[sent.target]) continue;
        if (start < port_free_from[node[rank]]) return true;
        port_done[node[rank]] = std::max(port_done[node[rank]], end);
      }
    }
    for (const auto& [rank, time] : done) free_from[rank] = time;
    for (const auto& [port, time] : port_done)
      port_free_from[port] = std::max(port_free_from[port], time);
  }
  return false;
}

int conflicts(const Program& program, const Job& job, const Binding& binding, int timings,
              std::mt19937& random) {
  const Traffic traffic = walk_all<Traffic>(program, binding);
  const std::vector<size_t> node = node_of_ranks(job.groups[0]);
  int count = 0;
  for (int i = 0; i < timings; ++i) count += some_node_is_used_twice(traffic, node, random);
  return count;
}

const Program& program_of(const std::string& name) {
  return variant_named(Collective::kAlltoall, name).program;
}

TEST(Port, PacedProgramsHoldForEveryTiming) {
  std::mt19937 random(20020527);
  for (const std::string name : {"hierarchical-factor", "hierarchical-circle"})
    for (const std::string options : {"+token", "+drop+token", "+exchange+token"})
      for (const std::vector<int64_t>& sizes : all_node_vectors(7)) {
        const Job job = job_of(sizes);
        const Program& program = program_of(name + options);
        const Binding binding = *bind(program, job, {}, 0);
        EXPECT_EQ(check_key_order(program, job, binding, {})->port, PortVerdict::kEveryTiming);
        EXPECT_EQ(conflicts(program, job, binding, 20, random), 0) << name << options;
        const Program& free = program_of("hierarchical-factor");
        EXPECT_NE(check_schedule(free, job, {}, {})->port, PortVerdict::kEveryTiming);
      }
}

TEST(Port, WithoutTokensItHoldsInLockStepOnly) {
  std::mt19937 random(20020527);
  const Program& printed = program_of("hierarchical-factor");
  Program in_order = printed;
  for_each_statement(in_order.body, [](Statement& statement) {
    if (auto* step = std::get_if<Step>(&statement.kind)) step->after.reset();
  });
  // On nodes 2,2 the exchanges of ranks 0 and 3, and of 1 and 2, may overlap.
  const std::pair<const Program*, std::vector<int64_t>> cases[] = {{&in_order, {1, 2, 3}},
                                                                   {&printed, {2, 2}}};
  for (const auto& [program, sizes] : cases) {
    const Job job = job_of(sizes);
    const Binding binding = *bind(*program, job, {}, 0);
    EXPECT_EQ(check_key_order(*program, job, binding, {})->port, PortVerdict::kLockStep);
    EXPECT_EQ(execute(*program, job, {}, {binding}, {}).port, PortVerdict::kLockStep);
    EXPECT_GT(conflicts(*program, job, binding, 100, random), 0);
  }
}

// A token that follows a one-way message may arrive before it: the sender does not know when the message has arrived.
TEST(Port, OfMessagesOneWayHoldsInLockStepOnly) {
  const Program program = parse_program(R"(
algorithm one-way for alltoall
port one+one per node
require ranks = 3
copy send[rank] to recv[rank]
for k in 0 .. 9
  let a = k div 3
  let b = k mod 3
  if a != b
    step 2*k
      if rank = a
        send send[b] to b
      if rank = b
        receive recv[a] from a
    step 2*k + 1
      if rank = 1
        send to 2
      if rank = 2
        receive from 1
)",
                                        "one-way")
                              .value();
  const Job job = job_of({1, 2});
  const Binding binding = *bind(program, job, {}, 0);
  EXPECT_EQ(check_key_order(program, job, binding, {})->port, PortVerdict::kLockStep);
  EXPECT_EQ(execute(program, job, {}, {binding}, {}).port, PortVerdict::kLockStep);
}

// Takes mutants that are still correct all-to-alls. Some lack tokens, or have them in the wrong place.
TEST(Port, NoMutantOfAPacedProgramIsSaidToHoldWhereATimingBreaksIt) {
  std::mt19937 random(20020527);
  int every_timing = 0, lock_step = 0, broken = 0;
  const std::vector<Mutant> all = mutants(program_of("hierarchical-factor+token"));
  for (size_t i = 0; i < all.size(); ++i)
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 2, 2}, {2, 3}, {2, 2, 2}}) {
      const Program& program = all[i].program;
      const Job job = job_of(sizes);
      const Result<Binding> binding = bind(program, job, {}, 0);
      if (!binding.ok() || !fits_key_order(program)) continue;
      const std::optional<Report> report = check_key_order(program, job, *binding, {});
      if (!report || report->violation || report->port == PortVerdict::kNotClaimed ||
          program.port.per != PortScope::kNode)
        continue;
      const int count = conflicts(program, job, *binding, 30, random);
      ++(report->port == PortVerdict::kEveryTiming ? every_timing : lock_step);
      broken += count > 0;
      EXPECT_TRUE(count == 0 || report->port == PortVerdict::kLockStep)
          << topology_of(sizes).text() << ": " << all[i].description;
    }
  EXPECT_GT(every_timing, 0);
  EXPECT_GT(lock_step, 0);
  EXPECT_GT(broken, 0);
}

}  // namespace quadrille::verifier::port_test
