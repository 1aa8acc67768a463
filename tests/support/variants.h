// Every program that the generator can make, with small jobs and calls for each, for the tests of all algorithms.
#pragma once
#include <string>
#include <vector>

#include "generator/registry.h"
#include "schedule/binding.h"

namespace quadrille {

struct Case {
  Job job;
  Call call;
  std::string text;  // describes the case in messages
};

// An algorithm with one choice of its options, and its program.
struct Variant {
  const Algorithm* algorithm;
  Choices choices;
  std::string name;
  Program program;
};

const std::vector<Variant>& variants();
// Returns the collective's variants of one group, or between two groups.
std::vector<Variant> variants_of(Collective collective, int groups = 1);
// Returns the variant of that name. Aborts if there is none.
const Variant& variant_named(Collective collective, const std::string& name, int groups = 1);

// Returns jobs and calls on these nodes that the program accepts, with several radices, block sizes and kinds of
// counts if it uses them. Between groups, the nodes are the first group's, beside each of a few others.
std::vector<Case> cases_on(const Variant& variant, const std::vector<int64_t>& sizes);

// Returns the jobs of cases_on(). A radix takes all values up to the number of ranks. Other numbers take two values.
std::vector<Job> jobs_on(const Variant& variant, const std::vector<int64_t>& sizes);

// Returns the job for any nodes. Its numbers are the formula `text`, or else the initial ones. Between groups, a
// formula that is no plain number is replaced by the initial number. Only radices can be "sqrt"; others are "ranks".
Job job_for_any_nodes(const Variant& variant, const std::string& text = "");

// Returns one case, with the arguments that the program needs. `counts` are those of the first group. The other group
// repeats them as needed. If all ranks give one count, it is the greatest of them.
Case case_of(const Variant& variant, const Job& job, const std::vector<int64_t>& counts,
             int64_t block);

}  // namespace quadrille
