// Every rule about blocks, one function a rule. Tested by the cases of tests/reject/ and by
// mutation.
#include "verifier/memory.h"

#include <fmt/core.h>

#include <algorithm>

namespace quadrille::verifier {
Memory::Memory(const Program& program, const Call& call, const std::vector<Binding>& bindings,
               const Processes& processes, Findings& findings)
    : program_(program), call_(call), processes_(processes), findings_(findings) {
  const bool overlapping = has_overlapping_steps(program);
  buffers_.resize(processes.size());
  for (int process = 0; process < processes.size(); ++process) {
    const Place place = processes.place(process);
    const std::pair<Buffer, int64_t> sizes[] = {
        {Buffer::kSend, block_count(program.collective, Buffer::kSend, place)},
        {Buffer::kReceive, block_count(program.collective, Buffer::kReceive, place)},
        {Buffer::kTemporary, bindings[place.group].temporary_blocks}};
    for (const auto& [which, size] : sizes) {
      buffer(process, which).blocks.resize(size);
      buffer(process, which).accesses.resize(overlapping ? size : 0);
    }
    buffer(process, Buffer::kReceive).arrived.resize(sizes[1].second);
    fill_send_blocks(process);
  }
}

void Memory::fill_send_blocks(int process) {
  const Place place = processes_.place(process);
  std::vector<BlockContents>& send = buffer(process, Buffer::kSend).blocks;
  for (size_t block = 0; block < send.size(); ++block) {
    const int64_t length = length_of(process, Buffer::kSend, block);
    const int32_t value = values_.number({place.group, place.rank, static_cast<int64_t>(block)});
    send[block].write(0, length, {{0, length, 0, value}});
    send[block].mark_read(0, length);
  }
}

void Memory::fail(Property property, const Use& use, std::string detail) {
  findings_.add(property, use.key, {use.process}, detail);
}

// A block's length by the counts of the call; without counts every block is one unit long.
int64_t Memory::length_of(int process, Buffer buffer, int64_t block) const {
  if (call_.counts.empty()) return 1;
  const Place place = processes_.place(process);
  const LengthSource source = length_source(program_.collective, buffer, place, {block});
  return call_.counts[source.remote ? 1 - place.group : place.group][source.index];
}

BlockContents* Memory::find(const Use& use, const PieceValue& piece) {
  std::vector<BlockContents>& blocks = buffer(use.process, piece.buffer).blocks;
  if (piece.block >= 0 && piece.block < static_cast<int64_t>(blocks.size()))
    return &blocks[piece.block];
  findings_.add(no_such_block(processes_, use.key, use.process, piece, blocks.size()));
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
       fmt::format("names {}..{} of {}, which is {} long", piece.low, piece.high, text(piece),
                   length));
  return std::nullopt;
}

Part Memory::read(const Use& use, const PieceValue& piece) {
  Part part{piece, 0, {}};
  BlockContents* block = find(use, piece);
  if (!block) return part;
  const int64_t whole = piece.buffer == Buffer::kTemporary
                            ? block->length()
                            : length_of(use.process, piece.buffer, piece.block);
  const std::optional<Interval> range = interval(use, piece, whole);
  if (!range) return part;
  if (!block->written() || !block->holds(range->low, range->high)) {
    findings_.add(not_held(processes_, use.key, use.process, piece));
    return part;
  }
  part.length = range->high - range->low;
  part.fragments = block->read(range->low, range->high);
  access(use, piece, *range, false);
  if (piece.buffer == Buffer::kSend) ask_in_place(use, piece.block);
  return part;
}

Part Memory::target(const Use& use, const PieceValue& piece) {
  Part part{piece, -1, {}};
  if (!find(use, piece)) return part;
  const bool temporary = piece.buffer == Buffer::kTemporary;  // has no length by the counts
  if (temporary && !piece.ranged) return part;
  const auto range = interval(
      use, piece, temporary ? INT64_MAX : length_of(use.process, piece.buffer, piece.block));
  if (range) part.length = range->high - range->low;
  return part;
}

void Memory::write(const Use& use, const PieceValue& piece, const Part& source, bool local) {
  if (findings_.any()) return;
  BlockContents* block = find(use, piece);
  if (!block) return;
  const bool temporary = piece.buffer == Buffer::kTemporary;
  const auto range = interval(
      use, piece, temporary ? source.length : length_of(use.process, piece.buffer, piece.block));
  if (!range) return;
  if (range->high - range->low != source.length)
    return fail(
        Property::kLength, use,
        fmt::format("puts {} into {} of {}", source.length, range->high - range->low, text(piece)));
  Fragments fragments = source.fragments;
  for (Fragment& fragment : fragments)
    fragment = {fragment.low + range->low, fragment.high + range->low, fragment.shift - range->low,
                fragment.value};
  if (block->shares(fragments))
    return findings_.add(arrives_again(processes_, use.key, use.process, piece));
  if (is_over_own(use, piece, range->low, source, local))
    return fail(Property::kOnce, use,
                fmt::format("writes over its own contribution, {}", text(piece)));
  const bool replaced = temporary && !piece.ranged;
  if (block->unused(range->low, replaced ? INT64_MAX : range->high))
    return fail(Property::kOverwrite, use,
                fmt::format("overwrites {} before it was used", text(piece)));
  if (replaced) block->clear();
  block->write(range->low, range->high, fragments);
  const bool onto_itself = local && source.piece.buffer == Buffer::kSend &&
                           piece.buffer == Buffer::kReceive &&
                           alias(use.process, source.piece.block) == piece.block &&
                           (source.piece.ranged ? source.piece.low : 0) == range->low;
  if (piece.buffer == Buffer::kReceive && !onto_itself)
    buffer(use.process, Buffer::kReceive).arrived[piece.block] = true;
  access(use, piece, *range, true);
}

