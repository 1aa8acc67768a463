#include "verifier/prove/contract.h"

namespace quadrille::verifier {

z3::expr Contract::has_block(Logic& logic, Buffer buffer, const Polynomial& block,
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

Span Contract::known(Logic& logic, Buffer buffer, const Polynomial& block,
                     const Instance& instance) const {
  const Polynomial one = 1, zero;
  if (is_barrier()) return {0, zero, one, zero};
  if (buffer == Buffer::kSend)
    return {instance.group, instance.rank, one, has_targets() ? block : zero};
  return {other(instance.group), from_root() ? logic.root() : block, one,
          has_targets() ? instance.rank : zero};
}

Span Contract::required(Logic& logic, const Polynomial& block, const Instance& instance) const {
  if (!reduces()) return known(logic, Buffer::kReceive, block, instance);
  const int from = other(instance.group);
  if (scans()) {
    const bool with_own = program_.collective == Collective::kScan;
    return {from, {}, instance.rank + Polynomial::constant(with_own), {}};
  }
  return {from, {}, logic.ranks(from), has_targets() ? instance.rank : Polynomial{}};
}

Polynomial Contract::length(Logic& logic, const Span& span) const {
  if (!has_lengths()) return {};
  if (is_barrier()) return processes(logic);
  if (reduces() || has_targets()) return logic.count(other(span.group), span.block);
  return logic.count(span.group, span.first);
}

Polynomial Contract::processes(Logic& logic) const {
  return program_.groups == 1 ? logic.ranks(0) : logic.ranks(0) + logic.ranks(1);
}

Polynomial Contract::process(Logic& logic, const Instance& instance) const {
  return instance.group == 0 ? instance.rank : logic.ranks(0) + instance.rank;
}

}  // namespace quadrille::verifier
