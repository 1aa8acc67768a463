// The blocked ring with one call at a time, in which every rank sends first: proven to deadlock on two
// ranks and more where nobody's contribution is empty, and executed. With empty ones it may get
// through. The same proof fails of programs that do not deadlock.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "generator/registry.h"
#include "schedule/text.h"
#include "tests/prove/proofs.h"
#include "tests/support/events.h"
#include "tests/support/topologies.h"
#include "verifier/prove/refute.h"

namespace quadrille {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kProof = R"(fits
  use monotone(0, x - s[i], B)
  use monotone(x - s[i], 0, B)
  use monotone(x - s[i] + 1, (m[i] + B - 1) div B, B)
  use monotone(0, y - s[j], B)
  use monotone(y - s[j], 0, B)
  use monotone(y - s[j] + 1, (m[j] + B - 1) div B, B)
deadlock
  given 2 <= ranks
  given 0 < m[rank]
  with send 1 where k = 0, turn = 0
  use monotone(0, b[rank] - 1, B)
  use monotone(b[rank] - 1, x(rank, 0, 0) - s[rank], B)
  use monotone(x(rank, 0, 0) - s[rank], b[rank] - 1, B)
keys k
  from 2*k
  to 2*k + 2
keys turn
  from 2*k + turn
  to 2*k + turn + 1
)";

std::string even_ranks_send_first() {
  const Algorithm* blocking = find_algorithm(Collective::kAllgather, "blocked-ring-blocking");
  return print(make_program(*blocking, {}));
}

std::string all_send_first() {
  return changed(changed(changed(even_ranks_send_first(), "turn = rank mod 2", "turn = 0"),
                         "step 3*k + sends", "step 2*k"),
                 "step 3*k + receives", "step 2*k + 1");
}

// Blocking calls with synchronous sends, all ranks on: how many calls are done when nobody gets on any
// more, and how many there are.
struct Progress {
  size_t done = 0, all = 0;
};
Progress execute(const std::string& text, const std::vector<int64_t>& counts, int64_t block) {
  const Program program = parse_program(text, "text").value();
  const Job job{job_of(std::vector<int64_t>(counts.size(), 1)).groups, {kRuleNone}};
  const Binding binding = bind(program, job, {{counts}, {block}, 0}, 0).value();
  Progress progress;
  std::vector<std::deque<std::string>> calls(counts.size());
  for (size_t rank = 0; rank < counts.size(); ++rank)
    for (const std::string& event : oracle_events(program, binding, rank))
      if (event.starts_with("send ") || event.starts_with("receive ")) {
        calls[rank].push_back(event);
        ++progress.all;
      }
  size_t before = 0;
  do {
    before = progress.done;
    for (size_t from = 0; from < calls.size(); ++from)
      for (size_t to = 0; to < calls.size(); ++to)
        if (!calls[from].empty() && calls[from][0] == fmt::format("send {}", to) &&
            !calls[to].empty() && calls[to][0] == fmt::format("receive {}", from)) {
          calls[from].pop_front();
          calls[to].pop_front();
          progress.done += 2;
        }
  } while (progress.done > before);
  return progress;
}

TEST(Deadlock, IsProvenWhereAllSendFirstAndNobodyIsEmpty) {
  const Proving proving = prove(all_send_first(), kProof);
  EXPECT_EQ(proving.error, "");
  EXPECT_THAT(proving.failed, IsEmpty());
  std::vector<std::string> names;
  for (const auto& result : proving.results) names.push_back(result.name);
  EXPECT_THAT(names, Contains("deadlock: every rank comes to send 1"));
  EXPECT_THAT(names, Contains("deadlock: receive 1 is posted later"));
}

TEST(Deadlock, IsWhatExecutionFinds) {
  for (int64_t ranks = 2; ranks <= 6; ++ranks)
    for (const int64_t bytes : {1, 2, 5})
      for (const int64_t block : {1, 2, 4}) {
        SCOPED_TRACE(fmt::format("{} ranks, {} bytes, blocks of {}", ranks, bytes, block));
        const std::vector<int64_t> counts(ranks, bytes);
        EXPECT_EQ(execute(all_send_first(), counts, block).done, 0u);
        const Progress other = execute(even_ranks_send_first(), counts, block);
        EXPECT_GT(other.all, 0u);
        EXPECT_EQ(other.done, other.all);
      }
}

TEST(Deadlock, CanBeMissedWhereSomebodyIsEmpty) {
  const Progress progress = execute(all_send_first(), {1, 0}, 1);
  EXPECT_EQ(progress.done, 2u);
  EXPECT_EQ(progress.all, 2u);
  EXPECT_THAT(prove(all_send_first(), changed(kProof, "  given 0 < m[rank]\n", "")).failed,
              ElementsAre("deadlock: every rank comes to send 1"));
}

