// The costs of a machine. tools/calibrate.c measures the costs of a real one.
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/binding.h"

namespace quadrille {

// Typical values: alpha is 2 us between nodes, and 10 GB per second leave a node.
inline constexpr LinearModel kCommonModel = {2000, 100};

// How messages share a port: they pass one after another, in the order in which they come, or all at once, with equal
// shares of its bandwidth.
enum class Sharing { kInTurn, kFair };

// The model LogGOPS (Hoefler, Schneider and Lumsdaine 2010), with ports that the ranks of a node may share. All costs
// are integers, so the times of a call are the same on every run.
struct Machine {
  LinearModel between = kCommonModel;  // messages between nodes
  LinearModel inside = {500, 50};      // messages inside a node
  LinearModel copy = {50, 50};         // copies of a block into a message or out of it
  int64_t gap_ns = 50;                 // between two messages to other nodes
  int64_t gap_inside_ns = 50;          // between two messages inside
  PortScope port = PortScope::kNode;   // what has a port and a memory: each node, or each rank
  // The time per byte of a message that is alone inside a node; if less than `inside`, that applies.
  int64_t beta_alone_ps = 0;
  int64_t eager = 8192;  // bytes of the longest message that is sent before its receive is posted
  // Only simulations have flags for the rest.
  LinearModel overhead = {0, 0};  // the time that each message keeps its sender and receiver busy
  // The time per byte in the memory that all messages inside a node share; 0: no limit; none: as `inside`.
  std::optional<int64_t> memory_ps = {};
  // Added to the time per byte at a port by 1,000 further messages on their way to it.
  int64_t beta_congestion_ps = 0;
  int64_t ports = 1;       // of a node, or of a rank
  bool exclusive = false;  // a port does not send and receive at the same time
  // A switch joins switch_nodes nodes, in the order of the schedule (0: no switches), and has switch_ports ports to
  // other switches. In a fat tree it has fewer such ports than nodes; so has a group of a dragonfly.
  int64_t switch_nodes = 0, switch_ports = 1;
  // The mean of a random, exponentially distributed time by which each message starts later.
  int64_t noise_ns = 0;
  int64_t seed = 1;
  Sharing sharing = Sharing::kInTurn;
  friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace quadrille
