// Every program that can be generated, with small jobs and calls for each: what the tests of all
// algorithms run over.
#ifndef QUADRILLE_TESTS_SUPPORT_VARIANTS_H_
#define QUADRILLE_TESTS_SUPPORT_VARIANTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/registry.h"
#include "tests/support/programs.h"

namespace quadrille {

// An algorithm with a choice of its options.
struct Variant {
  const Algorithm* algorithm;
  Choices choices;
  std::string name;
  Program program;
};

const std::vector<Variant>& variants();
// Those of one group, or between groups.
std::vector<Variant> variants_of(Collective collective, int groups = 1);

// Jobs and calls on these nodes that the program takes, none where it takes none: one job of an
// all-to-all; radices, block sizes and a few kinds of counts where the program has such. Between groups
// these are the nodes of the first, beside each of a few others.
std::vector<Case> cases_on(const Variant& variant, const std::vector<int64_t>& sizes);

// The jobs of these alone: every value of the variant's numbers up to so many ranks, or, where they may
// be greater, the least and the initial one.
std::vector<Job> jobs_on(const Variant& variant, const std::vector<int64_t>& sizes);

// The job for any nodes, with the numbers that are given by name, as they are typed, and the initial ones:
// also in place of what is no number between groups.
Job job_for_any_nodes(const Variant& variant,
                      const std::map<std::string, std::string>& numbers = {});

// One case: what a call adds where the program asks for it. Counts are those of the first group, and over
// and over again those of the other; all are the greatest of them where all ranks give one count.
Case case_of(const Variant& variant, const Job& job, const std::vector<int64_t>& counts,
             int64_t block);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_VARIANTS_H_
