// The command `generate` chooses a program, nodes and numbers, and writes the schedule file.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "cli/files.h"
#include "generator/choose.h"
#include "generator/registry.h"
#include "schedule/binding.h"
#include "verifier/decode.h"

namespace quadrille {

// True if each call chooses a parameter of the program, a block size.
bool chooses_block_size(const Program& program);
inline constexpr const char* kBlockSizeHelp =
    "min: the least count above 0; min:SIZE: the same, but at least SIZE; model: the optimum of "
    "the linear model, which needs --alpha and --beta; auto: the same with "
    "rounds counted exactly; or a size (default auto)";

// The arguments as typed; empty if not given.
struct GenerateArguments {
  std::string collective, algorithm, program, nodes, slurm, hostfile, remote_nodes, out;
  Choices choices;                             // one per option of any algorithm
  std::map<std::string, std::string> numbers;  // one per number of any algorithm
  std::vector<std::string> parameters;         // "NAME=VALUE", for --program
  bool reverse = false;                        // make the reversal of --program
  std::string then;                            // a program to run after that
  std::string proof;                           // the certificate of --program
  std::string block_size;
  MachineArguments machine;
  std::string counts;    // of the call that auto assumes
  bool ordered = false;  // for auto: the operator does not commute
  std::string chosen;    // the choice of auto, and the reasons
};

// Adds the flags of the nodes: --nodes, --slurm, --hostfile, --remote-nodes.
void add_nodes(cli::Command& command, GenerateArguments& arguments, bool takes_any);
// Adds --program, which `what` describes, --reverse and --then. add_program() also adds --parameter.
void add_text(cli::Command& command, GenerateArguments& arguments, const char* what);
void add_program(cli::Command& command, GenerateArguments& arguments, const char* what);
// Adds --proof, with what the program may do then.
void add_proof(cli::Command& command, GenerateArguments& arguments, const char* may);
// Returns an error if one of these stands without --program.
std::optional<Error> refuse_without_program(const GenerateArguments& arguments);
cli::Command add_generate(cli::Command& program, GenerateArguments& arguments);

// Returns the collective that is named. The error lists the served ones.
Result<Collective> read_collective(const GenerateArguments& arguments);
// True if this is MPI's name of the collective. "allgatherv" also names the allgather: a schedule serves all counts.
bool is_called(Collective collective, const std::string& name);
// Returns an error if --ordered is given for a collective that combines nothing.
Result<bool> refuse_ordered(const GenerateArguments& arguments, Collective collective);

// Return the collectives that have algorithms, in the order of the registry, their names, and names of algorithms.
std::vector<Collective> served_collectives();
std::string collective_names(const char* separator);
std::string algorithm_names(Collective collective, int groups);

// Returns the nodes that flags give to each group; --remote-nodes gives those of a second group. Empty if the
// schedule is to serve any nodes.
Result<std::vector<Topology>> read_groups(const GenerateArguments& arguments);

// Returns an error if a file that is read would be replaced: by --out with one of these ends, or by the certificate of that.
std::optional<Error> refuse_replacing(const GenerateArguments& arguments,
                                      std::initializer_list<std::string> ends);

// Returns the files to write: a copy of the certificate, if there is one, and the schedule, which is --out. Errors name
// the file and what is wrong with it.
Result<std::vector<cli::Output>> schedule_files(const Program& program, const Job& job,
                                                const GenerateArguments& arguments);

// Writes the schedule file; returns the exit code.
int generate(const GenerateArguments& arguments);

// Returns the command that makes this schedule, without --out: "generate alltoall --algorithm factor --nodes 4". It
// names a program that is not in the registry with --program; `show` prints the text for that.
std::string generate_command(const verifier::Schedule& schedule);

}  // namespace quadrille
