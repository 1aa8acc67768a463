// Finds a simple expression that has given values in many examples. `prove --skeleton` uses it to fill in witnesses.
// An expression that fits is only a guess: the prover checks it.
#ifndef QUADRILLE_VERIFIER_FIT_H_
#define QUADRILLE_VERIFIER_FIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadrille::verifier {

// One value per example, or none.
using Column = std::vector<std::optional<int64_t>>;

class Examples {
 public:
  // The number of ranks in each example.
  explicit Examples(Column ranks) : ranks_(std::move(ranks)) {}

  // Adds a term that expressions may use, if it has a value in every example. Terms added first are preferred.
  void name(const std::string& text, Column values);
  // Returns an expression in these terms with the wanted values: "wrap(rank + k, ranks)". Nothing if none fits. An
  // example without a wanted value allows any value.
  std::optional<std::string> number(const Column& wanted) const;
  // Returns a condition that holds in exactly the examples with a value other than 0. Nothing if none fits.
  std::optional<std::string> condition(const Column& wanted) const;

 private:
  struct Term {
    std::string text;
    Column values;
  };

  const Column ranks_;
  std::vector<Term> terms_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_FIT_H_
