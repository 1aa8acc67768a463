// What the blocked rings share: how a contribution falls into blocks, and where they stand.
#ifndef QUADRILLE_GENERATOR_BLOCKED_RING_H_
#define QUADRILLE_GENERATOR_BLOCKED_RING_H_

#include <string>
#include <utility>
#include <vector>

namespace quadrille {

// Parameter B, the counts m in bytes, b[i] blocks of rank i (one, empty, where m[i] = 0), and their
// prefix sums s: rank i's are the blocks s[i] .. s[i + 1] - 1 of s[ranks] in all.
std::string block_declarations();

// Lets `name`low and `name`high: the bytes of block `name` within the contribution of `owner`. An
// empty block has name_low = name_high. `indent` goes before each line.
std::string block_bytes(const std::string& indent, const std::string& name,
                        const std::string& owner);

// In round k: lets x and y, the blocks that go and that come, their owners i and j, and their bytes.
std::string blocks_of_round();

// What the proofs of the blocked rings share. round(source, target, offset) is the round in which a
// byte of source's contribution arrives at target. `iteration` is how a proof goes on from k to say
// in which iteration of the inner loops, as ", turn".
std::string block_rounds(const std::string& iteration = "");

// That no byte of these blocks, each of the contribution of the rank named beside it, has a number that
// leaves 64 bits.
std::string block_bounds(const std::vector<std::pair<std::string, std::string>>& blocks);

// That every byte arrives once, with receive 1 in that round; `where` names the inner loops'
// iteration, as ", turn = 1".
std::string block_arrivals(const std::string& where = "");

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_BLOCKED_RING_H_
