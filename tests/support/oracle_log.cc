// Checks the rules on steps in flight together, calls in place and ports, pair by pair over the whole log.
#include "tests/support/oracle_log.h"

#include <algorithm>

namespace quadrille::oracle {
namespace {

void ask_pair(const Touch& a, const Touch& b) {
  if (a.epoch != b.epoch || !a.key || !b.key) return;
  const auto& [first, second] = *a.key < *b.key ? std::tie(a, b) : std::tie(b, a);
  demand(*first.key == *second.key || !second.after || *first.key <= *second.after,
         "steps in flight disturb each other");
}

// Returns the number of the node or rank whose port a process uses.
int unit(const Program& program, const Job& job, int process) {
  if (program.port.per == PortScope::kRank) return process;
  int node = 0;
  for (const Topology& topology : job.groups)
    for (const int64_t size : topology.sizes()) {
      if (process < size) return node;
      process -= static_cast<int>(size);
      ++node;
    }
  return -1;
}

}  // namespace

std::optional<int64_t> Log::alias(Collective collective, int process, int64_t block) const {
  switch (collective) {
    case Collective::kAllgather:
    case Collective::kGather: return places[process].rank;
    case Collective::kScatter:
    case Collective::kReduceScatter: return std::nullopt;
    default: return block;
  }
}

void ask_uses(const Log& log) {
  for (const auto& [where, touches] : log.touches)
    for (const Touch& a : touches)
      for (const Touch& b : touches)
        if (a.write && std::max(a.low, b.low) < std::min(a.high, b.high)) ask_pair(a, b);
}

void ask_in_place(const Log& log, const Program& program) {
  if (!program.in_place && !has_one_buffer(program.collective, program.groups)) return;
  for (const auto& [where, touches] : log.touches) {
    const auto& [process, buffer, block] = where;
    const auto alias = log.alias(program.collective, process, block);
    if (buffer != Buffer::kSend || !alias) continue;
    const auto there = log.touches.find({process, Buffer::kReceive, *alias});
    if (there == log.touches.end()) continue;
    for (const Touch& written : there->second)
      for (const Touch& read : touches)
        demand(!written.write || written.onto_itself || written.number > read.number,
               "overwritten before it is sent");
  }
}

void ask_port(const Log& log, const Program& program, const Job& job) {
  if (program.port.kind == PortKind::kNone) return;
  std::map<std::pair<int64_t, int>, std::vector<int>> to, from;  // by key and unit: peers' units
  for (const Met& met : log.met) {
    const int source = unit(program, job, met.source), target = unit(program, job, met.target);
    if (source == target) continue;
    to[{met.key, source}].push_back(target);
    from[{met.key, target}].push_back(source);
  }
  for (auto* side : {&to, &from})
    for (const auto& [at, units] : *side)
      demand(std::ssize(units) <= ports_of(program, job), "a port used twice");
  if (program.port.kind != PortKind::kExchange) return;
  for (const auto& [at, units] : to)
    demand(!from.contains(at) || from[at] == units, "a port used for two partners");
}

}  // namespace quadrille::oracle
