// Puts the files of all processes of a traced run together: calls, each with the notes of every process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schedule/result.h"
#include "trace/file.h"

namespace quadrille::trace {

// A schedule on a communicator, or a persistent call of it.
struct Bound {
  std::string algorithm, collective, hash;   // hash: 32 hexadecimal digits
  int64_t request = 0;                       // 0, or the number of the persistent call
  std::vector<const BindingSection*> ranks;  // by rank of the communicator
  std::string name() const;                  // "alltoall by tuna"
};

// The notes of one process about a call. The clock of rank 0 is `shift` nanoseconds ahead, plus or minus `error`.
struct Noted {
  const SetupSection* setup = nullptr;  // null: the process made no such call
  std::vector<const PartSection*> parts;
  int64_t shift = 0, error = 0;
};

struct TracedCall {
  size_t bound = 0;
  int64_t number = 0;            // of the call in its binding
  std::vector<Noted> ranks;      // by rank of the communicator
  int64_t begun = 0, ended = 0;  // ns on rank 0's clock: first process begins, last one ends
  bool has_failed = false;
};

struct TracedRun {
  std::vector<File> files;
  std::vector<Bound> bound;
  std::vector<TracedCall> calls;  // in the order in which they began
  int64_t dropped = 0;            // calls that some rank lacks, because its trace was full
  bool is_full = false;  // some trace was full, so the run may have made calls that no rank noted
};

// Reports what is being read.
using Say = std::function<void(const std::string&)>;

// Reads all traces of a folder. Errors: no trace, a broken one, a rank whose trace is missing, a call that some rank did
// not make or did not end.
Result<TracedRun> read_run(const std::string& folder, const Say& say);

}  // namespace quadrille::trace
