// Tested through both executors, and by the paced and unpaced programs of tests/verifier/port_test.cc.
#include "verifier/port_accounting.h"

#include "schedule/traverse.h"

namespace quadrille::verifier {

bool has_tokens(const Program& program) {
  bool found = false;
  for_each_statement(program.body, [&](const Statement& statement) {
    const auto* message = std::get_if<Message>(&statement.kind);
    found |= message && message->pieces.empty();
  });
  return found;
}

PortAccounting::PortAccounting(const Program& program, const Job& job, const CheckOptions& options)
    : kind_(program.port.kind),
      asked_(options.ports.has_value()),
      limit_(options.ports.value_or(kind_ == PortKind::kParameter ? job.parameters[0] : 1)),
      per_node_(program.port.per == PortScope::kNode) {
  if (options.ports) {
    per_node_ = true;
    if (kind_ == PortKind::kNone) kind_ = PortKind::kExchange;
  }
  int32_t nodes = 0;
  for (const Topology& topology : job.groups)
    for (const Run& run : topology.runs())
      for (int64_t i = 0; i < run.nodes; ++i) node_of_.insert(node_of_.end(), run.size, nodes++);
  of_ranks_.resize(node_of_.size());
  of_nodes_.resize(nodes);
  if (program.collective == Collective::kAlltoall && program.groups == 1)
    lower_bound_ = alltoall_lower_bound(job.groups[0]);
  loads_.resize(nodes);
  copies_outside_.assign(nodes, 0);
  uses_.resize(per_node_ ? nodes : node_of_.size());
  // A unit has no more partners than there are other units.
  if (kind_ == PortKind::kExchange) most_partners_ = std::min<size_t>(limit_, uses_.size());
  partners_.resize(uses_.size() * most_partners_);
  // Without tokens, nothing orders the ranks of a node. With several ports, no order is needed.
  track_ = per_node_ && limit_ == 1 && kind_ != PortKind::kNone && has_tokens(program);
  if (!track_) return;
  knowledge_.resize(node_of_.size());
  exchanges_.assign(nodes, 0);
}

int64_t PortAccounting::known(int32_t rank, int32_t node) const {
  if (node_of_[rank] == node) return knowledge_[rank].own;
  return knowledge_[rank].other_node == node ? knowledge_[rank].other : 0;
}

// Returns the knowledge of `rank` after a message from a rank of its own node that has the knowledge `more`.
PortAccounting::Knowledge PortAccounting::merged(int32_t rank, const Knowledge& more) const {
  const Knowledge& old = knowledge_[rank];
  Knowledge result = more;
  result.own = std::max(old.own, more.own);
  if (more.other_node < 0 || (more.other_node == old.other_node && old.other > more.other)) {
    result.other_node = old.other_node;
    result.other = old.other;
  }
  return result;
}

// An exchange may start as soon as both its ranks reach it. So one of them must know that all earlier exchanges of
// both nodes are complete. The knowledge before a key decides about everything at that key.
void PortAccounting::learn() {
  learnt_.clear();
  for (const auto& [source, target] : messages_) {
    const int32_t from = node_of_[source], to = node_of_[target];
    if (from == to) {
      learnt_.emplace_back(target, merged(target, knowledge_[source]));
      continue;
    }
    for (const int32_t node : {from, to})
      if (std::max(known(source, node), known(target, node)) < exchanges_[node])
        every_timing_ = false;
    // The sender does not know when the message has arrived, unless a message comes back.
    learnt_.emplace_back(target, Knowledge{exchanges_[to] + 1, from, exchanges_[from] + 1});
  }
  for (const auto& [source, target] : messages_) {
    if (node_of_[source] == node_of_[target]) continue;
    for (const int32_t rank : {source, target}) {
      Use& use = use_of(node_of_[rank]);
      exchanges_[node_of_[rank]] += !use.counted;
      use.counted = true;
    }
  }
  for (const auto& [rank, knowledge] : learnt_) knowledge_[rank] = knowledge;
}

std::pair<Volume, Volume> PortAccounting::volumes() const {
  Volume rank, node;
  for (const Volume& each : of_ranks_) rank.take_greater(each);
  for (const Volume& each : of_nodes_) node.take_greater(each);
  return {rank, node};
}

void PortAccounting::finish(Report& report, bool whole_blocks) const {
  report.timed = whole_blocks && paired_ && lower_bound_;
  if (report.timed) report.lower_bound = *lower_bound_;
  report.steps = steps_;
  report.copy_steps = copy_steps_;
  report.time = time_ + *std::max_element(copies_outside_.begin(), copies_outside_.end());
  if (kind_ == PortKind::kNone) return;
  // A step starts when the messages that it waits for have arrived. Messages of earlier steps may still be in flight.
  // So only messages that order exchanges show that no two overlap.
  const bool always = !overlapping_ && track_ && every_timing_;
  if (asked_ || kind_ == PortKind::kParameter) report.partners = limit_;
  report.port = always ? PortVerdict::kEveryTiming : PortVerdict::kLockStep;
}

int64_t alltoall_lower_bound(const Topology& topology) {
  const std::vector<int64_t> sizes = topology.sizes();
  const int64_t ranks = topology.ranks();
  int64_t bound = 0;
  for (const Run& run : topology.runs())
    bound = std::max(bound, 2 * run.size * (ranks - run.size) + run.size * run.size);
  // The `taken` largest nodes have `inside` ranks, and `pairs` pairs of ranks on different nodes.
  int64_t taken = 0, inside = 0, pairs = 0;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    pairs += inside * *size;
    inside += *size;
    ++taken;
    if (taken % 2 == 0 || taken < 3) continue;
    const int64_t at_a_time = (taken - 1) / 2;
    bound = std::max(bound, 2 * ((pairs + at_a_time - 1) / at_a_time));
  }
  return bound;
}

}  // namespace quadrille::verifier
