// What the prover takes for granted of two groups: facts about the tables that ranks of either know, held against
// small jobs; and of buffers, for one group and two, what schedule/collective.h says.
#include <gtest/gtest.h>

#include <set>

#include "schedule/text.h"
#include "tests/prove/terms.h"
#include "tests/support/topologies.h"
#include "verifier/prove/contract.h"

namespace quadrille::verifier {
namespace {

const Polynomial kOne = Polynomial::constant(1);

Program with_tables() {
  return parse_program(R"(algorithm tables for allgather between groups
table theirs = remote_counts
table size = nodes
table base = prefix(size)
table their_size = remote_nodes
table their_base = prefix(their_size)
table their_done = distinct(their_size)
table mine = counts
table R = prefix(mine)
table Q = prefix(theirs)
table cut[k in 0 .. remote_ranks + 1] = k*(R[ranks] div remote_ranks) + min(k, R[ranks] mod remote_ranks)
table their_cut[i in 0 .. ranks + 1] = i*(Q[remote_ranks] div ranks) + min(i, Q[remote_ranks] mod ranks)
table twos = powers(2, ranks + group)
table all[k in 0 .. ranks] = ranks + remote_ranks + group*k
step 0
  send send[0] to remote 0
)",
                       "tables")
      .value();
}

// Every fact about entries i, i + 1 and j, and where j is found, for all small values of both.
void facts_hold(const Program& program, const std::vector<z3::expr>& facts,
                const std::map<std::pair<int64_t, int>, std::string>& symbols,
                const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    Call call;
    for (const Topology& group : job.groups) {
      call.counts.emplace_back();
      for (int64_t rank = 0; rank < group.ranks(); ++rank)
        call.counts.back().push_back((rank + job.groups[0].ranks()) % 3);
    }
    Interpretation meaning(job, 5);
    meaning.set("ranks_1", job.groups[1].ranks());
    std::map<std::string, std::vector<int64_t>> known;
    for (int group = 0; group < 2; ++group) {
      const Binding binding = bind(program, job, call, group).value();
      for (size_t table = 0; table < program.tables.size(); ++table) {
        const std::string& symbol = symbols.at({table, group});
        // What has one symbol is one table.
        ASSERT_EQ(known.emplace(symbol, binding.tables[table]).first->second,
                  binding.tables[table]);
        meaning.set_table(symbol, binding.tables[table]);
      }
    }
    meaning.define(facts);
    for (int64_t i = -2; i <= 6; ++i)
      for (int64_t j = -2; j <= 6; ++j) {
        meaning.set("i", i);
        meaning.set("j", j);
        for (const z3::expr& fact : facts)
          ASSERT_TRUE(meaning.holds(fact)) << "i = " << i << ", j = " << j << ": " << fact;
      }
  }
}

TEST(TwoGroups, FactsAboutTablesHold) {
  const Program program = with_tables();
  z3::context context;
  Logic logic(context, program);
  const Polynomial i = logic.fresh("i"), j = logic.fresh("j");
  std::map<std::pair<int64_t, int>, std::string> symbols;
  std::set<std::string> different;
  for (int64_t table = 0; table < static_cast<int64_t>(program.tables.size()); ++table)
    for (int group = 0; group < 2; ++group) {
      for (const Polynomial& index : {i, j, i + kOne, logic.length(table, group) - kOne})
        logic.element(table, group, index);
      if (!is_counts(program.tables[table].kind)) logic.located(table, group, j);
      different.insert(symbols[{table, group}] = logic.symbol(table, group));
    }
  // Of 13 in two groups: nodes, their sums, counts, their sums and cuts are told twice.
  EXPECT_EQ(different.size(), 26 - 10);
  std::vector<Job> jobs;
  const std::vector<std::vector<int64_t>> nodes = {{1}, {2}, {1, 2}};
  for (const std::vector<int64_t>& one : nodes)
    for (const std::vector<int64_t>& two : nodes)
      jobs.push_back({{job_of(one).groups[0], job_of(two).groups[0]}, {}});
  facts_hold(program, logic.knowledge(), symbols, jobs);
}

