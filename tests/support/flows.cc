// The data that the collective requires is made backwards. A value is copied, received or combined from other values,
// which are made first. Then each copy, reduction and message gets a step, and each value a place.
// tests/mutation/random_test.cc counts the correct flows.
#include "tests/support/flows.h"

#include <algorithm>
#include <bit>

namespace quadrille {
namespace {

constexpr int kDeep = 3;  // how deep hops and sums are nested

int64_t bit(int process) { return int64_t{1} << process; }

class Drawer {
 public:
  explicit Drawer(Random& random) : random_(random) {}

  Flow draw() {
    draw_shape();
    if (flow_.collective == Collective::kBarrier) {
      draw_tokens();
    } else {
      draw_values();
      draw_slots();
      draw_places();
    }
    find_dependencies();
    return std::move(flow_);
  }

 private:
  using Kind = FlowNode::Kind;

  void draw_shape() {
    flow_.collective = static_cast<Collective>(below(random_, kCollectiveCount));
    if (exists_between_groups(flow_.collective) && one_in(random_, 4)) flow_.groups = 2;
    flow_.ranks = {static_cast<int>(2 + below(random_, 3)), 0};
    if (one_in(random_, 20)) flow_.ranks[0] = 1;
    if (flow_.groups == 2)
      flow_.ranks = {static_cast<int>(1 + below(random_, 2)),
                     static_cast<int>(1 + below(random_, 3))};
    flow_.root = static_cast<int64_t>(below(random_, flow_.ranks[0]));
    flow_.commutative = reduces(flow_.collective) && one_in(random_, 2);
    flow_.canonical = reduces(flow_.collective) && !flow_.commutative && one_in(random_, 2);
    flow_.counted =
        flow_.collective != Collective::kBarrier && !only_ends_know_lengths(flow_.collective);
    if (flow_.counted && one_in(random_, 2))
      flow_.parts = flow_.processes() > 3 || one_in(random_, 3) ? 2 : 3;
    for (int p = 0; p < flow_.processes(); ++p)
      if (!is_bystander(flow_.collective, flow_.place_of(p))) active_.push_back(p);
  }

  // ---- values

  int index_of(int64_t group, int64_t rank) const {
    return static_cast<int>(rank + (group == 1 ? flow_.ranks[0] : 0));
  }

  int add(FlowNode node) {
    if (node.kind != Kind::kInput) {
      if (node.into >= 0) {
        node.chain = flow_.nodes[node.into].chain;
      } else {
        node.chain = static_cast<int>(flow_.chains.size());
        flow_.chains.push_back({});
        flow_.chains.back().process = node.process;
        flow_.chains.back().part = node.value.part;
      }
    }
    flow_.nodes.push_back(node);
    return static_cast<int>(flow_.nodes.size()) - 1;
  }

  void share(int node) { known_.push_back(node); }

  // Returns a node of that value. Other nodes may read it, but not combine data into it.
  int need(int process, const FlowValue& value, int depth) {
    std::vector<int> there;
    for (const int node : known_)
      if (flow_.nodes[node].process == process && flow_.nodes[node].value == value)
        there.push_back(node);
    const bool is_own = value.sources == bit(process);
    if (!there.empty() && (is_own || !one_in(random_, 4))) return any_of(there, random_);
    // The process's own value is sometimes copied first, and read from the copy.
    const bool is_moved = flow_.parts == 3 && depth < kDeep && one_in(random_, 2);
    const int node =
        is_own && !is_moved ? add({Kind::kInput, process, value}) : make(process, value, depth);
    share(node);
    return node;
  }

  // Returns a different process that takes part, or `process` itself if it is the only one.
  int other_than(int process) {
    std::vector<int> others;
    for (const int p : active_)
      if (p != process) others.push_back(p);
    return others.empty() ? process : any_of(others, random_);
  }

  // Returns a new node of that value, in a place of its own.
  int make(int process, const FlowValue& value, int depth) {
    const bool is_single = std::has_single_bit(value.sources);
    if (value.sources == bit(process))
      return add({Kind::kCopy, process, value, need(process, value, depth + 1)});
    if (!is_single && (depth >= kDeep || !one_in(random_, 3))) return sum(process, value, depth);
    if (depth < kDeep && one_in(random_, 8))
      return add({Kind::kCopy, process, value, need(process, value, depth + 1)});
    int source = std::countr_zero(value.sources);
    if (!is_single || (depth < kDeep && one_in(random_, 4))) source = other_than(process);
    if (source == process) return sum(process, value, depth);
    return add({Kind::kMessage, process, value, need(source, value, depth + 1)});
  }

