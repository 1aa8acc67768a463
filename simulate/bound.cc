#include "simulate/bound.h"

#include <algorithm>

#include "schedule/volume.h"
#include "simulate/network.h"

namespace quadrille {

namespace {

struct Sizes {
  int64_t ranks = 0, nodes = 0;
  explicit Sizes(const std::vector<Topology>& groups) {
    for (const Topology& group : groups) {
      ranks += group.ranks();
      nodes += group.nodes();
    }
  }
  bool share_ports(const Machine& machine) const {
    return nodes > 1 && machine.port == PortScope::kNode;
  }
};

// Of the data that passes the busiest place, in bytes.
__int128 least_time(const Volume& volume, const Sizes& sizes, const Machine& machine) {
  const bool by_nodes = sizes.share_ports(machine);
  LinearModel model = by_nodes ? machine.between : machine.inside;
  if (!by_nodes && sizes.nodes > 1)
    model = {std::min(model.alpha_ns, machine.between.alpha_ns),
             std::min(model.beta_ps, machine.between.beta_ps)};
  const int64_t bytes =
      machine.exclusive ? volume.in + volume.out : std::max(volume.in, volume.out);
  const int64_t at_a_port = bytes / (by_nodes ? machine.ports : 1);
  return __int128{model.alpha_ns} * kNanosecond + __int128{at_a_port} * model.beta_ps;
}

}  // namespace

__int128 least_time(Collective collective, const std::vector<Topology>& groups, const Call& call,
                    int64_t unit, const Machine& machine) {
  const LeastVolume least(collective, {groups, {}}, call);
  const Sizes sizes(groups);
  if (sizes.ranks == 1) return 0;
  const Volume volume = sizes.share_ports(machine) ? least.of_a_node() : least.of_a_rank();
  const Volume bytes = {volume.in * unit, volume.out * unit};
  if (bytes == Volume{} && collective != Collective::kBarrier) return 0;
  return least_time(bytes, sizes, machine);
}

__int128 least_time(const BlockLengths& lengths, const std::vector<Topology>& groups,
                    const Machine& machine) {
  const Sizes sizes(groups);
  std::vector<size_t> places;  // by process: what it shares with others
  size_t place = 0;
  for (const Topology& group : groups)
    for (const int64_t size : group.sizes()) {
      for (int64_t rank = 0; rank < size; ++rank)
        places.push_back(sizes.share_ports(machine) ? place : places.size());
      ++place;
    }
  const auto first = groups.size() == 2 ? static_cast<size_t>(groups[0].ranks()) : 0;
  std::vector<Volume> volumes(places.size());
  for (size_t from = 0; from < places.size(); ++from)
    for (size_t to = 0; to < places.size(); ++to) {
      if (places[from] == places[to] || (first > 0 && (from < first) == (to < first))) continue;
      const int64_t bytes = lengths.of(static_cast<int64_t>(from), static_cast<int64_t>(to));
      volumes[places[from]].out += bytes;
      volumes[places[to]].in += bytes;
    }
  Volume most;
  for (const Volume& volume : volumes)
    if (std::max(volume.in, volume.out) > std::max(most.in, most.out)) most = volume;
  if (most == Volume{}) return 0;
  return least_time(most, sizes, machine);
}

}  // namespace quadrille
