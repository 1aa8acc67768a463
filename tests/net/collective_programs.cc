#include "tests/net/collective_programs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
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

bool takes_only_block_sizes(const Program& program) {
  return std::all_of(program.parameters.begin(), program.parameters.end(),
                     [](const Parameter& parameter) { return parameter.at_call; });
}

CollectiveProgram made(const std::string& name, const Program& program, const Job& job) {
  const bool is_equal = program.algorithm.text == "segment-map";
  return {purpose_of(program.collective, program.groups) + " " + name,
          program,
          job,
          encode(program, job),
          takes_block_size(program),
          is_equal};
}

// For any nodes; contributions are cut into blocks as long as the least, where nobody says otherwise.
CollectiveProgram of_program(const Program& program) {
  Job job;
  job.parameters.assign(program.parameters.size(), kRuleLeast);
  job.models.resize(program.parameters.size());
  job.formulas.resize(program.parameters.size());
  return made(program.algorithm.text, program, job);
}

Program read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Result<Program> program = parse_program(text.str(), path);
  if (!program.ok()) check(false, program.error().message.c_str());
  return std::move(program).value();
}

bool is_wanted(const Program& program) {
  return program.collective != Collective::kAlltoall || program.groups == 2;
}

// Each reads the receive buffer no later than it writes there.
const std::set<std::string> kInPlace = {
    "allreduce doubling",   "allreduce rabenseifner", "allreduce ring", "allreduce hierarchical",
    "allreduce ring-nodes", "reduce binomial",        "scan doubling"};

std::vector<CollectiveProgram> all_programs() {
  std::vector<CollectiveProgram> all;
  for (const Variant& variant : variants())
    if (is_wanted(variant.program))
      all.push_back(made(variant.name, variant.program, job_for_any_nodes(variant)));
  for (const std::string& name : shape_names()) {
    const Program program = shape(name);
    // Its root is rank 0 alone.
    if (name == "reduce_tree") continue;
    if (is_wanted(program) && takes_only_block_sizes(program)) all.push_back(of_program(program));
  }
  for (const char* const name : {"allgather_between_nodes", "allgather_ring_aside",
                                 "allreduce_ring_from_send", "alltoall_between_aside"})
    all.push_back(of_program(read(fmt::format("tests/net/programs/{}.txt", name))));
  for (size_t i = 0, as_they_are = all.size(); i < as_they_are; ++i) {
    Program program = all[i].program;
    if (!kInPlace.contains(all[i].name) || program.in_place) continue;
    program.in_place = true;
    all.push_back(made(program.algorithm.text + " in place", program, all[i].job));
  }
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

std::string test_name(size_t program) {
  std::string name = collective_programs()[program].name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return fmt::format("{}_{}", name, program);
}

std::string CollectiveWays::text() const {
  return fmt::format("window {}, {}{}, block size {}, seed {}{}", window,
                     is_synchronous ? "synchronous, " : "", is_eager ? "eager" : "rendezvous",
                     block_size, seed, are_ranges ? ", ranges of one communicator" : "");
}

quadrille_bind_options options_of(const CollectiveProgram& program, const CollectiveWays& ways) {
  return {sizeof(quadrille_bind_options), QUADRILLE_LAYOUT_SHARED, ways.window, ways.is_synchronous,
          program.takes_block_size ? ways.block_size : 0};
}

// Ranks lie on four nodes, mixed: but where contributions are combined in order, it is that of the nodes' ranks.
Machine machine_of(const CollectiveProgram& program, const Groups& groups,
                   const CollectiveWays& ways) {
  Machine machine;
  machine.ranks = groups.all();
  machine.remote = ways.are_ranges ? 0 : groups.remote;
  machine.seed = ways.seed;
  machine.is_eager = ways.is_eager;
  for (int r = 0; r < machine.ranks; ++r)
    machine.node_of.push_back(reduces(program.program.collective) && !program.program.commutative
                                  ? 0
                                  : static_cast<int>(mpi::mix(ways.seed + 7u) >> 2 * r & 3));
  return machine;
}

}  // namespace quadrille::net