  // Makes the value as a sum of two. One is in place, and the other is combined into it.
  int sum(int process, const FlowValue& value, int depth) {
    std::vector<int> sources;
    for (int p = 0; p < flow_.processes(); ++p)
      if (value.sources & bit(p)) sources.push_back(p);
    if (flow_.commutative) shuffle(sources, random_);
    const size_t cut = flow_.canonical && !one_in(random_, 20)
                           ? std::bit_floor(sources.size() - 1)
                           : 1 + below(random_, sources.size() - 1);
    FlowValue low = value, high = value;
    low.sources = high.sources = 0;
    for (size_t i = 0; i < sources.size(); ++i)
      (i < cut ? low : high).sources |= static_cast<uint32_t>(bit(sources[i]));
    const bool into_high = one_in(random_, 2);
    const int into = make(process, into_high ? high : low, depth + 1);
    const int source = one_in(random_, 2) ? process : other_than(process);
    const int from = need(source, into_high ? low : high, depth + 1);
    const bool left = flow_.commutative ? one_in(random_, 2) : into_high;
    return add(
        {source == process ? Kind::kReduce : Kind::kMessage, process, value, from, into, left});
  }

  struct Goal {
    int process;
    int64_t block;
    FlowValue value;
  };

  std::vector<Goal> goals() const {
    std::vector<Goal> all;
    for (const int p : active_) {
      const Place place = flow_.place_of(p);
      for (int64_t b = 0; b < block_count(flow_.collective, Buffer::kReceive, place); ++b) {
        const Contributors run = contributors(flow_.collective, place, {b});
        FlowValue value{0, run.block, 0};
        for (int64_t i = 0; i < run.count; ++i)
          value.sources |= static_cast<uint32_t>(bit(index_of(run.group, run.first + i)));
        for (; value.part < flow_.parts && run.count > 0; ++value.part)
          all.push_back({p, b, value});
      }
    }
    return all;
  }

  void draw_values() {
    std::vector<Goal> all = goals();
    shuffle(all, random_);
    // The runtime forwards data from a receive buffer only if all ranks know the counts.
    const bool reads_results = flow_.counted || one_in(random_, 20);
    for (const Goal& goal : all) {
      int node = make(goal.process, goal.value, 0);
      if (one_in(random_, 5)) node = add({Kind::kCopy, goal.process, goal.value, node});
      FlowChain& chain = flow_.chains[flow_.nodes[node].chain];
      chain.buffer = Buffer::kReceive;
      chain.block = goal.block;
      if (reads_results) share(node);
    }
  }

  // ---- steps

  // Returns the first step that may use a node's result: to send it, to receive into it, or locally.
  int ready(int node, bool is_sent, bool is_received_into) const {
    const FlowNode& n = flow_.nodes[node];
    if (n.kind == Kind::kInput) return 0;
    const bool waits = is_sent || (n.kind == Kind::kMessage && !is_received_into);
    return n.slot + waits;
  }

  FlowMessage* message_at(int source, int target, int slot) {
    for (FlowMessage& m : flow_.messages)
      if (m.source == source && m.target == target && m.slot == slot) return &m;
    return nullptr;
  }

  // Returns whether the message can take another piece. Data that it combines into must not arrive in the same step.
  bool may_join(const FlowMessage& message, const FlowNode& node) const {
    const FlowNode& first = flow_.nodes[message.nodes[0]];
    if ((first.into >= 0) != (node.into >= 0) || first.left != node.left) return false;
    if (node.into < 0) return true;
    const FlowNode& into = flow_.nodes[node.into];
    return into.kind != Kind::kMessage || into.slot < message.slot;
  }

