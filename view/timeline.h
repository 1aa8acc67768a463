// Finds what each process does at each time of a run. Times are in picoseconds.
#ifndef QUADRILLE_VIEW_TIMELINE_H_
#define QUADRILLE_VIEW_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "simulate/engine.h"

namespace quadrille {

// A rank is busy with a copy or an overhead, or one of its messages is on its way, between nodes or inside one. Else
// it is idle: it waits for another rank, or its messages wait at a port. If several apply, the first here counts.
enum class Doing : uint8_t { kBusy = 0, kBetween = 1, kInside = 2, kIdle = 3 };

// A span of time. It begins at the end of the span before it, or at 0.
struct Span {
  int64_t end = 0;
  Doing doing = Doing::kIdle;
};

// When a message is on its way. Its sender sees it from the time at which it begins to leave the first port, its
// receiver from the time at which it begins to enter the last one.
struct OnWay {
  int64_t leaves = 0, enters = 0, arrives = 0;
};
// Returns these times by sender and send. `eager`: bytes of the longest message that does not wait for its receive.
std::vector<std::vector<OnWay>> on_way(const Scripts& scripts, const Trace& trace, int64_t eager);

// Returns the spans of each process, up to its end.
std::vector<std::vector<Span>> timeline(const Scripts& scripts, const Trace& trace,
                                        const Outcome& outcome,
                                        const std::vector<std::vector<OnWay>>& on_way);

}  // namespace quadrille

#endif  // QUADRILLE_VIEW_TIMELINE_H_
