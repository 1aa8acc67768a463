// bazel run //bench:program_mutants [-- [--every N] NAME...]: checks and proves every mutant, or one in N, of every program
// or of the named ones. `hypercube` names the programs of all collectives, `allgather.hypercube` one of them. The tool
// prints both verdicts of each mutant, and every survivor with its reason. Exit code 1: a mutant is both proven and
// refuted, so the prover is unsound; or a larger job refutes a survivor; or a mutant that is not refuted is undecided:
// the solver gives up on its obligation and on the original's. All mutants take a night on one core; one in ten takes
// an hour.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>

#include "generator/proof_file.h"
#include "tests/prove/mutant_survey.h"

namespace quadrille {
namespace {

struct Counts {
  int64_t mutants = 0, checked = 0, unproven = 0, both = 0, gave_up = 0, undecided = 0,
          survivors = 0, wrong = 0;

  void operator+=(const Counts& more) {
    mutants += more.mutants;
    checked += more.checked;
    unproven += more.unproven;
    both += more.both;
    gave_up += more.gave_up;
    undecided += more.undecided;
    survivors += more.survivors;
    wrong += more.wrong;
  }
};

Counts survey(Survey& survey, size_t every) {
  Counts counts;
  for (size_t i = 0; i < survey.mutants().size(); i += every) {
    const Mutant& mutant = survey.mutants()[i];
    const Fate fate = survey.fate(mutant, true);
    ++counts.mutants;
    counts.checked += fate.refuted.has_value();
    counts.unproven += fate.refused();
    counts.both += fate.refuted && fate.refused();
    counts.gave_up += fate.gave_up && !fate.undecided;
    counts.undecided += fate.undecided;
    if (fate.undecided && !fate.refuted)
      fmt::print("  undecided: {}: {}\n", fate.unproven, mutant.description);
    if (fate.refuted && fate.proven()) {
      ++counts.wrong;
      fmt::print("UNSOUND: {}: {}: proven, yet refuted on {}: {}\n", survey.name(),
                 mutant.description, fate.refuted->text(), fate.refuted->violation.detail);
    }
    if (!fate.survives()) continue;
    ++counts.survivors;
    const auto larger = survey.refuted_on_larger_jobs(mutant);
    counts.wrong += larger.has_value();
    fmt::print("  survives, {}: {}{}\n", describe(survey.excuse(mutant)), mutant.description,
               larger ? fmt::format(" UNSOUND: refuted on {}", *larger) : "");
  }
  return counts;
}

void tell(const std::string& name, const Counts& counts, double seconds) {
  fmt::print(
      "{:<48}{:>7} mutants {:>7} refuted {:>7} unproven {:>7} both {:>5} gave up "
      "{:>5} undecided {:>5} survive {:>8.1f} s\n",
      name, counts.mutants, counts.checked, counts.unproven, counts.both, counts.gave_up,
      counts.undecided, counts.survivors, seconds);
  std::fflush(stdout);
}

bool names_it(const std::string& name, const Variant& variant) {
  return name == variant.name || name == proof_name(*variant.algorithm, variant.choices);
}

int run(std::vector<std::string> names) {
  Counts all;
  size_t every = 1;
  if (names.size() > 1 && names[0] == "--every") {
    every = std::strtoul(names[1].c_str(), nullptr, 10);
    if (every == 0) {
      fmt::print(stderr, "program_mutants: --every: '{}' is no number from 1 on\n", names[1]);
      return 2;
    }
    names.erase(names.begin(), names.begin() + 2);
  }

  for (const std::string& name : names)
    if (std::none_of(variants().begin(), variants().end(), [&](const Variant& variant) {
          return variant.algorithm->proof && names_it(name, variant);
        })) {
      fmt::print(stderr, "program_mutants: there is no proof of a program '{}'\n", name);
      return 2;
    }
  double seconds = 0;
  for (const Variant& variant : variants()) {
    if (!variant.algorithm->proof) continue;
    const std::string& name = variant.name;
    if (!names.empty() && std::none_of(names.begin(), names.end(), [&](const std::string& wanted) {
          return names_it(wanted, variant);
        }))
      continue;
    const auto start = std::chrono::steady_clock::now();
    Survey one(variant);
    const Counts counts = survey(one, every);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    tell(name, counts, took.count());
    all += counts;
    seconds += took.count();
  }
  tell("all", all, seconds);
  const int64_t killed = all.checked + all.unproven - all.both;
  fmt::print("{} of {} killed, {} survivors shown above, {} not accounted for\n", killed,
             all.mutants, all.survivors, all.mutants - killed - all.survivors + all.wrong);
  return all.wrong == 0 && killed + all.survivors == all.mutants ? 0 : 1;
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) { return quadrille::run({argv + 1, argv + argc}); }