  void draw_message(int number, int slot) {
    FlowNode& node = flow_.nodes[number];
    const int source = flow_.nodes[node.from].process;
    for (;; ++slot) {
      FlowMessage* there = message_at(source, node.process, slot);
      if (there && (one_in(random_, 2) || !may_join(*there, node))) continue;
      node.slot = slot;
      if (!there) {
        flow_.messages.push_back({source, node.process, slot, {}});
        there = &flow_.messages.back();
      }
      node.message = static_cast<int>(there - flow_.messages.data());
      there->nodes.push_back(number);
      return;
    }
  }

  void draw_slots() {
    constexpr std::array kDelays = {0, 0, 0, 0, 1, 2};
    for (size_t i = 0; i < flow_.nodes.size(); ++i) {
      FlowNode& node = flow_.nodes[i];
      if (node.kind == Kind::kInput) continue;
      const bool is_message = node.kind == Kind::kMessage;
      int slot = ready(node.from, is_message, false);
      if (node.into >= 0) slot = std::max(slot, ready(node.into, false, is_message));
      slot += any_of(kDelays, random_);
      if (is_message)
        draw_message(static_cast<int>(i), slot);
      else
        node.slot = slot;
      flow_.slots = std::max(flow_.slots, flow_.nodes[i].slot + 1);
    }
  }

  // ---- places

  FlowMoment written(int number) const {
    const FlowNode& node = flow_.nodes[number];
    return node.kind == Kind::kMessage ? FlowMoment{node.slot, FlowKind::kReceives, node.message}
                                       : FlowMoment{node.slot, FlowKind::kLocals, number};
  }
  // Returns the moment at which a node reads its operand.
  FlowMoment read(int number) const {
    const FlowNode& node = flow_.nodes[number];
    return node.kind == Kind::kMessage ? FlowMoment{node.slot, FlowKind::kSends, 0}
                                       : FlowMoment{node.slot, FlowKind::kLocals, number};
  }

  void find_lifetimes() {
    for (FlowChain& chain : flow_.chains) chain.first = {flow_.slots, FlowKind::kSends, 0};
    for (int i = 0; i < static_cast<int>(flow_.nodes.size()); ++i) {
      const FlowNode& node = flow_.nodes[i];
      if (node.kind == Kind::kInput) continue;
      FlowChain& chain = flow_.chains[node.chain];
      chain.first = std::min(chain.first, written(i));
      chain.last = std::max(chain.last, written(i));
      if (flow_.nodes[node.from].kind == Kind::kInput) continue;
      FlowChain& source = flow_.chains[flow_.nodes[node.from].chain];
      source.last = std::max(source.last, read(i));
    }
  }

  // A part of a block at a process, and when it is last used. A receive block also has the chain of its final data.
  struct Unit {
    Buffer buffer;
    int64_t block;
    int part;
    FlowMoment last;
    const FlowChain* result;
  };

  // Returns the other part of the same length, or `part` itself if there is none.
  int twin(int part) const { return flow_.parts == 3 ? 2 - part : part; }

  void choose_place(FlowChain& chain, std::vector<Unit>& units) {
    std::vector<Unit*> free;
    for (Unit& unit : units)
      if ((unit.part == chain.part || unit.part == twin(chain.part)) && unit.last < chain.first &&
          (!unit.result || chain.last < unit.result->first))
        free.push_back(&unit);
    Unit* unit = free.empty() || one_in(random_, 4) ? nullptr : any_of(free, random_);
    if (!unit) {
      const int part = one_in(random_, 3) ? twin(chain.part) : chain.part;
      const int64_t blocks = std::ranges::count_if(units, [&](const Unit& other) {
        return other.buffer == Buffer::kTemporary && other.part == part;
      });
      units.push_back({Buffer::kTemporary, blocks, part, {}, nullptr});
      unit = &units.back();
    }
    unit->last = chain.last;
    chain.buffer = unit->buffer;
    chain.block = unit->block;
    chain.part = unit->part;
  }

