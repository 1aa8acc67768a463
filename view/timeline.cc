// The messages and copies of a process change three counters, one for each kind of work. Between two changes, the
// counters say what the process does.
#include "view/timeline.h"

#include <algorithm>
#include <array>

namespace quadrille {
namespace {

struct Change {
  int64_t time;
  Doing doing;
  int by;
};

std::vector<Span> spans_of(std::vector<Change> changes, int64_t end) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& one, const Change& other) { return one.time < other.time; });
  std::vector<Span> spans;
  std::array<int, 4> open = {0, 0, 0, 1};
  const auto add = [&](int64_t until) {
    const int64_t since = spans.empty() ? 0 : spans.back().end;
    if (until <= since) return;
    const auto doing = static_cast<Doing>(
        std::find_if(open.begin(), open.end(), [](int n) { return n > 0; }) - open.begin());
    if (!spans.empty() && spans.back().doing == doing)
      spans.back().end = until;
    else
      spans.push_back({until, doing});
  };
  for (const Change& change : changes) {
    add(std::min(change.time, end));
    open[static_cast<size_t>(change.doing)] += change.by;
  }
  add(end);
  return spans;
}

}  // namespace

std::vector<std::vector<OnWay>> on_way(const Scripts& scripts, const Trace& trace, int64_t eager) {
  std::vector<std::vector<OnWay>> all(scripts.all.size());
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t n = 0; n < scripts.all[i].sends.size(); ++n) {
      const Times& times = trace.messages[i][n];
      const int64_t begun = scripts.all[i].sends[n].bytes > eager
                                ? std::max(times.send_posted, times.receive_posted)
                                : times.send_posted;
      all[i].push_back({begun, begun, times.arrived});
    }
  for (const Queued& one : trace.queued) {
    OnWay& message = all[one.of.process][one.of.index];
    if (one.at == 0) message.leaves = std::max(message.leaves, one.begun);
    message.enters = std::max(message.enters, one.begun);
  }
  return all;
}

std::vector<std::vector<Span>> timeline(const Scripts& scripts, const Trace& trace,
                                        const Outcome& outcome,
                                        const std::vector<std::vector<OnWay>>& on_way) {
  std::vector<std::vector<Change>> changes(scripts.all.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::vector<Busy> none;
    for (const Busy& busy : i < trace.busy.size() ? trace.busy[i] : none) {
      changes[i].push_back({busy.begin, Doing::kBusy, 1});
      changes[i].push_back({busy.end, Doing::kBusy, -1});
    }
    for (size_t n = 0; n < scripts.all[i].sends.size(); ++n) {
      const int32_t peer = scripts.all[i].sends[n].peer;
      const Doing doing = scripts.node[i] == scripts.node[peer] ? Doing::kInside : Doing::kBetween;
      const OnWay& message = on_way[i][n];
      changes[i].push_back({message.leaves, doing, 1});
      changes[i].push_back({message.arrives, doing, -1});
      changes[peer].push_back({message.enters, doing, 1});
      changes[peer].push_back({message.arrives, doing, -1});
    }
  }
  std::vector<std::vector<Span>> all;
  for (size_t i = 0; i < changes.size(); ++i)
    all.push_back(spans_of(std::move(changes[i]), outcome.ends[i]));
  return all;
}

}  // namespace quadrille
