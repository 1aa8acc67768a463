// The reversal of a program: its text, what it refuses, and that it is right wherever the original is.
#include "schedule/reverse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/text.h"
#include "tests/prove/proofs.h"
#include "tests/support/variants.h"
#include "verifier/prove/refute.h"

namespace quadrille::reverse_test {

const char* const kChain = R"(algorithm chain for broadcast
port one+one per rank
in_place
let v = wrap(rank - root, ranks)
if rank = root
  copy send[0] to recv[0]
for k in 1 .. ranks
  let here = k - 1
  step k
    if v = here
      send recv[0] to wrap(rank + 1, ranks)
    if v = k
      receive recv[0] from wrap(rank - 1, ranks)
)";

const char* const kChainBackwards = R"(algorithm chain for reduce
port one+one per rank
commutative
temporary 1 blocks

if rank = root
  copy send[0] to recv[0]
else
  copy send[0] to temp[0]
let v = wrap(rank - root, ranks)
for minus_k in 1 - ranks .. 0
  let k = 0 - minus_k
  let here = k - 1
  step 0 - k
    if v = here
      receive right from wrap(rank + 1, ranks)
        if rank = root
          recv[0]
        else
          temp[0]
    if v = k
      send temp[0] to wrap(rank - 1, ranks)
)";

const char* const kTwoPhases = R"(algorithm star for allgather
table m = counts
copy send[0] to recv[rank]
step 0
  if 0 < rank
    send send[0] to 0
  else
    for r in 1 .. ranks
      receive recv[r]@0..m[r] from r
let last = ranks - 1
step 1 after 0
  if rank = 0
    for r in 1 .. ranks
      send to r
        for j in 0 .. last + 1
          if j != r
            recv[j]
  else
    receive from 0
      for j in 0 .. last + 1
        if j != rank
          recv[j]
)";

const char* const kTwoPhasesBackwards = R"(algorithm star for reduce-scatter
commutative
table m = counts
temporary ranks blocks

copy send[rank] to recv[0]
for block in 0 .. ranks
  if block != rank
    copy send[block] to temp[block]
let last = ranks - 1
step -1
  if rank = 0
    for r in 1 .. ranks
      receive right from r
        for j in 0 .. last + 1
          if j != r
            if j = rank
              recv[0]
            else
              temp[j]
  else
    send to 0
      for j in 0 .. last + 1
        if j != rank
          temp[j]
step 0
  if 0 < rank
    receive right recv[0] from 0
  else
    for r in 1 .. ranks
      send temp[r]@0..m[r] to r
)";

Program program_of(const std::string& text) { return parse_program(text, "text").value(); }

std::string reversed(const std::string& text) {
  const Result<Program> program = reverse(program_of(text));
  return program.ok() ? print(*program) : program.error().message;
}

TEST(Reversal, RunsBackwardsAndCombinesWhatWasSent) {
  EXPECT_EQ(reversed(kChain), kChainBackwards);
  EXPECT_EQ(reversed(kTwoPhases), kTwoPhasesBackwards);
}

