// Who waits for whom, followed until a rank comes up again: that cycle is a deadlock; a rank that
// waits for one that is done will wait for ever. Tested by tests/reject/.
#include "verifier/rendezvous.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace quadrille::verifier {
namespace {

// The peer of the first message that has not met, and its direction.
std::pair<int, Direction> waits_for(const Context& context) {
  std::optional<std::pair<int, Direction>> first;
  for (const Posted& posted : context.posted) {
    if (!posted.waits) continue;
    const std::pair<int, Direction> here{posted.peer, posted.head.direction};
    if (!first || here < *first) first = here;
  }
  check(first.has_value(), "a rank waits for a message that is not posted");
  return *first;
}

const Context* if_waiting(const Context& context) { return context.unmet > 0 ? &context : nullptr; }

struct Wait {
  std::vector<const Context*> path;  // who waits for the next
  bool cycle;                        // the last waits for the first; else for one that is done
};

// Follows who waits for whom until a rank comes up again, or is done.
Wait follow(const std::vector<Context>& contexts, const Context& start) {
  Wait wait{{}, false};
  for (const Context* at = &start; at; at = if_waiting(contexts[waits_for(*at).first])) {
    const auto seen = std::find(wait.path.begin(), wait.path.end(), at);
    if (seen != wait.path.end()) {
      wait.path.erase(wait.path.begin(), seen);
      wait.cycle = true;
      break;
    }
    wait.path.push_back(at);
  }
  return wait;
}

constexpr size_t kFew = 8;

}  // namespace

void Context::sort() {
  order.clear();
  if (posted.size() <= kFew) return;
  for (size_t i = 0; i < posted.size(); ++i) order.push_back(static_cast<int>(i));
  std::sort(order.begin(), order.end(), [this](int a, int b) {
    return std::tie(posted[a].peer, posted[a].head.direction, a) <
           std::tie(posted[b].peer, posted[b].head.direction, b);
  });
}

Posted* Context::waiting(int peer, Direction direction) {
  const auto is_wanted = [=](const Posted& p) {
    return p.waits && p.peer == peer && p.head.direction == direction;
  };
  if (order.empty()) {
    const auto found = std::find_if(posted.begin(), posted.end(), is_wanted);
    return found == posted.end() ? nullptr : &*found;
  }
  const auto first = std::partition_point(order.begin(), order.end(), [&](int i) {
    return std::tie(posted[i].peer, posted[i].head.direction) < std::tie(peer, direction);
  });
  const auto found = std::find_if(first, order.end(), [&](int i) {
    return is_wanted(posted[i]) || posted[i].peer != peer || posted[i].head.direction != direction;
  });
  return found == order.end() || !is_wanted(posted[*found]) ? nullptr : &posted[*found];
}

void ask_progress(const std::vector<Context>& contexts, const Processes& processes,
                  Findings& findings) {
  const auto stuck = std::find_if(contexts.begin(), contexts.end(),
                                  [](const Context& context) { return context.unmet > 0; });
  if (stuck == contexts.end()) return;
  const Wait wait = follow(contexts, *stuck);
  const Context& told = wait.cycle ? *wait.path.front() : *wait.path.back();
  const auto [peer, direction] = waits_for(told);
  const std::string text = fmt::format(
      "{} waits {} {}", processes.name(told.process),
      direction == Direction::kSend ? "to send to" : "to receive from", processes.name(peer));
  if (!wait.cycle)
    return findings.add(Property::kMatch, told.key, {told.process, peer}, text + ", which is done");
  std::vector<int> waiting;
  std::string around;
  for (const Context* context : wait.path) {
    waiting.push_back(context->process);
    around += processes.name(context->process) + " waits for ";
  }
  findings.add(Property::kProgress, told.key, waiting,
               fmt::format("{}: {}{}", text, around, processes.name(told.process)));
}

void ask_barrier(const std::vector<Context>& contexts, const Processes& processes,
                 Findings& findings) {
  for (const Context& context : contexts) {
    if (!context.hearing) return;
    const auto missing = static_cast<int>(context.hearing->all().first_missing());
    if (missing == processes.size()) continue;
    return findings.add(Property::kBarrier, std::nullopt, {context.process, missing},
                        fmt::format("{} leaves without having heard of {}",
                                    processes.name(context.process), processes.name(missing)));
  }
}

}  // namespace quadrille::verifier
