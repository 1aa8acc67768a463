// What the checker says of a schedule.
#ifndef QUADRILLE_VERIFIER_VERDICT_H_
#define QUADRILLE_VERIFIER_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/volume.h"

namespace quadrille::verifier {

// What a schedule can violate. Each has a name (property_name) and a case in tests/reject/.
enum class Property : uint8_t {
  kDefined,      // an expression without a value
  kPeer,         // a peer that is not a rank
  kSelfMessage,  // a message to oneself
  kBlock,        // a block or a range outside its buffer
  kOrder,   // keys that do not strictly increase, or two messages one way between a pair in a step
  kHeld,    // a block is sent that its sender does not hold
  kMatch,   // a send without its receive, or a receive without its send
  kKeys,    // the two ends of a message are in steps with different keys
  kLength,  // the two ends of a message differ in the number of pieces or in a length
  kProgress,      // ranks wait for each other for ever, with no buffering
  kOnce,          // a block arrives where it already is
  kOverwrite,     // a block is written over one that is still needed
  kContribution,  // a contribution is added twice
  kPlace,         // a block ends where another belongs
  kCoverage,      // a block is missing at the end
  kLeftOver,      // data was moved and never used
  kEmpty,         // a message has an empty piece although the program knows the counts
  kPort,          // a port is used twice at a time
  kOverlap,       // steps that may be in flight together touch one block
  kInPlace,       // a block is overwritten before it is sent, against the claim
  kBarrier,       // a rank leaves a barrier before it has heard of all
  kRole,          // a rank of the root's group that is not the root has a message
};
inline constexpr int kPropertyCount = 22;

// One word, as in "refuted: coverage".
std::string_view property_name(Property property);
// The property itself, as a sentence.
std::string_view property_text(Property property);

struct Process {
  int64_t group = 0;
  int64_t rank = 0;
};

struct Violation {
  Property property;
  std::optional<int64_t> key;      // of the step, where there is one
  std::vector<Process> processes;  // involved, the first is to blame
  std::string detail;              // a clause
};

// The port claim, as the walk found it.
enum class PortVerdict : uint8_t { kNotClaimed, kLockStep, kEveryTiming };

// What the checker found and measured. The figures have a meaning only if `violation` is empty.
struct Report {
  std::optional<Violation> violation;
  int64_t steps = 0;       // distinct keys with a transfer of a block
  int64_t copy_steps = 0;  // further keys with nothing but copies to oneself
  int64_t messages = 0;    // with blocks
  int64_t tokens = 0;      // without
  bool timed = false;      // the model applies: whole blocks, one group, and at a key a
                           // node deals with one other at most
  int64_t time =
      0;  // lock-step: a key takes as long as its busiest node (one a message end or copy)
  int64_t lower_bound = 0;  // of any schedule on these nodes
  // Of the busiest rank and the busiest node, in units of counts. Only execute() counts them.
  std::optional<std::pair<Volume, Volume>> volumes;
  int64_t temporary_blocks = 0;  // that a rank's temporary buffer has, at most
  int64_t safe_window = 0;       // steps that may be in flight; 0: any number
  bool in_place = true;          // each block is sent no later than it is overwritten
  bool any_counts =
      false;  // no receiver needs a length that it cannot know: blocks may differ in size
  PortVerdict port = PortVerdict::kNotClaimed;
  std::optional<int64_t> partners;  // that a node may have at a time, where that was asked

  // At most so many steps may be in flight; 0 says nothing.
  void limit_window(int64_t steps) {
    if (steps > 0 && (safe_window == 0 || steps < safe_window)) safe_window = steps;
  }
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_VERDICT_H_
