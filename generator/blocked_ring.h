// The parts that the blocked rings share: how a contribution is divided into blocks, and where the blocks are.
#ifndef QUADRILLE_GENERATOR_BLOCKED_RING_H_
#define QUADRILLE_GENERATOR_BLOCKED_RING_H_

#include <string>
#include <utility>
#include <vector>

namespace quadrille {

// Parameter B, the counts m in bytes, b[i] blocks of rank i (one, empty, if m[i] = 0), and their prefix sums s. Rank i
// has the blocks s[i] .. s[i + 1] - 1 of s[ranks] in all.
std::string block_declarations();

// Lets `name`low and `name`high: the bytes of block `name` within the contribution of `owner`. An
// empty block has name_low = name_high. `indent` goes before each line.
std::string block_bytes(const std::string& indent, const std::string& name,
                        const std::string& owner);

// In round k: lets x and y, the blocks that are sent and received, their owners i and j, and their bytes.
std::string blocks_of_round();

// The lemmas that the proofs of the blocked rings share. round(source, target, offset) is the round in which a byte of
// source's contribution arrives at target. `iteration` is the text that follows k in a proof to name the iteration of
// the inner loops, such as ", turn".
std::string block_rounds(const std::string& iteration = "");

// Numbers of bytes of these blocks fit in 64 bits. Each block is of the contribution of the rank named beside it.
std::string block_bounds(const std::vector<std::pair<std::string, std::string>>& blocks);

// Every byte arrives once, with receive 1 in that round. `where` names the iteration of the inner loops, such as ",
// turn = 1".
std::string block_arrivals(const std::string& where = "");

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_BLOCKED_RING_H_
