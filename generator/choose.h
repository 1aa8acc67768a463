// Reads the flags of auto's model. Makes the table of `show --explain`: simulated times of a schedule and of others.
#pragma once

#include <string>

#include "generator/candidates.h"
#include "simulate/flags.h"
#include "verifier/decode.h"

namespace quadrille::cli {
class Command;
}

namespace quadrille {

// Reads "8..1MiB": 8, then four times as much each time, and 1 MiB. Also reads a single size. Errors name --bytes.
Result<std::vector<int64_t>> read_sizes(const std::string& text);

// Returns the workload that --bytes or `counts` (the text of --counts) describe. Errors name the flag.
Result<Workload> read_workload(const MachineArguments& arguments, const std::string& counts,
                               Collective collective, std::vector<Topology> groups);
// Describes the blocks of a call: "with blocks of 512 bytes".
std::string workload_text(const Workload& workload);

// A unit in which the time is easy to read.
struct Unit {
  const char* name;
  double nanoseconds;
};
Unit unit_for(int64_t nanoseconds);

// Returns a table of times: this schedule in a call with these `parameters` ("B=4096"), then the best of each
// algorithm, the choice first, then by time. Below it stands the depth of this schedule.
Result<std::string> explain(const verifier::Schedule& schedule, const Workload& workload,
                            const std::vector<std::string>& parameters);

}  // namespace quadrille
