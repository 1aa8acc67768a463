#include "tests/support/programs.h"

#include <fmt/format.h>

#include "schedule/text.h"
#include "tests/support/cases.h"
#include "tests/support/topologies.h"

namespace quadrille {
namespace {

std::vector<Case> cases_of_groups() {
  std::vector<Case> cases;
  for (int64_t p = 1; p <= 6; ++p)
    for (int64_t q = 1; q <= 6; ++q)
      cases.push_back(
          {{{topology_of({p}), topology_of({q})}, {}}, {}, fmt::format("{} and {} ranks", p, q)});
  return cases;
}

std::vector<Case> flat_cases(int64_t most, bool roots) {
  std::vector<Case> cases;
  for (int64_t ranks = 1; ranks <= most; ++ranks)
    for (int64_t root = 0; root < (roots ? ranks : 1); ++root) {
      cases.push_back({job_of({ranks}), {}, fmt::format("{} ranks", ranks)});
      cases.back().call.root = root;
    }
  return cases;
}

// Returns cases whose call has one count for all ranks.
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
  Result<Program> program = parse_program(read_text(path), path);
  if (!program.ok()) check(false, program.error().message.c_str());
  return std::move(program).value();
}

std::vector<Case> shape_cases(const std::string& name) {
  if (name == "reduce_tree") return counted_cases(20);
  if (name == "barrier_groups") return cases_of_groups();
  return name == "reduce_star" ? flat_cases(9, true) : flat_cases(20, false);
}

const std::vector<std::string>& shape_names() {
  static const std::vector<std::string> kNames = {"reduce_tree", "reduce_star", "exscan_shift",
                                                  "barrier_groups"};
  return kNames;
}

}  // namespace quadrille
