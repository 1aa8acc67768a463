// `--algorithm auto`: the algorithm and the numbers with the least time by the model, and the model's table of a
// schedule beside the others.
#ifndef QUADRILLE_GENERATOR_CHOOSE_H_
#define QUADRILLE_GENERATOR_CHOOSE_H_

#include <string>

#include "generator/candidates.h"
#include "verifier/decode.h"

namespace quadrille::cli {
class Command;
}

namespace quadrille {

// As typed; empty if not given.
struct MachineArguments {
  std::string bytes, alpha, beta, alpha_inside, beta_inside, gap, gap_inside, copy, beta_copy,
      beta_alone, eager, port;
};

// --alpha and --beta, which have another use as well, and the others.
void add_machine(cli::Command& command, MachineArguments& arguments);

// What calls of that collective are to be, with --bytes or `counts` (of the flag --counts). Errors name the flag.
Result<Workload> read_workload(const MachineArguments& arguments, const std::string& counts,
                               Collective collective, std::vector<Topology> groups);
// "with blocks of 512 bytes", of a call.
std::string workload_text(const Workload& workload);
// An error that names the first flag that was given though nothing asks for the model, and says why;
// --alpha and --beta only where `all`, as block sizes use them too.
Result<bool> refuse_model(const MachineArguments& arguments, bool all, const std::string& why);

// What such a time is best told in.
struct Unit {
  const char* name;
  double nanoseconds;
};
Unit unit_for(int64_t nanoseconds);

// A table: this schedule, in a call with these `parameters` ("B=4096"), then the best of each algorithm, the best first.
Result<std::string> explain(const verifier::Schedule& schedule, const Workload& workload,
                            const std::vector<std::string>& parameters);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_CHOOSE_H_
