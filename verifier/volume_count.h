// How much ranks send and receive, and nodes, of what goes from one to another.
#ifndef QUADRILLE_VERIFIER_VOLUME_COUNT_H_
#define QUADRILLE_VERIFIER_VOLUME_COUNT_H_

#include <cstdint>
#include <vector>

#include "schedule/binding.h"
#include "schedule/volume.h"

namespace quadrille::verifier {

// Ranks are numbered through both groups.
class VolumeCount {
 public:
  explicit VolumeCount(const Job& job) {
    for (const Topology& topology : job.groups)
      for (const int64_t size : topology.sizes()) {
        node_of_.insert(node_of_.end(), size, nodes_.size());
        nodes_.emplace_back();
      }
    ranks_.resize(node_of_.size());
  }

  void message(int source, int target, int64_t length) {
    ranks_[source].out += length;
    ranks_[target].in += length;
    if (node_of_[source] == node_of_[target]) return;
    nodes_[node_of_[source]].out += length;
    nodes_[node_of_[target]].in += length;
  }

  // Of the busiest.
  Volume rank() const { return most(ranks_); }
  Volume node() const { return most(nodes_); }

 private:
  static Volume most(const std::vector<Volume>& all) {
    Volume most;
    for (const Volume& each : all) most.take_greater(each);
    return most;
  }

  std::vector<size_t> node_of_;
  std::vector<Volume> ranks_, nodes_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_VOLUME_COUNT_H_
