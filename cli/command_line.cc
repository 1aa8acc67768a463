// Tested by tests/cli/cli_test.sh.
#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/files.h"

namespace quadrille::cli {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

// A word that no option and no argument of the command takes.
std::string unexpected(const CLI::App& command, const std::string& word) {
  std::string hyphens = word;
  std::replace(hyphens.begin(), hyphens.end(), '_', '-');
  if (hyphens != word && command.get_option_no_throw(hyphens))
    return fmt::format("'{}' is written {}", word, hyphens);
  return fmt::format("'{}' is not known; {} --help names what is", word, command.get_name());
}

// The options that were given too often or without a value are named before a colon.
std::string mismatched(const CLI::App& command, const std::string& told) {
  const std::string name = told.substr(0, told.find(':'));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (!option || option->count() == 0) return told;
  return fmt::format("{} is given {} times; give it once", name, option->count());
}

std::string sentence(const CLI::App& app, const CLI::ParseError& error) {
  const auto parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed[0];
  if (parsed.empty())
    return fmt::format("name a command: {}; {} --help tells more",
                       fmt::join(commands_of(app), ", "), app.get_name());
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const std::vector<std::string> words = app.remaining(true);
    const auto option = std::find_if(words.begin(), words.end(),
                                     [](const std::string& word) { return word[0] == '-'; });
    if (!words.empty()) return unexpected(command, option == words.end() ? words[0] : *option);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return mismatched(command, error.what());
  return fmt::format("{}; {} --help tells more", error.what(), command.get_name());
}

}  // namespace

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> commands = commands_of(app);
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(commands.begin(), commands.end(), argv[1]) == commands.end())
    return bad_input(app.get_name().c_str(), fmt::format("'{}' is no command; there are {}",
                                                         argv[1], fmt::join(commands, ", ")));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const auto parsed = app.get_subcommands();
    return bad_input((parsed.empty() ? app : *parsed[0]).get_name().c_str(), sentence(app, error));
  }
  return std::nullopt;
}

CLI::Validator one_of(const std::vector<std::string>& values) {
  return {[=](const std::string& value) {
            if (std::find(values.begin(), values.end(), value) != values.end())
              return std::string();
            return fmt::format("'{}' is none of {}", value, fmt::join(values, ", "));
          },
          ""};
}

}  // namespace quadrille::cli
