// Tests the verdicts of the two quick checkers, check_rank_by_rank for allgathers and check_key_order for
// all-to-alls, on the programs in cases/. Each program says what it expects:
//
//   says: TEXT        On 300 ranks, with counts of 2 and a radix of 4, the quick checker serves the program, and the
//                     verdict of check_schedule begins with TEXT.
//   says on N: TEXT   On N ranks without counts, the verdict of check_schedule is TEXT.
//   on N: VERDICT     What the quick checker finds on N ranks with counts of 12: "verified", a property, or "unclear"
//                     if it leaves the schedule to the general checker. If not unclear, the general checker agrees.
//   both on N M: ...  The same on N and on M ranks, and the general checker names the same property.
#include <gtest/gtest.h>

#include <sstream>

#include "generator/registry.h"
#include "tests/support/cases.h"
#include "tests/support/topologies.h"
#include "tests/verifier/reports.h"

namespace quadrille::verifier::verdicts_test {

std::pair<std::string, std::string> elsewhere(const std::string& name) {
  return {find_algorithm(Collective::kAlltoall, name)->program({}), ""};
}

const std::vector<TextCase>& corpus() {
  static const std::vector<TextCase> cases = read_cases("tests/verifier/cases", elsewhere);
  return cases;
}

struct Question {
  Program program;
  Job job;
  Call call;

  Question(const TextCase& one, int64_t ranks, int64_t count)
      : program(parse_program(one.program, "program").value()), job(job_of({ranks})) {
    if (!program.parameters.empty()) job.parameters = {4};
    if (program.collective == Collective::kAllgather && count > 0)
      call.counts = {std::vector<int64_t>(ranks, count)};
  }

  bool is_served() const {
    return program.collective == Collective::kAllgather ? fits_rank_by_rank(program, {})
                                                        : fits_key_order(program);
  }
  std::optional<Report> quick() const {
    const Binding binding = bind(program, job, call, 0).value();
    return program.collective == Collective::kAllgather
               ? check_rank_by_rank(program, job, call, binding)
               : check_key_order(program, job, binding, {});
  }
  Report general() const {
    return execute(program, job, call, {bind(program, job, call, 0).value()}, {});
  }
  std::string verdict_of_all() const {
    return verdict(check_schedule(program, job, call, {}).value());
  }
};

std::string property_of(const Report& report) {
  return report.violation ? std::string(property_name(report.violation->property)) : "verified";
}

std::vector<int64_t> numbers_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<int64_t>(stream), {}};
}

void expect(const TextCase& one, const std::string& key, const std::string& expected) {
  if (key == "says") {
    const Question large(one, 300, 2);
    EXPECT_TRUE(large.is_served());
    EXPECT_EQ(large.verdict_of_all().substr(0, expected.size()), expected);
  } else if (key.starts_with("says on ")) {
    EXPECT_EQ(Question(one, std::stoll(key.substr(8)), 0).verdict_of_all(), expected);
  } else if (key.starts_with("on ")) {
    const Question small(one, std::stoll(key.substr(3)), 12);
    EXPECT_EQ(verdict_beside([&] { return small.general(); }, small.quick(), one.title), expected);
  } else if (key.starts_with("both on ")) {
    for (const int64_t ranks : numbers_of(key.substr(8))) {
      const Question small(one, ranks, 12);
      const std::optional<Report> quick = small.quick();
      EXPECT_EQ(quick ? property_of(*quick) : "unclear", expected) << ranks;
      if (quick) {
        EXPECT_EQ(property_of(small.general()), expected) << ranks;
      }
    }
  } else {
    ADD_FAILURE() << "the corpus has no key '" << key << "'";
  }
}

TEST(QuickCheckers, SayWhatEachCaseExpects) {
  for (const TextCase& one : corpus())
    for (const auto& [key, expected] : one.expectations) {
      const testing::ScopedTrace trace(__FILE__, __LINE__, one.title);
      expect(one, key, expected);
    }
  EXPECT_GE(corpus().size(), 90u);
}

}  // namespace quadrille::verifier::verdicts_test
