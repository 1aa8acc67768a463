// Tests the names and sentences of the checker's properties, and the output of a replay.
#include "verifier/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/replay.h"

namespace quadrille::verifier::verdict_test {

using testing::ElementsAre;

TEST(Verdict, EveryPropertyHasANameAndASentenceOfItsOwn) {
  std::set<std::string_view> names, sentences;
  for (int i = 0; i < kPropertyCount; ++i) {
    const Property property = static_cast<Property>(i);
    EXPECT_EQ(property_name(property).find_first_not_of("abcdefghijklmnopqrstuvwxyz-"),
              std::string_view::npos);
    EXPECT_GT(property_text(property).size(), property_name(property).size());
    EXPECT_TRUE(names.insert(property_name(property)).second);
    EXPECT_TRUE(sentences.insert(property_text(property)).second);
  }
}

TEST(Replay, PrintsTheStepsAskedForALineEach) {
  const Program& factor = variant_named(Collective::kAlltoall, "factor").program;
  const Job job = job_of({1, 1, 1});
  const Binding binding = *bind(factor, job, {}, 0);
  EXPECT_THAT(replay(factor, binding, 1, INT64_MIN, INT64_MAX),
              ElementsAre("step 0 after -1: receive 2 recv[2]  send 2 send[2]",
                          "step 1 after -1: receive 0 recv[0]  send 0 send[0]",
                          "step 2 after -1: copy send[1] recv[1]", "end"));
  EXPECT_THAT(replay(factor, binding, 1, 1, 2),
              ElementsAre("step 1 after -1: receive 0 recv[0]  send 0 send[0]", "end"));
}

}  // namespace quadrille::verifier::verdict_test
