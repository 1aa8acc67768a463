// Tested by tests/cli/cli_test.sh.
#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/files.h"
#include "cli/numbers.h"

namespace quadrille::cli {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

// Returns the command as users type it.
std::string typed_name(const CLI::App& command) {
  const CLI::App* program = command.get_parent();
  return program ? program->get_name() + " " + command.get_name() : command.get_name();
}

// Returns the error about a word that no option and no argument of the command takes.
std::string unexpected(const CLI::App& command, const std::string& word) {
  std::string hyphens = word;
  std::replace(hyphens.begin(), hyphens.end(), '_', '-');
  if (hyphens != word && command.get_option_no_throw(hyphens))
    return fmt::format("'{}' is written {}", word, hyphens);
  return fmt::format("'{}' is not known; {} --help names what is", word, typed_name(command));
}

// Returns the error about an option that was given too often or without a value. CLI11 names it before a colon.
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
    const auto option =
        std::ranges::find_if(words, [](const std::string& word) { return word[0] == '-'; });
    if (!words.empty()) return unexpected(command, option == words.end() ? words[0] : *option);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return mismatched(command, error.what());
  return fmt::format("{}; {} --help tells more", error.what(), typed_name(command));
}

CLI::Option* add_option(CLI::App& app, const std::string& name, Target into,
                        const std::string& help) {
  CLI::Option* option =
      std::visit([&](auto* value) { return app.add_option(name, *value, help); }, into);
  const bool wants_number = std::holds_alternative<int64_t*>(into) ||
                            std::holds_alternative<std::optional<int64_t>*>(into);
  const auto refusal = [=](const std::string& value) {
    if (value.empty()) return std::string("its value is empty; give one");
    if (wants_number && !whole_number(value))
      return fmt::format("'{}' is not a whole number, or is too large", value);
    return std::string();
  };
  return option->check(CLI::Validator(refusal, ""));
}

}  // namespace

Command::Command(const std::string& program, const std::string& summary)
    : app_(std::make_shared<CLI::App>(summary, program)) {}

Command Command::command(const std::string& name, const std::string& summary) {
  app_->require_subcommand(1);
  return Command(std::shared_ptr<CLI::App>(app_, app_->add_subcommand(name, summary)));
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::example(const std::string& words, const std::string& said) {
  const std::string before = app_->get_footer();
  app_->footer(fmt::format("{}{}Example: {} {}{}{}", before, before.empty() ? "" : "\n",
                           app_->get_parent()->get_name(), words, said.empty() ? "" : "\n", said));
}

void Command::add(const std::string& name, const std::string& type, Target into,
                  const std::string& help) {
  add_option(*app_, name, into, help)->type_name(type);
}

void Command::require(const std::string& name, const std::string& type, Target into,
                      const std::string& help) {
  add_option(*app_, name, into, help)->type_name(type)->required();
}

void Command::add_choice(const std::string& name, const std::vector<std::string>& values,
                         std::string& into, const std::string& help) {
  const auto refusal = [=](const std::string& value) {
    if (std::ranges::find(values, value) != values.end()) return std::string();
    return fmt::format("'{}' is none of {}", value, fmt::join(values, ", "));
  };
  add_option(*app_, name, &into, help)
      ->check(CLI::Validator(refusal, ""))
      ->type_name(fmt::format("{}={}", fmt::join(values, "|"), into));
}

void Command::add_flag(const std::string& name, bool& into, const std::string& help) {
  app_->add_flag(name, into, help);
}

std::optional<int> Command::parse(int argc, char** argv) {
  const std::vector<std::string> commands = commands_of(*app_);
  if (argc > 1 && argv[1][0] != '-' && std::ranges::find(commands, argv[1]) == commands.end())
    return bad_input(app_->get_name().c_str(), fmt::format("'{}' is no command; there are {}",
                                                           argv[1], fmt::join(commands, ", ")));
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app_->exit(help);
  } catch (const CLI::ParseError& error) {
    const auto parsed = app_->get_subcommands();
    return bad_input((parsed.empty() ? *app_ : *parsed[0]).get_name().c_str(),
                     sentence(*app_, error));
  }
  return std::nullopt;
}

bool Command::is_named() const { return app_->parsed(); }

}  // namespace quadrille::cli
