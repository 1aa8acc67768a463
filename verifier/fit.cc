// Tries names first, then two names with an operator, then such a pair with a name or another pair. So it finds a simplest
// expression. Of expressions with the same values in all examples it keeps the first. Tested by
// tests/prove/skeleton_test.cc.
#include "verifier/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "schedule/evaluate.h"

namespace quadrille::verifier {
namespace {

using Value = std::optional<int64_t>;

constexpr size_t kMostPairs = 12000, kMostShifted = 60;
constexpr int64_t kGreatest = int64_t{1} << 31;  // of values: products of two fit in 64 bits

struct Operation {
  const char* text;
  Operator op;
  int left, right, sums;  // operands with more `sums` than that get parentheses
};
constexpr Operation kPlus = {"{} + {}", Operator::kAdd, 2, 1, 2},
                    kMinus = {"{} - {}", Operator::kSubtract, 2, 1, 2},
                    kTimes = {"{}*{}", Operator::kMultiply, 1, 0, 1},
                    kWrap = {"wrap({}, {})", Operator::kWrap, 2, 2, 0};
constexpr Operation kOperations[] = {kPlus,
                                     kMinus,
                                     {"min({}, {})", Operator::kMinimum, 2, 2, 0},
                                     kTimes,
                                     {"{} div {}", Operator::kDivide, 0, 0, 1},
                                     {"{} mod {}", Operator::kModulo, 0, 0, 1},
                                     {"{} xor {}", Operator::kXor, 0, 0, 2}};

Value applied(Operator op, int64_t a, int64_t b) {
  Undefined why{};
  return apply_operator(op, a, b, &why);
}

// Conditions that name a range come first: they are more likely to hold on other jobs.
struct Relation {
  const char* text;
  bool less, equal, greater;  // whether it holds for such a first operand
};
constexpr Relation kRelations[] = {{"{} < {}", true, false, false},
                                   {"{} <= {}", true, true, false},
                                   {"{} = {}", false, true, false},
                                   {"{} != {}", true, false, true}};

std::string operand(const Found& of, int most) {
  return of.sums > most ? "(" + of.text + ")" : of.text;
}

std::string text_of(const Operation& how, const Found& a, const Found& b) {
  return fmt::format(fmt::runtime(how.text), operand(a, how.left), operand(b, how.right));
}

Value value_of(const Operation& how, const Value& a, const Value& b) {
  if (!a || !b) return std::nullopt;
  if (how.op == Operator::kXor && (*a < 0 || *b < 0)) return std::nullopt;
  const Value value = applied(how.op, *a, *b);
  return value && -kGreatest < *value && *value < kGreatest ? value : std::nullopt;
}

Found joined(const Operation& how, const Found& a, const Found& b, int rank) {
  Found result{text_of(how, a, b), {}, rank, how.sums};
  for (size_t i = 0; i < a.values.size(); ++i)
    result.values.push_back(value_of(how, a.values[i], b.values[i]));
  return result;
}

bool fits(const Operation& how, const Found& a, const Found& b, const Column& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] && value_of(how, a.values[i], b.values[i]) != wanted[i]) return false;
  return true;
}

bool fits(const Column& values, const Column& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] && values[i] != wanted[i]) return false;
  return true;
}

// Without a value of both, a condition does not hold.
bool holds(const Relation& is, const Value& a, const Value& b) {
  return a && b && (*a < *b ? is.less : *a == *b ? is.equal : is.greater);
}

bool fits(const Relation& is, const Found& a, const Found& b, const Column& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] && holds(is, a.values[i], b.values[i]) != (*wanted[i] != 0)) return false;
  return true;
}

Found related(const Relation& is, const Found& a, const Found& b, int rank) {
  Found result{fmt::format(fmt::runtime(is.text), a.text, b.text), {}, rank};
  for (size_t i = 0; i < a.values.size(); ++i)
    result.values.push_back(holds(is, a.values[i], b.values[i]));
  return result;
}

