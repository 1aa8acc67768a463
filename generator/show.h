// The command `show` prints or draws a schedule file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "simulate/flags.h"
#include "simulate/planned.h"

namespace quadrille {

// The flags as typed.
struct ShowArguments {
  std::string file, format = "text", steps, curves, out;
  bool explain = false, in_place = false;
  std::optional<int64_t> rank, group;
  MachineArguments machine;
  LengthArguments lengths;
};

cli::Command add_show(cli::Command& program, ShowArguments& arguments);

// Returns the exit code.
int show(const ShowArguments& arguments);

// Returns the page of a simulated call, for --format html.
Result<std::string> page_text(const verifier::ScheduleFile& file, const ShowArguments& arguments);

}  // namespace quadrille
