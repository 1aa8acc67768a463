// Finds which lane holds data of which lanes after each step. It notes what the exact checker writes in its walk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "view/figure.h"
#include "view/lanes.h"

namespace quadrille {

// How much more, or less, the ranks of `lane` hold of one part of the contributions of lane `origin`. Amounts are in
// units of the call's counts, or in blocks if the call has no counts.
struct HoldingChange {
  int32_t lane, origin, part;
  int64_t received = 0, temporary = 0;
};

struct Holdings {
  int32_t parts = 1;  // of each contribution: its blocks, or equal parts of its only block
  bool parts_are_blocks = false;
  // changes[0] has the changes before the first row of the figure, changes[i + 1] has those in row i. Each list is in
  // the order of lane, origin and part.
  std::vector<std::vector<HoldingChange>> changes;
  std::string violation;  // what the checker found wrong, in words; empty: nothing
};

// The figure must have all steps of the call. Errors: the call does not fit the program.
Result<Holdings> holdings_of(const Program& program, const Job& job, const Call& call,
                             const Figure& figure, const Lanes& lanes,
                             const std::function<void(const char*, int64_t, int64_t)>& tell = {});

}  // namespace quadrille
