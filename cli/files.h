// What the command lines share: where files are, and how they are read and written.
#ifndef QUADRILLE_CLI_FILES_H_
#define QUADRILLE_CLI_FILES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/result.h"

namespace quadrille::cli {

// What every command exits with.
enum ExitCode { kVerified = 0, kRefuted = 1, kBadInput = 2, kUnknown = 3 };

// A path as the user means it: under `bazel run` relative paths start at the user's own folder.
std::string user_path(const std::string& path);

// Errors name the path as the user gave it.
Result<std::vector<uint8_t>> read_file(const std::string& path);
// Writes beside the target and renames: a file is there whole or not at all.
Result<bool> write_file(const std::string& path, std::span<const uint8_t> bytes);
Result<bool> write_file(const std::string& path, const std::string& text);

// Runs a command line, which returns its exit code, and makes sure that what it printed has arrived.
int run_main(const char* program, int (*run)(int, char**), int argc, char** argv);

// Prints "PROGRAM: message" to stderr; returns kBadInput.
int bad_input(const char* program, const std::string& message);

}  // namespace quadrille::cli

#endif  // QUADRILLE_CLI_FILES_H_
