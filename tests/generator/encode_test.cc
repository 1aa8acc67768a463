// Encoding and decoding give the same program and job. Files keep to their sizes.
#include "generator/encode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generator/registry.h"
#include "tests/support/property.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/decode.h"

namespace quadrille::encode_test {

using verifier::decode;

const Program& hierarchical_factor() {
  static const Program kProgram =
      make_program(*find_algorithm(Collective::kAlltoall, "hierarchical-factor"),
                   {{"self-loops", "keep"}, {"intra", "one-way"}, {"pacing", "free"}});
  return kProgram;
}

size_t size_on(const std::string& nodes) {
  return encode(hierarchical_factor(), {{parse_nodes(nodes).value()}, {}}).size();
}

void expect_round_trip(const Program& program, const Job& job) {
  const Bytes file = encode(program, job);
  const auto schedule = decode(file, "file");
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_EQ(schedule->program, program);
  EXPECT_EQ(names(schedule->program), names(program));
  EXPECT_EQ(schedule->job.groups, job.groups);
  for (size_t i = 0; i < program.parameters.size(); ++i)
    EXPECT_EQ(schedule->job.parameters[i], job.parameters[i]);
  EXPECT_EQ(schedule->code, encode_code(program));
  EXPECT_EQ(encode(schedule->program, schedule->job), file);
}

TEST(Encode, DecodesEveryAlgorithmOnEverySmallTopology) {
  for (const Variant& variant : variants()) {
    for (const std::vector<int64_t>& sizes : all_node_vectors(6))
      for (const Job& job : jobs_on(variant, sizes)) expect_round_trip(variant.program, job);
    Job job = jobs_on(variant, {2, 2})[0];
    for (const char* nodes : {"512x32", "65536x16", "1,2,3,4,5,6,7,8,9,10", "1048576"}) {
      job.groups.back() = parse_nodes(nodes).value();
      expect_round_trip(variant.program, job);
    }
  }
}

TEST(Encode, CodeAndNamesAloneDecode) {
  const Program& program = hierarchical_factor();
  const auto decoded =
      verifier::decode_program(encode_code(program), encode_names(program), "parts");
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, program);
  EXPECT_EQ(names(*decoded), names(program));
}

TEST(Encode, GivesEqualProgramsEqualCodeWhateverTheirNames) {
  Program renamed = hierarchical_factor();
  std::vector<std::string> other = names(renamed);
  for (size_t i = 1; i < other.size(); ++i) other[i] = fmt::format("n{}", i);
  set_names(renamed, other);
  EXPECT_EQ(encode_code(renamed), encode_code(hierarchical_factor()));
  EXPECT_NE(encode_names(renamed), encode_names(hierarchical_factor()));
}

TEST(Encode, HashesTheProgramAndTheJobAndNotTheNames) {
  const auto hash = [](const Program& program, const std::vector<int64_t>& sizes) {
    return decode(encode(program, job_of(sizes)), "file")->hash;
  };
  Program renamed = hierarchical_factor();
  set_names(renamed, {"other-name"});
  EXPECT_EQ(hash(renamed, {1, 2, 3}), hash(hierarchical_factor(), {1, 2, 3}));
  EXPECT_EQ(hash(hierarchical_factor(), {3, 2, 1}), hash(hierarchical_factor(), {1, 2, 3}));
  EXPECT_NE(hash(hierarchical_factor(), {1, 2, 4}), hash(hierarchical_factor(), {1, 2, 3}));
  EXPECT_NE(hash(variant_named(Collective::kAlltoall, "factor").program, {1, 2, 3}),
            hash(hierarchical_factor(), {1, 2, 3}));
}

TEST(Encode, DecodesEveryProvenAlgorithmForAnyNodes) {
  for (const Variant& variant : variants()) {
    if (!variant.algorithm->proof) continue;
    for (const char* number : {"", "3", "ranks div 3"}) {
      const Job job = job_for_any_nodes(variant, number);
      const Bytes file = encode(variant.program, job);
      const auto schedule = decode(file, "file");
      ASSERT_TRUE(schedule.ok()) << schedule.error().message;
      EXPECT_TRUE(schedule->any_nodes);
      EXPECT_TRUE(schedule->job.groups.empty());
      EXPECT_EQ(schedule->program, variant.program);
      EXPECT_EQ(schedule->job.parameters, job.parameters);
      EXPECT_EQ(schedule->job.formulas, job.formulas);
      EXPECT_EQ(schedule->job.most_ranks, job.most_ranks);
      EXPECT_EQ(schedule->job.needs, job.needs);
      EXPECT_EQ(schedule->major, 2);
      EXPECT_EQ(encode(schedule->program, schedule->job), file);
    }
  }
}

TEST(Encode, AFileForGivenNodesIsOfTheFirstFormat) {
  const auto schedule = decode(encode(hierarchical_factor(), job_of({1, 2, 3})), "file");
  EXPECT_EQ(schedule->major, 1);
  EXPECT_FALSE(schedule->any_nodes);
}

TEST(Encode, HashesWhatAnyNodesAreGivenAndNotTheWords) {
  const Program& program = hierarchical_factor();
  const auto hash = [&](int64_t most_ranks, const std::string& needs) {
    Job job;
    job.most_ranks = most_ranks;
    job.needs = needs;
    return decode(encode(program, job), "file")->hash;
  };
  EXPECT_EQ(hash(0, "an even number"), hash(0, ""));
  EXPECT_NE(hash(8, ""), hash(0, ""));
  EXPECT_NE(hash(0, ""), decode(encode(program, job_of({1, 2, 3})), "file")->hash);
}

// 0.4 KiB, in bytes.
constexpr size_t kSmallFile = 409;

TEST(Encode, KeepsSmallAndEqualNodesUnder409Bytes) {
  EXPECT_LE(size_on("1,2,3"), kSmallFile);
  EXPECT_LE(size_on("512x32"), kSmallFile);
}

TEST(Encode, KeepsAFlatScheduleOf1024RanksUnder128Bytes) {
  const Program& factor = variant_named(Collective::kAlltoall, "factor").program;
  EXPECT_LE(encode(factor, job_of({1024})).size(), 128u);
}

// At most 0.7 KiB. The file holds at most 64 runs: a node size and the number of its nodes.
PROPERTY(Encode, Keeps512NodesOfRandomSizesUnder716Bytes) {
  const auto sizes = drawn_list(512, 1, 65);
  REQUIRE(encode(hierarchical_factor(), job_of(sizes)).size() <= 716u);
}

TEST(Encode, GrowsWithTheDigitsOfACountAlone) {
  EXPECT_EQ(size_on("2x2"), size_on("127x127"));
  EXPECT_EQ(size_on("128x127"), size_on("2x2") + 1);
  EXPECT_EQ(size_on("65536x16"), size_on("2x2") + 2);
}

PROPERTY(Encode, DoesNotDependOnTheOrderOfNodes) {
  auto sizes = drawn_list(1, 65);
  const Bytes before = encode(hierarchical_factor(), job_of(sizes));
  std::ranges::reverse(sizes);
  REQUIRE(encode(hierarchical_factor(), job_of(sizes)) == before);
}

}  // namespace quadrille::encode_test
