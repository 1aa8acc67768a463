// Writes the beginning of a proof of a program: its statements, with the witnesses that fit the program's runs on
// small jobs. Where a person must fill in something, it writes FILL_IN, and a comment that says what to write.
#pragma once

#include <string>
#include <string_view>

#include "schedule/program.h"
#include "schedule/result.h"

namespace quadrille::verifier {

inline constexpr std::string_view kFillIn = "FILL_IN";

struct Skeleton {
  std::string text;  // without a heading
  int statements = 0;
  int places = 0;  // places to fill in; a line may have several
};

// Errors begin with `source`: the program has a feature that proofs do not support so far.
Result<Skeleton> skeleton_of(const Program& program, const std::string& source);

// Returns an error if the proof still has a place to fill in. It says where the first place is, and what to write.
Result<bool> refuse_unfilled(std::string_view text, const std::string& source);

}  // namespace quadrille::verifier