// Returns two conditions of which `both` hold, or either, in exactly the wanted examples.
std::optional<Found> two_conditions(const std::vector<Found>& simple, const Column& wanted,
                                    bool both) {
  std::vector<Found> parts;
  for (const Relation& is : kRelations)
    for (const Found& a : simple)
      for (const Found& b : simple) {
        Found part = related(is, a, b, 20);
        bool may = true, helps = false;
        for (size_t i = 0; i < wanted.size() && may; ++i) {
          if (!wanted[i]) continue;
          const bool must = *wanted[i] != 0, is_so = *part.values[i] != 0;
          if (must == both)
            may = must == is_so;
          else
            helps |= must == is_so;
        }
        if (may && helps) parts.push_back(std::move(part));
      }
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t j = i + 1; j < parts.size(); ++j) {
      bool fit = true;
      for (size_t k = 0; k < wanted.size() && fit; ++k)
        fit =
            !wanted[k] || (*wanted[k] != 0) == (both ? *parts[i].values[k] && *parts[j].values[k]
                                                     : *parts[i].values[k] || *parts[j].values[k]);
      if (fit)
        return Found{
            fmt::format("{} {} {}", parts[i].text, both ? "and" : "or", parts[j].text), {}, 20};
    }
  return std::nullopt;
}

Found number_of(int64_t value, size_t examples) {
  return {std::to_string(value), Column(examples, value)};
}

// Returns a hash of the values where some are wanted.
size_t hash_of(const Column& values, const Column& wanted) {
  size_t hash = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (wanted[i])
      hash = (hash ^ static_cast<size_t>(values[i].value_or(INT64_MIN))) * 0x9E3779B97F4A7C15U +
             (hash >> 29);
  return hash;
}

}  // namespace

void Examples::add(std::vector<Found>& to, const std::string& text, const Column& values,
                   int rank) {
  const bool never = std::ranges::none_of(values, [](const Value& v) { return v.has_value(); });
  for (const Found& known : to)
    if (never || known.text == text) return;
  if (!never) to.push_back({text, values, rank});
}

const std::vector<Found>& Examples::pairs() const {
  if (!pairs_.empty() || names_.empty()) return pairs_;
  const Column all(names_[0].values.size(), 0);
  std::unordered_set<size_t> known;
  const auto keep = [&](Found found) {
    if (pairs_.size() < kMostPairs && known.insert(hash_of(found.values, all)).second)
      pairs_.push_back(std::move(found));
  };
  for (const Found& name : names_) keep(name);
  const Found one = number_of(1, all.size()), two = number_of(2, all.size());
  for (const int64_t number : {0, 1, 2}) keep(number_of(number, all.size()));
  for (const Found& name : names_) keep(joined(kPlus, name, one, 1));
  for (const Found& name : names_) keep(joined(kMinus, name, one, 1));
  shifted_ = pairs_.size();
  for (const Found& entry : entries_) keep(entry);
  std::vector<Found> operands = names_, most = pairs_;
  operands.insert(operands.end(), {one, two});
  for (const Found& name : names_) most.push_back(joined(kTimes, two, name, 1));
  const auto join = [&](const Operation& how, const std::vector<Found>& left,
                        const std::vector<Found>& right, int rank) {
    for (const Found& a : left)
      for (const Found& b : right)
        if (pairs_.size() < kMostPairs) keep(joined(how, a, b, rank));
  };
  join(kPlus, operands, operands, 1);
  join(kMinus, operands, operands, 1);
  linear_ = pairs_.size();
  for (size_t i = 0; i < linear_; ++i)
    if (pairs_[i].sums == 2) join(kWrap, {pairs_[i]}, names_, 1);
  for (const Operation& how : kOperations) join(how, operands, operands, 1);
  // min(a + 1, 2*b), (a - 1) div b, and so on
  for (const Operation& how : kOperations)
    join(how, most, how.sums == 1 || most.size() > kMostShifted ? operands : most, 2);
  return pairs_;
}

