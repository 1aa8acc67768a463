#include "simulate/bound.h"

#include <algorithm>

#include "schedule/volume.h"

namespace quadrille {

__int128 least_time(Collective collective, const std::vector<Topology>& groups, const Call& call,
                    int64_t unit, const Machine& machine) {
  const LeastVolume least(collective, {groups, {}}, call);
  int64_t ranks = 0, nodes = 0;
  for (const Topology& group : groups) {
    ranks += group.ranks();
    nodes += group.nodes();
  }
  if (ranks == 1) return 0;
  const bool by_nodes = nodes > 1 && machine.port == PortScope::kNode;
  const Volume volume = by_nodes ? least.of_a_node() : least.of_a_rank();
  LinearModel model = by_nodes ? machine.between : machine.inside;
  if (!by_nodes && nodes > 1)
    model = {std::min(model.alpha_ns, machine.between.alpha_ns),
             std::min(model.beta_ps, machine.between.beta_ps)};
  const int64_t bytes =
      unit * (machine.exclusive ? volume.in + volume.out : std::max(volume.in, volume.out));
  if (bytes == 0 && collective != Collective::kBarrier) return 0;
  const int64_t at_a_port = bytes / (by_nodes ? machine.ports : 1);
  return __int128{model.alpha_ns} * 1000 + __int128{at_a_port} * model.beta_ps;
}

}  // namespace quadrille
