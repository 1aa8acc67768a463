// Computes intervals of a program's expressions, whose lets are replaced by their values, and of a lemma's.
// tests/prove/ranges_test.cc compares them with the values that walks compute, tests/prove/bits_test.cc with those of
// random lemmas.
#include "verifier/prove/ranges.h"

#include <algorithm>
#include <functional>

namespace quadrille::verifier {
namespace {

using Wide = __int128;

struct Interval {
  Wide low = INT64_MIN, high = INT64_MAX;

  Interval within(const Interval& other) const {
    return {std::max(low, other.low), std::min(high, other.high)};
  }
  Interval with(const Interval& other) const {
    return {std::min(low, other.low), std::max(high, other.high)};
  }
  Interval operator+(const Interval& other) const { return {low + other.low, high + other.high}; }
  Interval operator-(const Interval& other) const { return {low - other.high, high - other.low}; }
};

Wide floor_division(Wide a, Wide b) { return a / b - (a % b < 0); }

// Returns the interval of op(x, y) for x in a, y in b. `op` is monotone in both: the extremes are at the ends.
template <class Op>
Interval of_ends(const Interval& a, const Interval& b, Op op) {
  const auto [low, high] =
      std::minmax({op(a.low, b.low), op(a.low, b.high), op(a.high, b.low), op(a.high, b.high)});
  return {low, high};
}

class Ranges {
 public:
  // If `is_quiet`, this only computes intervals, and records no value that is out of range.
  Ranges(const Program& program, const Limits& limits, bool is_quiet = false)
      : program_(program), limits_(limits), is_quiet_(is_quiet) {
    check_requirements(0);
    for (const Table& table : program.tables) {
      add_table(table);
      check_requirements(static_cast<int64_t>(tables_.size()));
    }
    // Once all tables are known, earlier requirements narrow more.
    checked_ = kAllChecked;
    for (const Expression& requirement : program.requirements) narrow(requirement, true);
    ask_entries(program.temporary_blocks, value(program.temporary_blocks), 0);
  }
  virtual ~Ranges() = default;

  Interval look(const Evaluation& evaluation) {
    const std::vector<Known> known = known_;
    path_.clear();
    checked_ = evaluation.checked;
    statement_ = evaluation.statement;
    for (const PathElement& element : evaluation.path) follow(element);
    const Interval result = value(evaluation.expression);
    known_ = known;
    path_.clear();
    return result;
  }

  std::optional<std::vector<OutOfRange>> take() {
    if (looks_ > kMostLooks) return std::nullopt;
    return std::move(found_);
  }

 protected:
  struct Known {
    Expression expression;
    Interval interval;
  };
  struct TableRange {
    Interval length, entry;
  };

  void check_requirements(int64_t tables) {
    for (const Expression& requirement : program_.requirements) {
      if (tables_before(requirement) != tables) continue;
      value(requirement);
      narrow(requirement, true);
      ++checked_;
    }
  }

  void add_table(const Table& table) {
    const Interval ranks{1, limits_.ranks}, length = {0, kMaxTableLength};
    switch (table.kind) {
      case TableKind::kNodes:
      case TableKind::kRemoteNodes: return tables_.push_back({ranks, ranks});
      case TableKind::kCounts:
      case TableKind::kRemoteCounts: return tables_.push_back({ranks, {0, limits_.count}});
      case TableKind::kPrefix: return add_sums(program_.tables[table.source], table.source);
      case TableKind::kDistinct:
        return tables_.push_back({{2, limits_.ranks + 1}, {0, limits_.ranks}});
      case TableKind::kGreatest: {
        const TableRange source = tables_[table.source];
        ask_entries(leaf(Operator::kLength, table.source), source.length, 1);
        return tables_.push_back({{source.length.low + 1, source.length.high + 1},
                                  {0, std::max<Wide>(0, source.entry.high)}});
      }
      case TableKind::kLiteral: {
        const auto [least, greatest] = std::ranges::minmax(table.entries);
        const auto entries = static_cast<int64_t>(table.entries.size());
        return tables_.push_back({{entries, entries}, {least, greatest}});
      }
      case TableKind::kPowers: {
        const Interval radix = value(table.first), limit = value(table.second);
        Wide entries = 2;  // one more than powers of 2 below the limit
        for (Wide power = 1; power < limit.high; power *= 2) ++entries;
        const Wide last = (limit.high - 1) * radix.high;
        ask(apply(Operator::kMultiply, {table.first, table.second}), {1, last}, {});
        return tables_.push_back({{1, entries - 1}, {1, std::max<Wide>(1, last)}});
      }
      case TableKind::kMap: {
        const Interval entries = value(table.first);
        ask_entries(table.first, entries, 0);
        const std::vector<Known> known = known_;
        follow(in_loop(table.index.text, constant(0), table.first, 0));
        const Interval entry = value(table.second);
        known_ = known;
        path_.clear();
        return tables_.push_back({entries.within(length), entry});
      }
    }
  }

