// The sequence of two programs, an allreduce.
//
// The first is a reduce-scatter and the second an allgather. The vector is cut into one slice a rank, and they see slices
// for blocks. Or the first is a reduce and the second a broadcast, both with root 0. Results of the first stay in the
// receive buffer, where the second finds its contributions. The second has temporary blocks of its own. Its keys become
// kSecond more, so its steps come later, and each waits for all steps of the first. For that, keys of the first program
// must be below kSecond, and those of the second at least 0. `prove` shows this.
//
// If both programs are right, so is the sequence (theory/Sequence.v).
#pragma once

#include "schedule/program.h"

namespace quadrille {

inline constexpr int64_t kSecond = int64_t{1} << 62;

// Returns the sequence of two valid programs. Parameters of one name become one. The error says what does not fit.
Result<Program> sequence(const Program& first, const Program& second);

}  // namespace quadrille
