// Lemmas by bits: bit-vectors mean the same numbers as the language, also at the ends of their intervals. Random lemmas
// are proven if and only if no numbers refute them. Wrong mutants of the built-in proofs' lemmas are not proven.
#include "verifier/prove/bits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "generator/proof_file.h"
#include "schedule/text.h"
#include "tests/schedule/random_expressions.h"
#include "tests/support/effort.h"
#include "tests/support/evaluate.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/prove/planner.h"
#include "verifier/prove/prover.h"

namespace quadrille::verifier::bits_test {

// The value that every expression of a lemma has, as bits.h says, for given numbers.
struct Oracle {
  const Program& program;
  int64_t ranks;
  std::vector<int64_t> variables;

  int64_t value(const Expression& e) const {
    const auto operand = [&](int i) { return value(e.operands[i]); };
    Undefined why = Undefined::kNone;
    switch (e.op) {
      case Operator::kConstant: return e.value;
      case Operator::kVariable: return variables[e.value];
      case Operator::kRanks:
      case Operator::kRemoteRanks: return ranks;
      case Operator::kGroup:
      case Operator::kRoot: return 0;
      case Operator::kAnd: return operand(0) && operand(1);
      case Operator::kChoose: return operand(operand(0) ? 1 : 2);
      case Operator::kLength: return static_cast<int64_t>(entries(e).size());
      case Operator::kLocate: return locate(entries(e), operand(0));
      case Operator::kElement: {
        const int64_t i = operand(0);
        return 0 <= i && i <= 62 ? int64_t{1} << i : 0;
      }
      default: break;
    }
    const int64_t a = operand(0), b = operand(1);
    if (e.op == Operator::kWrap) return a < 0 ? a + b : b <= a ? a - b : a;
    if (b <= 0 && e.op == Operator::kDivide) return 0;
    if (b <= 0 && e.op == Operator::kModulo) return a;
    const std::optional<int64_t> result = apply_operator(e.op, a, b, &why);
    EXPECT_TRUE(result) << "overflow";
    return result.value_or(0);
  }

  bool refutes(const Lemma& lemma) const {
    for (const Expression& condition : lemma.given)
      if (!value(condition)) return false;
    return !value(lemma.show);
  }

 private:
  std::vector<int64_t> entries(const Expression& e) const {
    const Table& table = program.tables[e.value];
    if (is_nodes(table.kind)) return std::vector<int64_t>(ranks, 1);
    std::vector<int64_t> result = {1};
    while (result.back() < value(table.second)) result.push_back(2 * result.back());
    return result;
  }
};

Program with_powers() {
  return parse_program(R"(algorithm tables for alltoall
table pow = powers(2, ranks)
table more = powers(2, 3*ranks + 1)
copy send[rank] to recv[rank]
)",
                       "tables")
      .value();
}

// Returns the expression with variable 1 in place of `rank`, which a lemma cannot name.
Expression without_rank(Expression e) {
  if (e.op == Operator::kRank) return variable(1);
  for (Expression& operand : e.operands) operand = without_rank(std::move(operand));
  return e;
}

class Random {
 public:
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  Expression number(int depth) { return without_rank(expressions.number(depth)); }
  Expression condition(int depth) { return without_rank(expressions.condition(depth)); }
  // Makes a quotient, remainder or product of a number and a power of two, which may be 0.
  Expression shifted(int depth) {
    static constexpr Operator kShifts[] = {Operator::kDivide, Operator::kModulo,
                                           Operator::kMultiply};
    const Expression power = apply(Operator::kElement, {number(0)}, between(0, 1));
    return apply(kShifts[between(0, 2)],
                 {number(depth - 1), times(constant(1 << between(0, 3)), power)});
  }

 private:
  std::mt19937_64 random_{20080908};
  const RandomExpressions expressions{
      [this](int64_t low, int64_t high) { return between(low, high - 1); },
      [this] { return between(-3, 9); }, 2, 0};
};

void bound(Lemma& lemma, const Expression& e, int64_t low, int64_t high) {
  lemma.given.push_back(less_equal(constant(low), e));
  lemma.given.push_back(less_equal(e, constant(high)));
}

LemmaRanges ranges_of(const Program& program, const Lemma& lemma) {
  return ranges_of_lemma(program, lemma.variables, lemma.given, lemma.show);
}

std::optional<std::string> refusal(const Program& program, const Lemma& lemma,
                                   const LemmaRanges& ranges) {
  return why_not_by_bits(program, lemma, std::vector<std::string>(lemma.variables, "v"), ranges);
}

