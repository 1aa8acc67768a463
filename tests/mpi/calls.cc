#include "tests/mpi/calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "tests/mpi/handles.h"

namespace quadrille::mpi {
namespace {

// Blocks at fixed places have at most this many units: more would not fit between two places.
constexpr int64_t kMostAtFixedPlaces = 24;

// Returns whether the call moves units of 13 bytes with several basic types, instead of 8 bytes of ints.
bool is_mixed(const CollectiveCall& call) { return call.types % 5 == 4; }

int64_t unit_bytes(const CollectiveCall& call) {
  if (reduces(call.collective)) return elements()[call.types].shape.bytes();
  return is_mixed(call) ? 13 : 8;
}

// chosen() returns a place that the call's seed draws, next_to() the place after one.
int chosen(const CollectiveCall& call) {
  return static_cast<int>(call.length_seed) % call.groups.all();
}
int next_to(const CollectiveCall& call, int place) { return (place + 1) % call.groups.all(); }

// Returns the number of units in the block from one place to another.
int64_t units_of(const CollectiveCall& call, int from, int to, int salt = 0) {
  constexpr int64_t kEdges[] = {682, 683, 1024, 1025, 2048, 2049};
  const uint64_t drawn = mix(call.length_seed * 1000 + static_cast<unsigned>(64 * from + to) +
                             100000u * static_cast<unsigned>(salt));
  const int64_t some = static_cast<int64_t>(drawn % 7);
  switch (call.lengths) {
    case LengthKind::kNone: return 0;
    case LengthKind::kOne: return 1;
    case LengthKind::kEqual: return 2 + some;
    case LengthKind::kUneven: return drawn % 3 == 0 ? 0 : some + 1;
    case LengthKind::kSparse: return drawn % 3 == 0 ? some + 1 : 0;
    case LengthKind::kFirst: return from == 0 ? 7 : static_cast<int64_t>(drawn % 2);
    case LengthKind::kOneWay: return from < to ? some + 1 : 0;
    case LengthKind::kLone: return from == chosen(call) && to == next_to(call, from) ? 900 : 0;
    case LengthKind::kSpared:
      return from == chosen(call) || next_to(call, to) == chosen(call) ? 0 : some + 1;
    case LengthKind::kSkewed: return from % 8 * (from % 8) * 17 / (to + 1);
    case LengthKind::kEdge: return kEdges[drawn % 6] * 8 / unit_bytes(call);
    case LengthKind::kLong: return drawn % 3 == 0 ? some : (16500 + 500 * some) / unit_bytes(call);
    case LengthKind::kVeryLong: return drawn % 5 == 0 ? some : (150000 + some) / unit_bytes(call);
    default: return 1200000 / unit_bytes(call);
  }
}

// Returns the number of units in every block of a call, or of a group, whose blocks have one length.
int64_t units_of_all(const CollectiveCall& call, int group = 0) {
  return units_of(call, chosen(call), next_to(call, chosen(call)), group);
}

// Returns the number of units that `target` gets from a reduce-scatter. Both groups get the same total.
int64_t units_of_result(const CollectiveCall& call, int target) {
  const Groups& g = call.groups;
  const int group = g.group_of(target), size = g.size(group), own = target - g.first(group);
  const int gcd = std::gcd(g.ranks, g.remote);
  if (call.form == 0 || call.lengths == LengthKind::kEqual)
    return units_of_all(call) * (g.remote > 0 ? g.size(1 - group) / gcd : 1);
  if (g.remote == 0) return units_of(call, chosen(call), target);
  const int64_t total = units_of_all(call) * 3;
  std::vector<int64_t> cuts = {0, total};
  for (int i = 1; i < size; ++i)
    cuts.push_back(static_cast<int64_t>(
        mix(call.length_seed + 100u * static_cast<unsigned>(group) + static_cast<unsigned>(i)) %
        static_cast<uint64_t>(total + 1)));
  std::ranges::sort(cuts);
  return cuts[static_cast<size_t>(own) + 1] - cuts[static_cast<size_t>(own)];
}

int64_t units_between(const CollectiveCall& call, int source, int target) {
  const int group = call.groups.group_of(source);
  const bool is_equal = call.form == 0 || call.lengths == LengthKind::kEqual;
  switch (call.collective) {
    case Collective::kReduceScatter: return units_of_result(call, target);
    case Collective::kAlltoall:
      if (is_equal) return units_of_all(call, group);
      // In place, a block is as long as the block that overwrites it.
      if (call.in_place) return units_of(call, std::min(source, target), std::max(source, target));
      return units_of(call, source, target);
    case Collective::kAllgather:
      return is_equal ? units_of_all(call, group)
                      : units_of(call, source, next_to(call, chosen(call)));
    case Collective::kGather:
      return is_equal ? units_of_all(call) : units_of(call, source, next_to(call, chosen(call)));
    case Collective::kScatter:
      return is_equal ? units_of_all(call) : units_of(call, chosen(call), target);
    default: return units_of_all(call);
  }
}

// A third of the calls have plain ints. Long blocks never have the last shape, the columns: they would overlap.
const Shape& shape_of(const CollectiveCall& call, int place, unsigned salt) {
  if (call.types % 3 == 0 && !is_mixed(call)) return integer_shapes()[0];
  const std::vector<Shape>& shapes = is_mixed(call) ? mixed_shapes() : integer_shapes();
  const bool is_few = call.lengths < LengthKind::kLone && call.types % 16 == 1;
  const size_t some = is_mixed(call) || is_few ? shapes.size() : shapes.size() - 1;
  const size_t first = call.types >= kUnitsAreElements && !is_mixed(call) ? 1 : 0;
  return shapes[first +
                mix(call.types * 64 + 2u * static_cast<unsigned>(place) + salt) % (some - first)];
}

void draw_types(CollectiveCall& call, const Allowed& allowed, std::mt19937& random) {
  call.types = static_cast<unsigned>(random() % 1000);
  if (!reduces(call.collective)) return;
  do {
    call.types = static_cast<unsigned>(random() % elements().size());
  } while (allowed.commutative && !elements()[call.types].commutes);
}

void draw_lengths(CollectiveCall& call, const Allowed& allowed, std::mt19937& random) {
  constexpr LengthKind kDrawn[] = {
      LengthKind::kNone,   LengthKind::kOne,    LengthKind::kEqual,  LengthKind::kEqual,
      LengthKind::kUneven, LengthKind::kUneven, LengthKind::kUneven, LengthKind::kSparse,
      LengthKind::kFirst,  LengthKind::kOneWay, LengthKind::kLone,   LengthKind::kSpared,
      LengthKind::kSkewed, LengthKind::kEdge,   LengthKind::kLong,   LengthKind::kLong};
  call.lengths = kDrawn[random() % std::size(kDrawn)];
  if (call.lengths >= LengthKind::kEdge && allowed.is_large_rare && random() % 4 != 0)
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

bool has_types_of_their_own(const CollectiveCall& call) {
  return call.collective == Collective::kAlltoall && call.form > 0 && call.layout % 3 == 0;
}

bool can_be_in_place(Collective collective, const Groups& groups) {
  return groups.remote == 0 && collective != Collective::kBroadcast &&
         collective != Collective::kBarrier;
}

int64_t bytes_between(const CollectiveCall& call, int source, int target) {
  return unit_bytes(call) * units_between(call, source, target);
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
  const char* const names[] = {"none",  "one",     "equal",     "uneven", "sparse",
                               "first", "one way", "lone",      "spared", "skewed",
                               "edge",  "long",    "very long", "huge"};
  return fmt::format("{}, {} + {} ranks, lengths {} by {}, form {}, root {}{}, types {}, seed {}",
                     name_of(collective), groups.ranks, groups.remote,
                     names[static_cast<int>(lengths)], length_seed, form, root,
                     in_place ? ", in place" : "", types, seed);
}

std::vector<CollectiveCall> each_function(const Groups& groups) {
  std::vector<CollectiveCall> calls;
  for (int i = 0; i < kCollectiveCount; ++i) {
    CollectiveCall call{static_cast<Collective>(i), groups, LengthKind::kOne};
    if (groups.remote > 0 && !exists_between_groups(call.collective)) continue;
    calls.push_back(call);
    call.form = 1;
    call.layout = groups.all() == 1 ? kFixedPlaces : 1;
    if (blocks_may_differ(call.collective)) calls.push_back(call);
    if (groups.all() > 1) call.layout = 3;
    if (has_types_of_their_own(call)) calls.push_back(call);
  }
  return calls;
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

// ---- Buffers

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
  if (to_.buffer) to_.buffer->spoil();
  if (element_)
    fill_combining();
  else
    fill_moving();
  for (Blocks* blocks : {&from_, &to_})
    if (blocks->buffer) blocks->before.emplace(*blocks->buffer);
}

void CollectivePart::make(Blocks& blocks, const std::vector<int64_t>& units, unsigned salt) {
  const bool has_types = has_types_of_their_own(call_);
  std::vector<const Shape*> shapes;
  for (unsigned b = 0; b < units.size(); ++b)
    shapes.push_back(&shape_of(call_, place_, salt + (has_types ? 4 * (b + 1) : 0)));
  if (call_.form == 0 || call_.layout == kFixedPlaces)
    blocks.layout = in_order(*shapes[0], units,
                             call_.form == 0 ? units[0] * shapes[0]->per_unit : kMostAtFixedPlaces);
  else
    blocks.layout =
        scattered(shapes, units, call_.layout + salt + 100u * static_cast<unsigned>(own_));
  blocks.buffer.emplace(blocks.layout);
}

void CollectivePart::make(Blocks& blocks, int64_t units, const Shape& shape) {
  blocks.layout = in_order(shape, {units}, units);
  blocks.buffer.emplace(blocks.layout);
}

void CollectivePart::make_moving() {
  const Groups& g = call_.groups;
  const int peers = g.peers_of(group_), first = g.first(peers);
  std::vector<int64_t> all_out, all_in;
  for (int i = first; i < first + g.size(peers); ++i) {
    all_out.push_back(units_between(call_, place_, i));
    all_in.push_back(units_between(call_, i, place_));
  }
  if (place_ == call_.narrow)
    all_in[static_cast<size_t>(next_to(call_, place_) - first)] = call_.narrow_units;
  const int64_t one = units_between(call_, place_, place_);
  const Shape &out = shape_of(call_, place_, 0), &in = shape_of(call_, place_, 1);
  switch (call_.collective) {
    case Collective::kBroadcast:
      if (is_root_)
        make(from_, one, out);
      else if (is_leaf_)
        make(to_, one, in);
      break;
    case Collective::kGather:
      if (is_leaf_ && !in_place_) make(from_, one, out);
      if (is_root_) make(to_, all_in, 1);
      break;
    case Collective::kScatter:
      if (is_root_) make(from_, all_out, 0);
      if (is_leaf_ && !in_place_) make(to_, one, in);
      break;
    case Collective::kAllgather:
      if (!in_place_) make(from_, one, out);
      make(to_, all_in, 1);
      break;
    default:
      if (!in_place_) make(from_, all_out, 0);
      make(to_, all_in, 1);
  }
}

void CollectivePart::fill_moving() {
  if (from_.buffer) from_.buffer->fill([&](int b) { return sent(b); });
  // In place, an all-to-all fills all blocks. Other collectives fill one: the root's, or each rank's own.
  const int blocks = in_place_ && to_.buffer ? to_.buffer->blocks() : 0;
  for (int b = 0; b < blocks; ++b)
    if (b == own_ || call_.collective == Collective::kAlltoall) to_.buffer->fill(b, sent(b));
}

void CollectivePart::make_combining() {
  const Groups& g = call_.groups;
  element_ = &elements()[call_.types];
  const bool scatters = call_.collective == Collective::kReduceScatter;
  const bool is_reduce = call_.collective == Collective::kReduce;
  const int peers = g.peers_of(group_);
  int64_t all = units_of_all(call_);
  const int64_t own = scatters ? units_of_result(call_, place_) : all;
  if (scatters) {
    all = 0;
    for (int i = g.first(peers); i < g.first(peers) + g.size(peers); ++i)
      all += units_of_result(call_, i);
    for (int i = g.first(group_); i < place_; ++i) first_ += units_of_result(call_, i);
  }
  if (is_leaf_ && !in_place_) make(from_, all, element_->shape);
  if (!is_reduce || is_root_) make(to_, scatters && in_place_ ? all : own, element_->shape);
  if (to_.buffer) combined_.resize(static_cast<size_t>(own * element_->shape.bytes()));
  if (call_.collective == Collective::kExscan && own_ == 0) combined_.clear();
}

void CollectivePart::fill_combining() {
  Blocks& input = in_place_ ? to_ : from_;
  if (is_leaf_) input.buffer->fill([&](int b) { return sent(b); });
  combine_all();
}

void CollectivePart::combine_all() {
  const Groups& g = call_.groups;
  if (combined_.empty()) return;
  const bool is_scan =
      call_.collective == Collective::kScan || call_.collective == Collective::kExscan;
  const int group = g.peers_of(group_), first = g.first(group);
  const int end = !is_scan ? first + g.size(group) : own_ + (call_.collective == Collective::kScan);
  const auto size = static_cast<size_t>(element_->shape.bytes());
  std::vector<uint8_t> left(combined_.size());
  for (int source = end; source-- > first;) {
    std::vector<uint8_t>& to = source == end - 1 ? combined_ : left;
    const Contents contents(call_.seed, source, 0);
    const size_t before = static_cast<size_t>(first_) * size;
    for (size_t k = 0; k < to.size(); ++k) to[k] = contents[before + k];
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

Contents CollectivePart::sent(int block) const {
  const bool differs =
      call_.collective == Collective::kAlltoall || call_.collective == Collective::kScatter;
  const int target = call_.groups.first(call_.groups.peers_of(group_)) + block;
  return {call_.seed, place_, differs ? target : 0};
}

Contents CollectivePart::moved(int block) const {
  const bool differs =
      call_.collective == Collective::kAlltoall || call_.collective == Collective::kScatter;
  const bool is_from_root =
      call_.collective == Collective::kBroadcast || call_.collective == Collective::kScatter;
  const int source =
      is_from_root ? call_.root : call_.groups.first(call_.groups.peers_of(group_)) + block;
  return {call_.seed, source, differs ? place_ : 0};
}

int64_t CollectivePart::asked(int block) const {
  return element_ ? static_cast<int64_t>(combined_.size()) : to_.buffer->block_bytes(block);
}

bool CollectivePart::is_right() {
  bool right = true;
  const auto expect = [&](int block, const auto& contents) {
    to_.buffer->each(block, asked(block),
                     [&](uint8_t at, size_t k) { right &= at == contents[k]; });
  };
  for (int b = 0; to_.buffer && b < to_.buffer->blocks(); ++b)
    element_ ? expect(b, combined_) : expect(b, moved(b));
  return right;
}

void CollectivePart::expect_rest_untouched(const std::string& what, bool is_right) {
  if (from_.buffer) {
    Buffer expected = *from_.before;
    if (!is_right && has_one_buffer(call_.collective, call_.groups.remote == 0 ? 1 : 2))
      expected.take(*from_.buffer, 0, expected.block_bytes(0));
    from_.buffer->expect_equal(expected, what + ", send buffer");
  }
  if (!to_.buffer) return;
  Buffer expected = *to_.before;
  // MPI's own functions may write there where the result leaves room.
  const bool leaves_room =
      call_.collective == Collective::kExscan || call_.collective == Collective::kReduceScatter;
  for (int b = 0; b < to_.buffer->blocks(); ++b)
    expected.take(*to_.buffer, b,
                  is_plain() && leaves_room ? to_.buffer->block_bytes(b) : asked(b));
  to_.buffer->expect_equal(expected, what + ", beside the blocks");
}

void expect_right(const CollectiveCall& call, int place, quadrille_schedule schedule, MPI_Comm comm,
                  int& entered, const std::string& what) {
  CollectivePart part(call, place);
  EXPECT_EQ(part.run(schedule, comm, entered), MPI_SUCCESS) << what;
  EXPECT_TRUE(part.is_right()) << what;
  part.expect_rest_untouched(what);
}

Member of_one_group(MPI_Comm comm) { return {comm, {ranks_of(comm), 0}, rank_in(comm)}; }

void expect_right(const CollectiveCall& call, const Member& at, const std::string& what) {
  int all_but_this = call.groups.all() - 1;
  expect_right(call, at.place, QUADRILLE_SCHEDULE_NULL, at.comm, all_but_this, what);
}

void expect_works(quadrille_schedule schedule, MPI_Comm comm, unsigned seed) {
  const int rank = rank_in(comm);
  int entered = 0;
  CollectiveCall call;
  call.collective = collective_named(info_of(schedule).collective).value();
  call.groups.ranks = ranks_of(comm);
  call.form = static_cast<int>(seed % 3);
  call.lengths = seed == 0 ? LengthKind::kEqual : LengthKind::kUneven;
  call.length_seed = call.layout = call.seed = seed;
  expect_right(call, rank, schedule, comm, entered, call.text() + ", rank " + std::to_string(rank));
}

}  // namespace quadrille::mpi
