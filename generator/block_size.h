// Reads the rule that chooses the block size of a blocked algorithm.
#pragma once

#include <string>

#include "schedule/binding.h"
#include "simulate/flags.h"

namespace quadrille {

struct BlockSize {
  int64_t rule = kRuleAuto;
  LinearModel model;
};

// Reads the texts of --block-size, --alpha and --beta, which are empty if not given. The default is `auto` with the
// common model. The rule `model` needs both times. Errors name the flag.
Result<BlockSize> read_block_size(const std::string& size, const std::string& alpha,
                                  const std::string& beta);

// Returns the flags that give that rule, " --block-size model --alpha 2000ns --beta 100ps"; empty for the default.
std::string block_size_flags(const BlockSize& size);

}  // namespace quadrille
