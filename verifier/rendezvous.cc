// Who waits for whom, followed until a rank comes up again: that cycle is a deadlock; a rank that
// waits for one that is done will wait for ever. Tested by tests/reject/.
#include "verifier/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace quadrille::verifier {
namespace {

// The peer of the first message of a waiting context that has not met, and its direction.
std::pair<int, Direction> waits_for(const Rendezvous& rendezvous, const Context& context) {
  const auto holds = [&](const std::deque<Posted>& side) {
    return std::any_of(side.begin(), side.end(),
                       [&](const Posted& p) { return p.use.process == context.process; });
  };
  std::set<std::pair<int, Direction>> found;
  for (const auto& [pair, queue] : rendezvous.queues) {
    const int source = static_cast<int>(pair >> 32), target = static_cast<int>(pair & 0xffffffff);
    if (source == context.process && holds(queue.sends)) found.insert({target, Direction::kSend});
    if (target == context.process && holds(queue.receives))
      found.insert({source, Direction::kReceive});
  }
  check(!found.empty(), "a context waits for a message that no queue holds");
  return *found.begin();
}

const Context* waiting_context(const Rendezvous& rendezvous, int process) {
  const Context& context = rendezvous.contexts[process];
  return context.unmet > 0 ? &context : nullptr;
}

struct Wait {
  std::vector<const Context*> path;  // who waits for the next
  bool cycle;                        // the last waits for the first; else for one that is done
};

// Follows who waits for whom until a rank comes up again, or is done.
Wait follow(const Rendezvous& rendezvous, const Context& start) {
  Wait wait{{}, false};
  for (const Context* at = &start; at;
       at = waiting_context(rendezvous, waits_for(rendezvous, *at).first)) {
    const auto seen =
        std::find_if(wait.path.begin(), wait.path.end(),
                     [at](const Context* earlier) { return earlier->process == at->process; });
    if (seen != wait.path.end()) {
      wait.path.erase(wait.path.begin(), seen);
      wait.cycle = true;
      break;
    }
    wait.path.push_back(at);
  }
  return wait;
}

}  // namespace

void ask_progress(const Rendezvous& rendezvous, const Roster& roster, Findings& findings) {
  const auto stuck = std::find_if(rendezvous.contexts.begin(), rendezvous.contexts.end(),
                                  [](const Context& context) { return context.unmet > 0; });
  if (stuck == rendezvous.contexts.end()) return;
  const Wait wait = follow(rendezvous, *stuck);
  const Context& told = wait.cycle ? *wait.path.front() : *wait.path.back();
  const auto [peer, direction] = waits_for(rendezvous, told);
  const std::string text = fmt::format(
      "{} waits {} {}", roster.name(told.process),
      direction == Direction::kSend ? "to send to" : "to receive from", roster.name(peer));
  if (!wait.cycle)
    return findings.add(Property::kMatch, told.key, {told.process, peer}, text + ", which is done");
  std::vector<int> processes;
  std::string around;
  for (const Context* context : wait.path) {
    processes.push_back(context->process);
    around += roster.name(context->process) + " waits for ";
  }
  findings.add(Property::kProgress, told.key, processes,
               fmt::format("{}: {}{}", text, around, roster.name(told.process)));
}

}  // namespace quadrille::verifier
