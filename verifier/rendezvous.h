// The state of the general checker's run: contexts, the messages that they have posted, and, where
// nothing goes on any more, who waits for whom.
#ifndef QUADRILLE_VERIFIER_RENDEZVOUS_H_
#define QUADRILLE_VERIFIER_RENDEZVOUS_H_

#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/walk.h"
#include "verifier/memory.h"

namespace quadrille::verifier {

struct Posted {
  Use use;
  bool sized;
  std::vector<Part> parts;
  int landing = -1;  // where what arrives waits for the other messages of its step; -1: nowhere
};

// What a receive has got.
struct Landing {
  std::optional<Side> combine;
  std::vector<PieceValue> pieces;
  std::vector<Part> arrived;
};

// A rank on its way.
struct Context {
  int process = 0;
  Walker walker;
  std::vector<int64_t> registers;
  std::optional<int64_t> key;     // of the last step
  int64_t epoch = 0;              // ended by a copy outside steps
  int unmet = 0;                  // messages of the posted step that have not met
  std::vector<Landing> landings;  // of a step that combines what it receives
};

struct PairQueue {
  std::deque<Posted> sends, receives;
};

struct Rendezvous {
  std::vector<Context> contexts;  // by process number
  std::unordered_map<int64_t, PairQueue> queues;

  PairQueue& queue(int source, int target) { return queues[int64_t{source} << 32 | target]; }
};

// When nothing can go on: adds to the findings what the first waiting context waits for, nothing
// where everybody has come to the end.
void ask_progress(const Rendezvous& rendezvous, const Roster& roster, Findings& findings);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_RENDEZVOUS_H_