// Returns the term with these values in place of its unknowns.
z3::expr put_in(const z3::expr& term, const std::map<std::string, int64_t>& values) {
  if (term.is_const() && term.decl().decl_kind() == Z3_OP_UNINTERPRETED)
    return term.ctx().bv_val(values.at(term.decl().name().str()), term.get_sort().bv_size());
  if (term.num_args() == 0) return term;
  z3::expr_vector from(term.ctx()), to(term.ctx());
  std::set<unsigned> seen;
  const std::function<void(const z3::expr&)> visit = [&](const z3::expr& e) {
    if (!seen.insert(e.id()).second) return;
    if (e.is_const() && e.decl().decl_kind() == Z3_OP_UNINTERPRETED) {
      from.push_back(e);
      to.push_back(put_in(e, values));
    }
    for (unsigned i = 0; i < e.num_args(); ++i) visit(e.arg(i));
  };
  visit(term);
  return z3::expr(term).substitute(from, to).simplify();
}

TEST(Bits, MeanWhatTheLanguageMeans) {
  const Program program = with_powers();
  Random random;
  z3::context context;
  int compared = 0, defined = 0, negative = 0, wide = 0;
  for (int i = 0; i < (kSanitized ? 100 : 300); ++i) {
    Oracle oracle{program, random.between(1, 20), {}};
    Lemma lemma{"", 2, {}, {}, {}};
    for (int v = 0; v < 2; ++v) {
      const int64_t scale = int64_t{1} << (i % 3 == 0 ? random.between(0, 40) : 4);
      const int64_t low = random.between(-scale, scale / 2), high = random.between(low, scale);
      bound(lemma, variable(v), low, high);
      const int64_t any = random.between(low, high);
      oracle.variables.push_back(i % 2 == 0 ? any : random.between(0, 1) ? low : high);
    }
    const int depth = 1 + i % 4;
    const Expression number = i % 5 < 2 ? random.shifted(depth) : random.number(depth);
    for (const int64_t difference : {0, 1}) {
      lemma.show = apply(Operator::kEqual, {number, variable(0)});
      if (refusal(program, lemma, ranges_of(program, lemma))) break;
      const int64_t value = oracle.value(number);
      lemma.show.operands[1] = constant(value + difference);
      const LemmaRanges ranges = ranges_of(program, lemma);
      ASSERT_LE(ranges.all.first, value);
      ASSERT_LE(value, ranges.all.second);
      if (refusal(program, lemma, ranges)) break;
      Query query(context, program);
      ask_by_bits(query, program, lemma, ranges);
      const std::map<std::string, int64_t> values = {{"qd_v0", oracle.variables[0]},
                                                     {"qd_v1", oracle.variables[1]},
                                                     {"qd_ranks", oracle.ranks}};
      for (const z3::expr& hypothesis : query.hypotheses)
        ASSERT_TRUE(put_in(hypothesis, values).is_true()) << hypothesis;
      const z3::expr result = put_in(query.goal, values);
      ASSERT_TRUE(difference == 0 ? result.is_true() : result.is_false())
          << query.goal << " for " << testing::PrintToString(values) << ", value " << value;
      const Binding binding =
          bind(program, job_of(std::vector<int64_t>(oracle.ranks, 1)), {}, 0).value();
      Undefined why = Undefined::kNone;
      const auto evaluated =
          evaluate(number, Environment{binding.place, {}, binding.tables, oracle.variables}, &why);
      ASSERT_EQ(evaluated.value_or(value), value);
      ++compared;
      defined += evaluated.has_value();
      negative += value < 0;
      wide += ranges.all.second > int64_t{1} << 30;
    }
  }
  fmt::print("{} compared, {} defined, {} negative, {} wide\n", compared, defined, negative, wide);
  EXPECT_GT(compared, kSanitized ? 100 : 300);
  EXPECT_GT(defined, compared / 2);
  EXPECT_GT(negative, compared / 10);
  EXPECT_GT(wide, compared / 50);
}

// Asks whether the lemma holds.
z3::check_result decide(const Program& program, const Lemma& lemma, const LemmaRanges& ranges) {
  z3::context context;
  Query query(context, program);
  ask_by_bits(query, program, lemma, ranges);
  z3::solver solver = new_solver(context, {.most_work = 5'000'000}, true);
  for (const z3::expr& hypothesis : query.hypotheses) solver.add(hypothesis);
  solver.add(!query.goal);
  return solver.check();
}

