// What checkers say of a schedule, beside one another and beside what they should say.
#ifndef QUADRILLE_TESTS_VERIFIER_REPORTS_H_
#define QUADRILLE_TESTS_VERIFIER_REPORTS_H_

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/text.h"
#include "verifier/check.h"

namespace quadrille::verifier {

// "verified", or the property and what violates it.
inline std::string verdict(const Report& report) {
  if (!report.violation) return "verified";
  return fmt::format("{}: {}", property_name(report.violation->property), report.violation->detail);
}

// All but the time, which not every checker finds.
inline void expect_same_counts_and_claims(const Report& a, const Report& b,
                                          const std::string& what) {
  EXPECT_EQ(a.steps, b.steps) << what;
  EXPECT_EQ(a.copy_steps, b.copy_steps) << what;
  EXPECT_EQ(a.messages, b.messages) << what;
  EXPECT_EQ(a.tokens, b.tokens) << what;
  EXPECT_EQ(a.timed, b.timed) << what;
  EXPECT_EQ(a.safe_window, b.safe_window) << what;
  EXPECT_EQ(a.port, b.port) << what;
  EXPECT_EQ(a.in_place, b.in_place) << what;
  EXPECT_EQ(a.any_counts, b.any_counts) << what;
}

// "verified", "unclear" or the property, by a checker that may leave a schedule to the general one; what
// it does not leave, that one sees alike.
inline std::string verdict_beside(const std::function<Report()>& general,
                                  const std::optional<Report>& report, const std::string& what) {
  if (!report) return "unclear";
  const Report other = general();
  EXPECT_EQ(report->violation.has_value(), other.violation.has_value())
      << what << ": " << verdict(*report) << "; general: " << verdict(other);
  EXPECT_TRUE(other.violation || report->safe_window == other.safe_window) << what;
  return report->violation ? std::string(property_name(report->violation->property)) : "verified";
}

// What a program's text has, what it has in its place, and how the verdict then begins.
struct Mistake {
  const char *right, *wrong, *verdict;
};

inline void expect_verdicts(const std::string& right, const std::vector<Mistake>& mistakes,
                            const std::function<bool(const Program&)>& is_served, const Job& job,
                            const Call& call) {
  for (const Mistake& mistake : mistakes) {
    std::string text = right;
    const size_t at = text.find(mistake.right);
    ASSERT_NE(at, std::string::npos) << mistake.right;
    text.replace(at, std::string(mistake.right).size(), mistake.wrong);
    const Result<Program> program = parse_program(text, "mistaken");
    ASSERT_TRUE(program.ok()) << program.error().message;
    ASSERT_TRUE(is_served(*program));
    const Result<Report> report = check_schedule(*program, job, call, {});
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(verdict(*report).substr(0, std::string(mistake.verdict).size()), mistake.verdict)
        << mistake.wrong << ": " << verdict(*report);
  }
}

}  // namespace quadrille::verifier

#endif  // QUADRILLE_TESTS_VERIFIER_REPORTS_H_
