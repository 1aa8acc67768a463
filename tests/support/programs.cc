// Cases are exhaustive in small values (ranks, radices) and varied in others (counts).
#include "tests/support/programs.h"

#include <fmt/format.h>

#include <fstream>
#include <random>
#include <sstream>

#include "schedule/text.h"
#include "tests/support/topologies.h"

namespace quadrille {
namespace {

constexpr uint32_t kSeed = 20080908;

std::vector<int64_t> counts_of(int kind, int64_t ranks, std::mt19937& random) {
  std::vector<int64_t> counts(ranks);
  for (int64_t i = 0; i < ranks; ++i) switch (kind) {
      case 0: counts[i] = 12; break;                       // regular
      case 1: counts[i] = i == ranks / 2 ? 40 : 0; break;  // broadcast
      case 2: counts[i] = i == 0 ? 50 : 3; break;          // spike
      case 3: counts[i] = i % 2 ? 0 : 17; break;           // half
      case 4: counts[i] = 5 * (ranks - i); break;          // decreasing
      default: counts[i] = random() % 30; break;
    }
  return counts;
}

Case on_ranks(int64_t ranks, std::vector<int64_t> parameters = {}) {
  Case result{{{topology_of({ranks})}, std::move(parameters)}, {}, ""};
  result.text = fmt::format("{} ranks", ranks);
  for (const int64_t parameter : result.job.parameters)
    result.text += fmt::format(", {}", parameter);
  return result;
}

std::vector<Case> ring_cases() {
  std::mt19937 random(kSeed);
  std::vector<Case> cases;
  for (int64_t ranks = 1; ranks <= 7; ++ranks)
    for (int kind = 0; kind < 8; ++kind)
      for (const int64_t block : {1, 5, 12, 100}) {
        cases.push_back(on_ranks(ranks, {block}));
        cases.back().call.counts = {counts_of(kind, ranks, random)};
        cases.back().text +=
            fmt::format(", counts {}", fmt::join(cases.back().call.counts[0], " "));
      }
  return cases;
}

std::vector<Case> reduce_scatter_cases() {
  std::mt19937 random(kSeed);
  std::vector<Case> cases;
  for (int64_t ranks = 1; ranks <= 8; ++ranks) {
    cases.push_back(on_ranks(ranks));
    for (int kind = 0; kind < 8; ++kind) {
      cases.push_back(on_ranks(ranks));
      cases.back().call.counts = {counts_of(kind, ranks, random)};
      cases.back().text += fmt::format(", counts {}", fmt::join(cases.back().call.counts[0], " "));
    }
  }
  return cases;
}

std::vector<Case> intergroup_cases() {
  std::mt19937 random(kSeed);
  std::vector<Case> cases;
  for (int64_t p = 1; p <= 6; ++p)
    for (int64_t q = 1; q <= 6; ++q)
      for (int kind = 0; kind < 9; ++kind) {
        Case next{{{topology_of({p}), topology_of({q})}, {}}, {}, ""};
        next.call.counts = {counts_of(kind, p, random),
                            counts_of(kind > 5 ? kind : 5 - kind, q, random)};
        next.text = fmt::format("counts {} and {}", fmt::join(next.call.counts[0], " "),
                                fmt::join(next.call.counts[1], " "));
        cases.push_back(std::move(next));
      }
  return cases;
}

std::vector<Case> flat_cases(int64_t most, bool roots) {
  std::vector<Case> cases;
  for (int64_t ranks = 1; ranks <= most; ++ranks)
    for (int64_t root = 0; root < (roots ? ranks : 1); ++root) {
      cases.push_back(on_ranks(ranks));
      cases.back().call.root = root;
    }
  return cases;
}

// Calls with one count.
std::vector<Case> counted_cases(int64_t most) {
  std::vector<Case> cases;
  for (const Case& flat : flat_cases(most, false))
    for (const int64_t count : {1, 0, 3}) {
      cases.push_back(flat);
      cases.back().call.counts = {std::vector<int64_t>(flat.job.groups[0].ranks(), count)};
      cases.back().text += fmt::format(", a count of {}", count);
    }
  return cases;
}

}  // namespace

Program shape(const std::string& name) {
  const std::string path = "tests/programs/" + name + ".txt";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Result<Program> program = parse_program(text.str(), path);
  if (!program.ok()) check(false, program.error().message.c_str());
  return std::move(program).value();
}

std::vector<Case> shape_cases(const std::string& name) {
  if (name == "blocked_ring" || name == "reduce_scatter_blocked_ring") return ring_cases();
  if (name == "reduce_scatter_ring") return reduce_scatter_cases();
  if (name == "reduce_tree") return counted_cases(20);
  if (name == "intergroup") return intergroup_cases();
  if (name == "barrier_groups") {
    std::vector<Case> cases = intergroup_cases();
    for (Case& each : cases) each.call = {};
    return cases;
  }
  if (name == "broadcast_tree" || name == "reduce_star") return flat_cases(9, true);
  std::vector<Case> cases;
  if (name == "tuna")
    for (int64_t ranks = 1; ranks <= 20; ++ranks)
      for (int64_t radix = 2; radix <= std::max<int64_t>(2, ranks); ++radix)
        cases.push_back(on_ranks(ranks, {radix}));
  if (name == "tuna_coalesced")
    for (int64_t nodes = 1; nodes <= 4; ++nodes)
      for (int64_t size = 1; size <= 6; ++size)
        for (int64_t radix = 2; radix <= std::max<int64_t>(2, size); ++radix)
          cases.push_back(on_ranks(nodes * size, {radix, size}));
  if (name == "reduce_scatter_halving")
    for (int64_t ranks = 1; ranks <= 16; ranks *= 2) cases.push_back(on_ranks(ranks));
  return cases.empty() ? flat_cases(20, false) : cases;
}

const std::vector<std::string>& shape_names() {
  static const std::vector<std::string> kNames = {"factor",
                                                  "blocked_ring",
                                                  "intergroup",
                                                  "tuna",
                                                  "tuna_coalesced",
                                                  "reduce_tree",
                                                  "broadcast_tree",
                                                  "reduce_scatter_ring",
                                                  "reduce_star",
                                                  "reduce_scatter_blocked_ring",
                                                  "reduce_scatter_halving",
                                                  "scan_doubling",
                                                  "exscan_shift",
                                                  "barrier_dissemination",
                                                  "barrier_groups"};
  return kNames;
}

}  // namespace quadrille
