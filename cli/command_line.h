// A command line: commands with their options and arguments, read by CLI11 and refused in sentences of our own.
#ifndef QUADRILLE_CLI_COMMAND_LINE_H_
#define QUADRILLE_CLI_COMMAND_LINE_H_

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

// Where the value of an option goes.
using Target =
    std::variant<std::string*, std::vector<std::string>*, int64_t*, std::optional<int64_t>*>;

// A program, or one of its commands; a copy is the same command.
class Command {
 public:
  Command(const std::string& program, const std::string& summary);

  // One of this program's, of which a command line names one.
  Command command(const std::string& name, const std::string& summary);
  void footer(const std::string& text);

  // An option where the name begins with "--", else an argument in that place. `type` says in the help what to write.
  void add(const std::string& name, const std::string& type, Target into, const std::string& help);
  // The same, which must be there.
  void require(const std::string& name, const std::string& type, Target into,
               const std::string& help);
  // One of these values; what `into` is already, where none is given.
  void add_choice(const std::string& name, const std::vector<std::string>& values,
                  std::string& into, const std::string& help);
  void add_flag(const std::string& name, bool& into, const std::string& help);

  // The exit code where there is nothing more to do: help was asked for, or the command line is wrong.
  std::optional<int> parse(int argc, char** argv);
  // Whether the command line named this command.
  bool is_named() const;

 private:
  explicit Command(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}

  std::shared_ptr<CLI::App> app_;
};

}  // namespace quadrille::cli

#endif  // QUADRILLE_CLI_COMMAND_LINE_H_
