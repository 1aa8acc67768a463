// The oracle, the checker's walk and the runtime's interpreter report the same events at every rank.
#include <gtest/gtest.h>

#include <numeric>

#include "generator/encode.h"
#include "schedule/any_nodes.h"
#include "schedule/text.h"
#include "tests/support/effort.h"
#include "tests/support/events.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille {
namespace {

void expect_agreement(const Program& program, const Job& job, const Call& call,
                      const std::string& what) {
  const Bytes file = encode(program, job);
  for (int64_t group = 0; group < program.groups; ++group) {
    const Result<Binding> binding = bind(program, job, call, group);
    ASSERT_TRUE(binding.ok()) << what << ": " << binding.error().message;
    for (int64_t rank = 0; rank < binding->place.ranks; ++rank) {
      const Events expected = oracle_events(program, *binding, rank);
      ASSERT_EQ(walk_events(program, *binding, rank), expected) << what << ", rank " << rank;
      ASSERT_EQ(fast_walk_events(program, *binding, rank), without_step_ends(expected))
          << what << ", rank " << rank;
      ASSERT_EQ(runtime_events(file, call, group, rank, call.root), expected)
          << what << ", rank " << rank;
    }
  }
}

// Tries all nodes of up to 5 ranks, one in three of those with 6 and 7 ranks, and two larger topologies.
TEST(Walk, OracleWalkAndInterpreterAgreeOnEveryAlgorithm) {
  size_t large = 0;
  std::vector<std::vector<int64_t>> topologies = all_node_vectors(kSanitized ? 5 : 7);
  topologies.insert(topologies.end(), {{2, 3, 5}, {4, 4, 4, 4}});
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : topologies) {
      const int64_t ranks = std::reduce(sizes.begin(), sizes.end());
      if (ranks > 5 && ranks <= 7 && large++ % one_in(3) != 0) continue;
      for (const Case& c : cases_on(variant, sizes))
        expect_agreement(variant.program, c.job, c.call, c.text);
    }
}

TEST(Walk, InterpreterRefusesParametersThatTheOracleRefuses) {
  const Program program =
      parse_program("algorithm a for alltoall\nparameter n\nstep 0\n", "test").value();
  for (const int64_t most : {-kMaxParameter, kMaxParameter}) {
    const Topology nodes = topology_of({2});
    EXPECT_EQ(runtime_events(encode(program, {{nodes}, {most}}), {}, 0, 0, 0)[0].find("refused"),
              std::string::npos);
    const Job beyond{{nodes}, {most < 0 ? most - 1 : most + 1}};
    EXPECT_FALSE(bind(program, beyond, {}, 0).ok());
    EXPECT_EQ(runtime_events(encode(program, beyond), {}, 0, 0, 0)[0],
              "refused: a parameter of the schedule is further from 0 than 2^40");
  }
}

// One file serves every topology. At each rank it does what the program does on that topology.
TEST(Walk, InterpreterOfASchedulesForAnyNodesAgreesWithTheOracleOnAll) {
  int bound = 0, refused = 0;
  for (const Variant& variant : variants()) {
    if (!variant.algorithm->proof) continue;
    for (const char* text : {"", "3", "ranks div 2"}) {
      const Job any = job_for_any_nodes(variant, text);
      const Bytes file = encode(variant.program, any);
      for (const std::vector<int64_t>& sizes : all_node_vectors(kSanitized ? 4 : 6)) {
        std::vector<Topology> groups = {topology_of(sizes)};
        if (variant.program.groups == 2) groups.insert(groups.begin(), topology_of({1, 2}));
        const Job job = on_nodes(variant.program, any, groups).value();
        const Call call = plain_call(variant.program, job);
        for (int64_t group = 0; group < variant.program.groups; ++group) {
          const Result<Binding> binding = bind(variant.program, job, call, group);
          const int64_t ranks = groups[group].ranks();
          for (int64_t rank = 0; rank < ranks; ++rank) {
            const Events events = runtime_events(file, call, group, rank, 0, groups);
            ++(binding.ok() ? bound : refused);
            if (binding.ok())
              ASSERT_EQ(events, oracle_events(variant.program, *binding, rank))
                  << variant.name << " on " << groups[group].text() << ", rank " << rank;
            else
              ASSERT_EQ(events[0], "refused: " + variant.name + " needs " + any.needs +
                                       "; the communicator has " + std::to_string(ranks));
          }
        }
      }
      if (variant.algorithm->numbers.empty()) break;
    }
  }
  EXPECT_GT(bound, 1000);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace quadrille