  // Adds the range of a table of prefix sums. Sums of node sizes are at most the number of ranks.
  void add_sums(const Table& source, int64_t number) {
    const auto& [length, entry] = tables_[number];
    Interval sums = of_ends({0, length.high}, entry, [](Wide a, Wide b) { return a * b; });
    if (is_nodes(source.kind)) sums = {0, limits_.ranks};
    const Expression last = leaf(Operator::kLength, number);
    ask_entries(last, length, 1);  // the table has one entry more than its source
    ask(apply(Operator::kElement, {last}, static_cast<int64_t>(tables_.size())), sums, {});
    tables_.push_back({{length.low + 1, length.high + 1}, sums.with({0, 0})});
  }

  void follow(const PathElement& element) {
    path_.push_back(element);
    if (element.kind != PathElement::Kind::kLoop)
      return narrow(element.condition, element.kind == PathElement::Kind::kCondition);
    const Interval low = value(element.low), high = value(element.high);
    know(variable(element.variable), {low.low, std::max(low.low, high.high - 1)});
  }

  virtual void know(const Expression& expression, const Interval& interval) {
    if (expression.op != Operator::kConstant) known_.push_back({expression, interval});
  }

  // Narrows ranges by the condition, if it holds, or by its negation.
  void narrow(const Expression& e, bool holds) {
    if (e.op == Operator::kAnd && holds)
      for (const Expression& operand : e.operands) narrow(operand, true);
    if (!is_comparison(e.op)) return;
    const Expression &a = e.operands[0], &b = e.operands[1];
    if (e.op == (holds ? Operator::kEqual : Operator::kNotEqual)) {
      at_most(a, b, 0);
      at_most(b, a, 0);
    }
    if (e.op == Operator::kLess) holds ? at_most(a, b, 1) : at_most(b, a, 0);
    if (e.op == Operator::kLessEqual) holds ? at_most(a, b, 0) : at_most(b, a, 1);
  }

  // Narrows a and b by the condition a + by <= b.
  void at_most(const Expression& a, const Expression& b, int64_t by) {
    const Interval less = quiet_value(a), more = quiet_value(b);
    know(a, less.within({INT64_MIN, more.high - by}));
    know(b, more.within({less.low + by, INT64_MAX}));
  }

  // Returns the interval without recording what is out of range: value() recorded it where the program evaluates `e`.
  Interval quiet_value(const Expression& e) {
    const bool was_quiet = std::exchange(is_quiet_, true);
    const Interval result = value(e);
    is_quiet_ = was_quiet;
    return result;
  }

  virtual Interval value(const Expression& e) {
    if (++looks_ > kMostLooks) return {};
    Interval result = computed(e);
    ask(e, result, {});
    result = result.within({});
    for (const Known& known : known_)
      if (known.expression == e) result = result.within(known.interval);
    return result;
  }

  void ask(const Expression& e, const Interval& interval, const Interval& limits) {
    if (is_quiet_ || (limits.low <= interval.low && interval.high <= limits.high)) return;
    OutOfRange out{path_, bounded(e, limits), {}, checked_, statement_};
    add_parts(e, out.parts);
    found_.push_back(std::move(out));
  }

  // Requires that e + more entries, where `interval` bounds e, are within the limits of a table and of a job.
  void ask_entries(const Expression& e, const Interval& interval, int64_t more) {
    ask(e, interval, {0, kMaxTableLength - more});
    if (is_quiet_ || interval.high + more <= most_entries(1) || is_within_each_job(e, more)) return;
    Expression ranks = leaf(Operator::kRanks);
    if (program_.groups == 2) ranks = apply(Operator::kAdd, {ranks, leaf(Operator::kRemoteRanks)});
    const Expression pairs = apply(Operator::kMultiply, {ranks, ranks});
    const Expression rest = apply(
        Operator::kSubtract, {e, apply(Operator::kMultiply, {constant(kMaxEntriesAPair), pairs})});
    found_.push_back({path_, bounded(rest, {INT64_MIN, kMaxEntries - more}), {}, checked_});
    add_parts(e, found_.back().parts);
  }

