// Accounts for the messages and copies of one key after another: the use of ports, the work of the busiest node, the
// volume, and the exchanges that ranks know to be complete. execute() and check_key_order() report all messages here.
//
// A port claim may hold for every timing, not only in lock-step. To show that, this counts the exchanges that a rank
// knows to be complete when its next step starts: those of its own node, and of its last partner node. A message
// passes this knowledge on. The count is never too high, so the verdict is never too strong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/binding.h"
#include "schedule/topology.h"
#include "verifier/check.h"

namespace quadrille::verifier {

// Returns whether the program has tokens (messages without pieces), which may order the ranks of a node.
bool has_tokens(const Program& program);

class PortAccounting {
 public:
  // The message that exceeds a port, and the node or rank with that port. Numbers count through both groups.
  struct Conflict {
    int32_t source, target;
    int32_t unit;
  };

  PortAccounting(const Program& program, const Job& job, const CheckOptions& options);

  void message(int32_t source, int32_t target, bool block) {
    if (track_) messages_.push_back({source, target});
    if (block) {
      moved_ = true;
      load(node_of_[source], 1);
      if (node_of_[source] != node_of_[target]) {
        load(node_of_[target], 1);
        meet(node_of_[source], node_of_[target]);
      }
    }
    if (kind_ != PortKind::kNone) use(source, target);
  }
  // Accounts for one block in each direction between the two ranks.
  void exchange(int32_t one, int32_t other) {
    if (track_) messages_.insert(messages_.end(), {{one, other}, {other, one}});
    moved_ = true;
    load(node_of_[one], 2);
    if (node_of_[one] != node_of_[other]) {
      load(node_of_[other], 2);
      meet(node_of_[one], node_of_[other]);
    }
    if (kind_ == PortKind::kNone) return;
    const int32_t from = unit(one), to = unit(other);
    if (from == to) return;
    if (uses_[from].key != key_ && uses_[to].key != key_) {
      uses_[from] = {key_, 1, 1, 0, false};
      uses_[to] = {key_, 1, 1, 0, false};
      if (kind_ != PortKind::kExchange) return;
      add_partner(from, to);
      add_partner(to, from);
      return;
    }
    use(one, other);
    use(other, one);
  }
  void copy(int32_t rank) {
    copied_ = true;
    load(node_of_[rank], 1);
  }
  void copy_outside(int32_t rank) { ++copies_outside_[node_of_[rank]]; }
  // Call it if a step does not wait for the previous one. What its rank knows then says nothing about its start.
  void overlapping_step() { overlapping_ = true; }

  void end_key() {
    if (track_ && !overlapping_) learn();
    steps_ += moved_;
    copy_steps_ += !moved_ && copied_;
    time_ += busiest_;
    messages_.clear();
    moved_ = copied_ = false;
    busiest_ = 0;
    ++key_;
  }

  const std::optional<Conflict>& conflict() const { return conflict_; }
  bool port_per_node() const { return per_node_; }

  // Adds the length of a piece that a message carries, in units of counts.
  void carry(int source, int target, int64_t length) {
    of_ranks_[source].out += length;
    of_ranks_[target].in += length;
    if (node_of_[source] == node_of_[target]) return;
    of_nodes_[node_of_[source]].out += length;
    of_nodes_[node_of_[target]].in += length;
  }
  // Returns the volumes of the busiest rank and the busiest node.
  std::pair<Volume, Volume> volumes() const;

  // Writes steps, time and the port's verdict. `whole_blocks`: each message has carried one whole block.
  void finish(Report& report, bool whole_blocks) const;

 private:
  struct Pair {
    int32_t source, target;
  };
  struct Use {
    int64_t key = -1;
    int32_t out = 0, in = 0, partners = 0;
    bool counted = false;
  };
  struct Load {
    int64_t key = -1;
    int32_t amount = 0;
    int32_t partner = -1;  // the node that data goes to or comes from
  };
  struct Knowledge {
    int64_t own = 0;          // completed exchanges of the own node
    int32_t other_node = -1;  // the node last exchanged with
    int64_t other = 0;        // its completed exchanges
  };

