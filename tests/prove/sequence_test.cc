// The sequence of two programs: its text, what it refuses, and that it is right wherever both are.
#include "schedule/sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/reverse.h"
#include "schedule/text.h"
#include "tests/prove/proofs.h"
#include "tests/support/variants.h"
#include "verifier/prove/obligations.h"
#include "verifier/prove/refute.h"

namespace quadrille::sequence_test {

const char* const kStar = R"(algorithm star for reduce-scatter
port one+one per rank
parameter k at call
table m = counts
table s = prefix(m)
require 0 < k
temporary 1 blocks
let last = ranks - 1
copy send[rank] to recv[0]
for r in 0 .. ranks
  step r after -1
    if r != rank and 0 < m[rank]
      receive right recv[0] from r
    if r != rank and 0 < m[r]
      send send[r]@0..m[r] to r
)";

const char* const kRing = R"(algorithm ring for allgather
port one+one per rank
parameter k at call
require 0 < k
temporary 2 blocks
let s = rank
copy send[0] to recv[rank]
for r in 1 .. ranks
  step r after r - 5
    receive recv[wrap(s - r, ranks)] from wrap(rank - 1, ranks)
    send recv[wrap(s - r + 1, ranks)] to wrap(rank + 1, ranks)
)";

const char* const kBoth = R"(algorithm star-then-ring for allreduce
port one+one per rank
parameter k at call
table vector = counts
table cut[i in 0 .. ranks + 1] = i*(vector[0] div ranks) + min(i, vector[0] mod ranks)
table slice[i in 0 .. ranks] = cut[i + 1] - cut[i]
table s = prefix(slice)
require 0 < k
temporary 1 + 2 blocks

let last = ranks - 1
copy send[0]@cut[rank]..cut[rank + 1] to recv[0]@cut[rank]..cut[rank + 1]
for r in 0 .. ranks
  step r after -1
    if r != rank and 0 < slice[rank]
      receive right recv[0]@cut[rank]..cut[rank + 1] from r
    if r != rank and 0 < slice[r]
      send send[0]@cut[r]..cut[r] + slice[r] to r
let s_2 = rank
for r_2 in 1 .. ranks
  step 4611686018427387904 + r_2 after 4611686018427387904 + max(-1, r_2 - 5)
    receive from wrap(rank - 1, ranks)
      if cut[wrap(s_2 - r_2, ranks)] < cut[wrap(s_2 - r_2, ranks) + 1]
        recv[0]@cut[wrap(s_2 - r_2, ranks)]..cut[wrap(s_2 - r_2, ranks) + 1]
    send to wrap(rank + 1, ranks)
      if cut[wrap(s_2 - r_2 + 1, ranks)] < cut[wrap(s_2 - r_2 + 1, ranks) + 1]
        recv[0]@cut[wrap(s_2 - r_2 + 1, ranks)]..cut[wrap(s_2 - r_2 + 1, ranks) + 1]
)";

const char* const kUp = R"(algorithm up for reduce
temporary 1 blocks
step 0
  if rank = root
    receive right temp[0] from 1
  if rank != root
    send send[0] to root
)";

const char* const kDown = R"(algorithm down for broadcast
table m = counts
temporary 1 blocks
if rank = root
  copy send[0] to recv[0]
step 0
  if rank = root
    send send[0]@0..m[0] to 1
  if rank != root
    receive temp[0]@0..m[0] from root
)";

const char* const kUpAndDown = R"(algorithm up-then-down for allreduce
table vector = counts
temporary 1 + 1 blocks

step 0
  if rank = 0
    receive right from 1
      if 0 < vector[0]
        temp[0]
  if rank != 0
    send to 0
      if 0 < vector[0]
        send[0]
step 4611686018427387904
  if rank = 0
    send recv[0]@0..vector[0] to 1
  if rank != 0
    receive temp[1]@0..vector[0] from 0
)";

Program program_of(const std::string& text) { return parse_program(text, "text").value(); }

std::string both(const std::string& first, const std::string& second) {
  const Result<Program> program = sequence(program_of(first), program_of(second));
  return program.ok() ? print(*program) : program.error().message;
}

TEST(Sequence, RunsTheSecondProgramOnWhatTheFirstLeaves) {
  EXPECT_EQ(both(kStar, kRing), kBoth);
  EXPECT_EQ(both(kUp, kDown), kUpAndDown);
}

