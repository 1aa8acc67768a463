// The scope that `check` prints for a schedule. It prints "proven" only if the code is that of a proven program.
#include "verifier/proven.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/encode.h"
#include "generator/proof_file.h"
#include "generator/registry.h"
#include "tests/support/mutants.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/check.h"
#include "verifier/decode.h"
#include "verifier/report.h"

namespace quadrille::verifier::proven_test {

using testing::HasSubstr;
using testing::Not;

// Returns what `check` prints for a file with the program and the case's job.
std::string report_of(const Program& program, const Case& one) {
  const Bytes file = encode(program, one.job);
  const Result<Schedule> schedule = decode(file, "test.qs");
  if (!schedule.ok()) return schedule.error().message;
  const Result<Report> report = check_schedule(schedule->program, schedule->job, one.call, {});
  if (!report.ok()) return report.error().message;
  return check_report("test.qs", *schedule, file.size(), {{one.call, *report, {}}}, true);
}

std::string report_of(const Program& program, const std::vector<int64_t>& sizes) {
  return report_of(program, Case{job_of(sizes), {}, ""});
}

// Returns the scope of a proof: "all sizes, counts and values of B".
std::string scope_of(const Program& program) {
  std::vector<std::string> all = {"all sizes"};
  if (uses_counts(program)) all.push_back("counts");
  for (const Parameter& parameter : program.parameters)
    all.push_back("values of " + parameter.name.text);
  const std::string last = all.back();
  all.pop_back();
  return all.empty() ? last + "\n" : fmt::format("{} and {}\n", fmt::join(all, ", "), last);
}

TEST(Proven, AreAllProgramsThatAreGeneratedWithAProof) {
  size_t programs = 0;
  for (const Variant& variant : variants()) {
    if (!variant.algorithm->proof) continue;
    ++programs;
    const std::vector<Case> cases = cases_on(variant, {2, 2});
    ASSERT_FALSE(cases.empty()) << variant.name;
    EXPECT_THAT(report_of(variant.program, cases[0]),
                HasSubstr(fmt::format("this code is {}, proven for {}",
                                      proof_name(*variant.algorithm, variant.choices),
                                      scope_of(variant.program))));
  }
  EXPECT_EQ(proven_programs().size(), programs);
}

Schedule for_any_nodes(const Program& program, const Job& job) {
  return decode(encode(program, job), "any.qs").value();
}

TEST(Proven, IsAScheduleForAnyNodesOfEveryProofWithoutBeingWalked) {
  for (const Variant& variant : variants()) {
    if (!variant.algorithm->proof) continue;
    const Schedule schedule = for_any_nodes(variant.program, job_for_any_nodes(variant));
    EXPECT_TRUE(is_proven(schedule)) << variant.name;
    const std::string report = proof_report("any.qs", schedule, 1);
    EXPECT_THAT(report, HasSubstr("any.qs: proven\n"));
    EXPECT_THAT(report, HasSubstr(fmt::format("this code is {}, proven for {}",
                                              proof_name(*variant.algorithm, variant.choices),
                                              scope_of(variant.program))));
    EXPECT_THAT(report, HasSubstr(variant.program.groups == 1
                                      ? "  checked   on no nodes; --nodes 1,2,3 walks"
                                      : "; --nodes 1,2,3 --remote-nodes 2,2 walks"));
  }
}

TEST(Proven, IsNoScheduleForAnyNodesOfAChangedProgram) {
  const Algorithm* factor = find_algorithm(Collective::kAlltoall, "factor");
  const Program program = make_program(*factor, all_choices(*factor)[0]);
  for (const Mutant& mutant : mutants(program)) {
    const Schedule schedule = for_any_nodes(mutant.program, {});
    EXPECT_FALSE(is_proven(schedule)) << mutant.description;
    EXPECT_THAT(proof_report("any.qs", schedule, 1), HasSubstr("UNKNOWN: not proven for all"));
    EXPECT_THAT(proof_report("any.qs", schedule, 1), HasSubstr("no proof of this code is known"));
  }
}

TEST(Proven, IsNoChangedProgram) {
  const Algorithm* factor = find_algorithm(Collective::kAlltoall, "factor");
  const Program program = make_program(*factor, all_choices(*factor)[0]);
  int verified = 0;
  for (const Mutant& mutant : mutants(program)) {
    const std::string report = report_of(mutant.program, {1, 2});
    EXPECT_THAT(report, Not(HasSubstr("proven for"))) << mutant.description;
    if (report.find("verified for this topology alone") != std::string::npos) ++verified;
  }
  EXPECT_GT(verified, 0);
}

TEST(Proven, IsTheProgramUnderOtherNames) {
  const Algorithm* factor = find_algorithm(Collective::kAlltoall, "factor");
  Program program = make_program(*factor, all_choices(*factor)[0]);
  std::vector<std::string> other = names(program);
  for (std::string& name : other) name = "x" + std::to_string(&name - other.data());
  set_names(program, other);
  EXPECT_THAT(report_of(program, {1, 2}),
              HasSubstr("this code is alltoall.factor, proven for all"));
}

}  // namespace quadrille::verifier::proven_test
