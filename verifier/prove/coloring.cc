// Z3 unknown x_i = number of rounds in which matching i is used. Tested by tests/prove/coloring_test.cc.
#include "verifier/prove/coloring.h"

#include <fmt/core.h>
#include <z3++.h>

#include "verifier/port_accounting.h"

namespace quadrille::verifier {
namespace {

using Matching = std::vector<int64_t>;

// Adds all completions of `matching`, in which nodes below `node` are decided, to `all`.
void complete(Matching& matching, size_t node, std::vector<Matching>& all) {
  if (node == matching.size()) return all.push_back(matching);
  complete(matching, node + 1, all);
  if (matching[node] != static_cast<int64_t>(node)) return;
  for (size_t other = node + 1; other < matching.size(); ++other) {
    if (matching[other] != static_cast<int64_t>(other)) continue;
    std::swap(matching[node], matching[other]);
    complete(matching, node + 1, all);
    std::swap(matching[node], matching[other]);
  }
}

std::vector<Matching> matchings(size_t nodes) {
  Matching alone;
  for (size_t node = 0; node < nodes; ++node) alone.push_back(node);
  std::vector<Matching> all;
  complete(alone, 0, all);
  return all;
}

}  // namespace

Result<Coloring> best_coloring(const Topology& topology, unsigned most_work) {
  const std::vector<int64_t> sizes = topology.sizes();
  if (sizes.size() > kMostColoredNodes)
    return Error{
        fmt::format("a schedule of the least time is known for up to {} nodes; these are {}",
                    kMostColoredNodes, sizes.size())};
  const std::vector<Matching> all = matchings(sizes.size());
#ifdef QUADRILLE_WITHOUT_Z3
  return Error{"the solver Z3, which finds such a schedule, was left out of this build"};
#endif
  Coloring coloring{{}, alltoall_lower_bound(topology)};
  z3::context context;
  z3::solver solver(context);
  z3::params parameters(context);
  parameters.set("rlimit", most_work);
  solver.set(parameters);
  z3::expr_vector rounds(context);
  for (size_t i = 0; i < all.size(); ++i) {
    rounds.push_back(context.int_const(fmt::format("x{}", i).c_str()));
    solver.add(rounds.back() >= 0);
  }
  solver.add(z3::sum(rounds) == context.int_val(coloring.time / 2));
  for (size_t a = 0; a < sizes.size(); ++a)
    for (size_t b = a + 1; b < sizes.size(); ++b) {
      z3::expr_vector meeting(context);
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i][a] == static_cast<int64_t>(b)) meeting.push_back(rounds[i]);
      solver.add(z3::sum(meeting) == context.int_val(sizes[a] * sizes[b]));
    }
  if (solver.check() != z3::sat)
    return Error{fmt::format(
        "Z3 finds no schedule of time {}, the lower bound, on nodes {} within its limit",
        coloring.time, topology.text())};
  const z3::model model = solver.get_model();
  for (size_t i = 0; i < all.size(); ++i)
    if (const int64_t number = model.eval(rounds[i], true).get_numeral_int64(); number > 0)
      coloring.meetings.push_back({all[i], number});
  return coloring;
}

}  // namespace quadrille::verifier
