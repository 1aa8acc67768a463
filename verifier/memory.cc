// Every rule about blocks, one function a rule. Tested by the cases of tests/reject/ and by
// mutation.
#include "verifier/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "verifier/violations.h"

namespace quadrille::verifier {
namespace {

std::string describe(const PieceValue& piece) { return block_text(piece.buffer, piece.block); }

}  // namespace

Roster::Roster(const std::vector<Binding>& bindings) : first_of_second_(bindings[0].place.ranks) {
  for (const Binding& binding : bindings)
    for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
      places_.push_back(binding.place);
      places_.back().rank = rank;
    }
}

std::string Roster::name(int process) const {
  const Place& place = places_[process];
  return place.intercommunicator() ? fmt::format("rank {} of group {}", place.rank, place.group)
                                   : fmt::format("rank {}", place.rank);
}

void Findings::add(Property property, std::optional<int64_t> key, const std::vector<int>& processes,
                   std::string detail) {
  if (violation_) return;
  violation_ = Violation{property, key, {}, std::move(detail)};
  for (const int process : processes) violation_->processes.push_back(roster_.id(process));
}

Memory::Memory(const Program& program, const Call& call, const std::vector<Binding>& bindings,
               const Roster& roster, Findings& findings)
    : program_(program), call_(call), roster_(roster), findings_(findings) {
  buffers_.resize(roster.size());
  for (int process = 0; process < roster.size(); ++process) {
    const Place& place = roster.place(process);
    Buffers& buffers = buffers_[process];
    buffers[0].resize(block_count(program.collective, Buffer::kSend, place));
    buffers[1].resize(block_count(program.collective, Buffer::kReceive, place));
    buffers[2].resize(bindings[place.group].temporary_blocks);
    fill_send_blocks(process);
  }
}

void Memory::fill_send_blocks(int process) {
  const Place& place = roster_.place(process);
  std::vector<BlockState>& send = buffers_[process][0];
  for (size_t block = 0; block < send.size(); ++block) {
    const int64_t length = length_of(process, Buffer::kSend, block);
    const int32_t value = values_.number({{place.group, place.rank, static_cast<int64_t>(block)}});
    send[block].contents.write(0, length, {{0, length, value, 0}});
    send[block].contents.mark_read(0, length);
  }
}

void Memory::fail(Property property, const Use& use, std::string detail) {
  findings_.add(property, use.key, {use.process},
                fmt::format("{} {}", roster_.name(use.process), detail));
}

// A block's length by the counts of the call; without counts every block is one unit long.
int64_t Memory::length_of(int process, Buffer buffer, int64_t block) const {
  if (call_.counts.empty()) return 1;
  const Place& place = roster_.place(process);
  const LengthSource source = length_source(program_.collective, buffer, place, {block});
  return call_.counts[source.remote ? 1 - place.group : place.group][source.index];
}

Memory::BlockState* Memory::find(const Use& use, const PieceValue& piece) {
  std::vector<BlockState>& buffer = buffers_[use.process][static_cast<int>(piece.buffer)];
  if (piece.block >= 0 && piece.block < static_cast<int64_t>(buffer.size()))
    return &buffer[piece.block];
  fail(Property::kBlock, use,
       fmt::format("names {}, which has {}", describe(piece), buffer.size()));
  return nullptr;
}

// The part of the block that a piece names: 0 .. whole where it names no range.
std::optional<Interval> Memory::interval(const Use& use, const PieceValue& piece, int64_t whole) {
  if (!piece.ranged) return Interval{0, whole};
  const bool bounded = piece.buffer != Buffer::kTemporary;
  const int64_t length = bounded ? length_of(use.process, piece.buffer, piece.block) : INT64_MAX;
  if (0 <= piece.low && piece.low <= piece.high && piece.high <= length)
    return Interval{piece.low, piece.high};
  fail(Property::kBlock, use,
       fmt::format("names {}..{} of {}, which is {} long", piece.low, piece.high, describe(piece),
                   length));
  return std::nullopt;
}

