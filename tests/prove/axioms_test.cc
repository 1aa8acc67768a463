// Checks the prover's axioms on every job of at most 8 ranks and a few larger ones: facts about tables, for all
// values of their unknowns; axioms by name, for all arguments.
#include "verifier/prove/axioms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "schedule/text.h"
#include "tests/prove/terms.h"
#include "tests/support/evaluate.h"
#include "tests/support/topologies.h"
#include "verifier/prove/logic.h"

namespace quadrille::verifier {
namespace {

constexpr int64_t kSizes = 0, kBases = 1, kDone = 2, kTwos = 3;
constexpr int64_t kMostRanks = 8;

Program with_tables(const std::string& more = "") {
  return parse_program(R"(algorithm tables for alltoall
table size = nodes
table base = prefix(size)
table done = distinct(size)
)" + more + "copy send[rank] to recv[rank]\n",
                       "tables")
      .value();
}

Program with_powers() { return with_tables("table twos = powers(2, 3*ranks)\n"); }

// Returns all jobs of at most `most_ranks` ranks, and `larger` random ones.
std::vector<Job> jobs(int64_t most_ranks, int larger) {
  std::vector<Job> result;
  for (const std::vector<int64_t>& sizes : ascending_node_vectors(most_ranks))
    result.push_back(job_of(sizes));
  std::mt19937 random(20080908);
  for (int i = 0; i < larger; ++i) {
    std::vector<int64_t> sizes(1 + random() % 5);
    for (int64_t& size : sizes) size = 1 + random() % 4;
    result.push_back(job_of(sizes));
  }
  return result;
}

// The facts of knowledge() about the terms that `mention` makes from two unknowns, i and j.
class Facts {
 public:
  explicit Facts(const std::function<void(Logic&, const Polynomial&, const Polynomial&)>& mention)
      : program_(with_tables()), logic_(context_, program_) {
    mention(logic_, logic_.fresh("i"), logic_.fresh("j"));
    facts_ = logic_.knowledge();
  }

  // Checks every fact on the jobs, for all values of the unknowns from -2 to two above the number of ranks. Entries
  // outside tables have arbitrary values.
  void hold_on(const std::vector<Job>& jobs) const {
    ASSERT_FALSE(facts_.empty());
    for (const Job& job : jobs) {
      const int64_t most = job.groups[0].ranks() + 2;
      for (int64_t seed = 0; seed < 2; ++seed) {
        Interpretation meaning(job, seed);
        meaning.define(facts_);
        for (int64_t i = -2; i <= most; ++i)
          for (int64_t j = -2; j <= most; ++j) {
            meaning.set("i", i);
            meaning.set("j", j);
            for (const z3::expr& fact : facts_)
              ASSERT_TRUE(meaning.holds(fact)) << "nodes " << job.groups[0].text() << ", i = " << i
                                               << ", j = " << j << ": " << fact;
          }
      }
    }
  }

  // Whether some fact is false for tables of 6 ranks in a job of 7.
  bool deny_another_number_of_ranks() const {
    Interpretation meaning(job_of({1, 2, 3}), 0);
    meaning.define(facts_);
    meaning.set("ranks", 7);
    meaning.set("i", 1);
    meaning.set("j", 2);
    return std::ranges::any_of(facts_, [&](const z3::expr& fact) { return !meaning.holds(fact); });
  }

