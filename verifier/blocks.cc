// Tested through the checker in key order: tests/verifier/key_order_test.cc.
#include "verifier/blocks.h"

#include <fmt/core.h>

namespace quadrille::verifier {

int64_t Blocks::read(int64_t rank, TemporaryBlocks::Step step, const PieceValue& piece) {
  if (piece.buffer == Buffer::kTemporary) {
    TemporaryBlocks::Name name = TemporaryBlocks::kNone;
    if (const auto wrong = temporary_.read(rank, piece.block, step, name))
      bad_temporary(*wrong, rank, piece.block);
    return name;
  }
  if (piece.block != rank && arrivals_.has(piece.block, rank)) {
    in_place_ = false;
    if (claims_in_place_)
      finding_.add(Property::kInPlace, {rank},
                   fmt::format("rank {} reads block {} of its send buffer after block {} of its "
                               "receive buffer was written",
                               rank, piece.block, piece.block));
  }
  return rank * ranks_ + piece.block;
}

void Blocks::write(int64_t rank, TemporaryBlocks::Step step, Place where, int64_t block) {
  if (where < 0) {
    const auto name = static_cast<TemporaryBlocks::Name>(block);
    if (const auto wrong = temporary_.write(rank, -1 - where, step, name))
      bad_temporary(*wrong, rank, -1 - where);
    return;
  }
  if (block == where * ranks_ + rank) return arrive(where, rank);
  finding_.add(Property::kPlace, {rank},
               fmt::format("rank {} gets into block {} of its receive buffer what belongs "
                           "elsewhere: rank {}'s block for rank {}",
                           rank, where, block / ranks_, block % ranks_));
}

void Blocks::arrives_again(int64_t source, int64_t target) {
  finding_.add(Property::kOnce, {target, source},
               fmt::format("rank {}'s block arrives again at rank {}", source, target));
}

void Blocks::bad_temporary(Property property, int64_t rank, int64_t block) {
  const std::string where = block_text(Buffer::kTemporary, block);
  std::string what =
      fmt::format("touches {} in a step, and in an earlier one that may still be in flight", where);
  if (property == Property::kHeld)
    what = fmt::format("uses {}, which holds nothing there yet", where);
  if (property == Property::kOnce)
    what = fmt::format("uses {} again, or gets what is there already", where);
  if (property == Property::kOverwrite)
    what = fmt::format("overwrites {} before it was used", where);
  finding_.add(property, {rank}, fmt::format("rank {} {}", rank, what));
}

void Blocks::finish() {
  if (const auto missing = arrivals_.missing())
    finding_.add(
        Property::kCoverage, {missing->second, missing->first},
        fmt::format("rank {}'s block never arrives at rank {}", missing->first, missing->second));
  if (const auto left = temporary_.left_over())
    finding_.add(Property::kLeftOver, {left->first},
                 fmt::format("block {} of rank {}'s temporary buffer is filled and never used",
                             left->second, left->first));
}

}  // namespace quadrille::verifier
