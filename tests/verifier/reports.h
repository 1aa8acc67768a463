// What two checkers say of one schedule is the same, but for its time, which not every checker finds.
#ifndef QUADRILLE_TESTS_VERIFIER_REPORTS_H_
#define QUADRILLE_TESTS_VERIFIER_REPORTS_H_

#include <gtest/gtest.h>

#include <string>

#include "verifier/check.h"

namespace quadrille::verifier {

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

}  // namespace quadrille::verifier

#endif  // QUADRILLE_TESTS_VERIFIER_REPORTS_H_