  void load(int32_t node, int32_t amount) {
    Load& load = loads_[node];
    if (load.key != key_) load = {key_, 0, -1};
    load.amount += amount;
    busiest_ = std::max(busiest_, load.amount);
  }

  // The work of the busiest node is the time of a key only if every node has at most one partner.
  void meet(int32_t from, int32_t to) {
    for (const auto& [node, partner] : {std::pair(from, to), std::pair(to, from)}) {
      paired_ &= loads_[node].partner < 0 || loads_[node].partner == partner;
      loads_[node].partner = partner;
    }
  }

  int32_t unit(int32_t rank) const { return per_node_ ? node_of_[rank] : rank; }

  Use& use_of(int32_t unit) {
    if (uses_[unit].key != key_) uses_[unit] = {key_, 0, 0, 0, false};
    return uses_[unit];
  }

  void use(int32_t source, int32_t target) {
    const int32_t from = unit(source), to = unit(target);
    if (from == to) return;
    Use& out = use_of(from);
    Use& in = use_of(to);
    ++out.out;
    ++in.in;
    bool holds = out.out <= limit_ && in.in <= limit_;
    if (kind_ == PortKind::kExchange)
      holds = add_partner(from, to) && add_partner(to, from) && holds;
    if (!holds && !conflict_) conflict_ = Conflict{source, target, out.out > limit_ ? from : to};
  }

  bool add_partner(int32_t unit, int32_t partner) {
    int32_t* partners = &partners_[int64_t{unit} * most_partners_];
    Use& used = uses_[unit];
    for (int32_t i = 0; i < used.partners; ++i)
      if (partners[i] == partner) return true;
    if (used.partners == most_partners_) return false;
    partners[used.partners++] = partner;
    return true;
  }

  int64_t known(int32_t rank, int32_t node) const;
  Knowledge merged(int32_t rank, const Knowledge& more) const;
  void learn();

  PortKind kind_;
  bool asked_;  // --ports checks every node
  int64_t limit_;
  int32_t most_partners_ = 0;  // the most that are recorded
  bool per_node_, track_;
  std::optional<int64_t> lower_bound_;  // on time, in an all-to-all of one group
  std::vector<int32_t> node_of_;

  int64_t key_ = 0;  // counts keys, whatever their values
  std::vector<Pair> messages_;
  std::vector<Load> loads_;
  std::vector<int32_t> copies_outside_;
  int32_t busiest_ = 0;
  bool paired_ = true;  // no node has had two partners at one key so far
  bool moved_ = false, copied_ = false, overlapping_ = false;
  int64_t steps_ = 0, copy_steps_ = 0, time_ = 0;

  std::vector<Volume> of_ranks_, of_nodes_;
  std::vector<Use> uses_;
  std::vector<int32_t> partners_;
  std::optional<Conflict> conflict_;

  bool every_timing_ = true;
  std::vector<Knowledge> knowledge_;
  std::vector<int64_t> exchanges_;  // the exchanges of each node so far
  std::vector<std::pair<int32_t, Knowledge>> learnt_;
};

// Returns a lower bound on the time of all-to-alls on these nodes, in the model of Sanders and Traeff 2002. There a
// node does one thing at a time. An exchange between two nodes takes 2, a message or copy inside a node takes 1.
//
// The bound is the greater of two numbers. One is the work of the busiest node, 2 n (p - n) + n^2 if it has n of p
// ranks. The other is the maximum over odd sets S of nodes of 2 ceil(e(S) / ((|S| - 1) / 2)). Here e(S) counts the
// rank pairs between nodes of S, of which at most (|S| - 1) / 2 exchange at a time. For each odd size, the largest
// nodes give the maximum, so O(N) sets are tried.
int64_t alltoall_lower_bound(const Topology& topology);

}  // namespace quadrille::verifier
