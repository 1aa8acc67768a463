// Programs that combine what arrives with what is there, and programs of two groups: that they are proven, and
// for each kind of obligation a change with which it fails, with the smallest job on which the checker sees it
// go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "schedule/text.h"
#include "tests/prove/proofs.h"
#include "tests/support/effort.h"
#include "tests/support/mutants.h"
#include "verifier/prove/refute.h"

namespace quadrille {
namespace {

constexpr const char* kFolder = "tests/prove/";

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str(), "") << path;
  return text.str();
}

std::string file(const std::string& name) { return text_of(kFolder + name); }

std::vector<std::string> programs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(kFolder) + "programs"))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  return names;
}

class Programs : public testing::TestWithParam<std::string> {};

TEST_P(Programs, AreProvenAndRightOnSmallNodes) {
  const std::string program = file("programs/" + GetParam() + ".txt");
  const Proving proving = prove(program, file("programs/" + GetParam() + ".proof"));
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, testing::IsEmpty());
  const auto job = verifier::find_failing_job(parse_program(program, "program").value(), 6, true);
  EXPECT_FALSE(job) << job->text() << ": " << job->violation.detail;
}

INSTANTIATE_TEST_SUITE_P(All, Programs, testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param; });

// Whether all that is asked of the mutant follows, by the proof of the original.
bool is_proven(const Program& mutant, const std::string& statements, verifier::Prover& prover) {
  const Result<verifier::Proof> proof = verifier::parse_proof_of(mutant, statements, "mutant");
  const Result<verifier::ProofPlan> plan = verifier::plan_proof(*proof);
  if (!plan.ok()) return false;
  return std::all_of(plan->obligations.begin(), plan->obligations.end(), [&](const auto& one) {
    return prover.prove(*proof, {{one}, {}, {}, false}).obligations[0].proven;
  });
}

TEST_P(Programs, AreNeverProvenWhereTheyAreWrong) {
  const std::string statements = file("programs/" + GetParam() + ".proof");
  const std::vector<Mutant> all =
      mutants(parse_program(file("programs/" + GetParam() + ".txt"), "program").value());
  verifier::Prover prover({.most_work = 5'000'000});
  size_t taken = 0, proven = 0;
  for (size_t i = 0; i < all.size(); i += one_in(121)) {
    ++taken;
    if (!is_proven(all[i].program, statements, prover)) continue;
    ++proven;
    const auto job = verifier::find_failing_job(all[i].program);
    EXPECT_FALSE(job) << all[i].description << ": " << job->text() << ": " << job->violation.detail;
  }
  std::cout << taken << " of " << all.size() << " mutants, " << proven
            << " proven; EVERY_CASE=1 takes all\n";
}

// Programs that are wrong, with proofs that go as far as can be: what is not proven, or why nothing is.
TEST(Wrong, ProgramsAreNotProven) {
  const std::map<std::string, std::string> refused = {
      {"rewritten_for_one_group", "only programs of one group can be rewritten"},
      {"scratch_of_another_length", "defined piece of send 1"},
      {"empty_block_of_another_length", "held copy 2"},
      {"empty_and_never_written", "held reduce 1, case 2"},
      {"empty_and_copied", "held copy 2"},
      {"local_after_local_in_a_step", "held reduce 1, what is there"},
      {"reduction_in_place", "no proof system so far: a reduction in place"},
      {"left_over_copied_and_sent", "the proof has no 'used receive 1'"},
      {"left_over_copy", "the proof has no 'used copy 2'"},
      {"left_over_overwritten", "the proof has no 'used copy 2'"},
      {"left_over_sent_on", "the proof has no 'used receive 2'"},
      {"receives_out_of_turn", "final after receive 2"},
      {"required_of_no_job", "match send 1, peer"},
      {"scan_of_another_rank", "final, case 1"},
      {"bystander", "role send 2"},
      {"bystander_in_a_later_piece", "role send 1"},
      {"copies_that_exchange_blocks", "apart copy 2 and copy 3"},
  };
  for (const auto& [name, why] : refused) {
    SCOPED_TRACE(name);
    const Proving proving =
        prove(file("refused/" + name + ".txt"), file("refused/" + name + ".proof"));
    EXPECT_THAT(proving.error.empty() ? proving.failed.at(0) : proving.error,
                testing::HasSubstr(why));
  }
}

// What becomes of a program, and its proof, where one thing in each is another. Names with a dot are the
// generator's.
struct Change {
  std::string from, to;
};
Fate changed_fate(const std::string& name, const std::vector<Change>& program,
                  const std::vector<Change>& proof = {}) {
  const std::string folder =
      name.find('.') == std::string::npos ? std::string(kFolder) : "generator/";
  std::string text = text_of(folder + "programs/" + name + ".txt"),
              statements = text_of(folder + "programs/" + name + ".proof");
  for (const Change& change : program) text = changed(text, change.from, change.to);
  for (const Change& change : proof) statements = changed(statements, change.from, change.to);
  return fate(text, statements);
}

