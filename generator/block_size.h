// Times on the command line, and the rule that chooses the block size of a blocked algorithm.
#ifndef QUADRILLE_GENERATOR_BLOCK_SIZE_H_
#define QUADRILLE_GENERATOR_BLOCK_SIZE_H_

#include <string>

#include "generator/cost.h"
#include "schedule/binding.h"

namespace quadrille {

struct BlockSize {
  int64_t rule = kRuleAuto;
  LinearModel model;
};

// What was typed: a time, 30us; of a byte also a rate, 100Gbit/s. Without a unit, nanoseconds of alpha and picoseconds of
// beta. Nothing typed leaves the value as it is. The error names the flag; it is empty where there is none.
std::string read_alpha(const std::string& flag, const std::string& text, int64_t& ns);
std::string read_beta(const std::string& flag, const std::string& text, int64_t& ps);
// A size: 4096, 4KiB.
Result<int64_t> read_bytes(const char* flag, const std::string& text, int64_t least);

// --block-size, --alpha and --beta; empty where they were not given: auto, and its common model. The
// rule `model` wants both. Errors name the flag.
Result<BlockSize> read_block_size(const std::string& size, const std::string& alpha,
                                  const std::string& beta);

// " --block-size auto --alpha 2000 --beta 100": what makes that rule; nothing where it is the
// default.
std::string block_size_flags(const BlockSize& size);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_BLOCK_SIZE_H_
