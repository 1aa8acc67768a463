// Checks the prover's facts about tables of two groups on small jobs, and compares its facts about buffers, for one
// group and two, with schedule/collective.h.
#include <gtest/gtest.h>

#include <set>

#include "schedule/text.h"
#include "tests/prove/terms.h"
#include "tests/support/topologies.h"
#include "verifier/prove/contract.h"

namespace quadrille::verifier::two_groups_test {

const Polynomial kOne = Polynomial::constant(1);

Program with_tables(const std::string& collective = "allgather") {
  return parse_program("algorithm tables for " + collective + R"( between groups
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

// Checks every fact about entries i, i + 1 and j, and about the location of j, for all small values of both.
void facts_hold(const Program& program, const std::vector<z3::expr>& facts,
                const std::map<std::pair<int64_t, int>, std::string>& symbols,
                const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    Call call;
    for (const Topology& group : job.groups) {
      call.counts.emplace_back();
      for (int64_t rank = 0; rank < group.ranks(); ++rank)
        call.counts.back().push_back(
            ((has_one_count(program.collective) ? 0 : rank) + job.groups[0].ranks()) % 3);
    }
    Interpretation meaning(job, 5);
    meaning.set("count", call.counts[0][0]);
    meaning.set("ranks_1", job.groups[1].ranks());
    std::map<std::string, std::vector<int64_t>> known;
    for (int group = 0; group < 2; ++group) {
      const Binding binding = bind(program, job, call, group).value();
      for (size_t table = 0; table < program.tables.size(); ++table) {
        const std::string& symbol = symbols.at({table, group});
        // Tables with one symbol are equal.
        ASSERT_EQ(known.emplace(symbol, binding.tables[table]).first->second,
                  binding.tables[table]);
        meaning.set_table(symbol, binding.tables[table]);
      }
    }
    meaning.define(facts);
    for (int64_t i = -1; i <= 5; ++i)
      for (int64_t j = -1; j <= 5; ++j) {
        meaning.set("i", i);
        meaning.set("j", j);
        for (const z3::expr& fact : facts)
          ASSERT_TRUE(meaning.holds(fact)) << "i = " << i << ", j = " << j << ": " << fact;
      }
  }
}

// Checks all facts about the program's tables, of which this many are different.
void facts_about_tables_hold(const Program& program, size_t tables) {
  z3::context context;
  Logic logic(context, program);
  const Polynomial i = logic.fresh("i"), j = logic.fresh("j");
  std::map<std::pair<int64_t, int>, std::string> symbols;
  std::set<std::string> different;
  for (int64_t table = 0; table < static_cast<int64_t>(program.tables.size()); ++table)
    for (int group = 0; group < 2; ++group) {
      for (const Polynomial& index : {i, j, i + kOne, logic.length({table, group}) - kOne})
        logic.element({table, group}, index);
      if (!is_counts(program.tables[table].kind)) logic.located({table, group}, j);
      different.insert(symbols[{table, group}] = logic.symbol({table, group}));
    }
  EXPECT_EQ(different.size(), tables);
  std::vector<Job> jobs;
  const std::vector<std::vector<int64_t>> nodes = {{1}, {2}, {1, 2}};
  for (const std::vector<int64_t>& one : nodes)
    for (const std::vector<int64_t>& two : nodes)
      jobs.push_back({{job_of(one).groups[0], job_of(two).groups[0]}, {}});
  facts_hold(program, logic.knowledge(), symbols, jobs);
}

// Each group knows 13 tables. Both know nodes, their sums, counts, their sums and cuts of each group: ten are equal.
TEST(TwoGroups, FactsAboutTablesHold) { facts_about_tables_hold(with_tables(), 26 - 10); }

TEST(TwoGroups, FactsAboutTablesOfOneCountHold) {
  facts_about_tables_hold(with_tables("allreduce"), 26 - 10);
}

TEST(TwoGroups, OneCountIsThatOfAllRanks) {
  for (const bool one : {false, true}) {
    const Program program = with_tables(one ? "allreduce" : "allgather");
    z3::context context;
    Logic logic(context, program);
    z3::solver solver(context);
    solver.add(!logic.equal(logic.element({6, 0}, logic.fresh("i")),
                            logic.element({0, 0}, logic.fresh("j"))));
    for (const z3::expr& fact : logic.knowledge()) solver.add(fact);
    EXPECT_EQ(solver.check(), one ? z3::unsat : z3::sat);
  }
}

TEST(TwoGroups, FactsAboutTablesSayMoreThanNothing) {
  const Program program = with_tables();
  z3::context context;
  Logic logic(context, program);
  const Polynomial i = logic.fresh("i");
  z3::solver solver(context);
  solver.add(logic.less_equal(Polynomial::constant(0), i));
  solver.add(logic.less(i, logic.ranks(1)));
  // Denies that sums of one group's remote counts differ by the counts that the other group knows as its own.
  solver.add(!logic.equal(logic.element({8, 0}, i + kOne) - logic.element({8, 0}, i),
                          logic.element({6, 1}, i)));
  for (const z3::expr& fact : logic.knowledge()) solver.add(fact);
  EXPECT_EQ(solver.check(), z3::unsat);
}

// ---- Buffers

// A program of a collective, and its contract. Terms are evaluated at a place of a small job.
struct Buffers {
  Buffers(Collective collective, int groups)
      : program(with_counts(collective, groups)), logic(context, program), contract(program) {}

  static Program with_counts(Collective collective, int groups) {
    Program program;
    program.collective = collective;
    program.groups = groups;
    program.tables.emplace_back().kind = TableKind::kCounts;
    return program;
  }

  Interpretation meaning(const Place& place) const {
    const bool first = place.group == 0;
    Interpretation result(job_of(std::vector<int64_t>(first ? place.ranks : place.remote_ranks, 1)),
                          0);
    result.set("ranks_1", first ? place.remote_ranks : place.ranks);
    result.set("root", place.root);
    return result;
  }
  int64_t value(const Polynomial& polynomial, const Place& place) {
    return static_cast<int64_t>(meaning(place).number(logic.term(polynomial)));
  }

  Program program;
  z3::context context;
  Logic logic;
  Contract contract;
};

void expect_same(Buffers& its, const Place& place) {
  const Collective collective = its.program.collective;
  const Instance instance{static_cast<int>(place.group), Polynomial::constant(place.rank), {}};
  for (const Buffer buffer : {Buffer::kSend, Buffer::kReceive}) {
    const int64_t blocks = block_count(collective, buffer, place);
    for (int64_t b = -1; b <= 4; ++b) {
      const Polynomial block = Polynomial::constant(b);
      const bool there =
          its.meaning(place).holds(its.contract.has_block(its.logic, buffer, block, instance));
      ASSERT_EQ(there, 0 <= b && b < blocks);
      if (!there) continue;
      std::vector<Contribution> wanted = {{place.group, place.rank, b}};
      if (buffer == Buffer::kReceive) wanted = required(collective, place, {b});
      const Span told = buffer == Buffer::kSend
                            ? its.contract.known(its.logic, buffer, block, instance)
                            : its.contract.required(its.logic, block, instance);
      ASSERT_EQ(its.value(told.number, place), static_cast<int64_t>(wanted.size()));
      for (size_t i = 0; i < wanted.size(); ++i) {
        const int64_t rank = its.value(told.first, place) + static_cast<int64_t>(i);
        EXPECT_EQ((Contribution{told.group, rank, its.value(told.block, place)}), wanted[i]);
      }
      if (!its.contract.has_lengths()) continue;
      const z3::expr length = its.logic.term(its.contract.length(its.logic, told));
      if (has_one_count(collective)) {
        EXPECT_EQ(length.decl().name().str(), "qd_count");
        continue;
      }
      const LengthSource source = length_source(collective, buffer, place, {b});
      const int group = static_cast<int>(source.remote ? 1 - place.group : place.group);
      EXPECT_EQ(length.decl().name().str(), "qd_" + its.logic.symbol({0, group}));
      EXPECT_EQ(its.meaning(place).number(length.arg(0)), source.index);
    }
  }
}

TEST(Contract, IsWhatTheCollectivesSay) {
  for (int collective = 0; collective < kCollectiveCount; ++collective)
    for (const int groups : {1, 2}) {
      if (groups == 2 && !exists_between_groups(static_cast<Collective>(collective))) continue;
      SCOPED_TRACE(name_of(static_cast<Collective>(collective)));
      Buffers buffers(static_cast<Collective>(collective), groups);
      for (int64_t ranks = 1; ranks <= 3; ++ranks)
        for (int64_t remote = groups - 1; remote <= 3 * (groups - 1); ++remote)
          for (int64_t rank = 0; rank < ranks; ++rank)
            for (int64_t group = 0; group < groups; ++group)
              for (int64_t root = 0; root < (group == 0 ? ranks : remote); ++root)
                expect_same(buffers, {ranks, remote, group, rank, root});
    }
}

}  // namespace quadrille::verifier::two_groups_test
