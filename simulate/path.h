// Finds out why a simulated call takes as long as it does.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/engine.h"

namespace quadrille {

// One leg of the critical path: a message, from the moment when a port began with it, or the work of a process
// between messages.
struct Leg {
  bool is_message = false;
  int32_t process = 0;  // the sender of a message
  int32_t index = 0;    // of the message: which of its sends it is
  int64_t begin = 0, end = 0;
};

// Returns the chain of messages, and of work between them, that ends when the last process ends. The first leg begins
// at 0, each other one when its predecessor ends. A message that waits at a port follows the one it waits behind.
std::vector<Leg> critical_path(const Scripts& scripts, const Machine& machine,
                               const Outcome& outcome, const Trace& trace);

// How long a port is busy in one direction, in picoseconds.
struct PortLoad {
  int32_t port = 0;  // the number of the node, or of the process if each has its own
  bool receives = false;
  int64_t busy = 0;
};
// Returns the port that is busy for longest; all zero if no message leaves a node.
PortLoad busiest_port(const Scripts& scripts, const Machine& machine);

}  // namespace quadrille
