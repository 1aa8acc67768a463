#include "tests/net/collective_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace quadrille::net {
namespace {

using mpi::Buffer;

uint8_t data_byte(unsigned seed, int source, int target, int64_t k) {
  return static_cast<uint8_t>(mpi::mix(mpi::mix(seed + 29) + (static_cast<uint64_t>(source) << 40) +
                                       (static_cast<uint64_t>(target) << 48) +
                                       static_cast<uint64_t>(k)));
}

// A unit of data that is moved is 8 or 13 bytes.
bool is_mixed(const CollectiveCall& call) { return call.types % 5 == 4; }

int64_t unit_bytes(const CollectiveCall& call) {
  if (reduces(call.collective)) return elements()[call.types].bytes();
  return is_mixed(call) ? 13 : 8;
}

// Of a block that has that key.
int64_t units_of(const CollectiveCall& call, unsigned key) {
  const uint64_t drawn = mpi::mix(call.length_seed * 1000 + key);
  const int64_t some = static_cast<int64_t>(drawn % 7);
  switch (call.lengths) {
    case LengthKind::kNone: return 0;
    case LengthKind::kOne: return 1;
    case LengthKind::kEqual: return 2 + some;
    case LengthKind::kUneven: return drawn % 3 == 0 ? 0 : some + 1;
    case LengthKind::kLong: return drawn % 3 == 0 ? some : (16500 + 500 * some) / unit_bytes(call);
    default: return drawn % 5 == 0 ? some : (150000 + some) / unit_bytes(call);
  }
}

// Between two groups, both get as much in all.
int64_t units_of_result(const CollectiveCall& call, int target) {
  const Groups& g = call.groups;
  const int group = g.group_of(target), size = g.size(group), own = target - g.first(group);
  const int gcd = std::gcd(g.ranks, g.remote);
  if (call.form == 0 || call.lengths == LengthKind::kEqual)
    return units_of(call, 0) * (g.remote > 0 ? g.size(1 - group) / gcd : 1);
  if (g.remote == 0) return units_of(call, static_cast<unsigned>(target));
  const int64_t total = units_of(call, 0) * 3;
  std::vector<int64_t> cuts = {0, total};
  for (int i = 1; i < size; ++i)
    cuts.push_back(
        static_cast<int64_t>(mpi::mix(call.length_seed + 100u * static_cast<unsigned>(group) +
                                      static_cast<unsigned>(i)) %
                             static_cast<uint64_t>(total + 1)));
  std::sort(cuts.begin(), cuts.end());
  return cuts[static_cast<size_t>(own) + 1] - cuts[static_cast<size_t>(own)];
}

// Of the block from one place to another.
int64_t units_between(const CollectiveCall& call, int source, int target) {
  const unsigned from = static_cast<unsigned>(source), to = static_cast<unsigned>(target);
  const unsigned group = static_cast<unsigned>(call.groups.group_of(source));
  const bool is_equal = call.form == 0 || call.lengths == LengthKind::kEqual;
  switch (call.collective) {
    case Collective::kReduceScatter: return units_of_result(call, target);
    case Collective::kAlltoall:
      if (is_equal) return units_of(call, group);
      // In place a block is as long as the one that takes its place.
      return units_of(
          call, call.in_place ? 64 * std::min(from, to) + std::max(from, to) : 64 * from + to);
    case Collective::kAllgather: return units_of(call, is_equal ? group : from);
    case Collective::kGather: return units_of(call, is_equal ? 0 : from);
    case Collective::kScatter: return units_of(call, is_equal ? 0 : to);
    default: return units_of(call, 0);
  }
}

// Not of columns, of which long blocks overlap; a third of the calls are with plain integers.
const mpi::Shape& shape_of(const CollectiveCall& call, int place, unsigned salt) {
  if (call.types % 3 == 0 && !is_mixed(call)) return mpi::integer_shapes()[0];
  const std::vector<mpi::Shape>& shapes =
      is_mixed(call) ? mpi::mixed_shapes() : mpi::integer_shapes();
  const size_t some = is_mixed(call) ? shapes.size() : shapes.size() - 1;
  return shapes[mpi::mix(call.types * 64 + 2u * static_cast<unsigned>(place) + salt) % some];
}

void draw_types(CollectiveCall& call, const Allowed& allowed, std::mt19937& random) {
  call.types = static_cast<unsigned>(random() % 1000);
  if (!reduces(call.collective)) return;
  do {
    call.types = static_cast<unsigned>(random() % elements().size());
  } while (allowed.commutative && !elements()[call.types].commutes);
}

void draw_lengths(CollectiveCall& call, const Allowed& allowed, std::mt19937& random) {
  constexpr LengthKind kDrawn[] = {LengthKind::kNone,   LengthKind::kOne,    LengthKind::kEqual,
                                   LengthKind::kEqual,  LengthKind::kUneven, LengthKind::kUneven,
                                   LengthKind::kUneven, LengthKind::kLong};
  call.lengths = kDrawn[random() % std::size(kDrawn)];
  if (call.lengths == LengthKind::kLong && allowed.is_large_rare && random() % 4 != 0)
    call.lengths = LengthKind::kUneven;
  else if (call.lengths == LengthKind::kLong && random() % 16 == 0)
    call.lengths = LengthKind::kVeryLong;
  call.length_seed = static_cast<unsigned>(random() % 1000);
}

void draw_root(CollectiveCall& call, std::mt19937& random) {
  call.root = static_cast<int>(random() % static_cast<unsigned>(call.groups.all()));
}

void draw_form(CollectiveCall& call, const Allowed& allowed, std::mt19937& random) {
  call.form = allowed.equal_counts ? 0 : static_cast<int>(random() % 3);
}

void draw_place(CollectiveCall& call, std::mt19937& random) {
  call.in_place = can_be_in_place(call.collective, call.groups) && random() % 2;
}

}  // namespace

