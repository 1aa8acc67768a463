// The state of the exact checker's run: ranks on their way, the messages that they have posted, and,
// where nothing goes on any more, who waits for whom.
#ifndef QUADRILLE_VERIFIER_RENDEZVOUS_H_
#define QUADRILLE_VERIFIER_RENDEZVOUS_H_

#include <optional>
#include <vector>

#include "schedule/walk.h"
#include "verifier/heard.h"
#include "verifier/memory.h"

namespace quadrille::verifier {

// A message of the step that a rank is in; its parts are those of the rank from `first` on.
struct Posted {
  MessageHead head;
  int peer = -1;  // as a process
  int first, count;
  bool waits = false;  // is posted and has not met
};

// A rank on its way. It goes on only when its step has met, so there is one message at most between
// two ranks each way.
struct Context {
  int process = 0;
  Walker walker;
  std::vector<int64_t> registers;
  std::optional<int64_t> key;  // of the last step
  int64_t epoch = 0;           // ended by a copy outside steps
  // The step that is posted.
  Use use;
  std::vector<Posted> posted;
  std::vector<Part> parts;  // what is sent, and where what arrives belongs
  std::vector<int> order;   // of the posted, by peer and direction, where they are many
  int unmet = 0;
  bool combines = false;           // what it receives lands when all have met
  std::optional<Hearing> hearing;  // of a barrier

  void sort();  // once all are posted
  // The message to or from that process that has not met; nothing where there is none.
  Posted* waiting(int peer, Direction direction);
};

// When nothing can go on: adds to the findings what the first waiting rank waits for, nothing where
// everybody has come to the end.
void ask_progress(const std::vector<Context>& contexts, const Processes& processes,
                  Findings& findings);
// At the end of a barrier: adds to them a rank that leaves without having heard of all.
void ask_barrier(const std::vector<Context>& contexts, const Processes& processes,
                 Findings& findings);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_RENDEZVOUS_H_
