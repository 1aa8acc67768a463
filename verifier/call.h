// Calls as the command line gives them: a schedule file, counts, parameters, a root.
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

// As it was typed.
struct CallArguments {
  std::string counts;                   // "3,0,5" or "4x7"; of two groups "3,0/4"
  std::vector<std::string> parameters;  // "name=value"
  std::optional<int64_t> root;
  std::string nodes, remote_nodes;  // "1,2,3", for a schedule that serves any
};

void add_call(cli::Command& command, CallArguments& arguments);

using Counts = std::vector<std::vector<int64_t>>;  // by group and rank

// "3,0,5", of two groups "3,0/4"; errors begin with --counts.
Result<Counts> read_counts(const std::string& text);
// A call with these counts. Its parameters are given, or chosen by the schedule's rule.
Result<Call> call_with(Counts counts, const CallArguments& arguments, const Schedule& schedule);

struct ScheduleFile {
  std::vector<uint8_t> bytes;
  Schedule schedule;
};
// Reads and decodes a schedule file. One that serves any nodes is put on those that were given, and stays as it is where
// none were.
Result<ScheduleFile> open_schedule(const std::string& path, const CallArguments& arguments);
// The refusal of a file for any nodes if --nodes or --remote-nodes is missing.
Error wants_nodes(const std::string& file, const Schedule& schedule);

// Counts of all groups, parameters in the program's order. The schedule's rule chooses a parameter that is not given, as in
// the runtime.
Result<Call> read_call(const CallArguments& arguments, const Schedule& schedule);

// The calls that `check` walks. If counts are given, or matter to nobody, there is one list of them. Otherwise there are four
// unlike lists: 1 at each rank, 0 everywhere, all at one rank, and uneven ones. If no root is given, all roots are taken up
// to 64 ranks, else the first two, the middle one and the last. Calls that the program does not take are left out, unless it
// takes none.
Result<std::vector<Call>> calls_to_check(const CallArguments& arguments, const Schedule& schedule);

// "counts 3,0,2x5, B = 4": the counts in the form of --counts, cut after `longest` characters, the parameters, and the root.
// Empty if the program asks for nothing.
std::string call_text(const Program& program, const Call& call, size_t longest);
// " --counts 3,0,2x5 --parameter B=4 --root 1": the flags that give the same call.
std::string call_flags(const Program& program, const Call& call);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_CALL_H_