// In an allgather a rank's own block is in its receive buffer from the start, as in a call in place. Only the copy of
// the contribution, byte by byte, may overwrite it.
bool Memory::is_over_own(const Use& use, const PieceValue& piece, int64_t low, const Part& source,
                         bool local) const {
  const Place place = processes_.place(use.process);
  if (program_.collective != Collective::kAllgather || place.intercommunicator()) return false;
  if (piece.buffer != Buffer::kReceive || piece.block != place.rank) return false;
  const int64_t from = source.piece.ranged ? source.piece.low : 0;
  return !local || source.piece.buffer != Buffer::kSend || from != low;
}

// Records an access to part of a block, and checks that it conflicts with no step that may be in flight.
void Memory::access(const Use& use, const PieceValue& piece, const Interval& part, bool write) {
  std::vector<Accesses>& accesses = buffer(use.process, piece.buffer).accesses;
  if (accesses.empty() || !use.in_step) return;
  if (const auto earlier = accesses[piece.block].note(use.epoch, *use.key,
                                                      use.after.value_or(*use.key), part, write))
    fail(Property::kOverlap, use,
         fmt::format(
             "touches a block in step {} and again in step {}, which may be in flight together",
             *earlier, *use.key));
}

Part Memory::combine(const Use& use, const Part& from, const Part& into, Side side) {
  Part result = into;
  result.fragments.clear();
  if (from.length != into.length) {
    fail(Property::kLength, use,
         fmt::format("combines {} elements with {}", from.length, into.length));
    return result;
  }
  for (auto i = from.fragments.begin(), j = into.fragments.begin();
       i != from.fragments.end() && j != into.fragments.end();) {
    const Fragment &a = *i, &b = *j;
    const int64_t low = std::max(a.low, b.low), high = std::min(a.high, b.high);
    if (low < high) {
      const auto value = side == Side::kLeft ? values_.combine(a.value, b.value)
                                             : values_.combine(b.value, a.value);
      if (a.shift != b.shift) fail(Property::kPlace, use, "combines elements of different places");
      if (!value)
        fail(Property::kContribution, use, "adds a contribution that is in the sum already");
      if (findings_.any()) return result;
      result.fragments.push_back({low, high, a.shift, *value});
    }
    (a.high <= b.high ? i : j)++;
  }
  return result;
}

void Memory::note_length(const Use& use, const Part& part) {
  if (!only_ends_know_lengths(program_.collective)) return;
  const Place place = processes_.place(use.process);
  if (rooted(program_.collective) && place.group == 0 && place.rank == place.root) return;
  const bool gathers = program_.collective == Collective::kGather;
  for (const Fragment& fragment : part.fragments)
    for (const ContributionRun& run : values_.runs(fragment.value))
      any_counts_ &= !gathers && run.block == place.rank;
}

// The receive block that has the same bytes as this send block in a call in place.
std::optional<int64_t> Memory::alias(int process, int64_t send_block) const {
  switch (program_.collective) {
    case Collective::kAllgather:
    case Collective::kGather: return processes_.place(process).rank;
    case Collective::kScatter:
    case Collective::kReduceScatter: return std::nullopt;
    default: return send_block;
  }
}

// A step reads what it sends before it writes anything. So data that has arrived by now has arrived too early. A
// broadcast has one buffer, so at its root every call is in place.
void Memory::ask_in_place(const Use& use, int64_t send_block) {
  const std::optional<int64_t> block = alias(use.process, send_block);
  const std::vector<bool>& arrived = buffer(use.process, Buffer::kReceive).arrived;
  if (!block || *block >= static_cast<int64_t>(arrived.size()) || !arrived[*block]) return;
  in_place_ = false;
  if (program_.in_place || has_one_buffer(program_.collective, program_.groups))
    findings_.add(read_after_overwritten(processes_, use.key, use.process, send_block, *block));
}

void Memory::finish() {
  for (int process = 0; process < processes_.size(); ++process) {
    for (size_t block = 0; block < buffer(process, Buffer::kReceive).blocks.size(); ++block)
      finish_block(process, block);
    const std::vector<BlockContents>& temporary = buffer(process, Buffer::kTemporary).blocks;
    for (size_t block = 0; block < temporary.size(); ++block)
      if (temporary[block].unused(INT64_MIN, INT64_MAX))
        findings_.add(left_over(processes_, process, block));
  }
}

void Memory::finish_block(int process, int64_t block) {
  const Contributors all = contributors(program_.collective, processes_.place(process), {block});
  const int64_t length = length_of(process, Buffer::kReceive, block);
  if (all.count == 0 || length == 0) return;
  const auto fail = [&](Property property, const char* what) {
    Violation violation = not_filled(processes_, process, block, what);
    violation.property = property;
    findings_.add(std::move(violation));
  };
  const BlockContents& found = buffer(process, Buffer::kReceive).blocks[block];
  if (!found.holds(0, length)) return fail(Property::kCoverage, "is not filled");
  const int32_t wanted = values_.sum_of(all);
  for (const Fragment& fragment : found.fragments()) {
    if (values_.size(fragment.value) < all.count)
      return fail(Property::kCoverage, "lacks contributions");
    const bool same = fragment.value == wanted ||
                      (program_.commutative &&
                       values_.in_any_order(fragment.value) == values_.in_any_order(wanted));
    if (same && fragment.shift == 0) continue;
    return fail(Property::kPlace, all.count > 1 ? "holds contributions in another order"
                                                : "holds what belongs elsewhere");
  }
}

}  // namespace quadrille::verifier
