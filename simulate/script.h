// The plans of all processes in a call, in little memory: messages with their bytes, and when each process posts them
// and waits for them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "schedule/result.h"
#include "simulate/lengths.h"
#include "verifier/plans.h"

namespace quadrille {

// How a message travels (runtime/execute/messages.c).
enum class Kind : uint8_t {
  kPlain,
  kLengths,  // the lengths of the next message, which goes to the same peer
  kData      // follows its lengths: the receive is posted when these have been read
};

inline constexpr int64_t kLongestMessage = int64_t{1} << 46;  // bytes

// A send or a receive. `partner` is the index of the other end among the peer's receives or sends. Of the `all_parts`
// parts of the message, the process packs, unpacks or combines `parts`.
struct Post {
  int32_t peer = 0, partner = 0, parts = 0, all_parts = 0;
  int64_t bytes : 48 = 0;
  Kind kind : 8 = Kind::kPlain;
  bool straight : 8 = false;  // zero copy: its bytes can go from or to where they belong
  // Returns the bytes of the parts that the process packs, unpacks or combines.
  int64_t copied() const { return parts == all_parts ? bytes : bytes * parts / all_parts; }
};

// First the process makes `copies` copies of `copied` bytes in all. Then it waits for receives_done more receives and
// sends_done more sends. Then it posts receives_posted and sends_posted more.
struct Turn {
  int32_t receives_done = 0, sends_done = 0, receives_posted = 0, sends_posted = 0;
  int32_t copies = 0;
  int64_t copied = 0;
};

struct Script {
  std::vector<Post> receives, sends;
  std::vector<Turn> turns;
  int32_t window = 0;          // of an allgather, which may send early; else 0
  bool reads_lengths = false;  // it learns the lengths of its receives from messages, in order
};

// One script for each process: those of the first group, then those of the second. Each send has its receive.
struct Scripts {
  std::vector<Script> all;
  std::vector<int32_t> node;  // by process
  int32_t nodes = 0;
};

int64_t messages(const Scripts& scripts);
// Returns the indices of messages, sorted by peer. Messages of one peer keep their order.
std::vector<int32_t> by_peer(const std::vector<Post>& all);

// Called from time to time with how much is done, and how much there is.
using Tell = std::function<void(int64_t done, int64_t all)>;

// The greatest number of messages (so many take some gigabytes), of parts of messages and copies together, and of
// iterations of the program's loops on all ranks.
struct ScriptLimits {
  int64_t messages = int64_t{1} << 26, parts = INT64_MAX, iterations = INT64_MAX;
};

// Makes the scripts of a call from the plans of a schedule file (verifier/plans.h). `program` and `job` were read
// from this file. Nothing if a limit is exceeded. `lengths` matter if only the two ends of a message know them.
// Errors: the runtime refuses the call, a message lacks its other end, or too many blocks have lengths of their own.
Result<std::optional<Scripts>> scripts_of(std::span<const uint8_t> file, const Program& program,
                                          const Job& job, const Call& call,
                                          const BlockLengths& lengths,
                                          const verifier::PlanOptions& options,
                                          const Tell& tell = {}, const ScriptLimits& limits = {});

}  // namespace quadrille