bool can_be_in_place(Collective collective, const Groups& groups) {
  return groups.remote == 0 && collective != Collective::kBroadcast &&
         collective != Collective::kBarrier;
}

std::vector<std::vector<int64_t>> counts_of(const CollectiveCall& call) {
  std::vector<std::vector<int64_t>> counts;
  if (only_ends_know_lengths(call.collective) || call.collective == Collective::kBarrier)
    return counts;
  const int64_t unit = reduces(call.collective) ? 1 : unit_bytes(call);
  for (int group = 0; group < (call.groups.remote > 0 ? 2 : 1); ++group) {
    const int first = call.groups.first(group);
    counts.emplace_back();
    for (int place = first; place < first + call.groups.size(group); ++place)
      counts.back().push_back(unit * (call.collective == Collective::kReduceScatter
                                          ? units_of_result(call, place)
                                          : units_between(call, place, 0)));
  }
  return counts;
}

std::string CollectiveCall::text() const {
  const char* const names[] = {"none", "one", "equal", "uneven", "long", "very long"};
  return fmt::format("{}, {} + {} ranks, lengths {} by {}, form {}, root {}{}, types {}, seed {}",
                     name_of(collective), groups.ranks, groups.remote,
                     names[static_cast<int>(lengths)], length_seed, form, root,
                     in_place ? ", in place" : "", types, seed);
}

std::vector<CollectiveCall> draw_calls(Collective collective, const Groups& groups,
                                       const Allowed& allowed, std::mt19937& random, int count) {
  std::vector<CollectiveCall> calls;
  CollectiveCall call;
  call.collective = collective;
  call.groups = groups;
  for (int i = 0; i < count; ++i) {
    const unsigned changes = i == 0 ? 7u : static_cast<unsigned>(random() % 8);
    if (changes == 1 || changes == 7) draw_types(call, allowed, random);
    if (changes == 2 || changes == 7) draw_lengths(call, allowed, random);
    if (changes == 3 || changes == 7) draw_form(call, allowed, random);
    if (changes == 4 || changes == 7) draw_root(call, random);
    if (changes == 5 || changes == 7) draw_place(call, random);
    if (changes == 6) call.length_seed++;
    if (changes % 2) call.layout = static_cast<unsigned>(random() % 1000);
    call.seed = static_cast<unsigned>(random());
    calls.push_back(call);
  }
  return calls;
}

// ---- buffers

