// Times are whole nanoseconds for a message and whole picoseconds for a byte. So all ranks compute the same block size
// from them without floating-point numbers. Tested by tests/cli/generator_test.sh.
#include "generator/block_size.h"

#include <fmt/core.h>

#include <optional>

#include "cli/quantity.h"

namespace quadrille {

Result<BlockSize> read_block_size(const std::string& size, const std::string& alpha,
                                  const std::string& beta) {
  BlockSize result{kRuleAuto, kCommonModel};
  if (!size.empty()) {
    const std::optional<int64_t> rule = rule_named(size);
    int64_t least = 0;
    if (rule)
      result.rule = *rule;
    else if (size.starts_with("min:") &&
             quantity_bytes(size.data() + 4, size.size() - 4, 1, INT32_MAX, &least))
      result.rule = kRuleAuto - least;
    else if (!quantity_bytes(size.data(), size.size(), 1, INT32_MAX, &result.rule))
      return Error{fmt::format(
          "--block-size: '{}' is not min, min:SIZE, model, auto or a SIZE in bytes from 1 to {}, "
          "such as 4096 or 4KiB",
          size, INT32_MAX)};
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