std::optional<Found> Examples::number(const Column& wanted, const std::string& preferred) const {
  const auto first = std::ranges::find_if(wanted, [](const Value& v) { return v.has_value(); });
  if (first == wanted.end()) return std::nullopt;
  for (const Found& name : names_)
    if (name.text == preferred && fits(name.values, wanted)) return name;
  for (const Found& name : names_)
    if (fits(name.values, wanted)) return name;
  const std::vector<Found>& pairs = this->pairs();
  for (const Found& pair : pairs)
    if (fits(pair.values, wanted)) return pair;
  std::vector<Found> operands = names_;
  operands.push_back(number_of(1, wanted.size()));
  for (const Found& pair : pairs)
    for (const Found& name : operands)
      for (const Operation& how : kOperations) {
        if (fits(how, pair, name, wanted)) return joined(how, pair, name, 2);
        if (fits(how, name, pair, wanted)) return joined(how, name, pair, 2);
      }
  // wrap(a + b, m): its value is a + b, m more, or m less. The first example leaves few of them.
  const size_t at = static_cast<size_t>(first - wanted.begin());
  for (const Found& pair : pairs)
    for (const Found& name : operands)
      for (const Operation* how : {&kPlus, &kMinus}) {
        const Value sum = value_of(*how, pair.values[at], name.values[at]);
        if (!sum) continue;
        for (const Found& modulus : names_) {
          const int64_t less = *sum - *wanted[at], most = modulus.values[at].value_or(0);
          if (less != 0 && less != most && less != -most) continue;
          bool fit = true;
          for (size_t i = 0; i < wanted.size() && fit; ++i)
            fit = !wanted[i] || value_of(kWrap, value_of(*how, pair.values[i], name.values[i]),
                                         modulus.values[i]) == wanted[i];
          if (fit) return joined(kWrap, joined(*how, pair, name, 2), modulus, 2);
        }
      }
  std::unordered_map<size_t, size_t> by_values;
  for (size_t i = 0; i < pairs.size(); ++i) by_values.emplace(hash_of(pairs[i].values, wanted), i);
  for (const Found& pair : pairs)
    for (const Operation* how : {&kPlus, &kMinus}) {
      Column rest = wanted;
      for (size_t i = 0; i < rest.size(); ++i)
        if (rest[i]) rest[i] = value_of(how == &kPlus ? kMinus : kPlus, wanted[i], pair.values[i]);
      const auto other = by_values.find(hash_of(rest, wanted));
      if (other == by_values.end()) continue;
      const Found &a = how == &kPlus ? pair : pairs[other->second],
                  &b = how == &kPlus ? pairs[other->second] : pair;
      if (fits(*how, a, b, wanted)) return joined(*how, a, b, 3);
    }
  return std::nullopt;
}

std::optional<Found> Examples::condition(const Column& wanted,
                                         const std::vector<Found>& more) const {
  std::vector<Found> plain, simple;
  for (const Found& name : names_)
    if (name.rank == 0) plain.push_back(name);
  for (const int64_t number : {0, 1}) plain.push_back(number_of(number, wanted.size()));
  simple = plain;
  for (const Found& name : names_)
    if (name.rank > 0) simple.push_back(name);
  simple.insert(simple.end(), more.begin(), more.end());
  for (const std::vector<Found>* from : {&plain, &simple})
    for (const Relation& is : kRelations)
      for (const Found& a : *from)
        for (const Found& b : *from)
          if (fits(is, a, b, wanted))
            return related(is, a, b, static_cast<int>(&is - kRelations) + (from == &plain ? 0 : 5));
  const std::vector<Found>& pairs = this->pairs();
  for (const size_t count : {shifted_, linear_, pairs.size()})
    for (const Relation& is : kRelations)
      for (size_t i = 0; i < count; ++i)
        for (const Found& b : simple) {
          const int rank = count == shifted_ ? 9 : 10;
          if (fits(is, pairs[i], b, wanted)) return related(is, pairs[i], b, rank);
          if (fits(is, b, pairs[i], wanted)) return related(is, b, pairs[i], rank);
        }
  std::optional<Found> both = two_conditions(simple, wanted, true);
  return both ? both : two_conditions(simple, wanted, false);
}

}  // namespace quadrille::verifier
