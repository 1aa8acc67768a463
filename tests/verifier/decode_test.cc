// Decoding reverses encoding: program, names, job and hash are the same.
#include "verifier/decode.h"

#include <gtest/gtest.h>

#include <set>

#include "generator/encode.h"
#include "schedule/text.h"
#include "tests/support/programs.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"

namespace quadrille::verifier {
namespace {

void expect_round_trip(const Program& program, const Job& job) {
  const Bytes file = encode(program, job);
  const Result<Schedule> schedule = decode(file, "test");
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_TRUE(schedule->program == program);
  EXPECT_EQ(print(schedule->program), print(program));
  EXPECT_EQ(schedule->job.groups, job.groups);
  EXPECT_EQ(schedule->code, encode_code(program));
  EXPECT_EQ(encode(schedule->program, schedule->job), file);
}

TEST(Decode, EveryShapeComesBack) {
  for (const std::string& name : shape_names())
    for (const Case& shape_case : shape_cases(name)) expect_round_trip(shape(name), shape_case.job);
}

TEST(Decode, EveryAlgorithmComesBackOnEveryTopology) {
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : all_node_vectors(5))
      for (const Job& job : jobs_on(variant, sizes)) expect_round_trip(variant.program, job);
}

TEST(Decode, HashesTellProgramsAndJobsApartButNotNames) {
  const Program factor = shape("factor");
  std::set<std::string> hashes;
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 2}, {3}, {1, 1, 1}, {4}})
    hashes.insert(decode(encode(factor, job_of(sizes)), "test")->hash);
  EXPECT_EQ(hashes.size(), 4u);
  Program renamed = factor;
  renamed.algorithm.text = "another";
  EXPECT_EQ(decode(encode(renamed, job_of({4})), "test")->hash,
            decode(encode(factor, job_of({4})), "test")->hash);
}

}  // namespace
}  // namespace quadrille::verifier
