// Reads a command line: commands with options and arguments. CLI11 parses it. The error messages are our own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
}

namespace quadrille::cli {

// The variable that gets the value of an option.
using Target =
    std::variant<std::string*, std::vector<std::string>*, int64_t*, std::optional<int64_t>*>;

// A program, or one of its commands. A copy refers to the same command.
class Command {
 public:
  Command(const std::string& program, const std::string& summary);

  // Adds a command to the program. The user must name one of the commands.
  Command command(const std::string& name, const std::string& summary);
  // footer() sets the end of the help. example() adds a line `Example: PROGRAM WORDS` to it, and `said` below that.
  void footer(const std::string& text);
  void example(const std::string& words, const std::string& said = "");

  // Adds an option if the name begins with "--", else a positional argument. The help shows `type` as its value.
  void add(const std::string& name, const std::string& type, Target into, const std::string& help);
  // Adds an option or argument that the user must give.
  void require(const std::string& name, const std::string& type, Target into,
               const std::string& help);
  // Adds an option that takes one of these values. The default is the value of `into`.
  void add_choice(const std::string& name, const std::vector<std::string>& values,
                  std::string& into, const std::string& help);
  void add_flag(const std::string& name, bool& into, const std::string& help);

  // Returns the exit code if there is nothing more to do: the user asked for help, or the command line is wrong.
  std::optional<int> parse(int argc, char** argv);
  // Returns whether the command line named this command.
  bool is_named() const;

 private:
  explicit Command(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}

  std::shared_ptr<CLI::App> app_;
};

}  // namespace quadrille::cli