TEST(Reversal, IsRefusedWithTheReason) {
  const auto only = [](const std::string& collective) {
    return "only a broadcast or an allgather on one group can be reversed, not " + collective;
  };
  const std::string cannot = "the program cannot be reversed: ";
  const std::string begins = cannot + "it does not begin with 'copy send[0] to recv[rank]'";
  const std::string roots =
      cannot + "it does not begin with 'if rank = root' and 'copy send[0] to recv[0]'";
  EXPECT_EQ(reversed(kFactor), only("an all-to-all"));
  EXPECT_EQ(reversed(kChainBackwards), only("a reduce"));
  EXPECT_EQ(reversed("algorithm a for broadcast between groups"),
            only("a broadcast between groups"));
  EXPECT_EQ(reversed("algorithm a for allgather"), begins);
  EXPECT_EQ(reversed("algorithm a for allgather\nstep 0\n  send to 0\ncopy send[0] to recv[rank]"),
            begins);
  EXPECT_EQ(reversed("algorithm a for allgather\ncopy send[0] to recv[0]"), begins);
  EXPECT_EQ(reversed("algorithm a for allgather\ntable m = counts\ncopy send[0]@0..m[0] to "
                     "recv[rank]@0..m[0]"),
            begins);
  EXPECT_EQ(reversed("algorithm a for broadcast\ncopy send[0] to recv[0]"), roots);
  EXPECT_EQ(reversed("algorithm a for broadcast\nif 0 = root\n  copy send[0] to recv[0]"), roots);
  EXPECT_EQ(
      reversed("algorithm a for broadcast\nif rank = root\n  copy send[0]@0..1 to recv[0]@0..1"),
      roots);
  const std::string own =
      "algorithm a for allgather\ntemporary 1 blocks\ncopy send[0] to recv[rank]\n";
  EXPECT_EQ(reversed(own + "copy send[0] to temp[0]"), cannot + "it copies data after that");
  EXPECT_EQ(reversed(own + "if 0 < rank\n  copy send[0] to recv[rank]"),
            cannot + "it copies data after that");
  EXPECT_EQ(reversed(own + "step 0\n  copy send[0] to temp[0]"),
            cannot + "it copies data in a step");
  EXPECT_EQ(reversed(own + "step 0\n  send temp[0] to 0"),
            cannot + "its messages name temporary blocks");
  EXPECT_EQ(reversed(own + "step 0\n  receive temp[0]@0..1 from 0"),
            cannot + "its messages name temporary blocks");
  std::string many = own;
  for (int64_t v = 0; v < kMaxVariables - 1; ++v) many += "let x" + std::to_string(v) + " = 0\n";
  EXPECT_THAT(reversed(many + "for k in 0 .. 1\n  step k\n    send to 0"),
              testing::StartsWith("the reversal has "));
}

// Of a program whose messages bring each contribution once, as `prove` shows of these.
TEST(Reversal, IsRightOnSmallNodes) {
  int tried = 0;
  for (const Collective collective : {Collective::kBroadcast, Collective::kAllgather})
    for (const Variant& variant : variants_of(collective)) {
      const Result<Program> program = reverse(variant.program);
      if (!program.ok()) {
        EXPECT_EQ(variant.name, "bruck") << program.error().message;
        continue;
      }
      ++tried;
      const auto failing = verifier::find_failing_job(*program, 5, true);
      EXPECT_FALSE(failing) << variant.name << " on " << failing->text() << ": "
                            << failing->violation.detail;
      EXPECT_EQ(program_of(print(*program)), *program) << variant.name;
    }
  EXPECT_GE(tried, 12);
}

// Reversal makes names, and declares later variables earlier. The text of the result still means the same.
TEST(Reversal, HasATextInWhichParametersKeepTheirNames) {
  const std::string begin =
      "algorithm a for broadcast\nparameter minus_k\nparameter v\nif rank = root\n  copy send[0] "
      "to recv[0]\n";
  for (const std::string& body :
       {std::string("for k in 0 .. 1\n  step k + minus_k\n    send to 0"),
        std::string("step v\n  send to 0\nlet v = 0"),
        "for " + std::string(63, 'k') + " in 0 .. 1\n  step 0\n    send to 0"}) {
    const Program program = reverse(program_of(begin + body)).value();
    EXPECT_EQ(program_of(print(program)), program) << print(program);
  }
}

// Each receives twice what it needs once. So its reversal would add a contribution twice.
TEST(Reversal, OfAProgramThatIsNotProvenMayBeWrong) {
  const Program twice = program_of(
      "algorithm a for broadcast\nif rank = root\n  copy send[0] to recv[0]\nfor k in 0 .. 2\n  "
      "step k\n"
      "    if rank = root\n      for r in 0 .. ranks\n        if r != root\n          send recv[0] "
      "to r\n"
      "    else\n      receive recv[0] from root\n");
  EXPECT_TRUE(verifier::find_failing_job(twice));
  EXPECT_TRUE(verifier::find_failing_job(reverse(twice).value()));
}

}  // namespace quadrille::reverse_test
