// Schedules on which the streaming checker could go astray where the general one does not.
#include <gtest/gtest.h>

#include "schedule/text.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

// "verified", or the property that is violated; both checkers must say so.
std::string verdict(const std::string& body, int64_t ranks) {
  const Program program = parse_program("algorithm a for alltoall\n" + body, "direct").value();
  const Job job = job_of({ranks});
  const Binding binding = bind(program, job, {}, 0).value();
  const auto name = [](const Report& report) {
    return report.violation ? std::string(property_name(report.violation->property)) : "verified";
  };
  const std::optional<Report> direct = check_direct(program, job, binding, {});
  if (!direct) return "not direct";
  EXPECT_EQ(name(*direct), name(execute(program, job, {}, {binding}, {}))) << body;
  return name(*direct);
}

const std::string kCopy = "copy send[rank] to recv[rank]\n";

// Every rank exchanges with all others in one step, in the order of their ranks.
std::string one_long_step(const std::string& more) {
  return kCopy +
         "step 0\n"
         "  for j in 0 .. ranks\n"
         "    if j != rank\n"
         "      send send[j] to j\n"
         "      receive recv[j] from j\n" +
         more;
}

TEST(DirectChecker, MatchesStepsOfAnyLength) {
  for (int64_t ranks = 1; ranks <= 20; ++ranks)
    EXPECT_EQ(verdict(one_long_step(""), ranks), "verified") << ranks;
}

TEST(DirectChecker, FindsASecondMessageInALongStep) {
  const std::string again =
      "  if rank = 0\n    send send[1] to 1\n  if rank = 1\n    receive "
      "recv[0] from 0\n";
  for (const int64_t ranks : {2, 3, 5, 6, 9})
    EXPECT_EQ(verdict(one_long_step(again), ranks), verdict(one_long_step(again), 2)) << ranks;
  EXPECT_NE(verdict(one_long_step(again), 5), "verified");
}

TEST(DirectChecker, CountsTheStepsOfALoopInFull) {
  // 2^32 + 1 exchanges of the same block, of which 32 bits show one.
  const std::string loop = kCopy +
                           "for i in 0 .. 4294967297\n"
                           "  step i after -1\n"
                           "    receive recv[1 - rank] from 1 - rank\n"
                           "    send send[1 - rank] to 1 - rank\n";
  EXPECT_EQ(verdict(loop, 2), "once");
}

TEST(DirectChecker, TakesNoBlockForAToken) {
  const std::string right = kCopy +
                            "step 0\n"
                            "  send send[1 - rank] to 1 - rank\n"
                            "  receive recv[1 - rank] from 1 - rank\n";
  EXPECT_EQ(verdict(right, 2), "verified");
  const std::string no_block = right +
                               "step 1\n"
                               "  send send[-1] to 1 - rank\n"
                               "  receive recv[-1] from 1 - rank\n";
  EXPECT_NE(verdict(no_block, 2), "verified");
}

TEST(DirectChecker, WalksKeysFromTheLeastToTheGreatest) {
  EXPECT_EQ(verdict(kCopy + "for i in 0 .. 2\n"
                            "  step i = 0 ? -9223372036854775807 : 9223372036854775807\n"
                            "    if i = rank\n"
                            "      send send[1 - rank] to 1 - rank\n"
                            "    else\n"
                            "      receive recv[1 - rank] from 1 - rank\n",
                    2),
            "verified");
}

}  // namespace
}  // namespace quadrille::verifier
