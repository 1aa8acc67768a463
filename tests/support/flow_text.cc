// Writes a flow as a text. A step's sends are shuffled; its local statements and receives keep their own order.
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/flows.h"

namespace quadrille {
namespace {

using Lines = std::vector<std::string>;
using Kind = FlowNode::Kind;

void append(Lines& to, const Lines& lines, const std::string& indent = "") {
  for (const std::string& line : lines) to.push_back(indent + line);
}

class Writer {
 public:
  Writer(const Flow& flow, Random& random) : flow_(flow), random_(random) {
    const bool receives_into_temporaries =
        std::ranges::any_of(flow.nodes, [&](const FlowNode& node) {
          return node.kind == Kind::kMessage && node.into < 0 &&
                 flow.chains[node.chain].buffer == Buffer::kTemporary;
        });
    knows_counts_ =
        flow.counted && (flow.parts > 1 || receives_into_temporaries || !one_in(random, 4));
    is_guarded_ = knows_counts_ && !one_in(random, 12);
    is_guarded_at_once_ =
        is_guarded_ && flow.parts == 1 && has_one_count(flow.collective) && one_in(random, 2);
    is_for_any_root_ = rooted(flow.collective) && flow.groups == 1 &&
                       (flow.commutative || !reduces(flow.collective)) && one_in(random, 2);
    factor_ = one_in(random, 3) ? 3 : 1;
    offset_ = one_in(random, 3) ? -7 : 0;
    is_lax_ = one_in(random, 30);
  }

  std::string text() {
    Lines lines = heading();
    Lines body = one_in(random_, 2) ? by_process() : by_step();
    std::string condition;
    if (rooted(flow_.collective) && !is_for_any_root_)
      condition = fmt::format("root = {}", flow_.root);
    if (is_guarded_at_once_)
      condition += std::string(condition.empty() ? "" : " and ") + "0 < m[0]";
    append(lines, condition.empty() ? body : under("if " + condition, body));
    return fmt::format("{}\n", fmt::join(lines, "\n"));
  }

 private:
  static Lines under(const std::string& head, const Lines& body) {
    Lines lines = {head};
    append(lines, body, "  ");
    return body.empty() ? Lines{} : lines;
  }

  Lines heading() {
    Lines lines = {
        fmt::format("algorithm flow for {}", purpose_of(flow_.collective, flow_.groups))};
    const bool may_claim = flow_.collective != Collective::kReduceScatter;
    if (may_claim && (flow_.fits_in_place ? !one_in(random_, 3) : one_in(random_, 12)))
      lines.push_back("in_place");
    if (flow_.commutative) lines.push_back("commutative");
    if (flow_.canonical) lines.push_back("sums canonical");
    if (knows_counts_) lines.push_back("table m = counts");
    if (knows_counts_ && flow_.groups == 2) lines.push_back("table n = remote_counts");
    int64_t blocks = 0;
    for (const FlowChain& chain : flow_.chains)
      if (chain.buffer == Buffer::kTemporary) blocks = std::max(blocks, chain.block + 1);
    if (blocks > 0) lines.push_back(fmt::format("temporary {} blocks", blocks));
    return lines;
  }

  // ---- ranks and pieces

  std::string rank_text(int64_t rank) const {
    const int64_t ranks = flow_.ranks[0];
    return is_for_any_root_
               ? fmt::format("wrap(root + {}, ranks)", (rank - flow_.root + ranks) % ranks)
               : fmt::format("{}", rank);
  }

  std::string is_process(int process) const {
    const std::string rank = fmt::format("rank = {}", rank_text(flow_.rank_of(process)));
    return flow_.groups == 1 ? rank
                             : fmt::format("group = {} and {}", flow_.group_of(process), rank);
  }

  std::string peer_text(int own, int peer) const {
    return (flow_.group_of(own) == flow_.group_of(peer) ? "" : "remote ") +
           rank_text(flow_.rank_of(peer));
  }

