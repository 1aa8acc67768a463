// Answers questions about each operator: how many operands it has, and whether it carries a value. The printer, the
// encoder, the decoder and validate() ask them.
#include "schedule/expression.h"

namespace quadrille {

int arity(Operator op) {
  switch (op) {
    case Operator::kConstant:
    case Operator::kParameter:
    case Operator::kVariable:
    case Operator::kRank:
    case Operator::kRanks:
    case Operator::kRemoteRanks:
    case Operator::kGroup:
    case Operator::kRoot:
    case Operator::kLength: return 0;
    case Operator::kElement:
    case Operator::kLocate: return 1;
    case Operator::kChoose: return 3;
    default: return 2;
  }
}

bool has_value(Operator op) {
  switch (op) {
    case Operator::kConstant:
    case Operator::kParameter:
    case Operator::kVariable:
    case Operator::kElement:
    case Operator::kLocate:
    case Operator::kLength: return true;
    default: return false;
  }
}

bool is_fixed(Operator op) {
  switch (op) {
    case Operator::kConstant:
    case Operator::kParameter:
    case Operator::kRank:
    case Operator::kRanks:
    case Operator::kRemoteRanks:
    case Operator::kGroup:
    case Operator::kRoot:
    case Operator::kLength: return true;
    default: return false;
  }
}

bool is_comparison(Operator op) {
  return op == Operator::kEqual || op == Operator::kNotEqual || op == Operator::kLess ||
         op == Operator::kLessEqual;
}

bool reads_table(Operator op) {
  return op == Operator::kElement || op == Operator::kLocate || op == Operator::kLength;
}

}  // namespace quadrille
