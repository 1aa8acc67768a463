#include "simulate/path.h"

#include <algorithm>

#include "schedule/volume.h"

namespace quadrille {

std::vector<Leg> critical_path(const Scripts& scripts, const Machine& machine,
                               const Outcome& outcome, const Trace& trace) {
  std::vector<Leg> path;
  std::vector<size_t> left;  // waits of each process that may still be on the path
  for (const std::vector<Wait>& waits : trace.waits) left.push_back(waits.size());
  auto process = static_cast<int32_t>(std::max_element(outcome.ends.begin(), outcome.ends.end()) -
                                      outcome.ends.begin());
  int64_t time = outcome.time;
  while (time > 0) {
    const std::vector<Wait>& waits = trace.waits[process];
    size_t& count = left[process];
    while (count > 0 && waits[count - 1].end > time) --count;
    const int64_t since = count > 0 ? waits[count - 1].end : 0;
    if (since < time) path.push_back({false, process, 0, since, time});
    if (count == 0) break;
    const Sent& of = waits[--count].of;
    const Post& send = scripts.all[of.process].sends[of.index];
    const Times& times = trace.messages[of.process][of.index];
    const bool waits_for_receive =
        send.bytes > machine.eager && times.receive_posted > times.send_posted;
    time = waits_for_receive ? times.receive_posted : times.send_posted;
    if (time < since) path.push_back({true, of.process, of.index, time, since});
    process = waits_for_receive ? send.peer : of.process;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

PortLoad busiest_port(const Scripts& scripts, const Machine& machine) {
  const bool by_node = machine.port == PortScope::kNode;
  const size_t ports = by_node ? static_cast<size_t>(scripts.nodes) : scripts.all.size();
  std::vector<PortLoad> loads(2 * ports);
  const auto add = [&](int32_t process, bool receives, int64_t busy) {
    const int32_t port = by_node ? scripts.node[process] : process;
    PortLoad& load = loads[port + (receives && !machine.exclusive ? ports : 0)];
    load = {port, receives, load.busy + busy};
  };
  for (size_t i = 0; i < scripts.all.size(); ++i)
    for (const Post& send : scripts.all[i].sends) {
      if (scripts.node[i] == scripts.node[send.peer]) continue;
      const int64_t busy = time_at_port(machine, send.bytes);
      add(static_cast<int32_t>(i), false, busy);
      add(send.peer, true, busy);
    }
  const auto most = std::max_element(
      loads.begin(), loads.end(),
      [](const PortLoad& one, const PortLoad& other) { return one.busy < other.busy; });
  return most == loads.end() ? PortLoad{} : *most;
}

int64_t least_time(Collective collective, const Job& job, const Call& call,
                   const Machine& machine) {
  const LeastVolume least(collective, {job.groups, {}}, call);
  int64_t ranks = 0, nodes = 0;
  for (const Topology& group : job.groups) {
    ranks += group.ranks();
    nodes += group.nodes();
  }
  if (ranks == 1) return 0;
  const bool by_node = nodes > 1 && machine.port == PortScope::kNode;
  const Volume volume = by_node ? least.of_a_node() : least.of_a_rank();
  LinearModel link = by_node ? machine.between : machine.inside;
  if (!by_node && nodes > 1)
    link = {std::min(link.alpha_ns, machine.between.alpha_ns),
            std::min(link.beta_ps, machine.between.beta_ps)};
  const int64_t passed =
      machine.exclusive ? volume.in + volume.out : std::max(volume.in, volume.out);
  if (passed == 0 && collective != Collective::kBarrier) return 0;
  return link.alpha_ns * 1000 + passed / (by_node ? machine.ports : 1) * link.beta_ps;
}

}  // namespace quadrille
