// Reads schedule files and calls (counts, parameters, a root) from command-line arguments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/result.h"
#include "verifier/decode.h"

namespace quadrille::cli {
class Command;
}

namespace quadrille::verifier {

// The arguments as the user typed them.
struct CallArguments {
  std::string counts;                   // "3,0,5" or "4x7"; for two groups "3,0/4"
  std::vector<std::string> parameters;  // "name=value"
  std::optional<int64_t> root;
  std::string nodes, remote_nodes;  // "1,2,3", for a schedule for any nodes
  int64_t element = 1;              // bytes of an element of a reduction, for rules of block sizes
  std::string certificate = {};     // of the schedule; empty: the one beside it, if there is one
};

void add_call(cli::Command& command, CallArguments& arguments);

using Counts = std::vector<std::vector<int64_t>>;  // by group and rank

// Returns `count` for each rank of each group.
Counts equal_counts(const std::vector<Topology>& groups, int64_t count);
// Returns counts whose average is about `count`. They are equal, except in a reduce-scatter between two groups: MPI
// wants vectors of one length in both groups, so ranks of the smaller group have higher counts.
Counts average_counts(Collective collective, const std::vector<Topology>& groups, int64_t count);
// Returns the number of steps in flight that --window gives, or 0 if it is not given. Errors begin with --window.
Result<int> read_window(const std::optional<int64_t>& window);
// Reads "3,0,5", or "3,0/4" for two groups. Errors begin with --counts.
Result<Counts> read_counts(const std::string& text);
// Returns a call with these counts. The schedule's rule chooses a parameter that the arguments do not give.
Result<Call> call_with(Counts counts, const CallArguments& arguments, const Schedule& schedule);

struct ScheduleFile {
  std::vector<uint8_t> bytes;
  Schedule schedule;
};
// Reads and decodes a schedule file. A schedule for any nodes gets the nodes that the arguments give, if any.
Result<ScheduleFile> open_schedule(const std::string& path, const CallArguments& arguments);
// Returns the error for a schedule that serves any nodes when --nodes or --remote-nodes is missing.
Error wants_nodes(const std::string& file, const Schedule& schedule);

// Returns the call that the arguments describe: counts of all groups, parameters in the program's order. As in the
// runtime, the schedule's rule chooses a parameter that is not given. Errors begin with the flag to blame.
Result<Call> read_call(const CallArguments& arguments, const Schedule& schedule);

// On more ranks `check` does not walk all roots, and checks no plans.
inline constexpr int64_t kMostRanksInFull = 64;

// Returns the calls that `check` walks. If counts are given, or do not matter, it walks one list of counts. Otherwise
// it walks four: 1 on each rank, 0 everywhere, all on one rank, and uneven ones. Without a given root, `check` walks
// all roots of up to kMostRanksInFull ranks. On more ranks it walks the first two, the middle one and the last.
// Calls that the program refuses are left out, unless the program refuses all.
Result<std::vector<Call>> calls_to_check(const CallArguments& arguments, const Schedule& schedule);

// Describes a call: "counts 3,0,2x5, B = 4, root 1". The counts of a group are cut after `longest` characters. The
// text is empty if the program needs no counts, parameters or root.
std::string call_text(const Program& program, const Call& call, size_t longest);
// Returns the flags that give this call: " --counts 3,0,2x5 --parameter B=4 --root 1".
std::string call_flags(const Program& program, const Call& call);

}  // namespace quadrille::verifier
