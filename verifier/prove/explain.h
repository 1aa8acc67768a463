// Says in the program's own words why an obligation is open: what was to be shown, from which hypotheses, a case that the
// solver did not exclude, and what such a proof usually lacks. Nothing that is proven depends on it.
#pragma once

#include <string>
#include <vector>

#include "verifier/prove/prover.h"

namespace quadrille::verifier {

// The program's text, to point into.
struct ProgramText {
  std::string name;               // of the file; empty if the program has no text
  std::vector<std::string> text;  // its lines
  std::vector<int> lines;         // by statement (ProgramPart): the number of its line, from 1
};
// Returns the text of a program that parses as `program`.
ProgramText program_text(const std::string& name, const std::string& text);

// Returns the lines to print below an obligation that is not proven.
std::vector<std::string> explain(const Obligation& obligation, const ObligationResult& result,
                                 const Program& program, const ProgramText& text,
                                 const ProverOptions& options);

}  // namespace quadrille::verifier