  // Whether jobs of n / 2 + 1 to n ranks, for each power n of two, have at most the entries that the smallest of them
  // may have.
  bool is_within_each_job(const Expression& e, int64_t more) const {
    for (int64_t ranks = 1; ranks <= limits_.ranks; ranks *= 2) {
      Limits limits = limits_;
      limits.ranks = ranks;
      const int64_t least = ranks / 2 + 1;
      if (Ranges(program_, limits, true).look({{}, e}).high + more >
          kMaxEntries + kMaxEntriesAPair * least * least)
        return false;
    }
    return true;
  }

  static Bounded bounded(const Expression& e, const Interval& interval) {
    return {e, static_cast<int64_t>(interval.low), static_cast<int64_t>(interval.high)};
  }

  // Adds the operands, and their operands, that are evaluated whenever `e` is.
  void add_parts(const Expression& e, std::vector<Bounded>& parts) {
    if (e.op == Operator::kChoose || e.op == Operator::kAnd) return;
    for (const Expression& operand : e.operands) {
      if (operand.op != Operator::kConstant)
        parts.push_back(bounded(operand, quiet_value(operand)));
      add_parts(operand, parts);
    }
  }

  // Returns what is known of the table that `e` reads. A later table may still hold anything.
  TableRange table(const Expression& e) const {
    return e.value < static_cast<int64_t>(tables_.size()) ? tables_[e.value]
                                                          : TableRange{{0, kMaxTableLength}, {}};
  }

  virtual Interval computed(const Expression& e) {
    const auto operand = [&](int i) { return value(e.operands[i]); };
    switch (e.op) {
      case Operator::kConstant: return {e.value, e.value};
      case Operator::kParameter: return {-limits_.parameter, limits_.parameter};
      case Operator::kVariable: return {};
      case Operator::kRank:
      case Operator::kRoot: return {0, limits_.ranks - 1};
      case Operator::kRanks: return {1, limits_.ranks};
      case Operator::kRemoteRanks: return {0, limits_.ranks};
      case Operator::kGroup: return {0, 1};
      case Operator::kAdd: return operand(0) + operand(1);
      case Operator::kSubtract: return operand(0) - operand(1);
      case Operator::kMultiply: return of_ends(operand(0), operand(1), std::multiplies<>());
      case Operator::kDivide: {
        const Interval a = operand(0), b = operand(1);
        return b.high < 1 ? Interval{} : of_ends(a, b.within({1, INT64_MAX}), floor_division);
      }
      case Operator::kModulo: {
        const Interval a = operand(0), b = operand(1);
        return {0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
      }
      case Operator::kXor: return exclusive_or(operand(0), operand(1));
      case Operator::kMinimum:
        return of_ends(operand(0), operand(1), [](Wide a, Wide b) { return std::min(a, b); });
      case Operator::kMaximum:
        return of_ends(operand(0), operand(1), [](Wide a, Wide b) { return std::max(a, b); });
      case Operator::kWrap: operand(0); return {0, operand(1).high - 1};
      case Operator::kEqual:
      case Operator::kNotEqual:
      case Operator::kLess:
      case Operator::kLessEqual: operand(0), operand(1); return {0, 1};
      case Operator::kAnd: operand(0), guarded(e.operands[0], true, e.operands[1]); return {0, 1};
      case Operator::kChoose:
        operand(0);
        return guarded(e.operands[0], true, e.operands[1])
            .with(guarded(e.operands[0], false, e.operands[2]));
      case Operator::kElement: operand(0); return table(e).entry;
      case Operator::kLocate: operand(0); return {-1, table(e).length.high - 1};
      case Operator::kLength: return table(e).length;
    }
    return {};
  }

  // Returns the interval of an expression that is evaluated only if the condition holds (`holds`), or does not hold.
  Interval guarded(const Expression& condition, bool holds, const Expression& e) {
    const size_t known = known_.size();
    follow(where(condition, holds));
    const Interval result = value(e);
    known_.resize(known);
    path_.pop_back();
    return result;
  }

  static Interval exclusive_or(const Interval& a, const Interval& b) {
    if (a.low < 0 || b.low < 0) return {};
    Wide power = 1;
    while (power <= a.high || power <= b.high) power *= 2;
    return {0, power - 1};
  }

  const Program& program_;
  const Limits limits_;
  std::vector<TableRange> tables_;
  std::vector<Known> known_;
  Path path_;  // to the current place
  size_t checked_ = 0;
  int statement_ = -1;
  bool is_quiet_;
  // Limits the time: each level of nested conditions multiplies the visits of what is inside.
  static constexpr int64_t kMostLooks = 2'000'000;
  int64_t looks_ = 0;
  std::vector<OutOfRange> found_;
};

// The intervals of a lemma `by bits`. Here all operators have values for all operands, as bits.h says. Conditions bound
// operands, too: from a + b <= 9 and 2 <= b follows a <= 7.
class OfLemma : public Ranges {
 public:
  explicit OfLemma(const Program& program) : Ranges(program, {}, true) {}

