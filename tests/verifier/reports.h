// Compares the reports of checkers on a schedule.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "schedule/text.h"
#include "verifier/check.h"

namespace quadrille::verifier {

// Returns "verified", or the violated property and its detail.
inline std::string verdict(const Report& report) {
  if (!report.violation) return "verified";
  return fmt::format("{}: {}", property_name(report.violation->property), report.violation->detail);
}

// Expects that all figures and claims are equal, except the time, which not every checker computes.
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
  EXPECT_EQ(a.uneven.has_value(), b.uneven.has_value()) << what;
}

// Returns the verdict of a quick checker: "verified", the violated property, or "unclear" if it leaves the schedule
// to the general checker. If it is not unclear, expects that the general checker agrees, and reports the same figures.
inline std::string verdict_beside(const std::function<Report()>& general,
                                  const std::optional<Report>& report, const std::string& what) {
  if (!report) return "unclear";
  const Report other = general();
  EXPECT_EQ(report->violation.has_value(), other.violation.has_value())
      << what << ": " << verdict(*report) << "; general: " << verdict(other);
  if (!report->violation && !other.violation) expect_same_counts_and_claims(*report, other, what);
  return report->violation ? std::string(property_name(report->violation->property)) : "verified";
}

}  // namespace quadrille::verifier
