// Finds a simple expression that has given values in many examples. `prove --skeleton` fills in witnesses so. An expression
// that fits is only a guess; the prover checks it.
#ifndef QUADRILLE_VERIFIER_FIT_H_
#define QUADRILLE_VERIFIER_FIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quadrille::verifier {

// Values by example; empty where there is none.
using Column = std::vector<std::optional<int64_t>>;

class Examples {
 public:
  // The number of ranks in each example.
  explicit Examples(Column ranks) : ranks_(std::move(ranks)) {}

  // Something that expressions may name, if it has a value in every example. What is added first is preferred.
  void name(const std::string& text, Column values);
  // An expression in these names with those values: "wrap(rank + k, ranks)". Where there is no value, any will do.
  std::optional<std::string> number(const Column& wanted) const;
  // A condition that is true in exactly the examples with a value other than 0.
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
