// Tested by tests/verifier/strides_test.cc against lists that keep every item.
#include "verifier/strides.h"

#include <fmt/core.h>

#include <cstdlib>

namespace quadrille::verifier {
namespace {

// Reads the pieces of a list in order.
class Reader {
 public:
  Reader(const std::vector<MessageBatch>& list, const std::vector<int64_t>& lengths)
      : at_(list.data()), end_(list.data() + list.size()), lengths_(lengths) {}

  bool done() const { return at_ == end_; }
  const MessageBatch& batch() const { return *at_; }
  int64_t left() const { return at_->count - skipped_; }

  MessagePiece first() const {
    const int64_t block = at_->block.at + skipped_ * at_->block.by;
    const int64_t length = at_->length == MessageBatch::kWhole ? lengths_[block] : at_->length;
    return {at_->key.at + skipped_ * at_->key.by, block, at_->low.at + skipped_ * at_->low.by,
            length, skipped_ == 0 ? at_->begins : at_->key.by != 0};
  }
  void skip(int64_t count) {
    skipped_ += count;
    if (skipped_ < at_->count) return;
    ++at_;
    skipped_ = 0;
  }

 private:
  const MessageBatch* at_;
  const MessageBatch* end_;
  int64_t skipped_ = 0;
  const std::vector<int64_t>& lengths_;
};

std::optional<MessagePiece> first_of(const Reader& reader) {
  if (reader.done()) return std::nullopt;
  return reader.first();
}

// Returns how many pieces are surely equal if the first are. With equal strides these are all that both batches have.
int64_t same(const Reader& a, const Reader& b) {
  const MessageBatch &one = a.batch(), &other = b.batch();
  const bool alike = one.key.by == other.key.by && one.block.by == other.block.by &&
                     one.low.by == other.low.by && one.length == other.length;
  return alike ? std::min(a.left(), b.left()) : 1;
}

std::string text(const MessagePiece& piece) {
  if (piece.length == MessageBatch::kNothing) return "nothing";
  return fmt::format("{}..{} of block {}", piece.low, piece.low + piece.length, piece.block);
}

}  // namespace

void HeldRanges::clear() {
  std::fill(blocks_.begin(), blocks_.end(), Block{});
  runs_.clear();
}

// Returns whether `more` continues the strides of the run. A run of one tile takes its strides from `more`.
bool HeldRanges::continues(const Tiles& run, const Tiles& more) {
  if (run.length != more.length) return false;
  const StridedBatch::Strided low{more.low.at - run.low.last(run.count), more.low.by};
  const StridedBatch::Strided key{more.key.at - run.key.last(run.count), more.key.by};
  if (low.at != run.length && low.at != -run.length) return false;
  return (run.count == 1 || (low.at == run.low.by && key.at == run.key.by)) &&
         (more.count == 1 || (low.at == low.by && key.at == key.by));
}

HeldRanges::Arrival HeldRanges::arrive(int64_t owner, const Tiles& tiles) {
  if (tiles.count > 1 && tiles.low.by != tiles.length && tiles.low.by != -tiles.length)
    return std::abs(tiles.low.by) < tiles.length ? Arrival::kAgain : Arrival::kUnclear;
  const auto [first, last] = std::minmax({tiles.low.at, tiles.low.last(tiles.count)});
  const int64_t low = first, high = last + tiles.length;
  Block& block = blocks_[owner];
  if (block.first < 0) {
    block.low = low;
    block.high = high;
  } else {
    if (low < block.high && block.low < high) return Arrival::kAgain;
    if (high != block.low && low != block.high) return Arrival::kUnclear;
    block.low = std::min(block.low, low);
    block.high = std::max(block.high, high);
    Tiles& run = runs_[block.last].tiles;
    if (continues(run, tiles)) {
      run.low.by = tiles.low.at - run.low.last(run.count);
      run.key.by = tiles.key.at - run.key.last(run.count);
      run.count += tiles.count;
      return Arrival::kNew;
    }
    runs_[block.last].next = static_cast<int32_t>(runs_.size());
  }
  if (block.first < 0) block.first = static_cast<int32_t>(runs_.size());
  block.last = static_cast<int32_t>(runs_.size());
  runs_.push_back({tiles, -1});
  return Arrival::kNew;
}

// The tile that arrived last decides, among those that overlap the range.
HeldRanges::Held HeldRanges::ask_one(const Block& block, int64_t low, int64_t high, int64_t key,
                                     int64_t after) const {
  if (block.first < 0 || low < block.low || block.high < high) return Held::kNo;
  int64_t latest = INT64_MIN;
  for (int32_t i = block.first; i >= 0; i = runs_[i].next) {
    const Tiles& run = runs_[i].tiles;
    // The first and the last tile, from the left, that the range overlaps.
    const int64_t left = std::min(run.low.at, run.low.last(run.count));
    const int64_t from = std::max<int64_t>(0, low - left) / run.length;
    const int64_t to = std::min(run.count, (high - left + run.length - 1) / run.length) - 1;
    if (high <= left || to < from) continue;
    // Keys increase along a run.
    latest =
        std::max(latest, run.key.at + run.key.by * (run.low.by < 0 ? run.count - 1 - from : to));
  }
  return latest >= key ? Held::kNo : latest > after ? Held::kInFlight : Held::kSettled;
}

HeldRanges::Held HeldRanges::ask(int64_t owner, const Tiles& tiles, const Settled& settled) const {
  const Block& block = blocks_[owner];
  for (int64_t t = 0; t < tiles.count;) {
    const int64_t low = tiles.low.at + t * tiles.low.by, key = tiles.key.at + t * tiles.key.by;
    const int64_t after = settled.after.at + t * settled.after.by;
    // If tiles of a run are sent in the order of arrival, the first and the last decide for all.
    int64_t together = 0;
    for (int32_t i = block.first; i >= 0 && together == 0; i = runs_[i].next) {
      const Tiles& run = runs_[i].tiles;
      if (run.count < 2 || run.length != tiles.length || run.low.by != tiles.low.by) continue;
      const int64_t place = (low - run.low.at) / run.low.by;
      if (place < 0 || place >= run.count || run.low.at + place * run.low.by != low) continue;
      together = std::min(run.count - place, tiles.count - t);
      for (const int64_t at : {int64_t{0}, together - 1}) {
        const int64_t came = run.key.at + (place + at) * run.key.by;
        if (came > after + at * settled.after.by || came >= key + at * tiles.key.by) together = 0;
      }
    }
    if (together == 0) {
      const Held held =
          ask_one(block, low, low + tiles.length, key, std::max(after, settled.epoch));
      if (held != Held::kSettled) return held;
      together = 1;
    }
    t += together;
  }
  return Held::kSettled;
}

// Consecutive blocks in a message become one batch.
void MessageList::add(const MessageBatch& more) {
  if (!more.begins && more.count == 1 && !list_.empty()) {
    MessageBatch& last = list_.back();
    if (last.key.by == 0 && last.length == MessageBatch::kWhole &&
        more.length == MessageBatch::kWhole && more.block.at == last.block.at + last.count &&
        (last.count == 1 || last.block.by == 1)) {
      last.block.by = 1;
      ++last.count;
      return;
    }
  }
  list_.push_back(more);
}

std::optional<MessageList::Difference> MessageList::compare(const MessageList& sent,
                                                            const MessageList& received,
                                                            const std::vector<int64_t>& lengths) {
  Reader a(sent.list_, lengths), b(received.list_, lengths);
  while (!a.done() && !b.done()) {
    if (a.first() != b.first()) return Difference{a.first(), b.first()};
    const int64_t count = same(a, b);
    a.skip(count);
    b.skip(count);
  }
  if (a.done() && b.done()) return std::nullopt;
  return Difference{first_of(a), first_of(b)};
}

MessageList& Pairs::at(int64_t rank, int64_t peer, Direction direction) {
  const bool sends = direction == Direction::kSend;
  const int64_t id = sends ? rank * ranks_ + peer : peer * ranks_ + rank;
  if (accessed_.empty() || accessed_.back() != id) accessed_.push_back(id);
  Pair& pair = pairs_[id];
  return sends ? pair.sent : pair.received;
}

std::optional<Violation> Pairs::settle(int64_t rank) {
  std::optional<Violation> violation;
  for (const int64_t id : accessed_) {
    const auto entry = pairs_.find(id);
    if (violation || entry == pairs_.end() || std::max(id / ranks_, id % ranks_) > rank) continue;
    violation = compare(id, entry->second);
    pairs_.erase(entry);
  }
  accessed_.clear();
  return violation;
}

// A pair that is left has messages at only one of its ranks.
std::optional<Violation> Pairs::settle_rest() const {
  for (const auto& [id, pair] : pairs_)
    if (std::optional<Violation> violation = compare(id, pair)) return violation;
  return std::nullopt;
}

std::optional<Violation> Pairs::compare(int64_t id, const Pair& pair) const {
  const auto difference = MessageList::compare(pair.sent, pair.received, lengths_);
  if (!difference) return std::nullopt;
  const auto& [sent, received] = *difference;
  const int64_t source = id / ranks_, target = id % ranks_;
  if (!received || (sent && sent->key < received->key))
    return violation_of(processes_, kSendWithoutReceive, sent->key, {source, target},
                        Named{target});
  if (!sent || received->key < sent->key)
    return violation_of(processes_, kReceiveWithoutSend, received->key, {target, source},
                        Named{source});
  const bool place = sent->begins == received->begins && sent->length == received->length;
  return violation_of(
      processes_, place ? Property::kPlace : Property::kLength, sent->key, {source, target},
      fmt::format("sends {}, rank {} receives {}", text(*sent), target, text(*received)));
}

}  // namespace quadrille::verifier
