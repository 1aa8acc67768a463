// Calls from command-line arguments: a schedule file, counts, parameters, a root.
#ifndef QUADRILLE_VERIFIER_CALL_H_
#define QUADRILLE_VERIFIER_CALL_H_

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

// The arguments as typed.
struct CallArguments {
  std::string counts;                   // "3,0,5" or "4x7"; for two groups "3,0/4"
  std::vector<std::string> parameters;  // "name=value"
  std::optional<int64_t> root;
  std::string nodes, remote_nodes;  // "1,2,3", for a schedule for any nodes
  int64_t element = 1;  // the bytes of an element of a reduction, for rules of block sizes
};

void add_call(cli::Command& command, CallArguments& arguments);

using Counts = std::vector<std::vector<int64_t>>;  // by group and rank

// The same count for each rank.
Counts equal_counts(const std::vector<Topology>& groups, int64_t count);
// The same on average. MPI has vectors of one length in both groups of a reduce-scatter, so there ranks of the smaller group
// have more.
Counts average_counts(Collective collective, const std::vector<Topology>& groups, int64_t count);
// The steps in flight that --window gives; 0 if it is not given.
Result<int> read_window(const std::optional<int64_t>& window);
// "3,0,5", or for two groups "3,0/4". Errors begin with --counts.
Result<Counts> read_counts(const std::string& text);
// A call with these counts. Its parameters are given, or chosen by the schedule's rule.
Result<Call> call_with(Counts counts, const CallArguments& arguments, const Schedule& schedule);

struct ScheduleFile {
  std::vector<uint8_t> bytes;
  Schedule schedule;
};
// Reads and decodes a schedule file. A schedule for any nodes is put on the given nodes, if any.
Result<ScheduleFile> open_schedule(const std::string& path, const CallArguments& arguments);
// The refusal of a file for any nodes if --nodes or --remote-nodes is missing.
Error wants_nodes(const std::string& file, const Schedule& schedule);

// Counts of all groups, parameters in the program's order. The schedule's rule chooses a parameter that is not given,
// as in the runtime.
Result<Call> read_call(const CallArguments& arguments, const Schedule& schedule);

// The calls that `check` walks. If counts are given, or do not matter, there is one list of them. Otherwise there are
// four different lists: 1 on each rank, 0 everywhere, all on one rank, and uneven ones. Without a given root, `check`
// walks all roots up to 64 ranks, else the first two, the middle one and the last. It leaves out calls that the
// program refuses, unless the program refuses all.
Result<std::vector<Call>> calls_to_check(const CallArguments& arguments, const Schedule& schedule);

// "counts 3,0,2x5, B = 4": the counts in the form of --counts, cut after `longest` characters, the parameters, and the
// root. Empty if the program needs none of them.
std::string call_text(const Program& program, const Call& call, size_t longest);
// " --counts 3,0,2x5 --parameter B=4 --root 1": the flags that give the same call.
std::string call_flags(const Program& program, const Call& call);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_CALL_H_