TEST(Deadlock, IsNotProvenOfOneRank) {
  EXPECT_THAT(prove(all_send_first(), changed(kProof, "2 <= ranks", "1 <= ranks")).failed,
              ElementsAre("deadlock: every rank comes to send 1"));
}

TEST(Deadlock, IsNotProvenOfAProgramInWhichOddRanksReceiveFirst) {
  const std::string keys = "  from 2*k + turn\n  to 2*k + turn + 1\n";
  const std::string potential =
      "  from turn = rank mod 2 ? 3*k + sends(rank) : 3*k + receives(rank)\n"
      "  to (turn = rank mod 2 ? 3*k + sends(rank) : 3*k + receives(rank)) + 1\n";
  const std::string proof = changed(
      changed(kProof, "  from 2*k\n  to 2*k + 2\n", "  from 3*k\n  to 3*k + 3\n"), keys, potential);
  EXPECT_THAT(
      prove(even_ranks_send_first(), proof).failed,
      ElementsAre("deadlock: every rank comes to send 1", "deadlock: receive 1 is posted later"));
}

TEST(Deadlock, IsNotProvenWhereReceivesArePostedAhead) {
  const std::string ahead = changed(all_send_first(), "step 2*k + 1", "step 2*k + 1 after 2*k - 1");
  EXPECT_THAT(prove(ahead, kProof).failed, ElementsAre("deadlock: receive 1 is posted later"));
}

// The receive is posted ahead where it has no piece.
TEST(Deadlock, IsNotProvenByThePiecesOfAReceive) {
  const std::string ahead = R"(algorithm late for allgather
parameter B
copy send[0] to recv[rank]
step 1
  send recv[rank]@0..0 to wrap(rank + 1, ranks)
step 2 after (B = 1 ? 1 : 0)
  receive from wrap(rank - 1, ranks)
    if B = 1
      recv[wrap(rank - 1, ranks)]@0..0
)";
  EXPECT_THAT(prove(ahead, "deadlock\n  given 2 <= ranks\n  with send 1\n").failed,
              Contains("deadlock: receive 1 is posted later"));
}

// What is empty does not travel, and nobody waits for it.
TEST(Deadlock, IsNotProvenWhereTheFirstMessageMayBeEmpty) {
  const std::string whole = R"(algorithm ring for allgather
table m = counts
copy send[0] to recv[rank]
step 0
  send recv[rank] to wrap(rank + 1, ranks)
step 1
  receive recv[wrap(rank - 1, ranks)] from wrap(rank - 1, ranks)
)";
  const std::string any = "deadlock\n  given 2 <= ranks\n  with send 1\n";
  EXPECT_THAT(prove(whole, any).failed, ElementsAre("deadlock: every rank comes to send 1"));
  EXPECT_THAT(prove(whole, changed(any, "  with", "  given 0 < m[rank]\n  with")).failed,
              IsEmpty());
}

// What holds of no rank but one shows nothing: on no nodes it is given.
TEST(Deadlock, IsSeenOnSomeNodes) {
  const std::string late = R"(algorithm late for alltoall
copy send[rank] to recv[rank]
for round in 1 .. ranks
  let right = wrap(rank + round, ranks)
  let left = wrap(rank - round, ranks)
  for t in 0 .. 2
    step 2*round + t
      if t = (rank = 0 ? 0 : 1)
        send send[right] to right
      if t = (left = 0 ? 0 : 1)
        receive recv[left] from left
)";
  const std::string proof = R"(keys round
  from 2*round
  to 2*round + 2
keys t
  from 2*round + t
  to 2*round + t + 1
deadlock
  given rank = 0
  given 1 < ranks
  with send 1 where round = 1, t = 0
)";
  const auto seen = [](const std::string& program, const std::string& statements) {
    const verifier::Proof read =
        verifier::parse_proof(proof_text(program, statements), "test").value();
    return verifier::find_deadlock(read.program, verifier::plan_proof(read)->given).has_value();
  };
  EXPECT_TRUE(prove(late, proof).proven());
  EXPECT_FALSE(seen(late, proof));
  EXPECT_TRUE(seen(all_send_first(), kProof));
}

TEST(Deadlock, WantsASendThatEveryRankComesTo) {
  const auto error_of = [](const std::string& line) {
    return prove(all_send_first(), changed(kProof, "send 1 where k = 0, turn = 0", line)).error;
  };
  EXPECT_THAT(error_of("receive 1 where k = 0, turn = 0"), HasSubstr("it wants one 'with send'"));
  EXPECT_THAT(error_of("send 1 where k = 0, turn = 0 if rank = 0"),
              HasSubstr("it wants one 'with send'"));
  EXPECT_THAT(error_of("send 1 where k = 0"), HasSubstr("no value for 'turn'"));
  EXPECT_THAT(prove(all_send_first(), changed(kProof, "k = 0, turn = 0", "k = 0, turn = 1")).failed,
              Contains("deadlock: every rank comes to send 1"));
}

}  // namespace
}  // namespace quadrille
