// How a blocked algorithm's block size is chosen, as the command line says it.
#ifndef QUADRILLE_GENERATOR_BLOCK_SIZE_H_
#define QUADRILLE_GENERATOR_BLOCK_SIZE_H_

#include <string>

#include "schedule/binding.h"

namespace quadrille {

struct BlockSize {
  int64_t rule = kRuleAuto;
  LinearModel model;
};

// Of a machine of our days: a message starts in 2 us, and 10 GB go through in a second.
inline constexpr LinearModel kCommonModel = {2000, 100};

// --block-size, --alpha and --beta; empty where they were not given: auto, and its common model. The
// rule `model` wants both. Errors name the flag.
Result<BlockSize> read_block_size(const std::string& size, const std::string& alpha,
                                  const std::string& beta);

// " --block-size auto --alpha 2000 --beta 100": what makes that rule; nothing where it is the
// default.
std::string block_size_flags(const BlockSize& size);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_BLOCK_SIZE_H_
