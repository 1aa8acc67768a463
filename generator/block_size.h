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

// Reads a time, such as 30us; for a byte also a rate, 100Gbit/s. Without a unit, alpha is in nanoseconds and beta in
// picoseconds. An empty text leaves the value as it is. Returns an error that names the flag, or an empty string.
std::string read_alpha(const std::string& flag, const std::string& text, int64_t& ns);
std::string read_beta(const std::string& flag, const std::string& text, int64_t& ps);
// A size: 4096, 4KiB.
Result<int64_t> read_bytes(const char* flag, const std::string& text, int64_t least);

// --block-size, --alpha and --beta; empty if they were not given. The default is `auto` with the common model. The
// rule `model` needs both times. Errors name the flag.
Result<BlockSize> read_block_size(const std::string& size, const std::string& alpha,
                                  const std::string& beta);

// " --block-size auto --alpha 2000 --beta 100": the flags that give that rule; empty for the default.
std::string block_size_flags(const BlockSize& size);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_BLOCK_SIZE_H_
