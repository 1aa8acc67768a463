// Texts that the blocked rings share: how a contribution is cut into blocks, and where the blocks are.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quadrille {

// Declares parameter B, the counts m in bytes, the number b[i] of blocks of rank i (one, empty, if m[i] = 0), and the
// prefix sums s of b. Rank i has the blocks s[i] .. s[i + 1] - 1 of s[ranks] in all.
std::string block_declarations();

// Defines `name`low and `name`high with let: the range of bytes of block `name` within the contribution of `owner`.
// It is empty for an empty block. `indent` goes before each line.
std::string block_bytes(const std::string& indent, const std::string& name,
                        const std::string& owner);

// Defines, for round k, the blocks x and y that are sent and received, their owners i and j, and their bytes.
std::string blocks_of_round();

// Definitions for the proofs of the blocked rings. round(source, target, offset) is the round in which a byte of
// source's contribution arrives at target. `iteration` is the text that follows k in a proof to name the iteration of
// the inner loops, such as ", turn".
std::string block_rounds(const std::string& iteration = "");

// A proof that numbers of bytes of these blocks fit in 64 bits. The rank beside each block owns the contribution.
std::string block_bounds(const std::vector<std::pair<std::string, std::string>>& blocks);

// A proof that every byte arrives once, with receive 1 in the round of block_rounds(). `where` names the iteration of
// the inner loops, such as ", turn = 1".
std::string block_arrivals(const std::string& where = "");

}  // namespace quadrille
