// Both ends of every message are recorded and sorted. The schedule is correct if each send has its receive at the same
// key, keys increase at every rank, and every pair of ranks occurs once.
#include <algorithm>
#include <tuple>
#include <vector>

#include "tests/support/oracle.h"
#include "tests/support/oracle_log.h"
#include "tests/support/plain_walk.h"

namespace quadrille {
namespace {

// One end of a message: key, sender, receiver, and whether a block travels.
using End = std::tuple<int64_t, int64_t, int64_t, bool>;

class Writer {
 public:
  std::vector<End> sends, receives;
  int64_t rank = 0;
  std::string wrong;

  void start(int64_t of) {
    rank = of;
    copies.push_back(0);
    key_ = INT64_MIN;
  }
  void step(int64_t key, std::optional<int64_t> after) {
    if (key <= key_) wrong = "keys do not increase";
    if (after && *after != -1) wrong = "not direct";
    key_ = key;
  }
  void step_end() {}
  void message(const MessageHead& head) {
    head_ = head;
    if (head.peer == rank) wrong = "a message to itself";
    block_ = -1;
  }
  void piece(const PieceValue& piece) {
    block_ = piece.block;
    if (block_ != head_.peer) wrong = "something else at the end";
  }
  void message_end() {
    if (head_.direction == Direction::kSend)
      sends.emplace_back(key_, rank, head_.peer, block_ >= 0);
    else
      receives.emplace_back(key_, head_.peer, rank, block_ >= 0);
  }
  void copy(const PieceValue& from, const PieceValue& to, bool) {
    if (from.block != rank || to.block != rank) wrong = "something else at the end";
    ++copies.back();
  }
  void reduce(Side, const PieceValue&, const PieceValue&, bool) { wrong = "not direct"; }

  std::vector<int> copies;  // by rank

 private:
  int64_t key_ = INT64_MIN, block_ = -1;
  MessageHead head_{};
};

std::string ask_pairs(Writer& writer, int64_t ranks) {
  std::sort(writer.sends.begin(), writer.sends.end());
  std::sort(writer.receives.begin(), writer.receives.end());
  if (writer.sends != writer.receives) return "a message without its other end";
  std::vector<std::pair<int64_t, int64_t>> pairs;
  const End* last = nullptr;
  for (const End& end : writer.sends) {
    const auto& [key, source, target, block] = end;
    if (last && std::get<0>(*last) == key && std::get<1>(*last) == source &&
        std::get<2>(*last) == target)
      return "two messages one way";
    last = &end;
    if (block) pairs.emplace_back(source, target);
  }
  std::sort(pairs.begin(), pairs.end());
  if (std::adjacent_find(pairs.begin(), pairs.end()) != pairs.end()) return "written again";
  if (static_cast<int64_t>(pairs.size()) != ranks * (ranks - 1)) return "missing at the end";
  for (int64_t rank = 0; rank < ranks; ++rank)
    if (writer.copies[rank] != 1) return "missing at the end";
  return "";
}

std::string ask_port(const Writer& writer, const Program& program, const Job& job) {
  if (program.port.kind == PortKind::kNone) return "";
  std::vector<int64_t> unit;
  const std::vector<int64_t> sizes = job.groups[0].sizes();
  for (size_t node = 0; node < sizes.size(); ++node)
    for (int64_t i = 0; i < sizes[node]; ++i)
      unit.push_back(program.port.per == PortScope::kNode ? node : unit.size());
  // The key and the partner of a unit's last send or receive, and how many it has at that key. Sends are sorted by key.
  struct Use {
    int64_t key = INT64_MIN, unit = -1, number = 0;
    int64_t at(int64_t now) const { return key == now ? number : 0; }
  };
  std::vector<Use> to(unit.size()), from(unit.size());
  for (const auto& [key, source, target, block] : writer.sends) {
    const int64_t out = unit[source], in = unit[target];
    if (out == in) continue;
    to[out] = {key, in, to[out].at(key) + 1};
    from[in] = {key, out, from[in].at(key) + 1};
    if (std::max(to[out].number, from[in].number) > oracle::ports_of(program, job))
      return "a port used twice";
    if (program.port.kind != PortKind::kExchange) continue;
    if ((from[out].key == key && from[out].unit != in) || (to[in].key == key && to[in].unit != out))
      return "a port used for two partners";
  }
  return "";
}

// A block may overwrite one that is to be sent, but not before that is sent.
std::string ask_in_place(const Writer& writer, const Program& program, int64_t ranks) {
  if (!program.in_place) return "";
  std::vector<int64_t> keys(ranks * ranks);  // by sender and receiver
  for (const auto& [key, source, target, block] : writer.sends)
    if (block) keys[source * ranks + target] = key;
  for (const auto& [key, source, target, block] : writer.sends)
    if (block && keys[target * ranks + source] > key) return "overwritten before it is sent";
  return "";
}

}  // namespace

std::optional<std::string> what_is_wrong_directly(const Program& program, const Job& job) {
  const Binding binding = *bind(program, job, {}, 0);
  Writer writer;
  for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
    writer.start(rank);
    const WalkEnd end = PlainWalk(program, binding, rank, writer).run(int64_t{1} << 24);
    if (end == WalkEnd::kUndefined) return "undefined";
    if (end == WalkEnd::kTooLong) return "too long";
  }
  std::string wrong = writer.wrong;
  if (wrong.empty()) wrong = ask_pairs(writer, binding.place.ranks);
  if (wrong.empty()) wrong = ask_port(writer, program, job);
  if (wrong.empty()) wrong = ask_in_place(writer, program, binding.place.ranks);
  return wrong.empty() ? std::nullopt : std::optional(wrong);
}

}  // namespace quadrille
