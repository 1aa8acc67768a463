// Computes layouts independently of the runtime's binding: nodes are in ascending order of (size, lowest rank).
#include "tests/net/jobs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <random>
#include <set>

#include "generator/registry.h"
#include "schedule/any_nodes.h"
#include "schedule/text.h"
#include "tests/support/cases.h"
#include "tests/support/topologies.h"

namespace quadrille::net {
namespace {

bool forwards_blocks(const Body& body);

bool forwards_blocks(const Statement& statement) {
  if (const auto* loop = std::get_if<For>(&statement.kind)) return forwards_blocks(loop->body);
  if (const auto* choice = std::get_if<If>(&statement.kind))
    return forwards_blocks(choice->then) || forwards_blocks(choice->otherwise);
  if (const auto* step = std::get_if<Step>(&statement.kind)) return forwards_blocks(step->body);
  if (const auto* copy = std::get_if<Copy>(&statement.kind))
    return copy->from.buffer == Buffer::kTemporary || copy->to.buffer == Buffer::kTemporary;
  if (const auto* message = std::get_if<Message>(&statement.kind)) {
    if (message->sized || message->pieces.size() > 1) return true;
    for (const Statement& piece : message->pieces)
      if (!std::get_if<Transfer>(&piece.kind)) return true;
  }
  return false;
}

bool forwards_blocks(const Body& body) {
  return std::ranges::any_of(body,
                             [](const Statement& statement) { return forwards_blocks(statement); });
}

bool takes_block_size(const Program& program) {
  return std::ranges::any_of(program.parameters, &Parameter::at_call);
}

Groups groups_of(const Job& job) {
  if (job.groups.empty()) return {0, 0};
  return {static_cast<int>(job.groups[0].ranks()),
          job.groups.size() == 2 ? static_cast<int>(job.groups[1].ranks()) : 0};
}

}  // namespace

Scheduled::Scheduled(std::string name, const Program& program, const Job& job)
    : name(std::move(name)),
      program(program),
      job(job),
      file(encode(program, job)),
      groups(groups_of(job)),
      forwards(forwards_blocks(program.body)),
      takes_block_size(net::takes_block_size(program)) {}

bool Scheduled::serves(const Groups& groups) const {
  std::vector<Topology> nodes = {topology_of({groups.ranks})};
  if (groups.remote > 0) nodes.push_back(topology_of({groups.remote}));
  const Result<Job> found = on_nodes(program, job, nodes);
  return found.ok() && quadrille::bind(program, *found, plain_call(program, *found), 0).ok();
}

mpi::Allowed Scheduled::allowed() const {
  return {program.commutative, program.algorithm.text == "segment-map", takes_block_size};
}

std::vector<Scheduled> scheduled_on(Collective collective, const std::vector<int64_t>& sizes) {
  std::vector<Scheduled> result;
  for (const Variant& variant : variants_of(collective)) {
    if (!uses_nodes(variant.program) && sizes.size() > 1) continue;
    for (const Job& job : jobs_on(variant, sizes)) {
      std::string name = variant.name + " on " + job.groups[0].text();
      for (const int64_t parameter : job.parameters) name += fmt::format(", {}", parameter);
      result.emplace_back(name, variant.program, job);
    }
  }
  return result;
}

namespace {

Job job_with(const std::vector<int64_t>& sizes, std::vector<int64_t> parameters) {
  Job job = job_of(sizes);
  job.parameters = std::move(parameters);
  job.models.resize(job.parameters.size());
  return job;
}

Scheduled find(Collective collective, const std::string& name, const std::vector<int64_t>& sizes,
               std::vector<int64_t> parameters) {
  const Job job = job_with(sizes, std::move(parameters));
  return Scheduled(name + " on " + job.groups[0].text(), variant_named(collective, name).program,
                   job);
}

Program parsed(const std::string& text, const std::string& where) {
  Result<Program> program = parse_program(text, where);
  if (!program.ok()) check(false, program.error().message.c_str());
  return std::move(program).value();
}

Program read(const std::string& path) { return parsed(read_text(path), path); }

}  // namespace

Scheduled exchanging(const std::string& algorithm, const std::vector<int64_t>& sizes,
                     std::vector<int64_t> parameters) {
  return find(Collective::kAlltoall, algorithm, sizes, std::move(parameters));
}

Scheduled gathering(const std::string& algorithm, const std::vector<int64_t>& sizes,
                    std::vector<int64_t> parameters) {
  return find(Collective::kAllgather, algorithm, sizes, std::move(parameters));
}

Scheduled written(const std::string& text, const std::vector<int64_t>& sizes,
                  std::vector<int64_t> parameters) {
  const Program program = parsed(text, "a test's program");
  return Scheduled(program.algorithm.text, program, job_with(sizes, std::move(parameters)));
}

Scheduled of_file(const std::string& path, const std::vector<int64_t>& sizes,
                  std::vector<int64_t> parameters) {
  return Scheduled(path, read(path), job_with(sizes, std::move(parameters)));
}

// ---- Programs for any nodes

namespace {

// Returns the program for any nodes. Its rule makes blocks as long as the shortest contribution.
Scheduled for_any_nodes(const Program& program) {
  Job job;
  job.parameters.assign(program.parameters.size(), kRuleLeast);
  job.models.resize(program.parameters.size());
  job.formulas.resize(program.parameters.size());
  return {purpose_of(program.collective, program.groups) + " " + program.algorithm.text, program,
          job};
}

// These programs read each block before they overwrite it, or at the same moment.
const std::set<std::string> kInPlace = {
    "allreduce doubling",     "allreduce rabenseifner",
    "allreduce hierarchical", "allreduce ring-nodes",
    "reduce binomial",        "scan doubling",
    "allreduce bine",         "allreduce recursive-multiplying"};

std::vector<Scheduled> made_programs() {
  std::vector<Scheduled> all;
  for (const Variant& variant : variants())
    all.emplace_back(
        purpose_of(variant.program.collective, variant.program.groups) + " " + variant.name,
        variant.program, job_for_any_nodes(variant));
  for (const char* const name :
       {"allgather_between_nodes", "allgather_ring_aside", "allreduce_ring_from_send",
        "alltoall_between_aside", "exscan_shift", "reduce_star"})
    all.push_back(for_any_nodes(read(fmt::format("tests/net/programs/{}.txt", name))));
  for (size_t i = 0, as_they_are = all.size(); i < as_they_are; ++i) {
    Program program = all[i].program;
    if (!kInPlace.contains(all[i].name) || program.in_place) continue;
    program.in_place = true;
    all.emplace_back(all[i].name + " in place", program, all[i].job);
  }
  return all;
}

}  // namespace

const std::vector<Scheduled>& all_programs() {
  static const std::vector<Scheduled> kAll = made_programs();
  return kAll;
}

const Scheduled& program_named(const std::string& name) {
  for (const Scheduled& program : all_programs())
    if (program.name == name) return program;
  check(false, ("there is no program " + name).c_str());
  std::abort();
}

std::string as_identifier(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

std::string test_name(const testing::TestParamInfo<size_t>& program) {
  return fmt::format("{}_{}", as_identifier(all_programs()[program.param].name), program.param);
}

// ---- Ways

std::string Ways::text() const {
  return fmt::format("window {}, {}{}, block size {}, seed {}{}", window,
                     is_synchronous ? "synchronous, " : "", is_eager ? "eager" : "rendezvous",
                     block_size, seed, are_ranges ? ", ranges of one communicator" : "");
}

namespace {

std::vector<int> shuffled_nodes(const Topology& topology, unsigned seed) {
  std::vector<int> node_of;
  int node = 0;
  for (const int64_t size : topology.sizes()) {
    node_of.insert(node_of.end(), static_cast<size_t>(size), node);
    ++node;
  }
  std::mt19937 random(seed);
  for (size_t i = node_of.size(); i > 1; --i) std::swap(node_of[i - 1], node_of[random() % i]);
  return node_of;
}

}  // namespace

std::vector<int> real_ranks(const Program& program, const std::vector<int>& node_of) {
  std::vector<int> real;
  if (!uses_nodes(program)) {
    for (size_t r = 0; r < node_of.size(); ++r) real.push_back(static_cast<int>(r));
    return real;
  }
  std::map<int, std::vector<int>> ranks_of_node;
  for (size_t r = 0; r < node_of.size(); ++r)
    ranks_of_node[node_of[r]].push_back(static_cast<int>(r));
  std::vector<std::vector<int>> nodes;
  for (const auto& [node, ranks] : ranks_of_node) nodes.push_back(ranks);
  std::ranges::sort(nodes, [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::pair(a.size(), a[0]) < std::pair(b.size(), b[0]);
  });
  for (const std::vector<int>& ranks : nodes) real.insert(real.end(), ranks.begin(), ranks.end());
  return real;
}

Machine machine_of(const Scheduled& scheduled, const Ways& ways) {
  Machine machine = machine_of(scheduled, scheduled.groups, ways);
  machine.node_of = shuffled_nodes(scheduled.job.groups[0], ways.seed);
  return machine;
}

Machine machine_of(const Scheduled& scheduled, const Groups& groups, const Ways& ways) {
  Machine machine{.ranks = groups.all(),
                  .remote = ways.are_ranges ? 0 : groups.remote,
                  .seed = ways.seed,
                  .is_eager = ways.is_eager};
  const Collective collective = scheduled.program.collective;
  const bool is_in_order =
      reduces(collective) && !scheduled.program.commutative &&
      (ways.keeps_order || collective == Collective::kScan || collective == Collective::kExscan);
  for (int r = 0; r < machine.ranks; ++r)
    machine.node_of.push_back(
        is_in_order ? 0 : static_cast<int>(mpi::mix(ways.seed + 7u) >> 2 * r & 3));
  return machine;
}

int bind(quadrille_schedule schedule, const Scheduled& scheduled, const Groups& groups,
         const Ways& ways, MPI_Comm comm) {
  const quadrille_bind_options options = {sizeof options, QUADRILLE_LAYOUT_SHARED, ways.window,
                                          ways.is_synchronous,
                                          scheduled.takes_block_size ? ways.block_size : 0};
  return ways.are_ranges ? quadrille_bind_groups(schedule, comm, groups.ranks, &options)
                         : quadrille_bind(schedule, comm, &options);
}

void expect_success(int code, const std::string& what) {
  EXPECT_EQ(code, MPI_SUCCESS) << what << ": " << (code == MPI_SUCCESS ? "" : last_error());
}

Bound::Bound(const Scheduled& scheduled, const Groups& groups, const Ways& ways, MPI_Comm comm)
    : Schedule(scheduled.file) {
  expect_success(bind(*this, scheduled, groups, ways, comm), scheduled.name);
}

void expect_no_problem(const Machine& machine, const std::function<void(MPI_Comm)>& body) {
  EXPECT_EQ(simulate(machine, body).text(), "");
}

std::vector<int> outcomes(const Scheduled& scheduled, const Ways& ways, const AtRank& body) {
  testing::ScopedTrace trace(__FILE__, __LINE__, scheduled.name + ", " + ways.text());
  std::vector<int> classes(static_cast<size_t>(scheduled.groups.all()), -1);
  expect_no_problem(machine_of(scheduled, ways), [&](MPI_Comm comm) {
    const Bound bound(scheduled, ways, comm);
    classes[static_cast<size_t>(this_rank())] = quadrille_error_class(body(bound, comm));
  });
  return classes;
}

void expect_everywhere(const Scheduled& scheduled, const Ways& ways, int error_class,
                       const AtRank& body) {
  EXPECT_EQ(outcomes(scheduled, ways, body),
            std::vector<int>(static_cast<size_t>(scheduled.groups.all()), error_class))
      << scheduled.name << ", " << ways.text();
}

}  // namespace quadrille::net