CollectivePart::CollectivePart(const CollectiveCall& call, int place)
    : call_(call),
      place_(place),
      group_(call.groups.group_of(place)),
      own_(place - call.groups.first(group_)),
      is_root_(rooted(call.collective) && place == call.root),
      in_place_(call.in_place && (!rooted(call.collective) || is_root_)) {
  is_leaf_ = !rooted(call.collective) || call.groups.remote == 0 ||
             group_ != call.groups.group_of(call.root);
  if (call.collective == Collective::kBarrier) return;
  reduces(call.collective) ? make_combining() : make_moving();
  fill(call.seed);
}

void CollectivePart::fill(unsigned seed) {
  call_.seed = seed;
  if (to_.buffer) to_.buffer->fill([](int, int64_t) { return uint8_t{0x33}; });
  if (element_)
    fill_combining();
  else
    fill_moving();
  for (Blocks* blocks : {&from_, &to_})
    if (blocks->buffer) blocks->before.emplace(*blocks->buffer);
}

void CollectivePart::make(Blocks& blocks, const std::vector<int64_t>& units,
                          const mpi::Shape& shape, bool in_order, unsigned salt) {
  blocks.shape = &shape;
  const int ranks = static_cast<int>(units.size());
  if (in_order)
    blocks.side = mpi::in_order(ranks, units[0] * shape.per_unit);
  else
    blocks.side =
        mpi::scattered(ranks, shape, call_.layout + salt + 100u * static_cast<unsigned>(own_),
                       [&](int r) { return units[static_cast<size_t>(r)]; });
  blocks.buffer.emplace(shape, blocks.side.counts, blocks.side.displacements);
}

void CollectivePart::make_moving() {
  const Groups& g = call_.groups;
  const Collective collective = call_.collective;
  const int peers = g.peers_of(group_), first = g.first(peers);
  const bool in_order = call_.form == 0;
  const mpi::Shape &out = shape_of(call_, place_, 0), &in = shape_of(call_, place_, 1);
  std::vector<int64_t> all_out, all_in;
  for (int i = first; i < first + g.size(peers); ++i) {
    all_out.push_back(units_between(call_, place_, i));
    all_in.push_back(units_between(call_, i, place_));
  }
  const std::vector<int64_t> one_out = {units_between(call_, place_, place_)};
  switch (collective) {
    case Collective::kBroadcast:
      if (is_root_)
        make(from_, one_out, out, true, 0);
      else if (is_leaf_)
        make(to_, one_out, in, true, 1);
      break;
    case Collective::kGather:
      if (is_leaf_ && !in_place_) make(from_, one_out, out, true, 0);
      if (is_root_) make(to_, all_in, in, in_order, 1);
      break;
    case Collective::kScatter:
      if (is_root_) make(from_, all_out, out, in_order, 0);
      if (is_leaf_ && !in_place_) make(to_, one_out, in, true, 1);
      break;
    case Collective::kAllgather:
      if (!in_place_) make(from_, one_out, out, true, 0);
      make(to_, all_in, in, in_order, 1);
      break;
    default:
      if (!in_place_) make(from_, all_out, out, in_order, 0);
      make(to_, all_in, in, in_order, 1);
  }
}

void CollectivePart::fill_moving() {
  if (from_.buffer) from_.buffer->fill([&](int b, int64_t k) { return sent_byte(b, k); });
  // The root's own block, or everybody's; of an all-to-all, all.
  const int blocks = in_place_ && to_.buffer ? static_cast<int>(to_.side.counts.size()) : 0;
  for (int b = 0; b < blocks; ++b)
    for (int64_t k = 0; k < to_.buffer->block_bytes(b); ++k)
      if (b == own_ || call_.collective == Collective::kAlltoall)
        to_.buffer->at(b, k) = sent_byte(b, k);
}

void CollectivePart::make_combining() {
  const Groups& g = call_.groups;
  element_ = &elements()[call_.types];
  const bool scatters = call_.collective == Collective::kReduceScatter;
  const bool is_reduce = call_.collective == Collective::kReduce;
  const int peers = g.peers_of(group_);
  int64_t all = units_of(call_, 0);
  const int64_t own = scatters ? units_of_result(call_, place_) : all;
  if (scatters) {
    all = 0;
    for (int i = g.first(peers); i < g.first(peers) + g.size(peers); ++i)
      all += units_of_result(call_, i);
    for (int i = g.first(group_); i < place_; ++i) first_ += units_of_result(call_, i);
  }
  if (is_leaf_ && !in_place_) make(from_, {all}, element_->shape, true, 0);
  if (!is_reduce || is_root_)
    make(to_, {scatters && in_place_ ? all : own}, element_->shape, true, 1);
  if (to_.buffer) combined_.resize(static_cast<size_t>(own * element_->bytes()));
  if (call_.collective == Collective::kExscan && own_ == 0) combined_.clear();
}

