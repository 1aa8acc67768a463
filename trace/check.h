// Compares a traced call with the plans that the runtime makes from the schedule.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/result.h"
#include "simulate/engine.h"
#include "trace/run.h"
#include "verifier/call.h"

namespace quadrille::trace {

// A traced call in the form of the simulator. Times count from the start of the first process.
struct Measured {
  Scripts scripts;  // the bytes of messages are those of the run
  Trace trace;      // a message arrives when its receive is complete
  Outcome outcome;
  std::vector<int64_t> begins;  // by process, in picoseconds
  std::vector<int32_t> real;    // by process: its rank in the communicator
};

// The plans of a call. Processes are the ranks of the schedule: those of its first group, then those of the second.
struct Planned {
  const verifier::ScheduleFile* file = nullptr;
  Job job;
  Call call;
  Scripts scripts;
  std::vector<int32_t> process;  // by rank of the communicator
  bool knows_bytes = false;      // the bytes of each message; else only its ends know them
};

class Checker {
 public:
  Checker(const TracedRun& run, const std::vector<verifier::ScheduleFile>& schedules)
      : run_(run), schedules_(schedules) {}

  // Returns a call's plans. Errors: no schedule has its hash; ranks contradict each other; the runtime refuses it.
  Result<std::shared_ptr<const Planned>> plan(const TracedCall& call);
  // Returns the first difference between run and plans, or between two ends of a message; nothing if all agree.
  static std::optional<std::string> difference(const TracedCall& call, const Planned& planned);
  // Converts a call that has no difference.
  static Measured measure(const TracedCall& call, const Planned& planned);

 private:
  struct Kept {
    const TracedCall* call = nullptr;
    std::shared_ptr<const Planned> planned;
  };
  Result<Planned> make(const TracedCall& call) const;

  const TracedRun& run_;
  const std::vector<verifier::ScheduleFile>& schedules_;
  std::map<size_t, Kept> kept_;  // the last plans of each binding
};

}  // namespace quadrille::trace
