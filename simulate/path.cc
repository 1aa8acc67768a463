#include "simulate/path.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace quadrille {

namespace {

// Follows the critical path from its end to its beginning.
class Tracer {
 public:
  Tracer(const Scripts& scripts, const Machine& machine, const Trace& trace)
      : scripts_(scripts), machine_(machine), trace_(trace), queued_(trace.queued) {
    std::ranges::sort(queued_, is_before);
    for (const std::vector<Wait>& waits : trace.waits) left_.push_back(waits.size());
  }

  std::vector<Leg> path(int32_t process, int64_t time) {
    while (time > 0) {
      const std::vector<Wait>& waits = trace_.waits[process];
      size_t& count = left_[process];
      while (count > 0 && waits[count - 1].end > time) --count;
      const int64_t since = count > 0 ? waits[count - 1].end : 0;
      if (since < time) legs_.push_back({false, process, 0, since, time});
      if (count == 0) break;
      const Sent first = behind(waits[--count].of, since);
      process = waits_for_receive(first) ? send(first).peer : first.process;
      time = legs_.back().begin;
    }
    std::ranges::reverse(legs_);
    return legs_;
  }

 private:
  static auto key(const Queued& one) { return std::tuple(one.of.process, one.of.index, one.at); }
  static bool is_before(const Queued& one, const Queued& other) { return key(one) < key(other); }

  const Post& send(const Sent& of) const { return scripts_.all[of.process].sends[of.index]; }
  const Times& times(const Sent& of) const { return trace_.messages[of.process][of.index]; }
  // True if the message started when its receive was posted. Otherwise it started when its send was posted.
  bool waits_for_receive(const Sent& of) const {
    return send(of).bytes > machine_.eager && times(of).receive_posted > times(of).send_posted;
  }

  // Adds a leg for the message, one for the message that it waited behind at a port, and so on. Returns the first of
  // these messages, which waited behind none.
  Sent behind(Sent of, int64_t end) {
    for (int32_t at = std::numeric_limits<int32_t>::max();;) {
      const auto after = std::ranges::upper_bound(queued_, Queued{of, at, 0, {}, 0}, is_before);
      const bool waited = after != queued_.begin() && std::prev(after)->of.process == of.process &&
                          std::prev(after)->of.index == of.index;
      if (!waited) break;
      const Queued& one = *std::prev(after);
      legs_.push_back({true, of.process, of.index, one.begun, end});
      of = one.behind, at = one.behind_at, end = one.begun;
    }
    const int64_t begun = waits_for_receive(of) ? times(of).receive_posted : times(of).send_posted;
    legs_.push_back({true, of.process, of.index, begun, end});
    return of;
  }

  const Scripts& scripts_;
  const Machine& machine_;
  const Trace& trace_;
  std::vector<Queued> queued_;  // by message and place
  std::vector<size_t> left_;    // waits of each process that may still be on the path
  std::vector<Leg> legs_;
};

}  // namespace

std::vector<Leg> critical_path(const Scripts& scripts, const Machine& machine,
                               const Outcome& outcome, const Trace& trace) {
  const auto last = std::ranges::max_element(outcome.ends) - outcome.ends.begin();
  return Tracer(scripts, machine, trace).path(static_cast<int32_t>(last), outcome.time);
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
  const auto most = std::ranges::max_element(loads, {}, &PortLoad::busy);
  return most == loads.end() ? PortLoad{} : *most;
}

}  // namespace quadrille
