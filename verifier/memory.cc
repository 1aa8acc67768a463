// Contents and accesses are sorted maps. A change rewrites only part of a map, so scattered bytes take n log n time.
// Sets of processes are merged like sorted lists. Runs of contributions are made greedily from the left, so each
// sequence has one form. Rings and trees sum neighbors, so their sums are one or two runs for any number of ranks.
// Every rule about blocks is one function.
//
// Tested by tests/verifier/memory_test.cc, which compares them with arrays, lists and sets, and by tests/reject/ and
// tests/mutation/.
#include "verifier/memory.h"

#include <fmt/core.h>

#include <algorithm>

namespace quadrille::verifier {

namespace {

ContributionRun single(const Contribution& contribution) {
  return {static_cast<int32_t>(contribution.rank), 1, static_cast<int32_t>(contribution.block),
          static_cast<int8_t>(contribution.group), 0};
}

// Appends a run. The last run absorbs as much of it as it can.
void append(ContributionRuns& runs, ContributionRun more) {
  if (!runs.empty()) {
    ContributionRun& last = runs.back();
    const int32_t by = more.first - last.last();
    const bool joins = last.group == more.group && last.block == more.block &&
                       (by == 1 || by == -1) && (last.count == 1 || by == last.step);
    if (joins) {
      const int32_t taken = more.count == 1 || more.step == by ? more.count : 1;
      last.step = static_cast<int8_t>(by);
      last.count += taken;
      if (taken == more.count) return;
      more.first += more.step;
      --more.count;
      if (more.count == 1) more.step = 0;
    }
  }
  runs.push_back(more);
}

// Returns the runs, each turned upwards, in ascending order of group, block and rank.
ContributionRuns sorted(const ContributionRuns& runs) {
  ContributionRuns upwards = runs;
  for (ContributionRun& run : upwards)
    if (run.step < 0) run = {run.last(), run.count, run.block, run.group, 1};
  std::sort(upwards.begin(), upwards.end(), [](const auto& a, const auto& b) {
    return std::tie(a.group, a.block, a.first) < std::tie(b.group, b.block, b.first);
  });
  return upwards;
}

bool has_one_twice(const ContributionRuns& runs) {
  const ContributionRuns upwards = sorted(runs);
  return std::adjacent_find(upwards.begin(), upwards.end(), [](const auto& a, const auto& b) {
           return a.group == b.group && a.block == b.block && b.first <= a.last();
         }) != upwards.end();
}

}  // namespace

size_t Values::Hash::operator()(const ContributionRuns& runs) const {
  uint64_t hash = runs.size();
  for (const ContributionRun& run : runs)
    for (const uint64_t word : {static_cast<uint64_t>(run.first) << 32 | uint32_t(run.block),
                                static_cast<uint64_t>(run.count) << 32 |
                                    static_cast<uint64_t>(run.group) << 8 | uint8_t(run.step)}) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
  return hash;
}

int32_t Values::number(ContributionRuns runs) {
  const auto [entry, added] =
      numbers_.try_emplace(std::move(runs), static_cast<int32_t>(runs_.size()));
  if (added) runs_.push_back(&entry->first);
  return entry->second;
}

int32_t Values::number(const Contribution& contribution) {
  return number(ContributionRuns{single(contribution)});
}

int32_t Values::number(const std::vector<Contribution>& sequence) {
  ContributionRuns runs;
  for (const Contribution& contribution : sequence) append(runs, single(contribution));
  return number(std::move(runs));
}

int32_t Values::sum_of(const Contributors& c) {
  if (c.count == 0) return number(ContributionRuns{});
  return number(ContributionRuns{{static_cast<int32_t>(c.first), static_cast<int32_t>(c.count),
                                  static_cast<int32_t>(c.block), static_cast<int8_t>(c.group),
                                  static_cast<int8_t>(c.count > 1)}});
}

std::optional<int32_t> Values::combine(int32_t left, int32_t right) {
  const auto [entry, added] = combined_.try_emplace(int64_t{left} << 32 | right);
  if (!added) return entry->second;
  ContributionRuns all = runs(left);
  all.insert(all.end(), runs(right).begin(), runs(right).end());
  if (has_one_twice(all)) return std::nullopt;
  ContributionRuns joined;
  for (const ContributionRun& run : all) append(joined, run);
  entry->second = number(std::move(joined));
  return entry->second;
}

bool Values::is_canonical(int32_t left, int32_t right) const {
  ContributionRuns sum = runs(left);
  for (const ContributionRun& run : runs(right)) append(sum, run);
  const int64_t first = size(left), second = size(right);
  return sum.size() == 1 && sum[0].step == 1 && (first & (first - 1)) == 0 && second <= first;
}

int32_t Values::in_any_order(int32_t value) {
  const auto known = in_any_order_.find(value);
  if (known != in_any_order_.end()) return known->second;
  ContributionRuns runs;
  for (const ContributionRun& run : sorted(this->runs(value))) append(runs, run);
  return in_any_order_[value] = number(std::move(runs));
}

int64_t Values::size(int32_t value) const {
  int64_t size = 0;
  for (const ContributionRun& run : runs(value)) size += run.count;
  return size;
}

std::string Values::text(int32_t value) const {
  std::string text;
  for (const ContributionRun& run : runs(value))
    text += fmt::format(
        "{}{}", text.empty() ? "" : " and ",
        run.count == 1 ? std::to_string(run.first) : fmt::format("{}..{}", run.first, run.last()));
  return text;
}

namespace {

void append_joined(Fragments& fragments, const Fragment& next) {
  if (next.low >= next.high) return;
  if (!fragments.empty()) {
    Fragment& last = fragments.back();
    if (last.high == next.low && last.value == next.value && last.shift == next.shift &&
        last.unused == next.unused) {
      last.high = next.high;
      return;
    }
  }
  fragments.push_back(next);
}

// Returns the fragment, cut to low .. high.
Fragment within(Fragment fragment, int64_t low, int64_t high) {
  fragment.low = std::max(fragment.low, low);
  fragment.high = std::min(fragment.high, high);
  return fragment;
}

}  // namespace

BlockContents::List::iterator BlockContents::first_in(List& list, int64_t low) {
  auto first = list.upper_bound(low);
  if (first != list.begin() && std::prev(first)->second.high > low) --first;
  return first;
}

template <class Visit>
void BlockContents::visit(int64_t low, int64_t high, Visit visit) const {
  if (!list_) {
    if (one_.low < one_.high && one_.low < high && low < one_.high) visit(one_);
    return;
  }
  for (auto next = first_in(*list_, low); next != list_->end() && next->second.low < high; ++next)
    if (!visit(next->second)) return;
}

Fragments BlockContents::fragments() const {
  Fragments all;
  visit(INT64_MIN, INT64_MAX, [&](const Fragment& fragment) {
    all.push_back(fragment);
    return true;
  });
  return all;
}

bool BlockContents::holds(int64_t low, int64_t high) const {
  visit(low, high, [&](const Fragment& fragment) {
    if (fragment.low > low) return false;
    low = fragment.high;
    return true;
  });
  return low >= high;
}

Fragments BlockContents::read(int64_t low, int64_t high) {
  Fragments result;
  visit(low, high, [&](const Fragment& fragment) {
    const Fragment part = within(fragment, low, high);
    append_joined(result, {part.low - low, part.high - low, part.shift + low, part.value});
    return true;
  });
  mark_read(low, high);
  return result;
}

// Fragments next to low .. high may join the new ones, so they are replaced, too.
void BlockContents::write(int64_t low, int64_t high, const Fragments& fragments) {
  written_ = true;
  if (low >= high) return;
  Fragments changed;
  const auto keep = [&](int64_t from, int64_t to) {
    visit(low - 1, high + 1, [&](const Fragment& fragment) {
      append_joined(changed, within(fragment, from, to));
      return true;
    });
  };
  keep(INT64_MIN, low);
  for (Fragment fragment : fragments) {
    fragment.unused = true;
    append_joined(changed, within(fragment, low, high));
  }
  keep(high, INT64_MAX);
  replace(low - 1, high + 1, changed);
}

void BlockContents::mark_read(int64_t low, int64_t high) {
  if (!unused(low, high)) return;
  Fragments changed;
  visit(low - 1, high + 1, [&](const Fragment& fragment) {
    append_joined(changed, within(fragment, INT64_MIN, low));
    Fragment used = within(fragment, low, high);
    used.unused = false;
    append_joined(changed, used);
    append_joined(changed, within(fragment, high, INT64_MAX));
    return true;
  });
  replace(low - 1, high + 1, changed);
}

bool BlockContents::unused(int64_t low, int64_t high) const {
  bool found = false;
  visit(low, high, [&](const Fragment& fragment) {
    found = fragment.unused;
    return !found;
  });
  return found && low < high;
}

bool BlockContents::shares(const Fragments& fragments) const {
  bool found = false;
  for (const Fragment& one : fragments)
    if (one.low < one.high && !found)
      visit(one.low, one.high, [&](const Fragment& fragment) {
        found = fragment.value == one.value && fragment.shift == one.shift;
        return !found;
      });
  return found;
}

void BlockContents::replace(int64_t low, int64_t high, const Fragments& by) {
  const bool all = one_.low >= one_.high || (one_.low < high && low < one_.high);
  if (!list_ && by.size() <= 1 && all) {
    one_ = by.empty() ? Fragment{} : by[0];
    return;
  }
  if (!list_) {
    list_ = std::make_unique<List>();
    if (one_.low < one_.high) list_->emplace(one_.low, one_);
  }
  auto next = first_in(*list_, low);
  while (next != list_->end() && next->second.low < high) next = list_->erase(next);
  for (const Fragment& fragment : by) list_->emplace_hint(next, fragment.low, fragment);
}

// Splits a part at the position. Returns the second of the two.
Accesses::Parts::iterator Accesses::cut(Parts::iterator part, int64_t position) {
  const auto end = parts_.emplace_hint(std::next(part), position, part->second);
  part->second.high = position;
  return end;
}

// A step may both read and write the part.
void Accesses::Part::use(int64_t key, bool write) {
  if (steps.empty() || steps.back().key != key) steps.push_back({key, false});
  steps.back().write |= write;
}

std::optional<int64_t> Accesses::Part::disturbed(int64_t key, int64_t after, bool write) const {
  std::optional<int64_t> first;
  for (auto step = steps.rbegin(); step != steps.rend() && step->key > after; ++step)
    if (step->key < key && (write || step->write)) first = step->key;
  return first;
}

std::optional<int64_t> Accesses::note(int64_t epoch, int64_t key, int64_t after,
                                      const Interval& part, bool write) {
  if (epoch != epoch_) parts_.clear();
  epoch_ = epoch;
  if (part.low >= part.high) return std::nullopt;
  std::optional<int64_t> first;
  auto last = parts_.end();  // the last part that was used
  auto next = parts_.lower_bound(part.low);
  if (next != parts_.begin() && std::prev(next)->second.high > part.low)
    next = cut(std::prev(next), part.low);
  for (int64_t low = part.low; low < part.high; low = last->second.high) {
    if (next == parts_.end() || next->first != low) {
      const int64_t end = next == parts_.end() ? part.high : std::min(part.high, next->first);
      next = parts_.emplace_hint(next, low, Part{end, {}});
    }
    if (next->second.high > part.high) cut(next, part.high);
    const auto here = next++;
    const auto disturbed = here->second.disturbed(key, after, write);
    if (disturbed && (!first || *disturbed < *first)) first = disturbed;
    here->second.use(key, write);
    if (last != parts_.end() && last->second.steps == here->second.steps) {
      last->second.high = here->second.high;
      parts_.erase(here);
    } else {
      last = here;
    }
  }
  return first;
}

void ProcessSet::add(const ProcessSet& others) {
  std::vector<Interval> all;
  all.reserve(intervals_.size() + others.intervals_.size());
  std::merge(intervals_.begin(), intervals_.end(), others.intervals_.begin(),
             others.intervals_.end(), std::back_inserter(all),
             [](const Interval& a, const Interval& b) { return a.low < b.low; });
  intervals_.clear();
  for (const Interval& next : all) {
    if (intervals_.empty() || intervals_.back().high < next.low)
      intervals_.push_back(next);
    else
      intervals_.back().high = std::max(intervals_.back().high, next.high);
  }
}

int64_t ProcessSet::first_missing() const {
  return intervals_.empty() || intervals_[0].low > 0 ? 0 : intervals_[0].high;
}

bool operator==(const ProcessSet& a, const ProcessSet& b) {
  return std::equal(a.intervals_.begin(), a.intervals_.end(), b.intervals_.begin(),
                    b.intervals_.end(), [](const Interval& one, const Interval& other) {
                      return one.low == other.low && one.high == other.high;
                    });
}

void BarrierProgress::begin(std::optional<int64_t> after) {
  const auto waited_for =
      after ? std::partition_point(steps_.begin(), steps_.end(),
                                   [&](const Completed& step) { return step.key <= *after; })
            : steps_.end();
  sent_ = waited_for == steps_.begin() ? ProcessSet(process_) : std::prev(waited_for)->received;
  arriving_ = ProcessSet();
  begun_ = true;
}

void BarrierProgress::complete(int64_t key) {
  if (!begun_) return;
  begun_ = false;
  ProcessSet received = all();
  received.add(arriving_);
  if (!keep_) steps_.clear();
  steps_.push_back({key, std::move(received)});
}

Memory::Memory(const Program& program, const Call& call, const std::vector<Binding>& bindings,
               const Processes& processes, Findings& findings, Observer* observer)
    : program_(program),
      call_(call),
      processes_(processes),
      findings_(findings),
      observer_(observer) {
  const bool overlapping = has_overlapping_steps(program);
  buffers_.resize(processes.size());
  for (int process = 0; process < processes.size(); ++process) {
    const Place place = processes.place(process);
    const std::pair<Buffer, int64_t> sizes[] = {
        {Buffer::kSend, block_count(program.collective, Buffer::kSend, place)},
        {Buffer::kReceive, block_count(program.collective, Buffer::kReceive, place)},
        {Buffer::kTemporary, bindings[place.group].temporary_blocks}};
    for (const auto& [which, size] : sizes) {
      const bool by_need = which == Buffer::kTemporary;
      buffer(process, which).blocks.declare(size, by_need);
      buffer(process, which).accesses.declare(overlapping ? size : 0, by_need);
    }
    buffer(process, Buffer::kReceive).arrived.resize(sizes[1].second);
    fill_send_blocks(process);
  }
}

void Memory::fill_send_blocks(int process) {
  const Place place = processes_.place(process);
  OfBlocks<BlockContents>& send = buffer(process, Buffer::kSend).blocks;
  for (int64_t block = 0; block < send.size(); ++block) {
    const int64_t length = length_of(process, Buffer::kSend, block);
    const int32_t value = values_.number({place.group, place.rank, block});
    send[block].write(0, length, {{0, length, 0, value}});
    send[block].mark_read(0, length);
  }
}

void Memory::fail(Property property, const Use& use, const std::string& detail) {
  findings_.add(property, use.key, {use.process}, detail);
}

// Returns a block's length, in units of the call's counts. Without counts, every block is 1 long.
int64_t Memory::length_of(int process, Buffer buffer, int64_t block) const {
  if (call_.counts.empty()) return 1;
  const Place place = processes_.place(process);
  const LengthSource source = length_source(program_.collective, buffer, place, {block});
  return call_.counts[source.remote ? 1 - place.group : place.group][source.index];
}

BlockContents* Memory::find(const Use& use, const PieceValue& piece) {
  OfBlocks<BlockContents>& blocks = buffer(use.process, piece.buffer).blocks;
  if (piece.block >= 0 && piece.block < blocks.size()) return &blocks[piece.block];
  findings_.add(kNoSuchBlock, use.key, {use.process}, piece, blocks.size());
  return nullptr;
}

// Returns the interval of the block that a piece names, or 0 .. whole if it names no range.
std::optional<Interval> Memory::interval(const Use& use, const PieceValue& piece, int64_t whole) {
  if (!piece.ranged) return Interval{0, whole};
  // An empty range of a temporary block may be anywhere.
  const bool temporary = piece.buffer == Buffer::kTemporary;
  const int64_t length = !temporary ? length_of(use.process, piece.buffer, piece.block)
                         : piece.low == piece.high ? INT64_MAX
                                                   : kMaxCount;
  if (0 <= piece.low && piece.low <= piece.high && piece.high <= length)
    return Interval{piece.low, piece.high};
  fail(Property::kBlock, use,
       fmt::format("names {}..{} of {}, which is {}{} long", piece.low, piece.high, text(piece),
                   temporary ? "at most " : "", length));
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
    findings_.add(kNotHeld, use.key, {use.process}, piece);
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
  const bool temporary = piece.buffer == Buffer::kTemporary;  // the counts give it no length
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
  if (block->shares(fragments)) return findings_.add(kArrivesAgain, use.key, {use.process}, piece);
  if (is_over_own(use, piece, range->low, source, local))
    return fail(Property::kOnce, use,
                fmt::format("writes over its own contribution, {}", text(piece)));
  const bool replaced = temporary && !piece.ranged;
  if (block->unused(range->low, replaced ? INT64_MAX : range->high))
    return fail(Property::kOverwrite, use,
                fmt::format("overwrites {} before it was used", text(piece)));
  if (observer_)
    observer_->write(use, piece, *block,
                     replaced ? Interval{0, std::max(block->length(), range->high)} : *range,
                     fragments, values_);
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

// Returns whether a write destroys a rank's own block. In an allgather, this block counts as in the receive buffer
// from the start, as in a call in place. Only a copy of the contribution to its own place may overwrite it.
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
  OfBlocks<Accesses>& accesses = buffer(use.process, piece.buffer).accesses;
  if (accesses.size() == 0 || !use.in_step) return;
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
      const int32_t left = side == Side::kLeft ? a.value : b.value;
      const int32_t right = side == Side::kLeft ? b.value : a.value;
      const auto value = values_.combine(left, right);
      if (a.shift != b.shift) fail(Property::kPlace, use, "combines elements of different places");
      if (!value)
        fail(Property::kContribution, use, "adds a contribution that is in the sum already");
      if (program_.canonical && !values_.is_canonical(left, right))
        fail(Property::kSums, use,
             fmt::format(
                 "combines the contributions {} and {}, which are no two sides in a canonical tree",
                 values_.text(left), values_.text(right)));
      if (findings_.any()) return result;
      result.fragments.push_back({low, high, a.shift, *value});
    }
    (a.high <= b.high ? i : j)++;
  }
  return result;
}