  LemmaRanges run(size_t variables, const std::vector<Expression>& given, const Expression& show) {
    checked_ = kAllChecked;
    LemmaRanges result;
    const std::vector<Known> known = known_;
    std::vector<Known> bounds;
    // A condition may bound what an earlier one compares with.
    for (size_t round = 0; round < kRounds; ++round)
      for (const Expression& condition : given) narrow(condition, true);
    for (size_t v = 0; v < variables; ++v) bounds.push_back({variable(v), value(variable(v))});
    known_ = known;
    all_ = {0, 0};
    for (const Known& bound : bounds) {
      known_.push_back(bound);
      result.variables.push_back(of_64_bits(bound.interval));
    }
    for (const Expression& condition : given) {
      value(condition);
      narrow(condition, true);
    }
    value(show);
    result.all = of_64_bits(looks_ > kMostLooks ? Interval() : all_);
    return result;
  }

 private:
  static constexpr size_t kRounds = 3;

  static std::pair<int64_t, int64_t> of_64_bits(const Interval& interval) {
    return {static_cast<int64_t>(interval.low), static_cast<int64_t>(interval.high)};
  }

  Interval value(const Expression& e) override {
    const Interval result = Ranges::value(e);
    all_ = all_.with(result);
    return result;
  }

  void know(const Expression& e, const Interval& interval) override {
    Ranges::know(e, interval);
    if (e.op != Operator::kAdd && e.op != Operator::kSubtract && e.op != Operator::kMultiply)
      return;
    const Expression &a = e.operands[0], &b = e.operands[1];
    const Interval left = quiet_value(a), right = quiet_value(b);
    if (e.op == Operator::kAdd) {
      know(a, interval - right);
      know(b, interval - left);
    } else if (e.op == Operator::kSubtract) {
      know(a, interval + right);
      know(b, left - interval);
    } else {
      if (right.low >= 1) know(a, factor(interval, right));
      if (left.low >= 1) know(b, factor(interval, left));
    }
  }

  // Returns the interval of a factor of a product. The other factor is at least 1.
  static Interval factor(const Interval& product, const Interval& other) {
    return {product.low > 0 ? 1 : product.low / other.low,
            product.high < 0 ? -1 : product.high / other.low};
  }

