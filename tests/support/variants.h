// Every program that can be generated, with small jobs and calls for each. The tests of all algorithms run over these.
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
// The one of that name, which exists.
const Variant& variant_named(Collective collective, const std::string& name, int groups = 1);

// Jobs and calls on these nodes that the program accepts. An all-to-all has one job. Others have several radices,
// block sizes and kinds of counts if the program depends on them. Between groups these are the nodes of the first,
// beside each of a few others.
std::vector<Case> cases_on(const Variant& variant, const std::vector<int64_t>& sizes);

// Only the jobs of these. A number of the variant takes every value up to the number of ranks; if it may be greater,
// it takes the least and the initial one.
std::vector<Job> jobs_on(const Variant& variant, const std::vector<int64_t>& sizes);

// The job for any nodes. Its numbers are those given by name, as typed, and otherwise the initial ones. Between
// groups, a formula is replaced by the initial number.
Job job_for_any_nodes(const Variant& variant,
                      const std::map<std::string, std::string>& numbers = {});

// One case with the arguments of a call that the program needs. The counts are those of the first group; the other
// group repeats them as often as it needs. If all ranks give one count, all are the greatest of them.
Case case_of(const Variant& variant, const Job& job, const std::vector<int64_t>& counts,
             int64_t block);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_VARIANTS_H_
