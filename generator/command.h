// The command line of `generate`: which program, for which nodes, or for any, with which numbers in
// the file.
#ifndef QUADRILLE_GENERATOR_COMMAND_H_
#define QUADRILLE_GENERATOR_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "generator/choose.h"
#include "generator/registry.h"
#include "schedule/binding.h"
#include "verifier/decode.h"

namespace quadrille {

// True where the program has a parameter that is chosen at the call, a block size.
bool chooses_block_size(const Program& program);
inline constexpr const char* kBlockSizeHelp =
    "min, the least count that is not 0; model, the optimum of the linear model; auto, its best "
    "with "
    "rounds counted exactly; or a number of bytes (default auto)";

// As they were typed; empty where they were not.
struct GenerateArguments {
  std::string collective, algorithm, program, nodes, slurm, hostfile, remote_nodes, out;
  Choices choices;                             // of every option of every algorithm
  std::map<std::string, std::string> numbers;  // of every number
  std::vector<std::string> parameters;         // "NAME=VALUE", of a program in a text
  std::string block_size;
  MachineArguments machine;
  std::string counts;    // of the call that auto chooses for
  bool ordered = false;  // for auto: keeps the order of ranks
  std::string chosen;    // what was found for auto, and why
};

cli::Command add_generate(cli::Command& program, GenerateArguments& arguments);

// Whether MPI calls it so. Its name for a collective with counts, where it has one, is another name of the
// same: a schedule serves all counts.
bool is_called(Collective collective, const std::string& name);

// The collectives that have algorithms, in the order of the registry; and names, as a text lists them.
std::vector<Collective> served_collectives();
std::string collective_names(const char* separator);
std::string algorithm_names(Collective collective, int groups);

// The nodes of each group, as the flags give them: two groups where --remote-nodes is given. Empty where
// the schedule is to serve any nodes.
Result<std::vector<Topology>> read_groups(const GenerateArguments& arguments);

// Writes the schedule file; returns the exit code.
int generate(const GenerateArguments& arguments);

// "generate alltoall --algorithm factor --nodes 4": the command that makes this schedule, without
// --out; of a program that is none of the registry's, with the text that `show` prints as --program.
std::string generate_command(const verifier::Schedule& schedule);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_COMMAND_H_
