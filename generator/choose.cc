// Tested by tests/cli/generator_test.sh.
#include "generator/choose.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "generator/block_size.h"

namespace quadrille {
namespace {

Result<int64_t> read_bytes(const std::string& text) {
  if (text.empty()) return Error{"give the bytes of a block, on the average, with --bytes"};
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error == std::errc() && end == text.data() + text.size() && 1 <= bytes && bytes <= INT32_MAX)
    return bytes;
  return Error{fmt::format("--bytes: '{}' is not a number of bytes from 1 to {}", text, INT32_MAX)};
}

// With the traffic of the ranks that take longest.
std::string row(const std::string& name, const std::vector<Traffic>& traffic,
                const Workload& workload) {
  const auto time = [&](const Traffic& each) {
    return call_time(workload.machine, {each}, workload.bytes);
  };
  const Traffic& slowest =
      *std::max_element(traffic.begin(), traffic.end(),
                        [&](const Traffic& a, const Traffic& b) { return time(a) < time(b); });
  const Load total = slowest.total();
  return fmt::format("{:12.1f}  {:>8} {:>8}  {:>8} {:>8}  {:>8} {:>8}  {:>8}  {}\n",
                     static_cast<double>(time(slowest)) / 1000, slowest.rounds_between(),
                     slowest.rounds_inside(), total.between, total.inside, total.blocks_between,
                     total.blocks_inside, total.copied, name);
}

}  // namespace

Result<Workload> read_workload(const MachineArguments& arguments) {
  const Result<int64_t> bytes = read_bytes(arguments.bytes);
  if (!bytes.ok()) return bytes.error();
  Workload workload{*bytes, {}};
  Machine& machine = workload.machine;
  std::string error = read_alpha("--alpha", arguments.alpha, machine.between.alpha_ns);
  if (error.empty()) error = read_beta("--beta", arguments.beta, machine.between.beta_ps);
  if (error.empty())
    error = read_alpha("--alpha-inside", arguments.alpha_inside, machine.inside.alpha_ns);
  if (error.empty())
    error = read_beta("--beta-inside", arguments.beta_inside, machine.inside.beta_ps);
  if (error.empty()) error = read_alpha("--gap", arguments.gap, machine.gap_ns);
  if (error.empty())
    error = read_alpha("--gap-inside", arguments.gap_inside, machine.gap_inside_ns);
  if (error.empty()) error = read_alpha("--copy", arguments.copy, machine.copy.alpha_ns);
  if (error.empty()) error = read_beta("--beta-copy", arguments.beta_copy, machine.copy.beta_ps);
  if (!error.empty()) return Error{error};
  if (arguments.port == "rank") machine.port = PortScope::kRank;
  if (!arguments.port.empty() && arguments.port != "rank" && arguments.port != "node")
    return Error{fmt::format("--port: '{}' is none of node, rank", arguments.port)};
  return workload;
}

Result<bool> refuse_model(const MachineArguments& arguments, bool all, const std::string& why) {
  const std::pair<const char*, std::string> flags[] = {{"--bytes", arguments.bytes},
                                                       {"--alpha-inside", arguments.alpha_inside},
                                                       {"--beta-inside", arguments.beta_inside},
                                                       {"--gap", arguments.gap},
                                                       {"--gap-inside", arguments.gap_inside},
                                                       {"--copy", arguments.copy},
                                                       {"--beta-copy", arguments.beta_copy},
                                                       {"--port", arguments.port},
                                                       {"--alpha", all ? arguments.alpha : ""},
                                                       {"--beta", all ? arguments.beta : ""}};
  for (const auto& [flag, text] : flags)
    if (!text.empty()) return Error{fmt::format("{}: {}", flag, why)};
  return true;
}

Result<std::string> explain(const verifier::Schedule& schedule, const Workload& workload) {
  if (schedule.program.collective != Collective::kAlltoall || schedule.program.groups != 1)
    return Error{"--explain: the model is of all-to-alls on one communicator"};
  const Result<Binding> binding = bind(schedule.program, schedule.job, {}, 0);
  if (!binding.ok()) return binding.error();
  const std::vector<Traffic> own = traffic(schedule.program, schedule.job, *binding);
  const Machine& machine = workload.machine;
  std::string text = fmt::format(
      "blocks of {} bytes; a message takes {} ns and a byte {} ps between nodes, the next one {} "
      "ns; inside {} ns and {} ps, the next one {} ns; a block that is copied {} ns and {} ps; "
      "{}\n\n"
      "{:>12}  {:>17}  {:>17}  {:>17}  {:>8}\n"
      "{:>12}  {:>8} {:>8}  {:>8} {:>8}  {:>8} {:>8}  {:>8}\n",
      workload.bytes, machine.between.alpha_ns, machine.between.beta_ps, machine.gap_ns,
      machine.inside.alpha_ns, machine.inside.beta_ps, machine.gap_inside_ns, machine.copy.alpha_ns,
      machine.copy.beta_ps,
      machine.port == PortScope::kNode ? "the ranks of a node share its port and its memory"
                                       : "each rank has a port of its own",
      "time", "rounds", "messages a rank", "blocks a rank", "blocks", "us", "between", "inside",
      "between", "inside", "between", "inside", "copied");
  std::string name = schedule.program.algorithm.text;
  for (size_t i = 0; i < schedule.program.parameters.size(); ++i)
    name += ", " + parameter_text(schedule.program, schedule.job, i);
  text += row(name + " (this file)", own, workload);
  for (const Candidate& candidate :
       best_candidates(schedule.job.groups[0], workload.bytes, machine, "", {}))
    text += row(candidate_text(candidate), candidate.traffic, workload);
  return text;
}

}  // namespace quadrille
