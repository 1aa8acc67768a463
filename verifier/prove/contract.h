// What a collective requires of its buffers, as terms of Z3: schedule/collective.h with unknowns in place of numbers.
// tests/prove/two_groups_test.cc compares the two.
#pragma once

#include <functional>

#include "schedule/program.h"
#include "verifier/prove/logic.h"

namespace quadrille::verifier {

// The contributions to a block of `number` consecutive ranks of a group, from `first` on (theory/Spans.v). `number`
// is 1 in collectives that only move data. In a reduction ranks wrap around at the number of ranks of their group.
//
// A proof with `contributors` names the ranks by a condition. Then `has` says whether a rank of the group has
// contributed, and `first` and `number` mean nothing.
struct Span {
  int group = 0;
  Polynomial first, number, block;
  std::function<z3::expr(const Polynomial& rank)> has = {};
};

class Contract {
 public:
  explicit Contract(const Program& program) : program_(program) {}

  bool reduces() const { return quadrille::reduces(program_.collective); }
  // Whether a rank contributes a block to itself.
  bool has_own() const { return !reduces() && program_.groups == 1 && !is_barrier(); }
  // A barrier is an allgather of tokens without bytes. The token of a process says that it has entered the barrier. The
  // receive buffer is one block, which has one token for each process. A process has its own token from the start.
  bool is_barrier() const { return program_.collective == Collective::kBarrier; }
  // Whether obligations look at the bytes of blocks, whose lengths the counts of the call give. False for an
  // all-to-all: its blocks always travel whole.
  bool has_lengths() const { return program_.collective != Collective::kAlltoall; }
  // Whether a rank's result combines the contributions of lower ranks only (and its own in a scan).
  bool scans() const {
    return program_.collective == Collective::kScan || program_.collective == Collective::kExscan;
  }
  // Whether a rank has one contribution for each receiver, rather than one for all.
  bool has_targets() const {
    return program_.collective == Collective::kAlltoall ||
           program_.collective == Collective::kScatter ||
           program_.collective == Collective::kReduceScatter;
  }
  // Whether a receive buffer has one block for each contributor.
  bool has_sources() const {
    return program_.collective == Collective::kAlltoall ||
           program_.collective == Collective::kAllgather ||
           program_.collective == Collective::kGather;
  }
  // Whether the collective, not the proof, says what the buffer's blocks hold at all times.
  bool is_constant(Buffer buffer) const {
    return buffer == Buffer::kSend || (buffer == Buffer::kReceive && !reduces());
  }
  // The group that the ranks of this group exchange data with: in a collective on one group, that group.
  int other(int group) const { return program_.groups == 2 ? 1 - group : group; }

  // The condition that the buffer has this block at the instance's rank.
  z3::expr has_block(Logic& logic, Buffer buffer, const Polynomial& block,
                     const Instance& instance) const {
    const bool send = buffer == Buffer::kSend;
    if (program_.collective == Collective::kBarrier && buffer != Buffer::kTemporary)
      return logic.truth(false);
    Polynomial blocks = 1;
    if (send ? has_targets() : has_sources()) blocks = logic.ranks(other(instance.group));
    if (buffer == Buffer::kTemporary) blocks = logic.number(program_.temporary_blocks, instance);
    z3::expr within = logic.less_equal({}, block) && logic.less(block, blocks);
    if (program_.collective == Collective::kExscan && buffer == Buffer::kReceive)
      return within && logic.less({}, instance.rank);
    if (!rooted(program_.collective) || buffer == Buffer::kTemporary) return within;
    // The root is in the first of two groups, and the leaves in the second.
    if (from_root() != send)
      return within && logic.truth(program_.groups == 1 || instance.group == 1);
    return within && logic.equal(instance.rank, logic.root()) && logic.truth(instance.group == 0);
  }
  // The contents of a block of a constant buffer (is_constant) at the instance's rank.
  Span known(Logic& logic, Buffer buffer, const Polynomial& block, const Instance& instance) const {
    const Polynomial one = 1, zero;
    if (is_barrier()) return {0, zero, one, zero};
    if (buffer == Buffer::kSend)
      return {instance.group, instance.rank, one, has_targets() ? block : zero};
    return {other(instance.group), from_root() ? logic.root() : block, one,
            has_targets() ? instance.rank : zero};
  }
  // The contents that a rank's receive block must have at the end.
  Span required(Logic& logic, const Polynomial& block, const Instance& instance) const {
    if (!reduces()) return known(logic, Buffer::kReceive, block, instance);
    const int from = other(instance.group);
    if (scans()) {
      const bool with_own = program_.collective == Collective::kScan;
      return {from, {}, instance.rank + Polynomial::constant(with_own), {}};
    }
    return {from, {}, logic.ranks(from), has_targets() ? instance.rank : Polynomial{}};
  }
  // The length of a contribution: elements in a reduction, tokens in a barrier, else bytes. 0 unless has_lengths().
  Polynomial length(Logic& logic, const Span& span) const {
    if (!has_lengths()) return {};
    if (is_barrier()) return processes(logic);
    if (reduces() || has_targets()) return logic.count(other(span.group), span.block);
    return logic.count(span.group, span.first);
  }
  // The number of ranks of all groups. process() numbers them from 0, the first group before the second.
  Polynomial processes(Logic& logic) const {
    return program_.groups == 1 ? logic.ranks(0) : logic.ranks(0) + logic.ranks(1);
  }
  Polynomial process(Logic& logic, const Instance& instance) const {
    return instance.group == 0 ? instance.rank : logic.ranks(0) + instance.rank;
  }

 private:
  bool from_root() const {
    return program_.collective == Collective::kBroadcast ||
           program_.collective == Collective::kScatter;
  }

  const Program& program_;
};

}  // namespace quadrille::verifier
