// What all commands share: paths, files, exit codes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/result.h"

namespace quadrille::cli {

// The exit codes of every command.
enum ExitCode { kVerified = 0, kRefuted = 1, kBadInput = 2, kUnknown = 3 };

// Returns the path that the user means. Under `bazel run`, relative paths start at the user's own folder.
std::string user_path(const std::string& path);

// Returns the program's name in its messages: "quadrille" if it is installed, else its own name, such as "verifier".
std::string program_name(const char* program);
// Returns the text that a user types before a command: "quadrille", or "bazel run //verifier --" in the source tree.
std::string typed(const char* program);
// Returns the text, in quotes if a shell would not take it as one word.
std::string shell_word(const std::string& text);

// Reads a file of at most 16 MiB. Errors name the path as the user gave it.
Result<std::vector<uint8_t>> read_file(const std::string& path);
// Writes beside the target and renames, so a file is written whole or not at all. It follows symbolic links, keeps the
// mode of a file that it replaces, and writes into a device or a pipe.
Result<bool> write_file(const std::string& path, std::span<const uint8_t> bytes);
Result<bool> write_file(const std::string& path, const std::string& text);

struct Output {
  std::string flag, path, contents;  // flag: the one that names the file
};
// Writes several files so, or none of them. But a device or a pipe is written at once. Errors begin with the flag.
Result<bool> write_files(const std::vector<Output>& files);

// Returns whether both paths name one plain file. A command must not write over the file that it reads.
bool same_file(const std::string& one, const std::string& other);
// Returns the error about FLAG PATH in that case.
std::string same_file_text(const std::string& flag, const std::string& path);

// Calls `run` and returns its exit code, or kBadInput after a message if memory ran out or output failed.
int run_main(const char* program, int (*run)(int, char**), int argc, char** argv);

// Prints "PROGRAM: message" to stderr; returns kBadInput.
int bad_input(const char* program, const std::string& message);
// Prints the text, or writes it to the file of --out if that is given. Returns the exit code.
int print_or_write(const char* program, const std::string& out, const std::string& text);

}  // namespace quadrille::cli