  // Returns the length of the value's block, as an expression that the process can evaluate.
  std::string length_text(int process, const FlowValue& value) const {
    if (has_one_count(flow_.collective)) return "m[0]";
    int source = 0;
    while (!(value.sources >> source & 1)) ++source;
    const bool scatters = flow_.collective == Collective::kReduceScatter;
    const int group =
        scatters && flow_.groups == 2 ? 1 - flow_.group_of(source) : flow_.group_of(source);
    return fmt::format("{}[{}]", group == flow_.group_of(process) ? "m" : "n",
                       scatters ? value.block : flow_.rank_of(source));
  }

  struct Bounds {
    std::string low, high;
  };
  // Returns the range of a part. Of three parts, the first and the last are equally long.
  Bounds bounds(int process, const FlowValue& value, int part) const {
    const std::string length = length_text(process, value);
    const auto cut = [&](int at) {
      if (at == 0 || at == flow_.parts) return at == 0 ? "0" : length;
      return 2 * at <= flow_.parts
                 ? fmt::format("{}*{} div {}", length, at, flow_.parts)
                 : fmt::format("{0} - {0}*{1} div {2}", length, flow_.parts - at, flow_.parts);
    };
    return {cut(part), cut(part + 1)};
  }

  std::string piece_text(int process, int number, bool may_be_whole) {
    const FlowNode& node = flow_.nodes[number];
    Buffer buffer = Buffer::kSend;
    int64_t block = node.value.block;
    int part = node.value.part;
    if (node.chain >= 0) {
      buffer = flow_.chains[node.chain].buffer;
      block = flow_.chains[node.chain].block;
      part = flow_.chains[node.chain].part;
    }
    constexpr const char* kNames[] = {"send", "recv", "temp"};
    const bool by_rank = buffer != Buffer::kTemporary &&
                         block_count(flow_.collective, buffer, flow_.place_of(process)) > 1;
    std::string text = fmt::format("{}[{}]", kNames[static_cast<int>(buffer)],
                                   by_rank ? rank_text(block) : fmt::format("{}", block));
    if (!knows_counts_ || (flow_.parts == 1 && may_be_whole && one_in(random_, 2))) return text;
    const Bounds range = bounds(process, node.value, part);
    return fmt::format("{}@{} .. {}", text, range.low, range.high);
  }

  // Puts the lines under the condition that the value is not empty, if this text has guards.
  Lines guarded(int process, const FlowValue& value, const Lines& lines) const {
    if (!is_guarded_ || is_guarded_at_once_) return lines;
    const Bounds range = bounds(process, value, value.part);
    return under(fmt::format("if {} < {}", range.low, range.high), lines);
  }

  // ---- statements

  Lines message_text(const FlowMessage& m, bool sends) {
    const int own = sends ? m.source : m.target;
    std::string head = sends ? "send " : "receive ";
    const std::string tail =
        fmt::format("{} {}", sends ? "to" : "from", peer_text(own, sends ? m.target : m.source));
    if (m.nodes.empty()) return {head + "nothing " + tail};
    const FlowNode& first = flow_.nodes[m.nodes[0]];
    if (m.sized) head += "sized ";
    if (!sends && first.into >= 0) head += first.left ? "left " : "right ";
    Lines pieces;
    for (const int number : m.nodes) {
      const FlowNode& node = flow_.nodes[number];
      const bool is_temporary = flow_.chains[node.chain].buffer == Buffer::kTemporary;
      const bool may_be_whole = sends || !is_temporary || node.into >= 0;
      const std::string piece = piece_text(own, sends ? node.from : number, may_be_whole);
      if (m.nodes.size() == 1)
        return guarded(own, node.value, {fmt::format("{}{} {}", head, piece, tail)});
      append(pieces, guarded(own, node.value, {piece}));
    }
    return under(head + tail, pieces);
  }

