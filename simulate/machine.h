// The costs of a machine. tools/calibrate.c measures those of a real one.
#ifndef QUADRILLE_SIMULATE_MACHINE_H_
#define QUADRILLE_SIMULATE_MACHINE_H_

#include <cstdint>
#include <optional>

#include "schedule/binding.h"

namespace quadrille {

// Typical values: alpha is 2 us between nodes, and 10 GB per second leave a node.
inline constexpr LinearModel kCommonModel = {2000, 100};

// Messages at a port go on one after another, in the order in which they come; or all at once, with equal shares of its
// bandwidth.
enum class Sharing { kInTurn, kFair };

// LogGOPS (Hoefler, Schneider and Lumsdaine 2010) with ports of nodes. All costs are integers, so the times of a call are
// the same on every run.
struct Machine {
  LinearModel between = kCommonModel;  // messages between nodes
  LinearModel inside = {500, 50};      // messages inside a node
  LinearModel copy = {50, 50};         // copies of a block into a message or out of it
  int64_t gap_ns = 50;                 // between two messages to other nodes
  int64_t gap_inside_ns = 50;          // between two messages inside
  PortScope port = PortScope::kNode;   // whether the ranks of a node share a port, and memory
  // The time per byte of a single message inside a node; `inside` applies if it is greater.
  int64_t beta_alone_ps = 0;
  int64_t eager = 8192;  // bytes of the longest message that is sent before its receive is posted
  // The rest is for simulations alone.
  LinearModel overhead = {0, 0};  // the rank is busy so long with each message of its own
  // Per byte of all messages inside a node together; 0: no limit; none: as `inside`.
  std::optional<int64_t> memory_ps = {};
  int64_t ports = 1;       // of a node, or of a rank
  bool exclusive = false;  // a port does not send and receive at the same time
  // A switch joins so many nodes, in the order of the schedule, and has so many ports to the other switches. 0: no switches.
  // A fat tree has fewer of these ports than nodes; so has a group of a dragonfly.
  int64_t switch_nodes = 0, switch_ports = 1;
  // Each message starts later by a random time of this mean, exponentially distributed.
  int64_t noise_ns = 0;
  int64_t seed = 1;
  Sharing sharing = Sharing::kInTurn;
  friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace quadrille

#endif  // QUADRILLE_SIMULATE_MACHINE_H_
