// How messages share ports. A network takes messages when they start, and says when they have arrived.
//
// A message keeps its sender's port for the time of its bytes, even if its receiver's port is busy: the network buffers it.
// So a busy receiver does not delay the messages of a sender to others.
//
// Jams are real nevertheless. Many all-to-alls make every node go through the others in the same order, such as i, i + 1,
// and so on. If two nodes send to one node at once, its port serves both at half the speed. Then both go on to the next
// node together, and others catch up with them. Nothing ends this if messages are eager: each node sends on until it lacks
// blocks that others owe it. A rendezvous message does not start before its receive is posted, so jams stay short.
// On 8x8 and 16x8 ranks SimGrid shows the same jams as `fair`: `hierarchical-factor` takes 1.8 and 2.1 times its port's work
// with eager messages, and 1.4 and 1.3 times with rendezvous (`./dev bench simulate --only eager`). If ports serve
// messages in turn, as in LogGOPSim at the receiver, jams need more ranks to form, and then grow longer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulate/machine.h"
#include "simulate/usage.h"

namespace quadrille {

inline constexpr int64_t kNanosecond = 1000;  // picoseconds

// A message: its sender, and which of its sends it is.
struct Sent {
  int32_t process = 0, index = 0;
};

struct Flow {
  Sent sent;
  int32_t from = 0, to = 0;  // ports: numbers of nodes, or of processes
  int32_t from_node = 0, to_node = 0;
  int64_t bytes = 0;
  bool is_inside() const { return from_node == to_node; }  // inside one node
};

// Message `of` waits at place `at` of its path until message `behind` has passed place `behind_at` of its own path.
// Then, at time `begun`, the place begins with `of`. Places of a path are counted from 0.
struct Queued {
  Sent of;
  int32_t at = 0;
  int64_t begun = 0;
  Sent behind;
  int32_t behind_at = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // From now on, appends each wait of a message at a place. With fair sharing no message waits.
  virtual void note_waits(std::vector<Queued>*) {}
  // From now on, adds the use of ports by messages between nodes.
  void note_use(PortUse* use) { use_ = use; }
  // Starts a message. `now` must not be earlier than in any call before.
  virtual void start(const Flow& flow, int64_t now) = 0;
  // Returns the time of the next change; the greatest integer if no message is in flight.
  virtual int64_t next() = 0;
  // Advances to `now`, which must be next(). Appends the messages that have arrived by then.
  virtual void advance(int64_t now, std::vector<Sent>& arrived) = 0;
  // Returns the number of changes so far.
  int64_t events() const { return events_; }

 protected:
  int64_t events_ = 0;
  PortUse* use_ = nullptr;
};

// Makes a network with machine.sharing. `ports`: the number of nodes, or of processes if each has ports of its own.
std::unique_ptr<Network> make_network(const Machine& machine, int32_t ports);

// Returns the picoseconds that a message keeps a port busy.
int64_t time_at_port(const Machine& machine, int64_t bytes);

}  // namespace quadrille
