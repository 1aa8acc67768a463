// What was typed, read by CLI11, and refused in sentences of our own.
#ifndef QUADRILLE_CLI_COMMAND_LINE_H_
#define QUADRILLE_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace quadrille::cli {

// The exit code where there is nothing more to do: help was asked for, or the command line is wrong.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

// A check of an option: that its value is one of these.
CLI::Validator one_of(const std::vector<std::string>& values);

}  // namespace quadrille::cli

#endif  // QUADRILLE_CLI_COMMAND_LINE_H_
