// Every algorithm with every choice of its options, on every vector of node sizes with at most 8
// ranks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

TEST(Algorithms, AreRightOnEveryNodeVectorOfAtMostEightRanks) {
  for (const Algorithm& algorithm : algorithms())
    for (const Choices& choices : all_choices(algorithm)) {
      const Program program = make_program(algorithm, choices);
      int checked = 0;
      for (const std::vector<int64_t>& sizes : all_node_vectors(8)) {
        const Job job = job_of(sizes);
        const auto report = check_schedule(program, job, {}, {});
        if (!report.ok()) continue;
        ++checked;
        ASSERT_FALSE(report->violation)
            << program.algorithm.text << " on " << job.groups[0].text() << " "
            << property_name(report->violation->property) << " " << report->violation->detail
            << " key " << report->violation->key.value_or(-1);
        auto b = bind(program, job, {}, 0);
        const Report x = execute(program, job, {}, {*b}, {});
        ASSERT_FALSE(x.violation) << program.algorithm.text << " on " << job.groups[0].text() << " "
                                  << property_name(x.violation->property) << " "
                                  << x.violation->detail << " key "
                                  << x.violation->key.value_or(-1);
        ASSERT_EQ(x.steps, report->steps);
        ASSERT_EQ(x.time, report->time);
        ASSERT_EQ(x.port, report->port);
        ASSERT_EQ(x.in_place, report->in_place);
        ASSERT_EQ(x.tokens, report->tokens);
        ASSERT_EQ(x.messages, report->messages);
        ASSERT_EQ(x.lower_bound, report->lower_bound);
        ASSERT_EQ(x.copy_steps, report->copy_steps);
        ASSERT_EQ(x.safe_window, report->safe_window)
            << program.algorithm.text << " on " << job.groups[0].text();
        if (sizes == std::vector<int64_t>{1, 2, 3} || sizes == std::vector<int64_t>{2, 2, 2, 2} ||
            sizes == std::vector<int64_t>{1, 1, 2, 4})
          fmt::print(
              "{} {}: steps {}+{} messages {} tokens {} time {} bound {} window {} port {} inplace "
              "{}\n",
              program.algorithm.text, job.groups[0].text(), x.steps, x.copy_steps, x.messages,
              x.tokens, x.time, x.lower_bound, x.safe_window, (int)x.port, x.in_place);
      }
      EXPECT_GT(checked, 0);
    }
}

}  // namespace
}  // namespace quadrille::verifier
