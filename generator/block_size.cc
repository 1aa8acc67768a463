// Times are whole nanoseconds a message and whole picoseconds a byte, so that all ranks compute the
// same block size from them without a floating-point number. Tested by tests/cli/generator_test.sh.
#include "generator/block_size.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace quadrille {
namespace {

// "30us" in units of `unit_ps` picoseconds; a number without a unit counts those. Nothing where it
// is no time, or too long a one.
std::optional<int64_t> read_time(const std::string& text, int64_t unit_ps) {
  constexpr int64_t kMicrosecond = 1000000;
  // With a u, the micro sign or the Greek letter.
  constexpr std::array<std::pair<std::string_view, int64_t>, 7> kUnits = {{
      {"ps", 1},
      {"ns", 1000},
      {"us", kMicrosecond},
      {"\u00b5s", kMicrosecond},
      {"\u03bcs", kMicrosecond},
      {"ms", 1000000000},
      {"s", 1000000000000},
  }};
  double number = 0;
  const char* const last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  if (end != last && *end == ' ') ++end;
  int64_t unit = end == last ? unit_ps : 0;
  for (const auto& [name, ps] : kUnits)
    if (std::string_view(end, last - end) == name) unit = ps;
  const double units = number * static_cast<double>(unit) / static_cast<double>(unit_ps);
  if (unit == 0 || units > static_cast<double>(kMaxCost)) return std::nullopt;
  return std::llround(units);
}

constexpr int64_t kNanosecond = 1000, kPicosecond = 1;

std::string read(const std::string& flag, const std::string& text, int64_t unit, int64_t& into) {
  if (text.empty()) return "";
  const std::optional<int64_t> time = read_time(text, unit);
  if (!time)
    return fmt::format("{}: '{}' is not a time like 30us, 40ns or 125ps, at most {}", flag, text,
                       unit == kNanosecond ? "1s" : "1ms");
  into = *time;
  return "";
}

}  // namespace

std::string read_alpha(const std::string& flag, const std::string& text, int64_t& ns) {
  return read(flag, text, kNanosecond, ns);
}

std::string read_beta(const std::string& flag, const std::string& text, int64_t& ps) {
  return read(flag, text, kPicosecond, ps);
}

Result<BlockSize> read_block_size(const std::string& size, const std::string& alpha,
                                  const std::string& beta) {
  BlockSize result{kRuleAuto, kCommonModel};
  if (!size.empty()) {
    const std::optional<int64_t> rule = rule_named(size);
    if (!rule)
      return Error{fmt::format(
          "--block-size: '{}' is not min, model, auto or a number of bytes from 1 to {}", size,
          INT32_MAX)};
    result.rule = *rule;
  }
  const bool modelled = uses_model(result.rule);
  std::string error;
  for (const auto& [flag, text] : {std::pair("--alpha", alpha), {"--beta", beta}})
    if (!text.empty() && !modelled && error.empty())
      error = fmt::format("{}: --block-size {} does not use it; leave it out", flag, size);
  if (error.empty()) error = read_alpha("--alpha", alpha, result.model.alpha_ns);
  if (error.empty()) error = read_beta("--beta", beta, result.model.beta_ps);
  if (!error.empty()) return Error{error};
  if (result.rule == kRuleModel && (alpha.empty() || beta.empty()))
    return Error{
        "--block-size model: give what a message and a byte take where it will run, with --alpha "
        "and --beta, such as --alpha 30us --beta 40ns"};
  if (!modelled) result.model = {};
  return result;
}

std::string block_size_flags(const BlockSize& size) {
  if (size.rule == kRuleNone) return "";
  std::string text;
  if (size.rule != kRuleAuto) text = " --block-size " + rule_text(size.rule);
  if (size.rule == kRuleModel || (size.rule == kRuleAuto && size.model != kCommonModel))
    text += fmt::format(" --alpha {}ns --beta {}ps", size.model.alpha_ns, size.model.beta_ps);
  return text;
}

}  // namespace quadrille
