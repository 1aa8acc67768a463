// Layouts are told anew here, not by what binds: nodes in ascending order of (size, lowest rank).
#include "tests/net/jobs.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "generator/registry.h"
#include "schedule/text.h"
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
  return std::any_of(body.begin(), body.end(),
                     [](const Statement& statement) { return forwards_blocks(statement); });
}

bool takes_block_size(const Program& program) {
  return std::any_of(program.parameters.begin(), program.parameters.end(),
                     [](const Parameter& parameter) { return parameter.at_call; });
}

quadrille_bind_options options_of(const Scheduled& scheduled, const Ways& ways) {
  return {sizeof(quadrille_bind_options), QUADRILLE_LAYOUT_SHARED, ways.window, ways.is_synchronous,
          scheduled.takes_block_size ? ways.block_size : 0};
}

Walked walked(const Scheduled& scheduled, const Ways& ways, const std::vector<int>& real,
              const NetCall& call) {
  Call bound = plain_call(scheduled.program, scheduled.job);
  for (int64_t& parameter : bound.parameters) parameter = ways.block_size;
  if (uses_counts(scheduled.program)) {
    bound.counts = {{}};
    for (const int rank : real) bound.counts[0].push_back(call.units(rank, rank) * call.unit_bytes);
  }
  return Walked(scheduled.program, scheduled.job, bound);
}

bool expect_right_posts(const Scheduled& scheduled, const Ways& ways, const NetCall& call,
                        const Outcome& outcome, const std::vector<int>& real,
                        const std::vector<MPI_Comm>& users, int first_mark) {
  const auto at = [&](Rank rank) { return real[static_cast<size_t>(rank.value)]; };
  const Expected expected =
      expect_posts(walked(scheduled, ways, real, call), real, [&](Rank source, Rank target) {
        return int64_t{call.units(at(source), at(target))} * call.unit_bytes;
      });
  const bool is_alltoall = scheduled.program.collective == Collective::kAlltoall;
  Manner manner;
  manner.window = ways.window > 0 ? ways.window : 16;
  manner.is_synchronous = ways.is_synchronous;
  manner.has_heads = is_alltoall && scheduled.forwards && !call.is_persistent;
  manner.has_whole_steps = is_alltoall && !scheduled.forwards && !call.is_persistent;
  for (int bracket = 0; bracket < call.brackets; ++bracket)
    for (int rank = 0; rank < scheduled.ranks; ++rank) {
      const Listing& listing = outcome.listings[static_cast<size_t>(rank)];
      const int mark = first_mark + 2 * bracket;
      manner.users = users[static_cast<size_t>(rank)];
      const std::string wrong =
          check_posts(expected[static_cast<size_t>(rank)], listing, mark, mark + 1, rank, manner);
      EXPECT_EQ(wrong, "") << scheduled.name << ", " << ways.text() << ", " << call.name
                           << ", rank " << rank << "\n"
                           << text_of(listing);
      if (!wrong.empty()) return false;
    }
  return true;
}

}  // namespace

Scheduled::Scheduled(const Program& program, const Job& job, std::string name)
    : name(std::move(name)),
      program(program),
      job(job),
      file(encode(program, job)),
      ranks(static_cast<int>(job.groups[0].ranks())),
      forwards(forwards_blocks(program.body)),
      takes_block_size(net::takes_block_size(program)) {}

std::vector<Scheduled> scheduled_on(Collective collective, const std::vector<int64_t>& sizes) {
  std::vector<Scheduled> result;
  for (const Variant& variant : variants_of(collective)) {
    if (!uses_nodes(variant.program) && sizes.size() > 1) continue;
    for (const Job& job : jobs_on(variant, sizes)) {
      std::string name = variant.name + " on " + job.groups[0].text();
      for (const int64_t parameter : job.parameters) name += fmt::format(", {}", parameter);
      result.emplace_back(variant.program, job, name);
    }
  }
  return result;
}