 private:
  Program program_;
  z3::context context_;
  Logic logic_;
  std::vector<z3::expr> facts_;
};

const Polynomial kOne = Polynomial::constant(1);

TEST(TableFacts, OfEntriesHold) {
  for (const int64_t table : {kSizes, kBases, kDone})
    Facts([&](Logic& logic, const Polynomial& i, const Polynomial& j) {
      logic.element({table, 0}, i);
      logic.element({table, 0}, j);
    }).hold_on(jobs(kMostRanks, 4));
}

TEST(TableFacts, OfNeighboursHold) {
  for (const int64_t table : {kSizes, kBases, kDone})
    Facts([&](Logic& logic, const Polynomial& i, const Polynomial&) {
      logic.element({table, 0}, i);
      logic.element({table, 0}, i + kOne);
      logic.element({table, 0}, i - kOne);
      logic.element({table, 0}, i + kOne + kOne);
    }).hold_on(jobs(kMostRanks, 4));
}

TEST(Products, WithACommonFactorCompareAsTheirOtherFactorsDo) {
  Facts([](Logic& logic, const Polynomial& i, const Polynomial& j) {
    logic.compare_products();
    for (const Polynomial& product : {i * j, i * logic.ranks(0), j * logic.ranks(0), i * i * j})
      logic.term(product);
  }).hold_on(jobs(kMostRanks, 4));
}

TEST(TableFacts, OfEndsHold) {
  for (const int64_t table : {kSizes, kBases, kDone})
    Facts([&](Logic& logic, const Polynomial& i, const Polynomial&) {
      logic.element({table, 0}, logic.length({table, 0}) - kOne);
      logic.element({table, 0}, Polynomial::constant(0));
      logic.element({table, 0}, i);
    }).hold_on(jobs(kMostRanks, 4));
}

TEST(TableFacts, OfLocationsHold) {
  for (const int64_t table : {kSizes, kBases, kDone})
    Facts([&](Logic& logic, const Polynomial& i, const Polynomial& j) {
      logic.located({table, 0}, i);
      logic.located({table, 0}, j);
    }).hold_on(jobs(kMostRanks, 4));
}

TEST(TableFacts, OfNestedTermsHold) {
  for (const int64_t outer : {kSizes, kBases, kDone})
    for (const int64_t inner : {kSizes, kBases, kDone})
      Facts([&](Logic& logic, const Polynomial& i, const Polynomial& j) {
        logic.element({outer, 0}, logic.located({inner, 0}, i));
        logic.located({outer, 0}, logic.element({inner, 0}, j));
        logic.element({inner, 0}, logic.located({outer, 0}, i) + kOne);
      }).hold_on(jobs(4, 0));
}

TEST(TableFacts, OfProductsAndQuotientsHold) {
  Program program = with_tables();
  z3::context context;
  Logic logic(context, program);
  const Instance instance{0, logic.fresh("i"), {logic.fresh("j")}};
  const Expression i = leaf(Operator::kRank), j = variable(0);
  for (const Operator op : {Operator::kMultiply, Operator::kDivide, Operator::kModulo,
                            Operator::kMinimum, Operator::kMaximum, Operator::kWrap})
    logic.term(logic.number(apply(op, {i, j}), instance));
  logic.term(
      logic.number(apply(Operator::kMultiply, {apply(Operator::kMultiply, {i, j}), i}), instance));
  const std::vector<z3::expr> facts = logic.knowledge();
  for (int64_t seed = 0; seed < 3; ++seed) {
    Interpretation meaning(job_of({1, 2, 3}), seed);
    meaning.define(facts);
    for (int64_t x = -9; x <= 9; ++x)
      for (int64_t y = -9; y <= 9; ++y) {
        meaning.set("i", x);
        meaning.set("j", y);
        for (const z3::expr& fact : facts) ASSERT_TRUE(meaning.holds(fact)) << fact;
      }
  }
}

TEST(TableFacts, SayMoreThanNothing) {
  EXPECT_TRUE(Facts([](Logic& logic, const Polynomial& i, const Polynomial& j) {
                logic.element({kBases, 0}, i);
                logic.element({kBases, 0}, j);
              }).deny_another_number_of_ranks());
}

// Checks the axiom on the job, for all values of its variables 0, 1, ... from `low` to `high`.
void holds_for_all(const std::string& name, const std::vector<AxiomArgument>& arguments,
                   size_t variables, int64_t low, int64_t high, const Job& job) {
  const Program program = with_powers();
  const auto axiom = named_axiom(program, name, arguments);
  ASSERT_TRUE(axiom) << name;
  const Binding binding = bind(program, job, {}, 0).value();
  Environment environment{binding.place, binding.parameters, binding.tables,
                          std::vector<int64_t>(variables, low)};
  for (;;) {
    Undefined why = Undefined::kNone;
    const auto value = evaluate(*axiom, environment, &why);
    std::string values;
    for (const int64_t v : environment.variables) values += " " + std::to_string(v);
    ASSERT_TRUE(value && *value) << name << values << " on nodes " << job.groups[0].text() << ": "
                                 << describe(why);
    size_t wheel = 0;
    while (wheel < variables && environment.variables[wheel] == high)
      environment.variables[wheel++] = low;
    if (wheel == variables) return;
    ++environment.variables[wheel];
  }
}

AxiomArgument table(int64_t index) { return {index, {}}; }
AxiomArgument number(int64_t index) { return {std::nullopt, variable(index)}; }

// ---- Tables of the call

Program with_call_tables() {
  return parse_program(R"(algorithm tables for allgather
parameter B at call
table m = counts
table b[i in 0 .. ranks] = max(1, (m[i] + B - 1) div B)
table s = prefix(b)
table sums = prefix(m)
parameter r
table pow = powers(r, ranks + B)
table most = greatest(m)
table few = 3, -1, 2
require 2 <= r
copy send[0] to recv[rank]
)",
                       "tables")
      .value();
}

