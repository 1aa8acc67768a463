// Executes two blocked rings with blocking calls. If every rank sends first, the ring deadlocks unless a contribution
// is empty, as cases/deadlock.cases proves. The shipped one, in which odd ranks receive first, completes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "schedule/text.h"
#include "tests/prove/proofs.h"
#include "tests/support/events.h"
#include "tests/support/topologies.h"
#include "verifier/prove/refute.h"

namespace quadrille::deadlock_test {

const TextCase& all_send_first() { return proof_case("A deadlock is proven where all ranks"); }

std::string odd_ranks_receive_first() {
  return proof_case("A deadlock is not proven of a program in which odd ranks").program;
}

// The number of calls of all ranks that complete until no rank makes progress, and the number of all calls. execute()
// makes one blocking call at a time at each rank, and sends are synchronous.
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

TEST(Deadlock, IsWhatExecutionFinds) {
  for (int64_t ranks = 2; ranks <= 6; ++ranks)
    for (const int64_t bytes : {1, 2, 5})
      for (const int64_t block : {1, 2, 4}) {
        SCOPED_TRACE(fmt::format("{} ranks, {} bytes, blocks of {}", ranks, bytes, block));
        const std::vector<int64_t> counts(ranks, bytes);
        EXPECT_EQ(execute(all_send_first().program, counts, block).done, 0u);
        const Progress other = execute(odd_ranks_receive_first(), counts, block);
        EXPECT_GT(other.all, 0u);
        EXPECT_EQ(other.done, other.all);
      }
}

TEST(Deadlock, IsMissedWhereAContributionIsEmpty) {
  const Progress progress = execute(all_send_first().program, {1, 0}, 1);
  EXPECT_EQ(progress.done, 2u);
  EXPECT_EQ(progress.all, 2u);
}

TEST(Deadlock, IsSeenOnSomeNodes) {
  const auto is_seen = [](const TextCase& one) {
    const verifier::Proof read =
        verifier::parse_proof(proof_text(one.program, one.proof), "test").value();
    return verifier::find_deadlock(read.program, verifier::plan_proof(read)->given).has_value();
  };
  EXPECT_TRUE(is_seen(all_send_first()));
  EXPECT_FALSE(is_seen(proof_case("A deadlock is proven of a premise that holds on no nodes")));
}

}  // namespace quadrille::deadlock_test
