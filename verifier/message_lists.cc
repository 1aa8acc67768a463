// Tested by tests/verifier/strides_test.cc.
#include "verifier/message_lists.h"

#include <fmt/core.h>

#include <algorithm>

#include "verifier/violations.h"

namespace quadrille::verifier {
namespace {

// A place in a list.
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

// How many are the same where the first are: all that both have where their strides are the same.
int64_t same(const Reader& a, const Reader& b) {
  const MessageBatch &one = a.batch(), &other = b.batch();
  const bool alike = one.key.by == other.key.by && one.block.by == other.block.by &&
                     one.low.by == other.low.by && one.length == other.length;
  return alike ? std::min(a.left(), b.left()) : 1;
}

}  // namespace

// Blocks that follow one another in a message become one batch.
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
  if (touched_.empty() || touched_.back() != id) touched_.push_back(id);
  Pair& pair = pairs_[id];
  return sends ? pair.sent : pair.received;
}

std::optional<Violation> Pairs::settle(int64_t rank) {
  std::optional<Violation> violation;
  for (const int64_t id : touched_) {
    const auto entry = pairs_.find(id);
    if (violation || entry == pairs_.end() || std::max(id / ranks_, id % ranks_) > rank) continue;
    violation = compare(id, entry->second);
    pairs_.erase(entry);
  }
  touched_.clear();
  return violation;
}

// A rank that has nothing to say of a pair was walked, or will be, without touching it.
std::optional<Violation> Pairs::settle_rest() const {
  for (const auto& [id, pair] : pairs_)
    if (std::optional<Violation> violation = compare(id, pair)) return violation;
  return std::nullopt;
}

namespace {

std::string text(const MessagePiece& piece) {
  if (piece.length == MessageBatch::kNothing) return "nothing";
  return fmt::format("{}..{} of block {}", piece.low, piece.low + piece.length, piece.block);
}

}  // namespace

std::optional<Violation> Pairs::compare(int64_t id, const Pair& pair) const {
  const auto difference = MessageList::compare(pair.sent, pair.received, lengths_);
  if (!difference) return std::nullopt;
  const auto& [sent, received] = *difference;
  const int64_t source = id / ranks_, target = id % ranks_;
  if (!received || (sent && sent->key < received->key))
    return send_without_receive(sent->key, source, target);
  if (!sent || received->key < sent->key)
    return receive_without_send(received->key, source, target);
  const bool place = sent->begins == received->begins && sent->length == received->length;
  return Violation{place ? Property::kPlace : Property::kLength,
                   sent->key,
                   {{0, source}, {0, target}},
                   fmt::format("rank {} sends {}, rank {} receives {}", source, text(*sent), target,
                               text(*received))};
}

}  // namespace quadrille::verifier
