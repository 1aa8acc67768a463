// Tests the beginnings of proofs that `prove --skeleton` writes. Whatever a person fills in, the reader accepts them.
// Those of simple programs have nothing to fill in, and are proofs.
#include "verifier/skeleton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/text.h"
#include "tests/support/effort.h"
#include "tests/support/matches.h"
#include "tests/support/variants.h"
#include "verifier/fit.h"
#include "verifier/moments.h"
#include "verifier/prove/prover.h"

namespace quadrille::verifier::skeleton_test {

using testing::HasSubstr;

const char* const kShift =
    "algorithm shift for alltoall\ncopy send[rank] to recv[rank]\nfor k in 1 .. ranks\n"
    "  let right = wrap(rank + k, ranks)\n  let left = wrap(rank - k, ranks)\n  step k\n"
    "    send send[right] to right\n    receive recv[left] from left\n";

// Fills in different conditions, and the number 0, in place of what a person would write.
std::string filled(const std::string& skeleton) {
  std::string text;
  size_t last = 0;
  int next = 0;
  for (const Match& place : matches(skeleton, "(if |contributors )?FILL_IN")) {
    text += skeleton.substr(last, place.at - last) + place.groups[1];
    text += place.groups[1].empty() ? "0" : "ranks = " + std::to_string(100 + ++next);
    last = place.at + place.groups[0].size();
  }
  return text + skeleton.substr(last);
}

class Skeletons : public testing::TestWithParam<Variant> {};

TEST_P(Skeletons, AreTakenOnceTheirPlacesAreFilledIn) {
  const Program& program = GetParam().program;
  const Result<Skeleton> skeleton = skeleton_of(program, "program");
  ASSERT_TRUE(skeleton.ok()) << skeleton.error().message;
  // The reader also accepts the text before its places are filled in.
  const Result<Proof> read = parse_proof_of(program, skeleton->text, "skeleton");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(static_cast<int>(read->statements.size()), skeleton->statements);
  EXPECT_EQ(refuse_unfilled(skeleton->text, "skeleton").ok(), skeleton->places == 0);
  int places = 0;
  for (size_t at = 0; (at = skeleton->text.find(kFillIn, at)) != std::string::npos; ++at) ++places;
  EXPECT_EQ(skeleton->places, places) << skeleton->text;
  const std::string text = filled(skeleton->text);
  EXPECT_TRUE(refuse_unfilled(text, "skeleton").ok());
  const Result<Proof> proof = parse_proof_of(program, text, "skeleton");
  ASSERT_TRUE(proof.ok()) << proof.error().message << "\n" << text;
  const Result<ProofPlan> plan = plan_proof(*proof);
  EXPECT_TRUE(plan.ok()) << plan.error().message << "\n" << text;
}

// Returns one in six algorithms, or all if EVERY_CASE is set. Those that are made of others are left out, as the proofs of the
// others prove them.
std::vector<Variant> tried() {
  std::vector<Variant> result = variants();
  size_t number = 0;
  std::erase_if(result, [&](const Variant& variant) {
    return !variant.algorithm->parts.empty() || number++ % one_in(6) != 0;
  });
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, Skeletons, testing::ValuesIn(tried()), [](const auto& one) {
  const Variant& variant = one.param;
  std::string name =
      purpose_of(variant.program.collective, variant.program.groups) + " " + variant.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

// These proofs need no lemmas. Blocks that travel on, pipelines and sums are among them.
TEST(Skeleton, IsAProofOfManyPrograms) {
  Prover prover({});
  for (const auto& [collective, groups, name] :
       std::vector<std::tuple<Collective, int, std::string>>{
           {Collective::kAlltoall, 1, "factor"},
           {Collective::kAlltoall, 1, "linear"},
           {Collective::kAlltoall, 1, "pairwise"},
           {Collective::kAlltoall, 1, "scattered"},
           {Collective::kAlltoall, 1, "spread-out"},
           {Collective::kAlltoall, 2, "factor"},
           {Collective::kBroadcast, 1, "pipeline"},
           {Collective::kReduce, 1, "pipeline"},
           {Collective::kReduceScatter, 1, "pairwise"},
           {Collective::kScatter, 1, "linear"}}) {
    const Algorithm& algorithm = *find_algorithm(collective, name, groups);
    const Program program = make_program(algorithm, all_choices(algorithm)[0]);
    const Result<Skeleton> skeleton = skeleton_of(program, name);
    ASSERT_TRUE(skeleton.ok()) << skeleton.error().message;
    EXPECT_EQ(skeleton->places, 0) << skeleton->text;
    const Result<Proof> proof = parse_proof_of(program, skeleton->text, name);
    ASSERT_TRUE(proof.ok()) << proof.error().message;
    const Result<ProofPlan> plan = plan_proof(*proof);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    for (const ObligationResult& one : prover.prove(*proof, *plan).obligations)
      EXPECT_TRUE(one.proven) << name << ": " << one.name << ": " << one.failure;
  }
}

TEST(Skeleton, HasTheWitnessesThatTheProgramShows) {
  const Result<Skeleton> skeleton = skeleton_of(parse_program(kShift, "shift").value(), "shift");
  ASSERT_TRUE(skeleton.ok());
  for (const char* line :
       {"keys k\n  from k\n  to k + 1\n", "match send 1\n  with receive 1 where k = k\n",
        "match receive 1\n  with send 1 where k = k\n",
        "cover\n  with receive 1 where k = wrap(target - source, ranks)\n"})
    EXPECT_THAT(skeleton->text, HasSubstr(line));
}

// `cover` need not name a write of the root's own block.
TEST(Skeleton, OfABroadcastHasNoCaseForTheRoot) {
  const Result<Program> program = parse_program(
      "algorithm a for broadcast\nif rank = root\n  copy send[0] to recv[0]\nfor k in 0 .. ranks\n"
      "  step k\n    if rank = root and k != rank\n      send send[0] to k\n"
      "    if rank != root and rank = k\n      receive recv[0] from root\n",
      "program");
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Result<Skeleton> skeleton = skeleton_of(*program, "program");
  ASSERT_TRUE(skeleton.ok());
  EXPECT_THAT(skeleton->text, HasSubstr("cover\n  with receive 1 where k = target\n"));
}

// The prover knows that the own block is there if the copy is the first line, and refuses to hear it again.
TEST(Skeleton, NamesTheCopyOfTheOwnBlockOnlyIfItIsNotTheFirstLine) {
  const std::string ring =
      "copy send[0] to recv[rank]\nfor k in 0 .. ranks - 1\n  step k\n"
      "    receive recv[wrap(rank + 1 + k, ranks)] from wrap(rank + 1, ranks)\n"
      "    send recv[wrap(rank + k, ranks)] to wrap(rank - 1, ranks)\n";
  for (const char* first : {"", "let right = wrap(rank + 1, ranks)\n"}) {
    std::string text = "algorithm a for allgather\n";
    text.append(first).append(ring);
    const Program program = parse_program(text, "a").value();
    const Result<Skeleton> skeleton = skeleton_of(program, "a");
    ASSERT_TRUE(skeleton.ok());
    EXPECT_EQ(skeleton->text.find("with copy 1") == std::string::npos, *first == 0);
    const Proof proof = parse_proof_of(program, skeleton->text, "a").value();
    for (const ObligationResult& one :
         Prover({}).prove(proof, plan_proof(proof).value()).obligations)
      EXPECT_TRUE(one.proven) << one.name << ": " << one.failure;
  }
}

TEST(Skeleton, IsRefusedForAProgramThatNoProofIsKnownFor) {
  const Result<Program> program =
      parse_program("algorithm a for alltoall between groups\nport one+one per node\n", "program");
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Result<Skeleton> skeleton = skeleton_of(*program, "mine.txt");
  ASSERT_FALSE(skeleton.ok());
  EXPECT_EQ(skeleton.error().message,
            "mine.txt: the prover does not know a port of nodes between groups; write the program "
            "without that, or check it on small topologies with `check --program FILE --up-to 8`");
}

TEST(Unfilled, PlacesAreNamedByFileAndLineWithWhatToWrite) {
  const auto refusal = [](const std::string& text) {
    const Result<bool> filled = refuse_unfilled(text, "mine.proof");
    return filled.ok() ? "" : filled.error().message;
  };
  EXPECT_EQ(refusal("-- FILL_IN in a comment\ncover\n  with receive 1 where k = FILL_IN  -- k, in "
                    "names of cover: source\n"),
            "mine.proof:3: write in place of FILL_IN: k, in names of cover: source");
  EXPECT_EQ(refusal("cover\n  with receive 1 if FILL_IN"),
            "mine.proof:2: write in place of FILL_IN: an expression of the program");
  EXPECT_EQ(refusal("cover\n  with receive 1 -- FILL_IN\n"), "");
  EXPECT_EQ(refusal(""), "");
}

TEST(Moments, FindTheOtherEndAndTheWriter) {
  const Program program = parse_program(kShift, "shift").value();
  const Anatomy anatomy = take_apart(program);
  const Job job{{parse_nodes("4").value()}, {}};
  const std::optional<Moments> run = Moments::make(program, anatomy, job, {});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->all().size(), 4U + 2 * 4 * 3);
  for (const Moment& moment : run->all()) {
    if (!moment.site->is_message()) continue;
    const Moment* other = run->matched(moment);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->rank, moment.peer);
    EXPECT_EQ(other->peer, moment.rank);
    EXPECT_EQ(other->key, moment.key);
    const std::optional<Data> data = run->data(moment);
    ASSERT_TRUE(data);
    const bool is_send = moment.site->kind == Site::Kind::kSend;
    EXPECT_TRUE(data->contributors[is_send ? moment.rank : moment.peer]);
    EXPECT_EQ(data->target, is_send ? moment.peer : moment.rank);
  }
  for (int64_t rank = 0; rank < 4; ++rank)
    for (int64_t block = 0; block < 4; ++block) {
      const Moment* writer = run->last_writer(0, rank, {Buffer::kReceive, block, 0, 1});
      ASSERT_NE(writer, nullptr);
      EXPECT_EQ(writer->site->kind == Site::Kind::kCopy, rank == block);
    }
}

TEST(Fit, FindsTheSimplestExpressionAndNoneThatDoesNotFit) {
  Examples examples;
  examples.name("a", {0, 1, 3, 2, 9, 5});
  examples.name("b", {1, 2, 3, 4, 2, 9});
  examples.name("ranks", {4, 4, 4, 5, 10, 11});
  examples.name("unknown", {0, std::nullopt, 3, 2, 9, 5});
  const auto number = [&](const Column& wanted) {
    const auto found = examples.number(wanted);
    return found ? found->text : "none";
  };
  const auto condition = [&](const Column& wanted) {
    const auto found = examples.condition(wanted);
    return found ? found->text : "none";
  };
  const Column::value_type any;
  EXPECT_EQ(number({0, 1, 3, 2, 9, 5}), "a");
  EXPECT_EQ(number({1, 1, 1, 1, 1, 1}), "1");
  EXPECT_EQ(number({1, 2, 4, 3, 10, 6}), "a + 1");
  EXPECT_EQ(number({1, 3, 2, 1, 1, 3}), "wrap(a + b, ranks)");
  EXPECT_EQ(number({0, 0, 1, 0, 4, 0}), "a div b");
  EXPECT_EQ(number({1, 1, 2, 4, 1, 7}), "(a + 1) mod b + 1");
  EXPECT_EQ(number({any, 1, any, 2, any, any}), "a");
  EXPECT_EQ(number({7, 1, 3, 9, -5, 123457}), "none");
  EXPECT_EQ(number({any, any, any, any, any, any}), "none");
  EXPECT_EQ(condition({0, 0, 1, 0, 0, 0}), "a = b");
  EXPECT_EQ(condition({1, 1, 0, 1, 0, 1}), "a < b");
  EXPECT_EQ(condition({1, 1, 0, 1, 1, 1}), "a != b");
}

}  // namespace quadrille::verifier::skeleton_test