  Interval computed(const Expression& e) override {
    if (arity(e.op) != 2 && !reads_table(e.op)) return Ranges::computed(e);
    const auto operand = [&](int i) { return value(e.operands[i]); };
    const Table* table = reads_table(e.op) ? &program_.tables[e.value] : nullptr;
    if (table && table->kind == TableKind::kPowers) value(table->second);
    switch (e.op) {
      case Operator::kDivide: {
        const Interval a = operand(0), b = operand(1);
        if (b.high < 1) return {0, 0};
        const Interval result = of_ends(a, b.within({1, INT64_MAX}), floor_division);
        return b.low < 1 ? result.with({0, 0}) : result;
      }
      case Operator::kModulo: {
        const Interval a = operand(0), b = operand(1);
        if (b.high < 1) return a;
        const Interval result = {0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
        return b.low < 1 ? result.with(a) : result;
      }
      case Operator::kWrap: {
        const Interval a = operand(0), b = operand(1);
        return a.with(a + b).with(a - b);
      }
      case Operator::kXor: {
        const Interval a = operand(0), b = operand(1);
        if (a.low >= 0 && b.low >= 0) return exclusive_or(a, b);
        const Interval both = a.with(b), most = {0, std::max(both.high, -both.low - 1)};
        const Wide end = exclusive_or(most, most).high;
        return {-end - 1, end};
      }
      case Operator::kMultiply: return product(e);
      case Operator::kElement: return power(operand(0));
      case Operator::kLocate: {
        const Interval x = operand(0);
        const Wide last = this->table(e).length.high - 1;
        const auto digit = [&](Wide most) {
          Wide k = -1;
          while (k < last && (Wide{1} << (k + 1)) <= most) ++k;
          return k;
        };
        return {x.low >= 1 ? 0 : -1, digit(x.high)};
      }
      default: return Ranges::computed(e);
    }
  }

  // Returns the interval of 2^i, or of 0 for an i that is negative or greater than 62.
  static Interval power(const Interval& i) {
    const Wide low = std::max<Wide>(i.low, 0), high = std::min<Wide>(i.high, 62);
    if (low > high) return {0, 0};
    const Interval inside = {Wide{1} << low, Wide{1} << high};
    return i.low < 0 || i.high > 62 ? inside.with({0, 0}) : inside;
  }

  // Returns the constant factor of a product, and the product of its other factors.
  static std::pair<Wide, Expression> split(const Expression& e) {
    if (e.op == Operator::kConstant) return {e.value, constant(1)};
    if (e.op != Operator::kMultiply) return {1, e};
    const auto [c, a] = split(e.operands[0]);
    const auto [d, b] = split(e.operands[1]);
    const Wide both = c * d;
    if (both < INT64_MIN || INT64_MAX < both) return {1, e};
    if (a == constant(1)) return {both, b};
    if (b == constant(1)) return {both, a};
    return {both, times(a, b)};
  }

  // In (x div p)*p, a division and a product cancel each other.
  Interval product(const Expression& e) {
    const Interval left = value(e.operands[0]), right = value(e.operands[1]);
    const auto [c, a] = split(e.operands[0]);
    const auto [d, b] = split(e.operands[1]);
    const Interval result = of_ends(left, right, std::multiplies<>()), factor = {c * d, c * d};
    const auto narrower = [&](const Expression& x, const Expression& p) {
      return is_sum(x) || x.op == Operator::kDivide
                 ? of_ends(scaled(x, p, value(p)), factor, std::multiplies<>())
                 : result;
    };
    if (factor.low < INT64_MIN || INT64_MAX < factor.low) return result;
    return result.within(narrower(a, b)).within(narrower(b, a));
  }

  static bool is_sum(const Expression& e) {
    return e.op == Operator::kAdd || e.op == Operator::kSubtract;
  }

  // Returns the interval of e*p, in 64 bits. `size` is that of p.
  Interval scaled(const Expression& e, const Expression& p, const Interval& size) {
    const Interval result = of_ends(value(e), size, std::multiplies<>()).within({});
    if (size.low < 0 || (!is_sum(e) && e.op != Operator::kDivide)) return result;
    const Expression &a = e.operands[0], &b = e.operands[1];
    if (e.op == Operator::kAdd) return result.within(scaled(a, p, size) + scaled(b, p, size));
    if (e.op == Operator::kSubtract) return result.within(scaled(a, p, size) - scaled(b, p, size));
    // The quotient q of x by y = c*r has x - y + 1 <= c*r*q <= x. So r*q lies between these bounds, divided by c.
    const auto [c, r] = split(b);
    const Interval divisor = value(b);
    if (divisor.low < 1 || (r != p && r != constant(1))) return result;
    const Interval x = r == p ? value(a) : scaled(a, p, size);
    const Interval most = r == p ? divisor : of_ends(divisor, size, std::multiplies<>());
    const Wide low = x.low >= 0 ? 0 : x.low - most.high;
    return result.within({floor_division(low, c), floor_division(x.high, c)});
  }

  Interval all_;  // of all values so far
};

}  // namespace

std::optional<std::vector<OutOfRange>> out_of_range(const Program& program,
                                                    const std::vector<Evaluation>& evaluations) {
  Ranges ranges(program, {});
  for (const Evaluation& evaluation : evaluations) ranges.look(evaluation);
  return ranges.take();
}

LemmaRanges ranges_of_lemma(const Program& program, size_t variables,
                            const std::vector<Expression>& given, const Expression& show) {
  return OfLemma(program).run(variables, given, show);
}

std::pair<int64_t, int64_t> range_of(const Program& program, const Evaluation& evaluation,
                                     const Limits& limits) {
  const Interval range = Ranges(program, limits).look(evaluation);
  return {static_cast<int64_t>(range.low), static_cast<int64_t>(range.high)};
}

}  // namespace quadrille::verifier
