// When a process begins a step, it depends on every process that its completed steps have heard of. A message passes
// on the processes that its sender depended on when the sender's step began.
#include <set>

#include "tests/support/oracle_log.h"

namespace quadrille::oracle {
namespace {

class Certainty {
 public:
  Certainty(const Log& log, const std::deque<Trace>& traces) : log_(log), traces_(traces) {}

  // Returns the processes that `process` depends on when it begins that action of its walk, or ends the walk.
  const std::set<int>& before(int process, size_t action) {
    const auto [found, is_new] = known_.try_emplace({process, action});
    if (!is_new) return found->second;
    std::set<int> sure = {process};
    const Trace& trace = traces_[process];
    const bool at_end = action == trace.size();
    for (size_t i = 0; i < action; ++i) {
      if (!trace[i].key) continue;
      if (!at_end && trace[action].after && *trace[i].key > *trace[action].after) continue;
      for (const Met& met : log_.met) {
        if (met.target != process || met.key != *trace[i].key) continue;
        const std::set<int>& told = before(met.source, step_of(met.source, met.key));
        sure.insert(told.begin(), told.end());
      }
    }
    return known_[{process, action}] = sure;
  }

 private:
  size_t step_of(int process, int64_t key) const {
    size_t i = 0;
    while (traces_[process][i].key != key) ++i;
    return i;
  }

  const Log& log_;
  const std::deque<Trace>& traces_;
  std::map<std::pair<int, size_t>, std::set<int>> known_;
};

}  // namespace

void ask_barrier(const Log& log, const std::deque<Trace>& traces) {
  Certainty certainty(log, traces);
  for (size_t process = 0; process < traces.size(); ++process)
    demand(
        certainty.before(static_cast<int>(process), traces[process].size()).size() == traces.size(),
        "leaves too early");
}

}  // namespace quadrille::oracle