Part Memory::read(const Use& use, const PieceValue& piece) {
  Part part{piece, 0, {}};
  BlockState* block = find(use, piece);
  if (!block) return part;
  const int64_t whole = piece.buffer == Buffer::kTemporary
                            ? block->contents.length()
                            : length_of(use.process, piece.buffer, piece.block);
  const std::optional<Interval> range = interval(use, piece, whole);
  if (!range) return part;
  if (!block->contents.written() || !covers(block->contents.fragments(), range->low, range->high)) {
    fail(Property::kHeld, use,
         fmt::format("uses {}, which holds nothing there yet", describe(piece)));
    return part;
  }
  part.length = range->high - range->low;
  part.fragments = cut(block->contents.fragments(), range->low, range->high, -range->low);
  block->contents.mark_read(range->low, range->high);
  touch(*block, use, *range, false);
  if (piece.buffer == Buffer::kSend) ask_in_place(use, piece.block);
  return part;
}

Part Memory::target(const Use& use, const PieceValue& piece) {
  Part part{piece, -1, {}};
  if (!find(use, piece)) return part;
  if (piece.buffer == Buffer::kTemporary && !piece.ranged) return part;
  const auto range = interval(use, piece, length_of(use.process, piece.buffer, piece.block));
  if (range) part.length = range->high - range->low;
  return part;
}

void Memory::write(const Use& use, const PieceValue& piece, const Part& source, bool local) {
  if (findings_.any()) return;
  BlockState* block = find(use, piece);
  if (!block) return;
  const bool temporary = piece.buffer == Buffer::kTemporary;
  const auto range = interval(
      use, piece, temporary ? source.length : length_of(use.process, piece.buffer, piece.block));
  if (!range) return;
  if (range->high - range->low != source.length)
    return fail(Property::kLength, use,
                fmt::format("puts {} into {} of {}", source.length, range->high - range->low,
                            describe(piece)));
  const Fragments fragments = cut(source.fragments, 0, source.length, range->low);
  if (share(block->contents.fragments(), fragments))
    return fail(Property::kOnce, use,
                fmt::format("gets into {} what is there already", describe(piece)));
  const bool replaced = temporary && !piece.ranged;
  if (block->contents.unused(range->low, replaced ? INT64_MAX : range->high))
    return fail(Property::kOverwrite, use,
                fmt::format("overwrites {} before it was used", describe(piece)));
  if (replaced) block->contents.clear();
  block->contents.write(range->low, range->high, fragments);
  const bool onto_itself = local && source.piece.buffer == Buffer::kSend &&
                           piece.buffer == Buffer::kReceive &&
                           alias(use.process, source.piece.block) == piece.block;
  block->arrived |= piece.buffer == Buffer::kReceive && !onto_itself;
  touch(*block, use, *range, true);
}

// Books a use of part of a block, and asks whether a step that may be in flight disturbs it.
void Memory::touch(BlockState& block, const Use& use, const Interval& part, bool write) {
  for (const Access& earlier : block.accesses) {
    if (!(earlier.write || write) || !earlier.part.meets(part)) continue;
    const Use& other = earlier.use;
    if (use.in_step && other.in_step && other.epoch == use.epoch && use.after != kNoAfter &&
        *other.key<*use.key&& * other.key> use.after) {
      return fail(
          Property::kOverlap, use,
          fmt::format(
              "touches a block in step {} and again in step {}, which may be in flight together",
              *other.key, *use.key));
    }
  }
  block.accesses.push_back({use, write, part});
}