// Checks the facts on one call, for all values of i and j from -2 to two above the longest table's entries.
void call_facts_hold(const Program& program, const std::vector<z3::expr>& facts,
                     const std::vector<int64_t>& counts, int64_t block) {
  const Job job = job_of(std::vector<int64_t>(counts.size(), 1));
  const int64_t radix = 1 + static_cast<int64_t>(counts.size());
  const Binding binding =
      bind(program, {job.groups, {0, radix}}, {{counts}, {block}, 0}, 0).value();
  Interpretation meaning(job, block);
  meaning.set_table("table_0", binding.tables[0]);
  meaning.set_table("table_1", binding.tables[1]);
  meaning.set_table("prefix_table_1", binding.tables[2]);
  meaning.set_table("prefix_table_0", binding.tables[3]);
  for (const int64_t table : {4, 5, 6})
    meaning.set_table("table_" + std::to_string(table), binding.tables[table]);
  meaning.set("parameter_0", block);
  meaning.set("parameter_1", radix);
  meaning.define(facts);
  const int64_t most = std::max<int64_t>(counts.size(), binding.tables[2].end()[-1]) + 2;
  for (int64_t i = -2; i <= most; ++i)
    for (int64_t j = -2; j <= most; ++j) {
      meaning.set("i", i);
      meaning.set("j", j);
      for (const z3::expr& fact : facts)
        ASSERT_TRUE(meaning.holds(fact)) << testing::PrintToString(counts) << ", B = " << block
                                         << ", i = " << i << ", j = " << j << ": " << fact;
    }
}

TEST(CallTableFacts, HoldForEveryCall) {
  const Program program = with_call_tables();
  z3::context context;
  Logic logic(context, program);
  const Polynomial i = logic.fresh("i"), j = logic.fresh("j");
  for (const int64_t table : {0, 1, 2, 3, 4, 5, 6}) {
    logic.element({table, 0}, i);
    logic.element({table, 0}, j);
    logic.element({table, 0}, i + kOne);
  }
  logic.element({2, 0}, logic.length({2, 0}) - kOne);
  logic.element({3, 0}, logic.length({3, 0}) - kOne);
  logic.element({4, 0}, logic.length({4, 0}) - kOne);
  logic.element({5, 0}, logic.length({5, 0}) - kOne);
  logic.element({4, 0}, Polynomial::constant(0));
  for (const int64_t table : {2, 3, 4, 5}) {
    logic.located({table, 0}, i);
    logic.located({table, 0}, j);
  }
  const std::vector<z3::expr> facts = logic.knowledge();
  for (const int64_t ranks : {1, 2, 3}) {
    // Counts of 0, 1 and 2; on three ranks only 0 and 2, to save time.
    const std::vector<int64_t> values =
        ranks < 3 ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{0, 2};
    const int64_t base = static_cast<int64_t>(values.size());
    for (int64_t code = 0; code < std::pow(base, ranks); ++code) {
      std::vector<int64_t> counts;
      for (int64_t rest = code; counts.size() < static_cast<size_t>(ranks); rest /= base)
        counts.push_back(values[rest % base]);
      for (const int64_t block : {1, 2}) call_facts_hold(program, facts, counts, block);
    }
  }
}

