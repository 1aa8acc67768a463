// Blocks that are forwarded have the lengths that they arrived with, so the bytes of a message follow from the messages
// before it. follow_blocks() makes all processes run without times: a message arrives when it is sent. send_lengths() then
// does to each message what runtime/execute/messages.c does. Tested by tests/simulate/lengths_test.cc.
#include "simulate/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>

#include "runtime/plan/plan.h"
#include "simulate/script.h"

namespace quadrille {
namespace {

constexpr int64_t kMostBytes = INT32_MAX;  // of a block in a file

// Appends the numbers of a line. Returns what is wrong with the line, or an empty text.
std::string read_line(std::string_view line, size_t processes, std::vector<int64_t>& into) {
  const size_t before = into.size();
  while (true) {
    const size_t start = line.find_first_not_of(", \t\r");
    if (start == std::string_view::npos) break;
    line.remove_prefix(start);
    const size_t size = std::min(line.find_first_of(", \t\r"), line.size());
    int64_t bytes = -1;
    const auto [end, error] = std::from_chars(line.data(), line.data() + size, bytes);
    if (error != std::errc() || end != line.data() + size || bytes < 0 || bytes > kMostBytes)
      return fmt::format("'{}' is not a number of bytes from 0 to {}", line.substr(0, size),
                         kMostBytes);
    into.push_back(bytes);
    line.remove_prefix(size);
  }
  if (into.size() - before == processes) return "";
  return fmt::format("it has {} numbers; the call has {} ranks", into.size() - before, processes);
}

}  // namespace

Result<BlockLengths> BlockLengths::drawn(const std::string& text, int64_t seed) {
  BlockLengths lengths;
  if (!distribution_read(text.c_str(), &lengths.distribution_))
    return Error{fmt::format(
        "'{}' is none of uniform:MOST, normal:MEAN:DEVIATION, power:EXPONENT:MOST with numbers "
        "from 0 to 2^30, an exponent that is not 1, and a MOST of a power law of 1 or more",
        text)};
  lengths.seed_ = static_cast<uint64_t>(seed);
  return lengths;
}

Result<BlockLengths> BlockLengths::read(const std::string& text, size_t processes) {
  BlockLengths lengths;
  lengths.processes_ = processes;
  lengths.matrix_.reserve(processes * processes);
  std::string_view rest = text;
  for (size_t line = 1; !rest.empty(); ++line) {
    const size_t size = std::min(rest.find('\n'), rest.size());
    if (line > processes)
      return Error{
          fmt::format("line {}: the call has {} ranks, and each has one line", line, processes)};
    const std::string wrong = read_line(rest.substr(0, size), processes, lengths.matrix_);
    if (!wrong.empty()) return Error{fmt::format("line {}: {}", line, wrong)};
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  if (lengths.matrix_.size() == processes * processes) return lengths;
  return Error{fmt::format("it has {} lines; the call has {} ranks, and each has one line",
                           lengths.matrix_.size() / processes, processes)};
}

int64_t BlockLengths::of(int64_t from, int64_t to) const {
  if (!matrix_.empty())
    return matrix_[static_cast<size_t>(from) * processes_ + static_cast<size_t>(to)];
  return distribution_.kind ? distribution_length(&distribution_, from, to, seed_) : most_;
}

namespace {

// Runs all processes without times, to find the length of each block that they forward.
class Follower {
 public:
  Follower(std::vector<Script>& all, const std::vector<Parts>& parts, const BlockLengths& lengths)
      : all_(all), parts_(parts), processes_(all.size()), in_flight_(all.size()) {
    for (size_t i = 0; i < all.size(); ++i) {
      const Parts& mine = parts[i];
      const auto self = static_cast<int64_t>(i);
      in_flight_[i].resize(all[i].sends.size());
      processes_[i].arrived.resize(all[i].receives.size());
      std::vector<int64_t>& blocks = processes_[i].blocks;
      blocks.resize(static_cast<size_t>(mine.regions));
      for (int32_t b = 0; b < mine.send_blocks; ++b)
        blocks[static_cast<size_t>(b)] = lengths.of(self, mine.first_peer + b);
      for (int32_t b = 0; b < mine.receive_blocks; ++b)
        blocks[static_cast<size_t>(mine.send_blocks) + static_cast<size_t>(b)] =
            lengths.of(mine.first_peer + b, self);
    }
  }

  // Returns false if a message has more than kLongestMessage bytes.
  bool run() {
    for (size_t i = 0; i < all_.size(); ++i) {
      ready_.push_back(i);
      while (!ready_.empty()) {
        const size_t next = ready_.back();
        ready_.pop_back();
        follow(next);
      }
    }
    return !has_too_long_;
  }

 private:
  struct Process {
    size_t turn = 0, copy = 0;
    size_t received = 0, sent = 0;              // messages
    size_t parts_received = 0, parts_sent = 0;  // of these messages
    int32_t receives_left = -1;                 // in the turn; -1: the turn has not begun
    std::vector<int64_t> blocks;                // lengths, by region
    std::vector<bool> arrived;                  // by receive
  };

  // Runs a process until it needs a message that has not been sent.
  void follow(size_t self) {
    Process& p = processes_[self];
    Script& script = all_[self];
    for (; p.turn < script.turns.size(); ++p.turn, p.receives_left = -1) {
      Turn& turn = script.turns[p.turn];
      if (p.receives_left < 0) {
        copy(p, parts_[self], turn);
        p.receives_left = turn.receives_done;
      }
      for (; p.receives_left > 0; --p.receives_left)
        if (!receive(self)) return;
      for (int32_t n = 0; n < turn.sends_posted; ++n) send(self);
    }
  }

  static void copy(Process& p, const Parts& parts, Turn& turn) {
    for (; p.copy < parts.copies.size() && static_cast<size_t>(parts.copies[p.copy].turn) == p.turn;
         ++p.copy) {
      const Parts::Copy& copy = parts.copies[p.copy];
      const int64_t bytes = p.blocks[static_cast<size_t>(copy.from)];
      p.blocks[static_cast<size_t>(copy.to)] = bytes;
      turn.copied += bytes;
    }
  }

  void send(size_t self) {
    Process& p = processes_[self];
    Post& post = all_[self].sends[p.sent];
    std::vector<int64_t>& lengths = in_flight_[self][p.sent++];
    int64_t bytes = 0;
    for (int32_t n = 0; n < post.all_parts; ++n) {
      lengths.push_back(p.blocks[static_cast<size_t>(parts_[self].sent[p.parts_sent++])]);
      bytes += lengths.back();
    }
    has_too_long_ |= bytes > kLongestMessage;
    post.bytes = bytes;
    const auto peer = static_cast<size_t>(post.peer);
    Post& there = all_[peer].receives[static_cast<size_t>(post.partner)];
    there.bytes = post.bytes;
    processes_[peer].arrived[static_cast<size_t>(post.partner)] = true;
    if (processes_[peer].received == static_cast<size_t>(post.partner)) ready_.push_back(peer);
  }

  bool receive(size_t self) {
    Process& p = processes_[self];
    if (!p.arrived[p.received]) return false;
    const Post& post = all_[self].receives[p.received];
    std::vector<int64_t> lengths;
    lengths.swap(in_flight_[static_cast<size_t>(post.peer)][static_cast<size_t>(post.partner)]);
    for (const int64_t bytes : lengths)
      p.blocks[static_cast<size_t>(parts_[self].received[p.parts_received++])] = bytes;
    ++p.received;
    return true;
  }

  std::vector<Script>& all_;
  const std::vector<Parts>& parts_;
  std::vector<Process> processes_;
  std::vector<std::vector<std::vector<int64_t>>> in_flight_;  // lengths, by sender and its send
  std::vector<size_t> ready_;
  bool has_too_long_ = false;
};

// Returns how many messages send_lengths() makes of one.
size_t messages_for(const Post& post, bool travel) {
  if (post.all_parts == 0) return 1;
  if (!travel) return post.bytes > 0 ? 1 : 0;
  return post.bytes > QD_EAGER_BYTES ? 2 : 1;
}

// Returns, for each message and for the end of the list, how many messages send_lengths() makes of those before.
std::vector<int32_t> positions(const std::vector<Post>& posts, bool travel) {
  std::vector<int32_t> before = {0};
  before.reserve(posts.size() + 1);
  for (const Post& post : posts)
    before.push_back(before.back() + static_cast<int32_t>(messages_for(post, travel)));
  return before;
}

// Replaces messages by those that send_lengths() makes of them. `there`: positions() at the other ends, by process.
void replace(std::vector<Post>& posts, bool travel,
             const std::vector<std::vector<int32_t>>& there) {
  std::vector<Post> made;
  for (Post post : posts) {
    post.partner = there[static_cast<size_t>(post.peer)][static_cast<size_t>(post.partner)];
    const size_t count = messages_for(post, travel);
    if (count == 2) {
      Post head = post;
      head.parts = head.all_parts = 0;
      head.bytes = QD_LONG_WORD * (post.all_parts + 1);
      head.kind = Kind::kLengths;
      made.push_back(head);
      ++post.partner;
      post.kind = Kind::kData;
      if (post.straight) post.parts = 0;
    } else if (travel && post.all_parts > 0) {
      post.bytes += QD_SHORT_WORD * (post.all_parts + 1);
    }
    if (count > 0) made.push_back(post);
  }
  posts = std::move(made);
}

// Counts the messages of each turn anew. `receives` and `sends` are positions().
void recount(std::vector<Turn>& turns, const std::vector<int32_t>& receives,
             const std::vector<int32_t>& sends) {
  size_t receives_done = 0, sends_done = 0, receives_posted = 0, sends_posted = 0;
  const auto take = [](const std::vector<int32_t>& before, size_t& at, int32_t& count) {
    const size_t end = at + static_cast<size_t>(count);
    count = before[end] - before[at];
    at = end;
  };
  for (Turn& turn : turns) {
    take(receives, receives_done, turn.receives_done);
    take(sends, sends_done, turn.sends_done);
    take(receives, receives_posted, turn.receives_posted);
    take(sends, sends_posted, turn.sends_posted);
  }
}

bool changes(const Script& script) {
  for (const Post& post : script.sends)
    if (script.reads_lengths || messages_for(post, false) == 0) return true;
  for (const Post& post : script.receives)
    if (script.reads_lengths || messages_for(post, false) == 0) return true;
  return false;
}

}  // namespace

bool follow_blocks(std::vector<Script>& all, const std::vector<Parts>& parts,
                   const BlockLengths& lengths) {
  return Follower(all, parts, lengths).run();
}

void send_lengths(std::vector<Script>& all) {
  if (std::ranges::none_of(all, changes)) return;
  std::vector<std::vector<int32_t>> receives, sends;
  for (const Script& script : all) {
    receives.push_back(positions(script.receives, script.reads_lengths));
    sends.push_back(positions(script.sends, script.reads_lengths));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    recount(all[i].turns, receives[i], sends[i]);
    replace(all[i].receives, all[i].reads_lengths, sends);
    replace(all[i].sends, all[i].reads_lengths, receives);
  }
}

}  // namespace quadrille