  Lines local_text(int number) {
    const FlowNode& node = flow_.nodes[number];
    const std::string from = piece_text(node.process, node.from, true);
    const std::string to = piece_text(node.process, number, true);
    return guarded(
        node.process, node.value,
        {node.kind == Kind::kCopy
             ? fmt::format("copy {} to {}", from, to)
             : fmt::format("reduce {} {} into {}", node.left ? "left" : "right", from, to)});
  }

  std::vector<Lines> locals(int process, int slot) {
    std::vector<Lines> all;
    for (size_t i = 0; i < flow_.nodes.size(); ++i) {
      const FlowNode& node = flow_.nodes[i];
      if (node.process == process && node.slot == slot &&
          (node.kind == Kind::kCopy || node.kind == Kind::kReduce))
        all.push_back(local_text(static_cast<int>(i)));
    }
    return all;
  }

  std::vector<Lines> messages(int process, int slot, bool sends) {
    std::vector<Lines> all;
    for (const FlowMessage& m : flow_.messages)
      if (m.slot == slot && (sends ? m.source : m.target) == process)
        all.push_back(message_text(m, sends));
    return all;
  }

  // The statements of a process in one slot. They are in a step, or outside steps if all are local.
  struct Content {
    bool in_step = true;
    Lines lines;
  };
  Content content(int process, int slot) {
    std::vector<Lines> sends = messages(process, slot, true);
    std::vector<Lines> kinds[] = {{}, locals(process, slot), messages(process, slot, false)};
    shuffle(sends, random_);
    kinds[0] = std::move(sends);
    Content result;
    result.in_step = !kinds[0].empty() || !kinds[2].empty() || one_in(random_, 2);
    const bool is_in_order = one_in(random_, 4);
    size_t next[] = {0, 0, 0};
    for (size_t left = kinds[0].size() + kinds[1].size() + kinds[2].size(); left > 0; --left) {
      size_t kind = is_in_order ? 0 : below(random_, 3);
      while (next[kind] == kinds[kind].size()) kind = (kind + 1) % 3;
      append(result.lines, kinds[kind][next[kind]++]);
    }
    return result;
  }

  // ---- steps

  int64_t key(int slot) const { return factor_ * slot + offset_; }

  // Writes a step's first line. `after` is the key of slot `awaits` or a later one; a lax writer may name an earlier.
  std::string step_text(int slot, int awaits) {
    std::string text = fmt::format("step {}", key(slot));
    if (one_in(random_, 3)) return text;
    int64_t after = awaits < 0 ? key(0) - 1 : key(awaits);
    if (one_in(random_, 3)) after += static_cast<int64_t>(below(random_, key(slot) - after));
    if (is_lax_ && one_in(random_, 3)) --after;
    return fmt::format("{} after {}", text, after);
  }

  Lines by_process() {
    Lines all;
    for (int p = 0; p < flow_.processes(); ++p) {
      Lines lines;
      for (int slot = 0; slot < flow_.slots; ++slot) {
        const Content done = content(p, slot);
        if (done.lines.empty()) continue;
        append(lines, done.in_step ? under(step_text(slot, flow_.awaits[p][slot]), done.lines)
                                   : done.lines);
      }
      append(all, under("if " + is_process(p), lines));
    }
    return all;
  }

  Lines by_step() {
    Lines all;
    for (int slot = 0; slot < flow_.slots; ++slot) {
      Lines inside, outside;
      int awaits = -1;
      for (int p = 0; p < flow_.processes(); ++p) {
        const Content done = content(p, slot);
        append(done.in_step ? inside : outside, under("if " + is_process(p), done.lines));
        if (done.in_step) awaits = std::max(awaits, flow_.awaits[p][slot]);
      }
      append(all, outside);
      append(all, under(step_text(slot, awaits), inside));
    }
    return all;
  }

  const Flow& flow_;
  Random& random_;
  bool knows_counts_, is_guarded_, is_guarded_at_once_, is_for_any_root_, is_lax_;
  int64_t factor_, offset_;
};

}  // namespace

std::string text_of(const Flow& flow, Random& random) { return Writer(flow, random).text(); }

}  // namespace quadrille
