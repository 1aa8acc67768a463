// The state of the general checker's run: contexts, the messages that they have posted, and, where
// nothing goes on any more, who waits for whom.
#ifndef QUADRILLE_VERIFIER_RENDEZVOUS_H_
#define QUADRILLE_VERIFIER_RENDEZVOUS_H_

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/walk.h"
#include "verifier/memory.h"

namespace quadrille::verifier {

// A rank, or one lane of a rank.
struct Context {
  int id = 0;
  int process = 0;
  int parent = -1;               // of a lane
  int64_t lanes_generation = 0;  // which `lanes` statement this is a lane of; 0: none
  Walker walker;
  std::vector<int64_t> registers;
  std::optional<int64_t> key;  // of the last step
  int64_t epoch = 0;           // ended by a copy outside steps
  int unmet = 0;               // messages of the posted step that have not met
  int lanes_left = 0;
  bool ended = false;
};

struct Posted {
  int context;
  Use use;
  bool sized;
  std::vector<Part> parts;
};

struct PairQueue {
  std::deque<Posted> sends, receives;
  int sending_context = -1, receiving_context = -1;
};

struct Rendezvous {
  std::vector<std::unique_ptr<Context>> contexts;  // ranks first, by process number
  std::unordered_map<int64_t, PairQueue> queues;

  PairQueue& queue(int source, int target) { return queues[int64_t{source} << 32 | target]; }
};

// When nothing can go on: adds to the findings what the first waiting context waits for, nothing
// where everybody has come to the end.
void ask_progress(const Rendezvous& rendezvous, const Roster& roster, Findings& findings);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_RENDEZVOUS_H_
