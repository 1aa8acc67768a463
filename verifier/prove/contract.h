// What a collective says of its buffers, as terms of a solver: schedule/collective.h over unknowns, which
// tests/prove/two_groups_test.cc compares with it.
#ifndef QUADRILLE_VERIFIER_PROVE_CONTRACT_H_
#define QUADRILLE_VERIFIER_PROVE_CONTRACT_H_

#include "schedule/program.h"
#include "verifier/prove/logic.h"

namespace quadrille::verifier {

// What so many ranks of a group, from a first one on, contribute to a block (theory/Spans.v): where data only
// moves, one rank. Where it is combined, ranks are meant modulo the number of ranks of their group.
struct Span {
  int group = 0;
  Polynomial first, number, block;
};

class Contract {
 public:
  explicit Contract(const Program& program) : program_(program) {}

  bool reduces() const { return quadrille::reduces(program_.collective); }
  // Where a rank has its own block from itself.
  bool has_own() const { return !reduces() && program_.groups == 1 && !is_barrier(); }
  // A barrier is an allgather of tokens without bytes: that of a process says that it has begun. They are one
  // block of the receive buffer, as long as there are processes, and a process has its own from the beginning.
  bool is_barrier() const { return program_.collective == Collective::kBarrier; }
  // The counts of the call say how long blocks are. An all-to-all's travel whole, however long they are.
  bool has_lengths() const { return program_.collective != Collective::kAlltoall; }
  // Whether a rank wants what ranks up to it contribute, and of no others.
  bool scans() const {
    return program_.collective == Collective::kScan || program_.collective == Collective::kExscan;
  }
  // Whether a rank has a contribution to each that receives, and not one for all.
  bool has_targets() const {
    return program_.collective == Collective::kAlltoall ||
           program_.collective == Collective::kScatter ||
           program_.collective == Collective::kReduceScatter;
  }
  // Whether a receive buffer has a block of each that contributes.
  bool has_sources() const {
    return program_.collective == Collective::kAlltoall ||
           program_.collective == Collective::kAllgather ||
           program_.collective == Collective::kGather;
  }
  // Whether its blocks always hold, or are to hold, the same.
  bool is_constant(Buffer buffer) const {
    return buffer == Buffer::kSend || (buffer == Buffer::kReceive && !reduces());
  }
  // The group that those of this one receive from, and send to.
  int other(int group) const { return program_.groups == 2 ? 1 - group : group; }

  // That a rank has that block.
  z3::expr has_block(Logic& logic, Buffer buffer, const Polynomial& block,
                     const Instance& instance) const;
  // What the block of a constant buffer holds at a rank.
  Span known(Logic& logic, Buffer buffer, const Polynomial& block, const Instance& instance) const;
  // What a rank's receive block is to hold at the end.
  Span required(Logic& logic, const Polynomial& block, const Instance& instance) const;
  // How many bytes, or elements, or tokens, a contribution has, where blocks have lengths.
  Polynomial length(Logic& logic, const Span& span) const;
  // Of ranks of both groups, the first before the second: how many there are, and which one this is.
  Polynomial processes(Logic& logic) const;
  Polynomial process(Logic& logic, const Instance& instance) const;

 private:
  bool from_root() const {
    return program_.collective == Collective::kBroadcast ||
           program_.collective == Collective::kScatter;
  }

  const Program& program_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_CONTRACT_H_
