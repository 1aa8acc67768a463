// The beginning of a proof of a program: its statements, with the witnesses that fit the program's runs on small jobs. A
// place that a person must fill in has the word FILL_IN, and a comment that says what to write.
#ifndef QUADRILLE_VERIFIER_SKELETON_H_
#define QUADRILLE_VERIFIER_SKELETON_H_

#include <string>
#include <string_view>

#include "schedule/program.h"
#include "schedule/result.h"

namespace quadrille::verifier {

inline constexpr std::string_view kFillIn = "FILL_IN";

struct Skeleton {
  std::string text;  // without a heading
  int statements = 0;
  int places = 0;  // to fill in; a line may have several
};

// Errors name `source`: a program that no proof is known for so far.
Result<Skeleton> skeleton_of(const Program& program, const std::string& source);

// An error if a place of the proof is still to be filled in: it names the first one, and what to write.
Result<bool> refuse_unfilled(std::string_view text, const std::string& source);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_SKELETON_H_