Part Memory::combine(const Use& use, const Part& from, const Part& into, Side side) {
  Part result = into;
  result.fragments.clear();
  if (from.length != into.length) {
    fail(Property::kLength, use,
         fmt::format("combines {} elements with {}", from.length, into.length));
    return result;
  }
  for (const Fragment& a : from.fragments)
    for (const Fragment& b : into.fragments) {
      const int64_t low = std::max(a.low, b.low), high = std::min(a.high, b.high);
      if (low >= high) continue;
      const auto value = side == Side::kLeft ? values_.combine(a.value, b.value)
                                             : values_.combine(b.value, a.value);
      if (a.shift != b.shift) fail(Property::kPlace, use, "combines elements of different places");
      if (!value)
        fail(Property::kContribution, use, "adds a contribution that is in the sum already");
      if (findings_.any()) return result;
      result.fragments.push_back({low, high, *value, a.shift});
    }
  std::sort(result.fragments.begin(), result.fragments.end(),
            [](const Fragment& a, const Fragment& b) { return a.low < b.low; });
  return result;
}

void Memory::note_length(const Use& use, const Part& part) {
  if (program_.collective != Collective::kAlltoall) return;
  for (const Fragment& fragment : part.fragments)
    for (const Contribution& contribution : values_.sequence(fragment.value))
      any_counts_ &= contribution.block == roster_.place(use.process).rank;
}

// The receive block that lies where this send block does when a call is in place.
std::optional<int64_t> Memory::alias(int process, int64_t send_block) const {
  switch (program_.collective) {
    case Collective::kAllgather:
    case Collective::kGather: return roster_.place(process).rank;
    case Collective::kScatter:
    case Collective::kReduceScatter: return std::nullopt;
    default: return send_block;
  }
}

// What a step sends is read before anything of that step is written, so whatever has been written
// by now came too early.
void Memory::ask_in_place(const Use& use, int64_t send_block) {
  const std::optional<int64_t> block = alias(use.process, send_block);
  const std::vector<BlockState>& receive = buffers_[use.process][1];
  if (!block || *block >= static_cast<int64_t>(receive.size()) || !receive[*block].arrived) return;
  in_place_ = false;
  if (program_.in_place)
    fail(Property::kInPlace, use,
         fmt::format(
             "reads block {} of its send buffer after block {} of its receive buffer was written",
             send_block, *block));
}

void Memory::finish() {
  for (int process = 0; process < roster_.size(); ++process) {
    for (size_t block = 0; block < buffers_[process][1].size(); ++block)
      finish_block(process, block);
    for (size_t block = 0; block < buffers_[process][2].size(); ++block)
      if (buffers_[process][2][block].contents.unused(INT64_MIN, INT64_MAX))
        findings_.add(Property::kLeftOver, std::nullopt, {process},
                      fmt::format("block {} of {}'s temporary buffer is filled and never used",
                                  block, roster_.name(process)));
  }
}

void Memory::finish_block(int process, int64_t block) {
  const std::vector<Contribution> wanted =
      required(program_.collective, roster_.place(process), {block});
  const int64_t length = length_of(process, Buffer::kReceive, block);
  if (wanted.empty() || length == 0) return;
  const std::string where =
      fmt::format("block {} of {}'s receive buffer", block, roster_.name(process));
  const auto fail = [&](Property property, const char* what) {
    findings_.add(property, std::nullopt, {process}, where + what);
  };
  const Fragments& found = buffers_[process][1][block].contents.fragments();
  if (!covers(found, 0, length)) return fail(Property::kCoverage, " is not filled");
  for (const Fragment& fragment : found) {
    std::vector<Contribution> sequence = values_.sequence(fragment.value);
    if (sequence.size() < wanted.size()) return fail(Property::kCoverage, " lacks contributions");
    if (program_.commutative) std::sort(sequence.begin(), sequence.end());
    if (sequence == wanted && fragment.shift == 0) continue;
    return fail(Property::kPlace, wanted.size() > 1 ? " holds contributions in another order"
                                                    : " holds what belongs elsewhere");
  }
}

}  // namespace quadrille::verifier
