// The checker's verdict on a schedule.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/volume.h"

namespace quadrille::verifier {

// The properties that a schedule can violate. Each has a name in the code, a name in verdicts, and a sentence that
// states it. Each has a case in tests/reject/.
// clang-format off
#define QUADRILLE_PROPERTIES(P) \
  P(kDefined, "defined", "every expression has a value") \
  P(kPeer, "peer", "every peer is a rank") \
  P(kSelfMessage, "self-message", "no rank sends to itself") \
  P(kBlock, "block", "every block and range lies in its buffer") \
  P(kOrder, "order", "keys strictly increase at a rank, with at most one message a direction and pair in a step") \
  P(kHeld, "held", "what is sent is held") \
  P(kMatch, "match", "every send has its receive and every receive its send") \
  P(kKeys, "keys", "both ends of a message have the same key") \
  P(kLength, "length", "both ends of a message agree on its pieces") \
  P(kProgress, "progress", "no rank waits for ever, with no buffering at all") \
  P(kOnce, "once", "no block arrives where it already is") \
  P(kOverwrite, "overwrite", "no block is overwritten while it is still needed") \
  P(kContribution, "contribution", "no contribution is added twice") \
  P(kSums, "sums", "every sum has the canonical tree") \
  P(kPlace, "place", "every block ends where it belongs") \
  P(kCoverage, "coverage", "every block arrives") \
  P(kLeftOver, "left-over", "nothing is moved in vain") \
  P(kEmpty, "empty", "no empty block travels") \
  P(kPort, "port", "no port is used twice at a time") \
  P(kOverlap, "overlap", "steps in flight together touch no block in common") \
  P(kInPlace, "in-place", "each block is sent no later than it is overwritten") \
  P(kBarrier, "barrier", "no rank leaves before every rank has come") \
  P(kRole, "role", "of the root's group, the root alone has messages")
// clang-format on

#define QUADRILLE_PROPERTY(property, name, text) property,
enum class Property : uint8_t { QUADRILLE_PROPERTIES(QUADRILLE_PROPERTY) };
#undef QUADRILLE_PROPERTY

struct PropertyWords {
  std::string_view name, text;
};
#define QUADRILLE_PROPERTY(property, name, text) PropertyWords{name, text},
inline constexpr PropertyWords kProperties[] = {QUADRILLE_PROPERTIES(QUADRILLE_PROPERTY)};
#undef QUADRILLE_PROPERTY
inline constexpr int kPropertyCount = std::size(kProperties);

inline std::string_view property_name(Property property) {
  return kProperties[static_cast<int>(property)].name;
}
inline std::string_view property_text(Property property) {
  return kProperties[static_cast<int>(property)].text;
}

struct Process {
  int64_t group = 0;
  int64_t rank = 0;
};

struct Violation {
  Property property;
  std::optional<int64_t> key;      // of the step, if there is one
  std::vector<Process> processes;  // the processes involved; the first is to blame
  std::string detail;              // what went wrong, in words
};

// What the walk has shown about the port claim.
enum class PortVerdict : uint8_t { kNotClaimed, kLockStep, kEveryTiming };

// The checker's findings and measurements. The figures have a meaning only if `violation` is empty.
struct Report {
  std::optional<Violation> violation;
  int64_t steps = 0;       // distinct keys with a transfer of a block
  int64_t copy_steps = 0;  // further keys with only copies within ranks
  int64_t messages = 0;    // messages with blocks
  int64_t tokens = 0;      // messages without blocks
  // Whether `time` has a meaning: whole blocks, one group, at most one partner per node and key.
  bool timed = false;
  // Time in lock-step. A key takes the work of its busiest node: 1 for each message end or copy.
  int64_t time = 0;
  int64_t lower_bound = 0;  // for any schedule on these nodes
  // The volumes of the busiest rank and the busiest node, in units of counts. Only execute() counts them.
  std::optional<std::pair<Volume, Volume>> volumes;
  int64_t temporary_blocks = 0;  // the most that a rank's temporary buffer has
  int64_t safe_window = 0;       // steps that may be in flight; 0: any number
  bool in_place = true;          // no block is overwritten before it is sent
  // What goes wrong only if block sizes differ, for a call without counts: a rank would need a length that it cannot
  // know, or would keep a block of another length. The call with equal blocks is right.
  std::optional<Violation> uneven;
  PortVerdict port = PortVerdict::kNotClaimed;
  std::optional<int64_t> partners;  // most partners of a node at a time, if asked for

  // Lowers the number of steps that may be in flight; 0 is no limit.
  void limit_window(int64_t steps) {
    if (steps > 0 && (safe_window == 0 || steps < safe_window)) safe_window = steps;
  }
};

}  // namespace quadrille::verifier