void Memory::note_length(const Use& use, const PieceValue& to, const Part& part, bool is_known) {
  if (uneven_ || findings_.any() || !only_ends_know_lengths(program_.collective)) return;
  const Place place = processes_.place(use.process);
  const auto found = [&](const Finding& finding) {
    uneven_ = violation_of(processes_, finding, use.key, {use.process}, to);
  };
  if (to.buffer == Buffer::kReceive) {
    const int32_t wanted = values_.sum_of(contributors(program_.collective, place, {to.block}));
    for (const Fragment& fragment : part.fragments)
      if (fragment.value != wanted) return found(kDoesNotFit);
    return;
  }
  const bool is_root = rooted(program_.collective) && place.group == 0 && place.rank == place.root;
  if (is_known || is_root) return;
  const bool gathers = program_.collective == Collective::kGather;
  for (const Fragment& fragment : part.fragments)
    for (const ContributionRun& run : values_.runs(fragment.value))
      if (gathers || run.block != place.rank) return found(kLengthUnknown);
}

// Returns the receive block that shares its bytes with this send block in a call in place, if any.
std::optional<int64_t> Memory::alias(int process, int64_t send_block) const {
  switch (program_.collective) {
    case Collective::kAllgather:
    case Collective::kGather: return processes_.place(process).rank;
    case Collective::kScatter:
    case Collective::kReduceScatter: return std::nullopt;
    default: return send_block;
  }
}

// Checks that a call in place may still read this send block. A step reads what it sends before it writes, so data
// in the block by now has arrived too early. At the root of a broadcast, which has one buffer, calls are in place.
void Memory::ask_in_place(const Use& use, int64_t send_block) {
  const std::optional<int64_t> block = alias(use.process, send_block);
  const std::vector<bool>& arrived = buffer(use.process, Buffer::kReceive).arrived;
  if (!block || *block >= static_cast<int64_t>(arrived.size()) || !arrived[*block]) return;
  in_place_ = false;
  if (program_.in_place || has_one_buffer(program_.collective, program_.groups))
    findings_.add(kReadAfterOverwritten, use.key, {use.process}, send_block, *block);
}

void Memory::finish() {
  for (int process = 0; process < processes_.size(); ++process) {
    for (int64_t block = 0; block < buffer(process, Buffer::kReceive).blocks.size(); ++block)
      finish_block(process, block);
    for (const auto& [number, block] : buffer(process, Buffer::kTemporary).blocks.used())
      if (block.unused(INT64_MIN, INT64_MAX)) findings_.add(left_over(processes_, process, number));
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
