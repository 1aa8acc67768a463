// Tries single terms first, then a term plus or minus 1, then two terms. So it finds the simplest expression. Tested
// by tests/prove/skeleton_test.cc.
#include "verifier/fit.h"

#include <fmt/core.h>

#include <algorithm>

namespace quadrille::verifier {
namespace {

using Operation = std::optional<int64_t> (*)(int64_t a, int64_t b, int64_t ranks);

std::optional<int64_t> wrapped(int64_t x, int64_t ranks) {
  if (x < -ranks || x >= 2 * ranks) return std::nullopt;
  return x < 0 ? x + ranks : x >= ranks ? x - ranks : x;
}

struct Form {
  const char* text;
  Operation value;
};

constexpr Form kNumbers[] = {
    {"{} + {}", [](int64_t a, int64_t b, int64_t) { return std::optional(a + b); }},
    {"{} - {}", [](int64_t a, int64_t b, int64_t) { return std::optional(a - b); }},
    {"wrap({} + {}, ranks)",
     [](int64_t a, int64_t b, int64_t ranks) { return wrapped(a + b, ranks); }},
    {"wrap({} - {}, ranks)",
     [](int64_t a, int64_t b, int64_t ranks) { return wrapped(a - b, ranks); }},
    {"wrap({} - {} - 1, ranks)",
     [](int64_t a, int64_t b, int64_t ranks) { return wrapped(a - b - 1, ranks); }},
    {"wrap({} - {} + 1, ranks)",
     [](int64_t a, int64_t b, int64_t ranks) { return wrapped(a - b + 1, ranks); }},
    {"{} - {} - 1", [](int64_t a, int64_t b, int64_t) { return std::optional(a - b - 1); }},
    {"{} + {} - 1", [](int64_t a, int64_t b, int64_t) { return std::optional(a + b - 1); }},
    {"{} xor {}", [](int64_t a, int64_t b,
                     int64_t) { return a < 0 || b < 0 ? std::nullopt : std::optional(a ^ b); }},
    {"({} + {}) mod ranks",
     [](int64_t a, int64_t b, int64_t ranks) {
       return std::optional(((a + b) % ranks + ranks) % ranks);
     }},
    {"({} - {}) mod ranks",
     [](int64_t a, int64_t b, int64_t ranks) {
       return std::optional(((a - b) % ranks + ranks) % ranks);
     }},
    {"{} * {}", [](int64_t a, int64_t b, int64_t) { return std::optional(a * b); }},
};

constexpr Form kConditions[] = {
    {"{} = {}", [](int64_t a, int64_t b, int64_t) { return std::optional<int64_t>(a == b); }},
    {"{} != {}", [](int64_t a, int64_t b, int64_t) { return std::optional<int64_t>(a != b); }},
    {"{} < {}", [](int64_t a, int64_t b, int64_t) { return std::optional<int64_t>(a < b); }},
    {"{} <= {}", [](int64_t a, int64_t b, int64_t) { return std::optional<int64_t>(a <= b); }},
    {"{} < {} - 1",
     [](int64_t a, int64_t b, int64_t) { return std::optional<int64_t>(a < b - 1); }},
};

bool fits(const Form& form, const Column& a, const Column& b, const Column& ranks,
          const Column& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const auto value = form.value(*a[i], *b[i], *ranks[i]);
    if (!value || *value != *wanted[i]) return false;
  }
  return true;
}

}  // namespace

void Examples::name(const std::string& text, Column values) {
  if (std::any_of(values.begin(), values.end(), [](const auto& value) { return !value; })) return;
  for (const Term& term : terms_)
    if (term.text == text) return;
  terms_.push_back({text, std::move(values)});
}

std::optional<std::string> Examples::number(const Column& wanted) const {
  const auto is_shifted = [&](const Column& values, int64_t more) {
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] && *wanted[i] != *values[i] + more) return false;
    return true;
  };
  if (std::none_of(wanted.begin(), wanted.end(), [](const auto& w) { return w.has_value(); }))
    return std::nullopt;
  const Column none(wanted.size(), 0);
  for (const Term& term : terms_)
    if (is_shifted(term.values, 0)) return term.text;
  for (const int64_t number : {0, 1, 2})
    if (is_shifted(none, number)) return std::to_string(number);
  for (const Term& term : terms_)
    for (const int64_t more : {1, -1})
      if (is_shifted(term.values, more))
        return fmt::format("{} {} 1", term.text, more > 0 ? '+' : '-');
  for (const Form& form : kNumbers)
    for (const Term& a : terms_)
      for (const Term& b : terms_)
        if (fits(form, a.values, b.values, ranks_, wanted))
          return fmt::format(fmt::runtime(form.text), a.text, b.text);
  return std::nullopt;
}

std::optional<std::string> Examples::condition(const Column& wanted) const {
  Column truth;
  for (const auto& value : wanted) truth.emplace_back(*value != 0);
  std::vector<Term> terms = terms_;
  terms.push_back({"0", Column(wanted.size(), 0)});
  terms.push_back({"1", Column(wanted.size(), 1)});
  for (const Form& form : kConditions)
    for (const Term& a : terms)
      for (const Term& b : terms)
        if (a.text != b.text && fits(form, a.values, b.values, ranks_, truth))
          return fmt::format(fmt::runtime(form.text), a.text, b.text);
  return std::nullopt;
}

}  // namespace quadrille::verifier