TEST(TwoGroups, FactsAboutTablesSayMoreThanNothing) {
  const Program program = with_tables();
  z3::context context;
  Logic logic(context, program);
  const Polynomial i = logic.fresh("i");
  z3::solver solver(context);
  solver.add(logic.less_equal(Polynomial::constant(0), i));
  solver.add(logic.less(i, logic.ranks(1)));
  // What a rank of the one group knows of the other's counts is what those know.
  solver.add(
      !logic.equal(logic.element(8, 0, i + kOne) - logic.element(8, 0, i), logic.element(6, 1, i)));
  for (const z3::expr& fact : logic.knowledge()) solver.add(fact);
  EXPECT_EQ(solver.check(), z3::unsat);
}

// ---- Buffers

const char* const kCollectives[] = {"alltoall", "allgather", "reduce-scatter", "allreduce"};

int64_t number(const Polynomial& polynomial) {
  EXPECT_TRUE(polynomial.is_constant());
  return polynomial.constant_value();
}

// Numbers of ranks are symbols; everything else is a number.
struct Meaning {
  Meaning(const std::string& collective, int groups)
      : program(parse_program(
                    "algorithm a for " + collective + (groups == 2 ? " between groups\n" : "\n") +
                        (collective == "alltoall" ? "" : "table c = counts\n") + "step 0\n",
                    "program")
                    .value()),
        logic(context, program),
        contract(program) {}

  int64_t value(const Polynomial& polynomial, const Place& place) {
    const int64_t other = place.group == 0 ? place.remote_ranks : place.ranks;
    Interpretation meaning(
        job_of(std::vector<int64_t>(place.group == 0 ? place.ranks : place.remote_ranks, 1)), 0);
    meaning.set("ranks_1", other);
    return static_cast<int64_t>(meaning.number(logic.term(polynomial)));
  }

  Program program;
  z3::context context;
  Logic logic;
  Contract contract;
};

void expect_same(Meaning& m, const Place& place) {
  const Collective collective = m.program.collective;
  const Instance instance{static_cast<int>(place.group), Polynomial::constant(place.rank), {}};
  for (const Buffer buffer : {Buffer::kSend, Buffer::kReceive}) {
    const int64_t blocks = block_count(collective, buffer, place);
    EXPECT_EQ(m.value(m.contract.blocks(m.logic, buffer, instance), place), blocks);
    for (int64_t b = 0; b < blocks; ++b) {
      const Polynomial block = Polynomial::constant(b);
      std::vector<Contribution> wanted = {{place.group, place.rank, b}};
      if (buffer == Buffer::kReceive) wanted = required(collective, place, {b});
      const Span told = buffer == Buffer::kSend ? m.contract.known(buffer, block, instance)
                                                : m.contract.required(m.logic, block, instance);
      ASSERT_EQ(m.value(told.number, place), static_cast<int64_t>(wanted.size()));
      for (size_t i = 0; i < wanted.size(); ++i) {
        const Contribution each = {told.group, number(told.first) + static_cast<int64_t>(i),
                                   number(told.block)};
        EXPECT_EQ(each, wanted[i]);
      }
      if (!m.contract.has_lengths()) continue;
      const LengthSource source = length_source(collective, buffer, place, {b});
      EXPECT_TRUE(z3::eq(m.logic.term(m.contract.length(m.logic, told)),
                         m.logic.term(m.logic.count(
                             static_cast<int>(source.remote ? 1 - place.group : place.group),
                             Polynomial::constant(source.index)))));
    }
  }
}

TEST(Contract, IsWhatTheCollectivesSay) {
  for (const char* const collective : kCollectives)
    for (const int groups : {1, 2}) {
      // Of two groups each has counts of its own there; the prover does not take them.
      if (groups == 2 && collective == std::string("allreduce")) continue;
      SCOPED_TRACE(collective);
      Meaning meaning(collective, groups);
      for (int64_t ranks = 1; ranks <= 3; ++ranks)
        for (int64_t remote = groups == 2; remote <= (groups == 2 ? 3 : 0); ++remote)
          for (int64_t rank = 0; rank < ranks; ++rank)
            for (int64_t group = 0; group < groups; ++group)
              expect_same(meaning, {ranks, remote, group, rank, 0});
    }
}

}  // namespace
}  // namespace quadrille::verifier
