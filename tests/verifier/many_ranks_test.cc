// The time of the general checker grows with the number of messages, not with the square of the number of ranks.
#include <gtest/gtest.h>

#include "schedule/text.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

TEST(ManyRanks, AreCheckedOneByOneInAScan) {
  constexpr int64_t kRanks = 200'000;
  const Result<Program> program = parse_program(
      "algorithm chain for scan\n"
      "copy send[0] to recv[0]\n"
      "if 0 < rank\n"
      "  step rank - 1\n"
      "    receive left recv[0] from rank - 1\n"
      "if rank + 1 < ranks\n"
      "  step rank\n"
      "    send recv[0] to rank + 1\n",
      "chain");
  const Result<Report> report = check_schedule(*program, job_of({kRanks}), {}, {});
  EXPECT_FALSE(report->violation);
  EXPECT_EQ(report->messages, kRanks - 1);
}

}  // namespace
}  // namespace quadrille::verifier