TEST(Sequence, IsRefusedWithTheReason) {
  const auto only = [](const std::string& what) {
    return "only a reduce-scatter then an allgather, or a reduce then a broadcast, on one group, "
           "make a sequence; not " +
           what;
  };
  EXPECT_EQ(both(kRing, kStar), only("allgather then reduce-scatter"));
  EXPECT_EQ(both(kStar, kDown), only("reduce-scatter then broadcast"));
  EXPECT_EQ(both("algorithm a for reduce between groups", "algorithm b for broadcast"),
            only("reduce between groups then broadcast"));
  EXPECT_EQ(both(changed(kStar, "parameter k at call", "parameter k"), kRing),
            "parameter k is given with each call in one of them alone");
  EXPECT_EQ(
      both(kStar, changed(kRing, "    send recv[wrap(s - r + 1, ranks)]", "    send temp[0]")),
      "the second program sends whole temporary blocks, which may be empty; declare 'table m "
      "= counts' there, and send none that is empty");
  std::string many = "algorithm a for reduce\n";
  for (int64_t v = 0; v < kMaxVariables; ++v) many += "let x" + std::to_string(v) + " = 0\n";
  EXPECT_THAT(both(many, "algorithm b for broadcast\nlet y = 0"),
              testing::StartsWith("the sequence has "));
}

// An allgather that copies its own block by another name of the rank. A reduce-scatter leaves it there.
const char* const kNamed = R"(algorithm named for allgather
parameter vector
port vector+vector per node
let me = rank
if 0 < vector
  copy send[0] to recv[me]
)";

TEST(Sequence, KeepsTheNamesOfParameters) {
  const char* const other = R"(algorithm a for reduce-scatter
commutative
parameter k
parameter vector
port k+k per node
for r in 0 .. vector
  copy send[rank] to recv[0]
)";
  const std::string text = both(other, kNamed);
  EXPECT_THAT(text, testing::HasSubstr("parameter k\nparameter vector\ntable vector_2 = counts\n"));
  EXPECT_THAT(text, testing::EndsWith("let me = rank\n"));
  EXPECT_THAT(both(changed(other, "parameter k\nparameter vector\nport k+k",
                           "parameter vector\nport vector+vector"),
                   kNamed),
              testing::HasSubstr("port vector+vector per node\n"));
}

TEST(Sequence, HasANameOfTheLanguage) {
  for (const size_t letters : {57, 62, 63}) {
    const std::string long_name(letters, 'a');
    const std::string text =
        both("algorithm " + long_name + " for reduce", "algorithm b for broadcast");
    EXPECT_TRUE(parse_program(text, "text").ok()) << text;
  }
}

// Each program with each that may follow it, also after a reversal.
TEST(Sequence, IsRightOnSmallNodes) {
  const auto programs_for = [](Collective collective) {
    std::vector<Program> all;
    for (const Variant& variant : variants_of(collective)) all.push_back(variant.program);
    return all;
  };
  int tried = 0, refused = 0;
  for (const auto& [one, other] : {std::pair(Collective::kReduceScatter, Collective::kAllgather),
                                   {Collective::kReduce, Collective::kBroadcast}}) {
    std::vector<Program> firsts = programs_for(one);
    const std::vector<Program> seconds = programs_for(other);
    for (const Program& second : seconds)
      if (const Result<Program> reversal = reverse(second); reversal.ok())
        firsts.push_back(*reversal);
    for (const Program& first : firsts)
      for (const Program& second : seconds) {
        const Result<Program> program = sequence(first, second);
        if (!program.ok()) {
          EXPECT_THAT(program.error().message, testing::HasSubstr("whole temporary blocks"));
          ++refused;
          continue;
        }
        ++tried;
        const Result<Program> again = parse_program(print(*program), "text");
        ASSERT_TRUE(again.ok()) << again.error().message << "\n" << print(*program);
        EXPECT_EQ(*again, *program) << program->algorithm.text;
        const auto failing = verifier::find_failing_job(*program, 4, true);
        EXPECT_FALSE(failing) << program->algorithm.text << " on " << failing->text() << ": "
                              << failing->violation.detail;
      }
  }
  EXPECT_GE(tried, 150);
  EXPECT_LE(refused, 40);
}

TEST(Sequence, HasAtMostTheAllowedTemporaryBlocks) {
  const auto fit = [](const std::string& first, const std::string& second) {
    return verifier::temporary_blocks_fit(
        sequence(program_of("algorithm a for reduce\ntemporary " + first + " blocks"),
                 program_of("algorithm b for broadcast\ntemporary " + second + " blocks"))
            .value());
  };
  EXPECT_TRUE(fit("ranks", "ranks*4"));
  EXPECT_TRUE(fit("1000000", "48000"));
  EXPECT_FALSE(fit("1000000", "49000"));
}

}  // namespace quadrille::sequence_test
