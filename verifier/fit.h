// Finds a simple expression that has given values in many examples. `prove --skeleton` uses it to fill in witnesses.
// An expression that fits is only a guess: the prover checks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadrille::verifier {

// One value per example, or none.
using Column = std::vector<std::optional<int64_t>>;

// An expression that fits.
struct Found {
  std::string text;
  Column values;  // in all examples, also where any value fits
  int rank = 0;   // the lower, the simpler; conditions that name a range are below equations
  int sums = 0;  // what parentheses the text needs: 0 none, 1 in a product, 2 in a sum's right side
};

class Examples {
 public:
  // Adds a name that expressions may use. Names added first are preferred. Conditions name lets only if nothing else fits.
  void name(const std::string& text, const Column& values, bool is_let = false) {
    add(names_, text, values, is_let);
  }
  // Adds an entry of a table, which expressions may use in fewer places than a name.
  void entry(const std::string& text, const Column& values) { add(entries_, text, values); }
  // Returns an expression with the wanted values: "wrap(rank + k, ranks)". Nothing if none fits. An example without a
  // wanted value allows any value. The preferred name comes before all others.
  std::optional<Found> number(const Column& wanted, const std::string& preferred = "") const;
  // Returns a condition that holds in exactly the examples with a value other than 0, among those with a value. Nothing if
  // none fits. It may also use the `more` expressions.
  std::optional<Found> condition(const Column& wanted, const std::vector<Found>& more = {}) const;

 private:
  static void add(std::vector<Found>& to, const std::string& text, const Column& values,
                  int rank = 0);
  const std::vector<Found>& pairs() const;

  std::vector<Found> names_, entries_;
  // Names, entries, and two names with an operator. The first `shifted_` are names, or 1 more or less; the first `linear_`
  // are no more than sums.
  mutable std::vector<Found> pairs_;
  mutable size_t shifted_ = 0, linear_ = 0;
};

}  // namespace quadrille::verifier