namespace {

Scheduled find(Collective collective, const std::string& name, const std::vector<int64_t>& sizes,
               std::vector<int64_t> parameters) {
  for (const Variant& variant : variants_of(collective))
    if (variant.name == name) {
      Job job = job_of(sizes);
      job.parameters = std::move(parameters);
      job.models.resize(job.parameters.size());
      return Scheduled(variant.program, job, name + " on " + job.groups[0].text());
    }
  check(false, ("there is no algorithm " + name).c_str());
  std::abort();
}

}  // namespace

Scheduled exchanging(const std::string& algorithm, const std::vector<int64_t>& sizes,
                     std::vector<int64_t> parameters) {
  return find(Collective::kAlltoall, algorithm, sizes, std::move(parameters));
}

Scheduled gathering(const std::string& algorithm, const std::vector<int64_t>& sizes,
                    std::vector<int64_t> parameters) {
  return find(Collective::kAllgather, algorithm, sizes, std::move(parameters));
}

Scheduled written(const std::string& text, const std::vector<int64_t>& sizes) {
  Result<Program> program = parse_program(text, "a test's program");
  if (!program.ok()) check(false, program.error().message.c_str());
  return Scheduled(*program, job_of(sizes), program->algorithm.text);
}

Scheduled of_file(const std::string& name, int64_t ranks) {
  std::ifstream file("tests/mpi/programs/" + name + ".txt");
  check(file.is_open(), name.c_str());
  std::stringstream text;
  text << file.rdbuf();
  return written(text.str(), {ranks});
}

std::string Ways::text() const {
  return fmt::format("window {}, {}{}, block size {}, seed {}", window,
                     is_synchronous ? "synchronous, " : "", is_eager ? "eager" : "rendezvous",
                     block_size, seed);
}

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
  std::sort(nodes.begin(), nodes.end(), [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::pair(a.size(), a[0]) < std::pair(b.size(), b[0]);
  });
  for (const std::vector<int>& ranks : nodes) real.insert(real.end(), ranks.begin(), ranks.end());
  return real;
}

Bound::Bound(const Scheduled& scheduled, const Ways& ways, MPI_Comm comm) {
  const quadrille_bind_options options = options_of(scheduled, ways);
  EXPECT_EQ(quadrille_load_memory(scheduled.file.data(), scheduled.file.size(), &handle_),
            MPI_SUCCESS);
  char text[256] = "";
  const int code = quadrille_bind(handle_, comm, &options);
  if (code != MPI_SUCCESS) quadrille_last_error(text, sizeof text);
  EXPECT_EQ(code, MPI_SUCCESS) << scheduled.name << ": " << text;
}

Bound::~Bound() { EXPECT_EQ(quadrille_free(&handle_), MPI_SUCCESS); }

Machine machine_of(const Scheduled& scheduled, const Ways& ways) {
  Machine machine;
  machine.ranks = scheduled.ranks;
  machine.node_of = shuffled_nodes(scheduled.job.groups[0], ways.is_shuffled ? ways.seed : 0);
  machine.seed = ways.seed;
  machine.is_eager = ways.is_eager;
  return machine;
}

bool expect_calls(const Scheduled& scheduled, const Ways& ways, const std::vector<NetCall>& calls) {
  const Machine machine = machine_of(scheduled, ways);
  std::string names;
  for (const NetCall& call : calls) names += "; " + call.name;
  testing::ScopedTrace trace(__FILE__, __LINE__, scheduled.name + ", " + ways.text() + names);
  std::vector<MPI_Comm> users(static_cast<size_t>(machine.ranks));
  const Outcome outcome = simulate(machine, [&](MPI_Comm comm) {
    users[static_cast<size_t>(this_rank())] = comm;
    const Bound bound(scheduled, ways, comm);
    for (size_t i = 0; i < calls.size(); ++i)
      calls[i].run({bound, comm, ways.seed + static_cast<unsigned>(i)}, static_cast<int>(10 * i));
  });
  EXPECT_TRUE(outcome.problems.empty()) << outcome.text();
  if (testing::Test::HasFailure()) return false;
  const std::vector<int> real = real_ranks(scheduled.program, machine.node_of);
  for (size_t i = 0; i < calls.size(); ++i)
    if (!expect_right_posts(scheduled, ways, calls[i], outcome, real, users,
                            static_cast<int>(10 * i)))
      return false;
  return true;
}

}  // namespace quadrille::net
