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
// Writes beside the target and renames: a file is there whole or not at all. Symbolic links are
// followed, a file that is replaced keeps its mode, and what is no plain file, such as a device or
// a pipe, is written into.
Result<bool> write_file(const std::string& path, std::span<const uint8_t> bytes);
Result<bool> write_file(const std::string& path, const std::string& text);

// Whether both paths name one plain file: what is read must not be written.
bool same_file(const std::string& one, const std::string& other);
// The refusal of FLAG PATH where it is so.
std::string same_file_text(const std::string& flag, const std::string& path);

// Runs a command line, which returns its exit code, and makes sure that what it printed has arrived.
int run_main(const char* program, int (*run)(int, char**), int argc, char** argv);

// Prints "PROGRAM: message" to stderr; returns kBadInput.
int bad_input(const char* program, const std::string& message);

}  // namespace quadrille::cli

#endif  // QUADRILLE_CLI_FILES_H_
