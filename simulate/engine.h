// Simulates the plans of all processes on a model of the machine, event by event.
//
// A process follows its script as the executor follows a plan (runtime/execute/executor.c). While it is busy with a message
// or a copy, it posts nothing. An eager message starts when its send is posted, and the send is complete at once. A longer
// one starts when its receive is posted, too. Its send is complete when the message has arrived.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/result.h"
#include "simulate/machine.h"
#include "simulate/network.h"
#include "simulate/script.h"

namespace quadrille {

// When a message was posted at both ends, and when it arrived, in picoseconds.
struct Times {
  int64_t send_posted = 0, receive_posted = 0, arrived = 0;
};

// A process does nothing from `begin` to `end`: it waits until its message `of` has arrived.
struct Wait {
  int64_t begin = 0, end = 0;
  Sent of;
};

// A process packs, unpacks, combines or copies, or is busy with the overhead of a message.
struct Busy {
  int64_t begin = 0, end = 0;
};

// What happened, for pictures and exports.
struct Trace {
  std::vector<std::vector<Times>> messages;  // by sender and its send
  std::vector<std::vector<Wait>> waits;      // by process, in their order
  std::vector<std::vector<Busy>> busy;
  std::vector<Queued> queued;  // waits of messages at ports, in the order in which they came
};

struct Outcome {
  int64_t time = 0;           // picoseconds until the last process ends
  std::vector<int64_t> ends;  // by process
  int64_t messages = 0, bytes = 0;
  int64_t events = 0;
};

// Simulates a call. Tells `tell` how many of all messages have arrived. Fills `trace` and `use` unless they are null;
// use->port says which port to watch. Errors: the plans wait for each other for ever, or times exceed an integer.
Result<Outcome> simulate(const Scripts& scripts, const Machine& machine, const Tell& tell = {},
                         Trace* trace = nullptr, PortUse* use = nullptr);

}  // namespace quadrille
