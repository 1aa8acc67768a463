// Tested by tests/prove/contract_test.cc.
#include "verifier/prove/contract.h"

namespace quadrille::verifier {

Polynomial Contract::blocks(Logic& logic, Buffer buffer, const Instance& instance) const {
  const Polynomial one = Polynomial::constant(1), peers = logic.ranks(other(instance.group));
  if (buffer == Buffer::kTemporary) return logic.number(program_.temporary_blocks, instance);
  switch (program_.collective) {
    case Collective::kAlltoall: return peers;
    case Collective::kAllgather: return buffer == Buffer::kSend ? one : peers;
    case Collective::kReduceScatter: return buffer == Buffer::kSend ? peers : one;
    default: return one;
  }
}

Span Contract::known(Buffer buffer, const Polynomial& block, const Instance& instance) const {
  const Polynomial one = Polynomial::constant(1), zero;
  if (buffer == Buffer::kSend)
    return {instance.group, instance.rank, one, has_targets() ? block : zero};
  return {other(instance.group), block, one, has_targets() ? instance.rank : zero};
}

Span Contract::required(Logic& logic, const Polynomial& block, const Instance& instance) const {
  if (!reduces()) return known(Buffer::kReceive, block, instance);
  const int from = other(instance.group);
  return {from, {}, logic.ranks(from), has_targets() ? instance.rank : Polynomial{}};
}

Polynomial Contract::length(Logic& logic, const Span& span) const {
  if (!has_lengths()) return {};
  if (program_.collective == Collective::kAllgather) return logic.count(span.group, span.first);
  return logic.count(other(span.group), span.block);
}

}  // namespace quadrille::verifier
