// Answers questions about each operator: how many operands it has, and whether it carries a value. The printer, the
// encoder, the decoder and validate() ask them. Operators of one kind stand together, as opcodes do.
#include "schedule/expression.h"

namespace quadrille {

int arity(Operator op) {
  if (op < Operator::kAdd || op == Operator::kLength) return 0;
  if (op == Operator::kChoose) return 3;
  return op == Operator::kElement || op == Operator::kLocate ? 1 : 2;
}

bool has_value(Operator op) { return op <= Operator::kVariable || op >= Operator::kElement; }

bool is_fixed(Operator op) {
  return (op < Operator::kAdd && op != Operator::kVariable) || op == Operator::kLength;
}

bool is_comparison(Operator op) { return op >= Operator::kEqual && op <= Operator::kLessEqual; }

bool reads_table(Operator op) { return op >= Operator::kElement; }

}  // namespace quadrille