struct Case {
  const char* what;
  const char* name;
  std::vector<Change> program, proof;
  std::vector<std::string> failed;
  const char* smallest_failure;
};

TEST(Changed, EachFailsWhereItIsWrong) {
  const std::vector<Case> cases = {
      {"the sum of a ring is not in the order of ranks",
       "reduce_scatter_ring",
       {{"commutative\n", ""}},
       {},
       {"final"},
       "2x1: place"},
      {"on the wrong side",
       "reduce_scatter_pairwise",
       {{"reduce right", "reduce left"}},
       {},
       {"combine reduce 1"},
       "2x1, counts 1,0: place"},
      {"what was added is added again",
       "reduce_scatter_pairwise",
       {{"for s in 1 .. ranks", "for s in 0 .. ranks"}},
       {},
       {"combine reduce 1", "used reduce 1", "apart reduce 1 and what is combined by reduce 1",
        "once receive 1 and reduce 1", "once copy 1 and reduce 1"},
       "1, counts 1: contribution"},
      {"nothing lies there yet",
       "reduce_scatter_ring",
       {{"for d in 0 .. ranks", "for d in 1 .. ranks"}},
       {},
       {"held receive 1, what is there", "held send 1, case 1", "held copy 2, case 1"},
       "1: held"},
      {"what arrives is written over",
       "reduce_scatter_pairwise",
       {{"receive temp[wrap(rank - t, ranks)]", "receive temp[wrap(rank - 1, ranks)]"}},
       {},
       {"held reduce 1, case 2", "held reduce 1, what is there, case 3",
        "apart receive 1 and reduce 1", "apart receive 1 and what is combined by reduce 1"},
       "3x1, counts 1,0,0: overwrite"},
      {"a block is left over",
       "reduce_scatter_ring",
       {{"temporary ranks blocks", "temporary ranks + 1 blocks"},
        {"to recv[0]\n", "to recv[0]\ncopy send[rank] to temp[ranks]\n"}},
       {{"cover\n", "used copy 3\n  with copy 2\ncover\n"}},
       {"used copy 3"},
       "1: left-over"},
      {"something else comes last",
       "reduce_scatter_ring",
       {{"to recv[0]\n", "to recv[0]\ncopy send[rank] to recv[0]\n"}},
       {},
       {"final after copy 3", "used copy 3", "once copy 2 and copy 3"},
       "1: once"},
      {"the own group contributes",
       "reduce_scatter_direct",
       {},
       {{"  remote\n", ""}},
       {"defined piece of receive 1", "match receive 1", "match send 1", "final, case 1",
        "used receive 1", "combine receive 2", "held receive 2, what is there, case 1"},
       ""},
      {"the smaller group stops too early",
       "reduce_scatter_direct",
       {{"for k in 1 .. max(ranks, remote_ranks)", "for k in 1 .. ranks"}},
       {},
       {"match send 2", "final, case 2", "used receive 1", "used receive 2"},
       "1 and 2x1: match"},
      {"the root is another",
       "broadcast_chain",
       {{"wrap(rank - root, ranks)", "rank"}},
       {},
       {"match send 1", "match receive 1, case 1", "match receive 1, case 2", "match send 2"},
       "2x1, root 1: keys"},
      {"what lies nearer is added first",
       "reduce_chain",
       {{"receive right temp[0] from rank + 1", "receive left temp[0] from rank + 1"}},
       {},
       {"combine receive 1"},
       "2x1: place"},
      {"the other group cuts otherwise",
       "allgather-between-groups.segment-map-v",
       {{"min(k, R[ranks] mod remote_ranks)",
         "max(0, k + R[ranks] mod remote_ranks - remote_ranks)"}},
       {},
       {"match receive 1", "match send 1"},
       "1 and 2x1, counts 1 and 0,0: progress"},
      {"one that sends once goes upwards, where who receives goes downwards",
       "allgather-between-groups.segment-map-ordered",
       {{"N[locate(R, st[k0 + 1] - 1)] - N[rank] + 1", "N[rank] - N[locate(R, st[k0])]"}},
       {},
       {"keys in the program: 1 before 2", "match receive 1", "match send 1"},
       "1 and 3x1, counts 0 and 1,1,1: keys"},
      {"a tree's root takes another's block",
       "gather.binomial",
       {{"recv[wrap(root + j, ranks)]", "recv[j]"}},
       {},
       {"match send 1, case 1", "match send 2, case 1", "defined piece of receive 1",
        "match receive 1, case 1", "match receive 1, case 2", "final", "once receive 1"},
       "2x1, root 1: overwrite"},
      {"what never came is sent on",
       "gather.binomial",
       {{"if j = v\n            send[0]", "if j = ranks\n            send[0]"}},
       {},
       {"defined piece of send 1", "match send 1, case 1", "match send 1, case 2",
        "match send 2, case 1", "match send 2, case 2", "match receive 1, case 1",
        "match receive 2, case 1", "held send 2"},
       "2x1: held"},
      {"a child is sent what is not its subtree's",
       "scatter.binomial",
       {{"for j in v + h .. min(v + 2*h, ranks)", "for j in v + h .. ranks"}},
       {},
       {"match send 1, case 2", "match send 2, case 2", "held send 2"},
       "3x1: length"},
      {"counts that differ are taken for one",
       "reduce-scatter.spread-out",
       {{"receive temp[of_rank]@0..m[rank]", "receive temp[of_rank]@0..m[0]"}},
       {},
       {"defined piece of receive 1", "match receive 1", "match send 1", "used receive 1",
        "held reduce 1", "held reduce 2"},
       "2x1, counts 0,1: length"},
      {"segments of a sum are cut otherwise",
       "allreduce-between-groups.segments",
       {{"min(k, mine[0] mod remote_ranks)", "min(k, mine[0] mod ranks)"}},
       {},
       {"lemma ends", "match receive 4", "match send 2"},
       "1 and 2x1, counts 1 and 1,1: defined"},
      {"a segment's ranks are added out of their order",
       "reduce-between-groups.segments",
       {{"reduce right", "reduce left"}},
       {},
       {"combine reduce 1"},
       "1 and 2x1, counts 1 and 1,1: place"},
      {"what ranks below contribute is added last",
       "scan.doubling",
       {{"receive left", "receive right"}},
       {},
       {"combine receive 1"},
       "2x1: place"},
      {"the own contribution is left out",
       "exscan.one-two-three",
       {{"send temp[0] to rank + 2", "send recv[0] to rank + 2"}},
       {{"held send 3\n  with reduce 1", "held send 3\n  with receive 1"},
        {"source rank - 1\n  number 2\ncarries receive 3", "source rank - 1\ncarries receive 3"}},
       {"used reduce 1", "combine receive 2"},
       "4x1: left-over"},
      {"both alternatives of a message are there",
       "allreduce.doubling",
       {{"      else\n        receive left recv[0] from peer",
         "      if u != v\n        receive left recv[0] from peer"}},
       {},
       {"match receive 4", "combine receive 4", "used receive 4",
        "apart receive 3 and what is combined by receive 4",
        "apart receive 4 and what is combined by receive 3",
        "apart receive 4 and what is combined by receive 4", "once receive 3 and receive 4",
        "port: receive 3 and receive 4"},
       "2x1: order"},
      {"a message tells of the first step alone",
       "barrier.dissemination",
       {{"step x", "step x after 0"}},
       {},
       {"held send 1"},
       "7x1: barrier"},
      {"the last round is left out",
       "barrier.dissemination",
       {{"0 .. length(pow) - 1", "0 .. length(pow) - 2"}},
       {},
       {"final"},
       "2x1: barrier"},
      {"nine rounds, too few from 513 ranks on",
       "barrier.dissemination",
       {{"0 .. length(pow) - 1", "0 .. min(length(pow) - 1, 9)"}},
       {},
       {"final"},
       ""},
      {"what a message brings is told by its receiver alone",
       "barrier.dissemination",
       {},
       {{"source wrap(rank - far(x) + 1, ranks)\n  number far(x)", "source rank"}},
       {"match receive 1", "match send 1", "held send 1"},
       ""},
      {"a message brings what it does not fit into",
       "barrier_leaders",
       {},
       {{"send 3\n  source wrap(base() + i + 1, ranks + remote_ranks)",
         "send 3\n  source base() + i + 1"},
        {"receive 3\n  source wrap(base() + rank + 1, ranks + remote_ranks)",
         "receive 3\n  source base() + rank + 1"}},
       {"defined tokens of send 3", "defined tokens of receive 3"},
       ""},
      {"the release brings a rank its own token",
       "barrier_leaders",
       {},
       {{"send 3\n  source wrap(base() + i + 1, ranks + remote_ranks)\n  number ranks + "
         "remote_ranks - 1",
         "send 3\n  source base()\n  number ranks + remote_ranks"},
        {"receive 3\n  source wrap(base() + rank + 1, ranks + remote_ranks)\n  number ranks + "
         "remote_ranks - 1",
         "receive 3\n  source base()\n  number ranks + remote_ranks"}},
       {"defined tokens of receive 3"},
       ""},
      {"the other group is told of before it is heard of",
       "barrier_leaders",
       {{"if rank = 0\n  step 1", "if rank = 0\n  step 3"}},
       {},
       {"keys in the program: 2 before 3", "held send 3, case 2"},
       "1 and 1: order"},
      {"two partners in a step",
       "allreduce.ring",
       {{"port one+one per rank", "port exchange per rank"}},
       {},
       {"port: receive 1 and send 1", "port: receive 2 and send 1"},
       "3x1, counts 2,2,2: port"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Fate its = changed_fate(c.name, c.program, c.proof);
    EXPECT_EQ(its.failed, c.failed);
    EXPECT_EQ(its.smallest_failure, c.smallest_failure);
  }
}

}  // namespace
}  // namespace quadrille
