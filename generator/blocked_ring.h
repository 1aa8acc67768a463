// What the blocked rings share: how a contribution falls into blocks, and where they stand.
#ifndef QUADRILLE_GENERATOR_BLOCKED_RING_H_
#define QUADRILLE_GENERATOR_BLOCKED_RING_H_

#include <string>

namespace quadrille {

// Parameter B, the counts m in bytes, b[i] blocks of rank i (one, empty, where m[i] = 0), and their
// prefix sums s: rank i's are the blocks s[i] .. s[i + 1] - 1 of s[ranks] in all.
std::string block_declarations();

// Lets `name`low and `name`high: the bytes of block `name` within the contribution of `owner`. An
// empty block has name_low = name_high. `indent` goes before each line.
std::string block_bytes(const std::string& indent, const std::string& name,
                        const std::string& owner);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_BLOCKED_RING_H_
