// The part of a call that the command line gives: counts, parameters, a root.
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
// A call with these counts; its parameters are those that are given, or chosen.
Result<Call> call_with(Counts counts, const CallArguments& arguments, const Schedule& schedule);

// The schedule on the nodes that were given; as it is where none were.
Result<Schedule> on_nodes_of(const CallArguments& arguments, Schedule schedule,
                             const std::string& file);
// That the file serves any nodes and --nodes, or that of the other group, is missing.
Error wants_nodes(const std::string& file, const Schedule& schedule);

// Counts of all groups, parameters in the program's order. A parameter that is not given is chosen
// by the schedule's rule from the counts, as the runtime does it.
Result<Call> read_call(const CallArguments& arguments, const Schedule& schedule);

// The calls that a schedule is checked for: the one that is given, and of what depends on counts or names parts
// of blocks, where no counts are given, four that are unlike each other: 1 at each rank, none at all, all at one
// rank, and uneven ones, or, where all ranks give one count, four such. Of a collective with a root, where none
// is given, all roots up to 64 ranks, else the first two, the middle one and the last. Calls that the program does not take
// are left out, unless it takes none.
Result<std::vector<Call>> calls_to_check(const CallArguments& arguments, const Schedule& schedule);

// "counts 3,0,2x5, B = 4": counts as --counts takes them, no more than `longest` characters of
// them, and what was given or chosen for the call; empty where the program asks for nothing.
std::string call_text(const Program& program, const Call& call, size_t longest);
// " --counts 3,0,2x5 --parameter B=4 --root 1": the flags that give the call once more.
std::string call_flags(const Program& program, const Call& call);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_CALL_H_
