// The reversal of a program: time and messages go backwards, and data that was copied on is added up.
//
// A broadcast becomes a reduce, and an allgather a reduce-scatter. Each rank begins with its own contributions. The
// root, or in a reduce-scatter each rank, adds up its result in its receive buffer. All other sums are in the temporary
// buffer. Where the program sends a block, its reversal receives this block and combines it with what is there. Where
// the program receives a block, its reversal sends its sum. Steps with key k become steps with key -k, which wait for
// all earlier ones. Loops around steps run backwards, and later statements come first.
//
// Suppose that the program is right, and that each rank receives each byte of other ranks' contributions once, as
// `prove` shows. Then the reversal is right for operators that commute (theory/Reverse.v).
#pragma once

#include "schedule/program.h"

namespace quadrille {

// Returns the reversal of a valid program. The error says what cannot be reversed.
Result<Program> reverse(const Program& program);

}  // namespace quadrille