TEST(CallTableFacts, SayMoreThanNothing) {
  const Program program = with_call_tables();
  z3::context context;
  Logic logic(context, program);
  const Polynomial i = logic.fresh("i"), one = Polynomial::constant(1);
  z3::solver solver(context);
  solver.add(logic.less_equal(Polynomial::constant(0), i));
  solver.add(logic.less(i, logic.ranks(0)));
  // Denies that the sums strictly ascend.
  solver.add(logic.less_equal(logic.element({2, 0}, i + one), logic.element({2, 0}, i)));
  for (const z3::expr& fact : logic.knowledge()) solver.add(fact);
  EXPECT_EQ(solver.check(), z3::unsat);
}

TEST(NamedAxioms, HoldOnEveryJob) {
  for (const Job& job : jobs(kMostRanks, 20)) {
    const int64_t most = job.groups[0].ranks() + 2;
    holds_for_all("member", {table(kDone), number(0)}, 1, -3, most, job);
    holds_for_all("covered", {table(kDone), number(0)}, 1, -3, most, job);
    holds_for_all("xor_range", {number(0), number(1)}, 2, -2, most, job);
    holds_for_all("xor_cancel", {number(0), number(1)}, 2, -2, most, job);
    for (const char* name : {"xor_groups", "xor_flip"})
      holds_for_all(name, {table(kTwos), number(0), number(1), number(2)}, 3, -2, most, job);
  }
  holds_for_all("monotone", {number(0), number(1), number(2)}, 3, -7, 7, job_of({1}));
}

TEST(NamedAxioms, OfExclusiveOrHoldForEveryNumberOfRanks) {
  for (int64_t ranks = 1; ranks <= 65; ++ranks) {
    holds_for_all("xor_range", {number(0), number(1)}, 2, -1, ranks, job_of({ranks}));
    holds_for_all("xor_cancel", {number(0), number(1)}, 2, -1, ranks, job_of({ranks}));
    if (ranks % 8 == 1)
      for (const char* name : {"xor_groups", "xor_flip"})
        holds_for_all(name, {table(kTwos), number(0), number(1), number(2)}, 3, -1, ranks,
                      job_of({ranks}));
  }
}

TEST(NamedAxioms, AreNoOthers) {
  const Program program = with_powers();
  EXPECT_FALSE(named_axiom(program, "magic", {number(0)}));
  EXPECT_FALSE(named_axiom(program, "monotone", {number(0), number(1)}));
  EXPECT_FALSE(named_axiom(program, "monotone", {number(0), number(1), table(kDone)}));
  EXPECT_FALSE(named_axiom(program, "member", {table(kSizes), number(0)}));
  EXPECT_FALSE(named_axiom(program, "member", {table(kBases), number(0)}));
  EXPECT_FALSE(named_axiom(program, "covered", {number(0), number(0)}));
  EXPECT_FALSE(named_axiom(program, "xor_range", {table(kDone), number(0)}));
  for (const char* name : {"xor_groups", "xor_flip"})
    EXPECT_FALSE(named_axiom(program, name, {table(kDone), number(0), number(1), number(2)}));
  EXPECT_FALSE(named_axiom(program, "xor_groups", {number(0), number(0), number(1), number(2)}));
  EXPECT_FALSE(named_axiom(program, "xor_groups", {table(kTwos), number(0), number(1)}));
}

TEST(BitVectors, HaveAnObligationForEachFact) {
  z3::context context;
  const Program program = with_tables();
  for (const Obligation& obligation : bitvector_obligations()) {
    Query query(context, program);
    obligation.build(query);
    EXPECT_TRUE(query.bit_vectors);
    z3::solver solver(context);
    for (const z3::expr& hypothesis : query.hypotheses) solver.add(hypothesis);
    EXPECT_EQ(solver.check(), z3::sat) << obligation.name;
    solver.push();
    solver.add(!query.goal);
    EXPECT_EQ(solver.check(), z3::unsat) << obligation.name;
    solver.pop();
    solver.add(!query.mutant);
    EXPECT_EQ(solver.check(), z3::sat) << obligation.name;
  }
}

}  // namespace
}  // namespace quadrille::verifier
