// Starting walkers; walking itself is in walk.h, for its sinks to be inlined, and what is walked is
// made by walk_compile.cc. Tested with that.
#include "schedule/walk.h"

namespace quadrille {

void Code::start(const Binding& binding, int64_t rank, Walker& walker, int64_t* registers) const {
  walker = Walker{};
  walker.iterations = binding.most_iterations;
  for (size_t i = 0; i < invariants_.size(); ++i) {
    const int64_t value = invariants_[i].value;
    switch (invariants_[i].op) {
      case Operator::kConstant: registers[i] = value; break;
      case Operator::kParameter: registers[i] = binding.parameters[value]; break;
      case Operator::kRank: registers[i] = rank; break;
      case Operator::kRanks: registers[i] = binding.place.ranks; break;
      case Operator::kRemoteRanks: registers[i] = binding.place.remote_ranks; break;
      case Operator::kGroup: registers[i] = binding.place.group; break;
      case Operator::kRoot: registers[i] = binding.place.root; break;
      default: registers[i] = binding.tables[value].size(); break;
    }
  }
}

}  // namespace quadrille