void CollectivePart::fill_combining() {
  Blocks& input = in_place_ ? to_ : from_;
  if (is_leaf_) input.buffer->fill([&](int b, int64_t k) { return sent_byte(b, k); });
  combine_all();
}

void CollectivePart::combine_all() {
  const Groups& g = call_.groups;
  if (combined_.empty()) return;
  const bool is_scan =
      call_.collective == Collective::kScan || call_.collective == Collective::kExscan;
  const int group = g.peers_of(group_), first = g.first(group);
  const int end = !is_scan ? first + g.size(group) : own_ + (call_.collective == Collective::kScan);
  const auto size = static_cast<size_t>(element_->bytes());
  std::vector<uint8_t> left(combined_.size());
  for (int source = end; source-- > first;) {
    std::vector<uint8_t>& to = source == end - 1 ? combined_ : left;
    for (size_t k = 0; k < to.size(); ++k)
      to[k] =
          data_byte(call_.seed, source, 0, first_ * element_->bytes() + static_cast<int64_t>(k));
    for (size_t k = 0; source < end - 1 && k < to.size(); k += size)
      element_->combine(&left[k], &combined_[k]);
  }
}

std::vector<int64_t> CollectivePart::results() const {
  const Groups& g = call_.groups;
  std::vector<int64_t> units;
  for (int i = g.first(group_); i < g.first(group_) + g.size(group_); ++i)
    units.push_back(units_of_result(call_, i));
  return units;
}

uint8_t CollectivePart::sent_byte(int block, int64_t k) const {
  const bool differs =
      call_.collective == Collective::kAlltoall || call_.collective == Collective::kScatter;
  const int target = call_.groups.first(call_.groups.peers_of(group_)) + block;
  return data_byte(call_.seed, place_, differs ? target : 0, k);
}

uint8_t CollectivePart::expected_byte(int block, int64_t k) const {
  if (element_) return combined_[static_cast<size_t>(k)];
  const bool differs =
      call_.collective == Collective::kAlltoall || call_.collective == Collective::kScatter;
  const bool is_from_root =
      call_.collective == Collective::kBroadcast || call_.collective == Collective::kScatter;
  const int source =
      is_from_root ? call_.root : call_.groups.first(call_.groups.peers_of(group_)) + block;
  return data_byte(call_.seed, source, differs ? place_ : 0, k);
}

int64_t CollectivePart::asked(int block) const {
  return element_ ? static_cast<int64_t>(combined_.size()) : to_.buffer->block_bytes(block);
}

bool CollectivePart::is_right() {
  for (int b = 0; to_.buffer && b < static_cast<int>(to_.side.counts.size()); ++b)
    for (int64_t k = 0; k < asked(b); ++k)
      if (to_.buffer->at(b, k) != expected_byte(b, k)) return false;
  return true;
}

void CollectivePart::expect_rest_untouched(const std::string& what, bool is_right) {
  if (from_.buffer) {
    Buffer expected = *from_.before;
    if (!is_right && has_one_buffer(call_.collective, call_.groups.remote == 0 ? 1 : 2))
      for (int64_t k = 0; k < expected.block_bytes(0); ++k)
        expected.at(0, k) = from_.buffer->at(0, k);
    from_.buffer->expect_equal(expected, what + ", send buffer");
  }
  if (!to_.buffer) return;
  Buffer expected = *to_.before;
  for (int b = 0; b < static_cast<int>(to_.side.counts.size()); ++b)
    for (int64_t k = 0; k < asked(b); ++k) expected.at(b, k) = to_.buffer->at(b, k);
  to_.buffer->expect_equal(expected, what + ", beside the blocks");
}

}  // namespace quadrille::net
