#include "tests/net/collective_programs.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "schedule/any_nodes.h"
#include "schedule/text.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille::net {
namespace {

bool takes_block_size(const Program& program) {
  return std::any_of(program.parameters.begin(), program.parameters.end(),
                     [](const Parameter& parameter) { return parameter.at_call; });
}

CollectiveProgram made(const std::string& name, const Program& program, const Job& job) {
  const bool is_equal = program.algorithm.text == "segment-map";
  return {name, program, job, encode(program, job), takes_block_size(program), is_equal};
}

// For any nodes; contributions are cut into blocks as long as the least, where nobody says otherwise.
CollectiveProgram of_text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Result<Program> program = parse_program(text.str(), path.string());
  if (!program.ok()) check(false, program.error().message.c_str());
  Job job;
  job.parameters.assign(program->parameters.size(), kRuleLeast);
  job.models.resize(program->parameters.size());
  job.formulas.resize(program->parameters.size());
  return made(path.stem().string(), *program, job);
}

// Each reads the receive buffer no later than it writes there.
const std::set<std::string> kInPlace = {"allreduce_doubling", "allreduce_rabenseifner",
                                        "allreduce_ring", "reduce_binomial", "scan_doubling"};

std::vector<CollectiveProgram> all_programs() {
  std::vector<CollectiveProgram> all;
  for (const auto& entry : std::filesystem::directory_iterator("tests/net/programs"))
    all.push_back(of_text(entry.path()));
  std::sort(all.begin(), all.end(),
            [](const CollectiveProgram& a, const CollectiveProgram& b) { return a.name < b.name; });
  for (size_t i = 0, texts = all.size(); i < texts; ++i) {
    if (!kInPlace.contains(all[i].name)) continue;
    Program program = all[i].program;
    program.in_place = true;
    all.push_back(made(all[i].name + "_in_place", program, all[i].job));
  }
  for (const Variant& variant : variants())
    if (variant.program.collective != Collective::kAlltoall || variant.program.groups == 2)
      all.push_back(made(variant.name, variant.program, job_for_any_nodes(variant)));
  return all;
}

}  // namespace

bool CollectiveProgram::serves(const Groups& groups) const {
  std::vector<Topology> nodes = {topology_of({groups.ranks})};
  if (groups.remote > 0) nodes.push_back(topology_of({groups.remote}));
  const Result<Job> found = on_nodes(program, job, nodes);
  return found.ok() && bind(program, *found, plain_call(program, *found), 0).ok();
}

const std::vector<CollectiveProgram>& collective_programs() {
  static const std::vector<CollectiveProgram> kAll = all_programs();
  return kAll;
}

const CollectiveProgram& collective_program(const std::string& name) {
  for (const CollectiveProgram& program : collective_programs())
    if (program.name == name) return program;
  check(false, ("there is no program " + name).c_str());
  std::abort();
}

std::string CollectiveWays::text() const {
  return fmt::format("window {}, {}{}, block size {}, seed {}", window,
                     is_synchronous ? "synchronous, " : "", is_eager ? "eager" : "rendezvous",
                     block_size, seed);
}

quadrille_bind_options options_of(const CollectiveProgram& program, const CollectiveWays& ways) {
  return {sizeof(quadrille_bind_options), QUADRILLE_LAYOUT_SHARED, ways.window, ways.is_synchronous,
          program.takes_block_size ? ways.block_size : 0};
}

// Ranks lie on two nodes, mixed: but where contributions are combined, their order is that of the nodes' ranks.
Machine machine_of(const CollectiveProgram& program, const Groups& groups,
                   const CollectiveWays& ways) {
  Machine machine;
  machine.ranks = groups.all();
  machine.remote = groups.remote;
  machine.seed = ways.seed;
  machine.is_eager = ways.is_eager;
  for (int r = 0; r < machine.ranks; ++r)
    machine.node_of.push_back(reduces(program.program.collective)
                                  ? 0
                                  : static_cast<int>(mpi::mix(ways.seed + 7u) >> r & 1));
  return machine;
}

}  // namespace quadrille::net