TEST(Bits, ProveRandomLemmasIfNothingRefutesThem) {
  const Program program = with_powers();
  Random random;
  int proven = 0, refuted = 0;
  for (int i = 0; i < (kSanitized ? 40 : 200); ++i) {
    Lemma lemma{"", 2, {}, {}, {}};
    bound(lemma, variable(0), -3, 5);
    bound(lemma, variable(1), 0, 6);
    bound(lemma, leaf(Operator::kRanks), 1, 5);
    lemma.given.push_back(random.condition(1));
    lemma.show = random.condition(1 + i % 2);
    const LemmaRanges ranges = ranges_of(program, lemma);
    if (refusal(program, lemma, ranges)) continue;
    bool holds = true;
    for (int64_t ranks = 1; ranks <= 5; ++ranks)
      for (int64_t x = -3; x <= 5; ++x)
        for (int64_t y = 0; y <= 6; ++y) holds &= !Oracle{program, ranks, {x, y}}.refutes(lemma);
    ASSERT_EQ(decide(program, lemma, ranges), holds ? z3::unsat : z3::sat) << i;
    ++(holds ? proven : refuted);
  }
  EXPECT_GT(proven, kSanitized ? 3 : 20);
  EXPECT_GT(refuted, kSanitized ? 10 : 80);
}

// Changes a number, a comparison or a sign of a line. Returns nullopt for other tokens.
std::optional<Line> mutant(Line line, size_t at) {
  Token& token = line.tokens[at];
  if (token.kind == Token::Kind::kNumber) {
    ++token.number;
    token.text = std::to_string(token.number);
    return line;
  }
  static const std::map<std::string, std::string> kChanged = {{"<", "<="}, {"<=", "<"}, {"=", "!="},
                                                              {"!=", "="}, {"+", "-"},  {"-", "+"}};
  const auto change = kChanged.find(token.text);
  if (token.kind != Token::Kind::kSymbol || change == kChanged.end()) return std::nullopt;
  token.text = change->second;
  return line;
}

// Whether small numbers refute the lemma.
bool is_refuted(const Program& program, const Lemma& lemma, const LemmaRanges& ranges) {
  for (int64_t ranks = 1; ranks <= 9; ++ranks) {
    std::vector<std::vector<int64_t>> all = {{}};
    for (const auto& [low, high] : ranges.variables) {
      std::vector<std::vector<int64_t>> longer;
      for (const std::vector<int64_t>& values : all)
        for (int64_t v = std::max<int64_t>(low, -2); v <= std::min<int64_t>(high, 9); ++v) {
          longer.push_back(values);
          longer.back().push_back(v);
        }
      all = std::move(longer);
    }
    for (const std::vector<int64_t>& values : all)
      if (Oracle{program, ranks, values}.refutes(lemma)) return true;
  }
  return false;
}

TEST(Bits, DoNotProveWrongMutantsOfLemmas) {
  std::set<std::string> seen;
  int lemmas = 0, killed = 0, proven = 0, asked = 0;
  for (const Variant& variant : variants()) {
    if (!variant.algorithm->proof) continue;
    const Result<Proof> proof =
        parse_proof(proof_file(*variant.algorithm, variant.choices), variant.name);
    Planner planner(*proof);
    for (const ProofStatement& statement : proof->statements) {
      plan_lemma(planner, statement);
      if (!statement.by_bits || !seen.insert(statement.subject).second) continue;
      ++lemmas;
      const View view{statement.variables, {}, false};
      for (size_t changed = 0; changed < statement.lines.size(); ++changed)
        for (size_t at = 1; at < statement.lines[changed].tokens.size(); ++at) {
          if (asked++ % one_in(kSanitized ? 400 : 24) != 0) continue;
          const std::optional<Line> line = mutant(statement.lines[changed], at);
          if (!line) continue;
          Lemma lemma{statement.subject, statement.variables.size(), {}, {}, {}};
          for (size_t i = 0; i < statement.lines.size(); ++i) {
            const Line& each = i == changed ? *line : statement.lines[i];
            const Expression condition = planner.condition(each, view);
            if (starts_with(each, "given")) lemma.given.push_back(condition);
            if (starts_with(each, "show")) lemma.show = condition;
          }
          const LemmaRanges ranges = ranges_of(proof->program, lemma);
          if (refusal(proof->program, lemma, ranges)) continue;
          if (decide(proof->program, lemma, ranges) != z3::unsat) {
            ++killed;
            continue;
          }
          ++proven;
          ASSERT_FALSE(is_refuted(proof->program, lemma, ranges))
              << variant.name << ", " << statement.subject << ": line " << line->number
              << ", column " << line->tokens[at].column;
        }
    }
  }
  fmt::print("{} lemmas, {} mutants killed, {} proven\n", lemmas, killed, proven);
  EXPECT_GT(lemmas, 60);
  EXPECT_GT(killed, kSanitized ? 2 : 20);
}

}  // namespace quadrille::verifier::bits_test
