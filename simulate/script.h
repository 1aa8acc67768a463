// What the plans of a call make all processes do, in little memory: messages with their bytes, and when each process
// posts them and waits for them.
#ifndef QUADRILLE_SIMULATE_SCRIPT_H_
#define QUADRILLE_SIMULATE_SCRIPT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/result.h"
#include "verifier/plans.h"

namespace quadrille {

// A send or a receive. `partner` is the index of the other end among the peer's receives or sends. `parts` are packed,
// unpacked or combined by the processor; 0 if the message goes straight from or to where its bytes belong.
struct Post {
  int32_t peer = 0, partner = 0, parts = 0;
  int64_t bytes = 0;
};

// The process copies so many bytes in so many parts. Then it waits for so many more receives and sends, and posts so many
// more.
struct Turn {
  int32_t receives_done = 0, sends_done = 0, receives_posted = 0, sends_posted = 0;
  int32_t copies = 0;
  int64_t copied = 0;
};

struct Script {
  std::vector<Post> receives, sends;
  std::vector<Turn> turns;
  int32_t window = 0;  // of an allgather, which may send early; else 0
};

// One script for each process: those of the first group, then those of the second. The caller has checked that the
// plans are right: each send has its receive.
struct Scripts {
  std::vector<Script> all;
  std::vector<int32_t> node;  // by process
  int32_t nodes = 0;
};

// The most messages, which take some gigabytes, and the most parts of messages and copies.
struct ScriptLimits {
  int64_t messages = int64_t{1} << 26, parts = INT64_MAX;
};

// Nothing if there are more than that. `block`: the bytes of a block if only the two ends of a message know its length. Errors
// are the runtime's refusals, and a send without its receive.
Result<std::optional<Scripts>> scripts_of(const verifier::Plans& plans, const Job& job,
                                          int64_t block, const verifier::PlanOptions& options,
                                          const ScriptLimits& limits = {});

}  // namespace quadrille

#endif  // QUADRILLE_SIMULATE_SCRIPT_H_
