// Tested by tests/cli/verifier_test.sh.
#include "verifier/command.h"

#include <algorithm>
#include <array>

#include "cli/files.h"
#include "runtime/program/table_format.h"
#include "schedule/text.h"
#include "verifier/decode.h"

namespace quadrille::verifier {

using cli::ExitCode;

int graver(int one, int other) {
  constexpr std::array kOrder = {ExitCode::kVerified, ExitCode::kUnknown, ExitCode::kRefuted,
                                 ExitCode::kBadInput};
  const auto* first = std::ranges::find(kOrder, one);
  return first < std::ranges::find(kOrder, other) ? other : one;
}

Result<std::string> read_text(const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = cli::read_file(path);
  if (!bytes.ok()) return bytes.error();
  return std::string(bytes->begin(), bytes->end());
}

bool is_schedule_file(const std::string& path) {
  const Result<std::string> text = read_text(path);
  return text.ok() && text->starts_with(QD_MAGIC);
}

Result<Program> read_program(const std::string& path) {
  const Result<std::string> text = read_text(path);
  if (!text.ok()) return text.error();
  if (!text->starts_with(QD_MAGIC)) return parse_program(*text, path);
  const std::vector<uint8_t> bytes(text->begin(), text->end());
  const Result<Schedule> schedule = decode(bytes, path);
  return schedule.ok() ? Result<Program>(schedule->program) : schedule.error();
}

}  // namespace quadrille::verifier
