// The commands `check` and `prove`, and what they share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/program.h"
#include "schedule/result.h"
#include "verifier/call.h"
#include "verifier/prove/prover.h"

namespace quadrille::verifier {

struct CheckArguments {
  std::vector<std::string> files;
  std::string program;           // a text or schedule file, to check on all topologies
  std::optional<int64_t> up_to;  // the most ranks of these topologies
  std::optional<int64_t> ports;
  bool all_calls = false;  // a verdict on only some calls counts as unknown
  CallArguments call;
  std::string format = "text";
};

cli::Command add_check(cli::Command& program, CheckArguments& arguments);
// Returns the exit code.
int check(const CheckArguments& arguments);

struct ProveArguments {
  std::vector<std::string> names;  // of built-in proofs; empty: all
  std::vector<std::string> files;  // proofs to prove instead
  std::string program;             // text or schedule file that the proof is about
  bool reverse = false;            // prove the reversal of that program
  std::string then;                // the second program of a sequence; empty: none
  std::string certificate;         // file for what is proven; empty: none
  std::string skeleton;            // file to write the beginning of its proof to; empty: prove
  std::string folder;              // destination of exports; empty: none
  std::string second_solver;       // a command; empty: none
  bool watch = false;              // prove again after each change of the files
  int64_t limit = kMostWork;       // for the work on one question, in units of Z3
  bool verbose = false;
  std::string format = "text";
};

cli::Command add_prove(cli::Command& program, ProveArguments& arguments);
// Returns the exit code.
int prove(const ProveArguments& arguments);

// Returns the worse of two exit codes. From worst to best: bad input, refuted, unknown, verified.
int graver(int one, int other);

Result<std::string> read_text(const std::string& path);
// Returns whether the file begins with the bytes that mark a schedule file.
bool is_schedule_file(const std::string& path);
// Reads a program from its text or from a schedule file. Errors name the file.
Result<Program> read_program(const std::string& path);

}  // namespace quadrille::verifier