  void draw_places() {
    find_lifetimes();
    // Receive blocks may hold other data of the same length for a while. The runtime needs known lengths for that.
    const bool borrows = has_one_count(flow_.collective) ? flow_.parts == 3 || one_in(random_, 2)
                                                         : !flow_.counted && one_in(random_, 20);
    for (const int p : active_) {
      std::vector<Unit> units;
      for (const FlowChain& chain : flow_.chains)
        if (borrows && chain.process == p && chain.buffer == Buffer::kReceive)
          units.push_back({Buffer::kReceive, chain.block, chain.part, {}, &chain});
      std::vector<FlowChain*> own;
      for (FlowChain& chain : flow_.chains)
        if (chain.process == p && chain.buffer == Buffer::kTemporary) own.push_back(&chain);
      std::ranges::sort(own, {}, &FlowChain::first);
      for (FlowChain* chain : own) choose_place(*chain, units);
    }
    flow_.fits_in_place = fits_in_place();
    for (FlowMessage& m : flow_.messages)
      for (const int node : m.nodes)
        m.sized |=
            !flow_.counted && (flow_.chains[flow_.nodes[node].chain].buffer == Buffer::kTemporary ||
                               one_in(random_, 3));
  }

  // Returns whether each send block is read before its receive block is written, where both are one block in place. A
  // copy of an input counts as a copy onto itself, even to another part. So some flows claim wrongly that they fit.
  bool fits_in_place() const {
    for (int i = 0; i < static_cast<int>(flow_.nodes.size()); ++i) {
      const FlowNode& node = flow_.nodes[i];
      if (node.kind == Kind::kInput || flow_.nodes[node.from].kind != Kind::kInput) continue;
      const int process = flow_.nodes[node.from].process;
      for (int k = 0; k < static_cast<int>(flow_.nodes.size()); ++k) {
        const FlowNode& other = flow_.nodes[k];
        if (other.kind == Kind::kInput || other.process != process) continue;
        if (flow_.chains[other.chain].buffer != Buffer::kReceive) continue;
        const bool is_onto_itself =
            other.kind == Kind::kCopy && flow_.nodes[other.from].kind == Kind::kInput;
        if (!is_onto_itself && written(k) < read(i)) return false;
      }
    }
    return true;
  }

  // ---- dependencies

  struct Touch {
    int process, slot, part;
    Buffer buffer;
    int64_t block;
    bool writes;
  };

  std::vector<Touch> touches() const {
    std::vector<Touch> all;
    for (const FlowNode& node : flow_.nodes) {
      if (node.kind == Kind::kInput) continue;
      const FlowChain& to = flow_.chains[node.chain];
      all.push_back({node.process, node.slot, to.part, to.buffer, to.block, true});
      const FlowNode& source = flow_.nodes[node.from];
      if (source.kind == Kind::kInput) continue;
      const FlowChain& from = flow_.chains[source.chain];
      all.push_back({source.process, node.slot, from.part, from.buffer, from.block, false});
    }
    return all;
  }

  void find_dependencies() {
    flow_.awaits.assign(flow_.processes(), std::vector<int>(flow_.slots, -1));
    const std::vector<Touch> all = touches();
    for (const Touch& a : all)
      for (const Touch& b : all)
        if (a.process == b.process && a.slot < b.slot && a.buffer == b.buffer &&
            a.block == b.block && a.part == b.part && (a.writes || b.writes))
          flow_.awaits[b.process][b.slot] = std::max(flow_.awaits[b.process][b.slot], a.slot);
  }

  // ---- barriers

  // Draws random tokens. In the last round, each process sends one to every process that does not depend on it yet.
  void draw_tokens() {
    std::vector<int64_t> heard;
    for (const int p : active_) heard.push_back(bit(p));
    const int rounds = static_cast<int>(below(random_, 5));
    for (; flow_.slots <= rounds; ++flow_.slots) {
      const std::vector<int64_t> before = heard;
      for (const int source : active_)
        for (const int target : active_) {
          const bool is_missing = flow_.slots == rounds && !(heard[target] & bit(source));
          if (source == target || (!is_missing && !one_in(random_, 5))) continue;
          flow_.messages.push_back({source, target, flow_.slots, {}});
          heard[target] |= before[source];
        }
    }
  }

  Random& random_;
  Flow flow_;
  std::vector<int> active_;  // processes that may take part in messages
  std::vector<int> known_;   // nodes that other nodes may read
};

}  // namespace

Place Flow::place_of(int process) const {
  const int group = group_of(process);
  return {.ranks = ranks[group],
          .remote_ranks = groups == 2 ? ranks[1 - group] : 0,
          .group = group,
          .rank = rank_of(process),
          .root = root};
}

Flow random_flow(Random& random) { return Drawer(random).draw(); }

}  // namespace quadrille
