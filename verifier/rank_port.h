// The port claim of an allgather, asked rank by rank.
#ifndef QUADRILLE_VERIFIER_RANK_PORT_H_
#define QUADRILLE_VERIFIER_RANK_PORT_H_

#include <optional>
#include <vector>

#include "schedule/binding.h"
#include "schedule/walk_events.h"
#include "verifier/ledger.h"
#include "verifier/violations.h"

namespace quadrille::verifier {

class RankPort {
 public:
  RankPort(const Program& program, const Job& job)
      : port_(program.port),
        unclear_(port_.kind != PortKind::kNone && port_.per == PortScope::kNode &&
                 has_tokens(program)) {
    for (const int64_t size : job.groups[0].sizes()) {
      node_of_.insert(node_of_.end(), size, static_cast<int32_t>(nodes_.size()));
      nodes_.emplace_back();
    }
  }

  // The port of a node is followed as long as one of its ranks sends to others, one receives from
  // others, and no tokens may order them, whether this job has any or not.
  bool unclear() const { return unclear_; }

  // The messages of each of these steps: what is one too many.
  std::optional<Violation> use(int64_t rank, const StridedBatch& steps) {
    if (port_.kind == PortKind::kNone) return std::nullopt;
    int64_t sends = 0, receives = 0;
    const StridedBatch::Message* first = nullptr;
    for (const StridedBatch::Message& message : steps.messages) {
      const int64_t peer = message.peer.at;
      const bool known = 0 <= peer && peer < static_cast<int64_t>(node_of_.size());
      if (!known || !counts(rank, message)) continue;
      if (!first) first = &message;
      const bool another = port_.kind == PortKind::kExchange && peer != first->peer.at;
      if (++(message.head.direction == Direction::kSend ? sends : receives) > 1 || another)
        return conflict(rank, message, steps.key.at);
    }
    return std::nullopt;
  }

 private:
  struct Node {
    int64_t sender = -1, receiver = -1;
  };

  bool counts(int64_t rank, const StridedBatch::Message& message) {
    if (port_.per == PortScope::kRank) return true;
    unclear_ |= message.pieces == 0;
    if (node_of_[message.peer.at] == node_of_[rank]) return false;
    Node& node = nodes_[node_of_[rank]];
    int64_t& user = message.head.direction == Direction::kSend ? node.sender : node.receiver;
    unclear_ |= (user >= 0 && user != rank) || port_.kind == PortKind::kExchange;
    user = rank;
    return true;
  }

  Violation conflict(int64_t rank, const StridedBatch::Message& message, int64_t key) const {
    const bool send = message.head.direction == Direction::kSend;
    const bool of_node = port_.per == PortScope::kNode;
    const int64_t peer = message.peer.at;
    return port_overused(key, send ? rank : peer, send ? peer : rank, of_node,
                         of_node ? node_of_[rank] : rank);
  }

  const Port port_;
  std::vector<int32_t> node_of_;
  std::vector<Node> nodes_;
  bool unclear_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_RANK_PORT_H_
