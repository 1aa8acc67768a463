// What only programs that no generator writes show, and long messages: broken schedules are refused, whenever that is
// found, and right ones run.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/net/failures.h"

namespace quadrille::net {
namespace {

// A call with so many integers for each rank.
int exchange(quadrille_schedule schedule, int ranks, size_t ints, bool in_place, MPI_Comm comm) {
  std::vector<int> from, to, wanted, places;
  for (int r = 0; r < ranks; ++r) {
    places.push_back(r * static_cast<int>(ints));
    from.insert(from.end(), ints, 100 * this_rank() + r);
    wanted.insert(wanted.end(), ints, 100 * r + this_rank());
  }
  const std::vector<int> counts(static_cast<size_t>(ranks), static_cast<int>(ints));
  to = in_place ? from : std::vector<int>(from.size(), -1);
  const void* const sent = in_place ? MPI_IN_PLACE : from.data();
  const int code = quadrille_alltoallv(schedule, sent, counts.data(), places.data(), MPI_INT,
                                       to.data(), counts.data(), places.data(), MPI_INT, comm);
  EXPECT_EQ(to, wanted);
  return code;
}

template <class Function>
void expect_by_any_window(const Scheduled& scheduled, unsigned seeds, const Function& call) {
  for (const int window : {1, 2, 16})
    for (const bool is_eager : {false, true})
      for (unsigned seed = 0; seed < seeds; ++seed)
        expect_everywhere(scheduled, {.window = window, .is_eager = is_eager, .seed = seed},
                          MPI_SUCCESS, call);
}

void expect_exchanged_by_any_window(const Scheduled& scheduled, size_t ints, bool in_place) {
  expect_by_any_window(scheduled, 5, [&](quadrille_schedule schedule, MPI_Comm comm) {
    return exchange(schedule, scheduled.ranks, ints, in_place, comm);
  });
}

// ---- a refused call

// A call that turns out to be broken half-way gives up requests that are under way.
TEST(WrittenRefusal, HalfWayWaitsForWhatWasPosted) {
  const Scheduled broken = written(R"(
algorithm breaks-off for allgather
table m = counts
let other = 1 - rank
step 0
  if 0 < m[0]
    receive recv[other] from other
    send send[0] to other
step 1 after -1
  if 0 < m[0]
    receive recv[other]@0 .. m[other] + 1 from other
    send recv[rank]@0 .. m[rank] + 1 to other
)",
                                   {2});
  for (const bool is_eager : {false, true})
    for (unsigned seed = 0; seed < 20; ++seed)
      expect_everywhere(broken, {.window = 4, .is_eager = is_eager, .seed = seed}, MPI_ERR_INTERN,
                        [](quadrille_schedule schedule, MPI_Comm comm) {
                          std::array<int, 8> from{}, to{};
                          const int code = quadrille_allgather(schedule, from.data(), 4, MPI_INT,
                                                               to.data(), 4, MPI_INT, comm);
                          EXPECT_TRUE(mark(0)) << "requests are left";
                          return code;
                        });
}

// A loop of steps without messages keeps binding busy for hours, where it should be refused.
TEST(WrittenRefusal, OfEndlessLoopsOfEmptySteps) {
  const Scheduled endless = written(R"(
algorithm endless for alltoall
for i in 0 .. 1000000000000
  step i after -1
    if i < 0
      send send[1 - rank] to 1 - rank
)",
                                    {2});
  expect_survives([&] {
    const Outcome outcome = simulate(machine_of(endless, {}), [&](MPI_Comm comm) {
      quadrille_schedule schedule;
      quadrille_load_memory(endless.file.data(), endless.file.size(), &schedule);
      EXPECT_EQ(quadrille_error_class(quadrille_bind(schedule, comm, nullptr)), MPI_ERR_INTERN);
      quadrille_free(&schedule);
    });
    EXPECT_EQ(outcome.text(), "");
  });
}

// What goes on from a receive buffer is right, and not served: that is no fault of the schedule.
TEST(WrittenRefusal, OfWhatIsNotServedSaysSo) {
  const Scheduled onward = of_file("onward", 3);
  const Outcome outcome = simulate(machine_of(onward, {}), [&](MPI_Comm comm) {
    quadrille_schedule schedule;
    quadrille_load_memory(onward.file.data(), onward.file.size(), &schedule);
    EXPECT_EQ(quadrille_error_class(quadrille_bind(schedule, comm, nullptr)),
              MPI_ERR_UNSUPPORTED_OPERATION);
    quadrille_free(&schedule);
  });
  EXPECT_EQ(outcome.text(), "");
}

// Blocks that come to where others belong, of other lengths: found when the call is made.
TEST(WrittenRefusal, OfAPersistentCallByABrokenSchedule) {
  const Scheduled broken = written(R"(
algorithm brings-others-blocks for alltoall
temporary 2*ranks blocks
copy send[rank] to recv[rank]
for i in 0 .. ranks
  if i != rank
    copy send[i] to temp[i]
for round in 1 .. ranks
  let right = wrap(rank + round, ranks)
  let left = wrap(rank - round, ranks)
  step round after -1
    send sized to right
      temp[left]
    receive sized from left
      recv[left]
)",
                                   {3});
  expect_survives([&] {
    for (const int code : outcomes(broken, {}, [](quadrille_schedule schedule, MPI_Comm comm) {
           std::array<int, 60> from{}, to{};
           std::array<int, 3> sent{}, received{}, places = {0, 20, 40};
           for (int r = 0; r < 3; ++r) {
             sent[static_cast<size_t>(r)] = 5 * this_rank() + r;
             received[static_cast<size_t>(r)] = 5 * r + this_rank();
           }
           quadrille_request request;
           return quadrille_alltoallv_init(schedule, from.data(), sent.data(), places.data(),
                                           MPI_INT, to.data(), received.data(), places.data(),
                                           MPI_INT, comm, MPI_INFO_NULL, &request);
         }))
      EXPECT_EQ(code, MPI_ERR_INTERN);
  });
}

// A call in place saves a block that is overwritten before it is sent, for one send: the second would read memory that is
// another block's, or nobody's.
TEST(WrittenRefusal, OfSendingABlockTwiceThatIsOverwritten) {
  const Scheduled twice = written(R"(
algorithm twice for alltoall
copy send[rank] to recv[rank]
for round in 0 .. 2*ranks
  let peer = (round + ranks - rank) mod ranks
  if peer != rank
    step round
      receive recv[peer] from peer
      send send[peer] to peer
)",
                                  {4});
  for (const bool is_eager : {false, true})
    expect_everywhere(twice, {.window = 4, .is_eager = is_eager}, MPI_ERR_INTERN,
                      [](quadrille_schedule schedule, MPI_Comm comm) {
                        std::array<int, 60> blocks{};
                        std::array<int, 4> counts{}, places = {0, 15, 30, 45};
                        for (int r = 0; r < 4; ++r)
                          counts[static_cast<size_t>(r)] = 1 + 3 * ((r + this_rank()) % 4);
                        return quadrille_alltoallv(schedule, MPI_IN_PLACE, nullptr, nullptr,
                                                   MPI_INT, blocks.data(), counts.data(),
                                                   places.data(), MPI_INT, comm);
                      });
}

// Where the send buffer is the receive buffer, MPI's operators would be given one block as both operands.
TEST(WrittenRefusal, OfCombiningABlockWithItself) {
  const Scheduled doubles = written(R"(
algorithm doubles for allreduce
in_place
commutative
step 0
  receive recv[0] from 1 - rank
  send send[0] to 1 - rank
reduce left send[0] into recv[0]
)",
                                    {2});
  for (const bool is_eager : {false, true})
    expect_everywhere(doubles, {.window = 2, .is_eager = is_eager}, MPI_ERR_INTERN,
                      [](quadrille_schedule schedule, MPI_Comm comm) {
                        int sum = 1 + this_rank();
                        return quadrille_allreduce(schedule, MPI_IN_PLACE, &sum, 1, MPI_INT,
                                                   MPI_SUM, comm);
                      });
}

// A block that is copied to another's place, and from there to its own.
TEST(WrittenRefusal, OfACopyToAnothersPlaceSaysThatItIsNotServed) {
  const Scheduled astray = written(R"(
algorithm goes-astray for alltoall
require ranks = 2
let other = 1 - rank
copy send[rank] to recv[other]
copy recv[other] to recv[rank]
step 0
  send send[other] to other
  receive recv[other] from other
)",
                                   {2});
  const Outcome outcome = simulate(machine_of(astray, {}), [&](MPI_Comm comm) {
    quadrille_schedule schedule;
    quadrille_load_memory(astray.file.data(), astray.file.size(), &schedule);
    EXPECT_EQ(quadrille_error_class(quadrille_bind(schedule, comm, nullptr)),
              MPI_ERR_UNSUPPORTED_OPERATION);
    quadrille_free(&schedule);
  });
  EXPECT_EQ(outcome.text(), "");
}

// Binding plans for root 0; that another root is not served is told by its call.
TEST(WrittenRefusal, OfARootThatIsNotServedSaysSo) {
  const Scheduled by_root = written(R"(
algorithm by-root for gather
if rank = root
  if root = 0
    copy send[0] to recv[0]
  else
    copy send[0] to recv[0]
    copy recv[0] to recv[root]
)",
                                    {2});
  EXPECT_EQ(outcomes(by_root, {},
                     [](quadrille_schedule schedule, MPI_Comm comm) {
                       const int sent = 0;
                       std::array<int, 2> all{};
                       return quadrille_gather(schedule, &sent, 1, MPI_INT, all.data(), 1, MPI_INT,
                                               1, comm);
                     }),
            (std::vector<int>{MPI_SUCCESS, MPI_ERR_UNSUPPORTED_OPERATION}));
}

// ---- the order of statements in a step

// One rank's sum of 1 + rank, twice.
int sum_of_ranks(quadrille_schedule schedule, bool in_place, MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  for (int turn = 1; turn <= 2; ++turn) {
    const int sent = turn * (1 + this_rank());
    int sum = in_place ? sent : -1;
    const int code = quadrille_allreduce(schedule, in_place ? MPI_IN_PLACE : &sent, &sum, 1,
                                         MPI_INT, MPI_SUM, comm);
    if (code != MPI_SUCCESS) return code;
    EXPECT_EQ(sum, turn * ranks * (ranks + 1) / 2);
  }
  return MPI_SUCCESS;
}

// A step reads what it sends first, also where the receive stands above the send.
TEST(WrittenOrder, ReceivesAboveSendsOverwriteNothingThatIsSent) {
  const Scheduled scheduled = written(R"(
algorithm rotates for allreduce
in_place
commutative
require ranks = 3
temporary 1 blocks
let left = wrap(rank - 1, ranks)
let right = wrap(rank + 1, ranks)
step 0
  receive recv[0] from left
  send send[0] to right
copy recv[0] to temp[0]
step 1
  receive left recv[0] from left
  send recv[0] to right
step 2
  receive right recv[0] from right
  send temp[0] to left
)",
                                      {3});
  const Scheduled other_order = written(R"(
algorithm rotates for allreduce
in_place
commutative
require ranks = 3
temporary 1 blocks
let left = wrap(rank - 1, ranks)
let right = wrap(rank + 1, ranks)
step 0
  send send[0] to right
  receive recv[0] from left
copy recv[0] to temp[0]
step 1
  send recv[0] to right
  receive left recv[0] from left
step 2
  send temp[0] to left
  receive right recv[0] from right
)",
                                        {3});
  for (const Scheduled* one : {&scheduled, &other_order})
    expect_by_any_window(*one, 5, [](quadrille_schedule schedule, MPI_Comm comm) {
      return sum_of_ranks(schedule, true, comm);
    });
}

// What arrives is combined with what the copies of its step left, also where these stand below.
TEST(WrittenOrder, CopiesComeBeforeReceivesThatCombine) {
  const Scheduled scheduled = written(R"(
algorithm combines-with-a-copy for allreduce
commutative
table m = counts
require ranks = 2
temporary 1 blocks
if 0 < m[0]
  step 0
    receive right temp[0]@0..m[0] from 1 - rank
    copy send[0]@0..m[0] to temp[0]@0..m[0]
    send send[0]@0..m[0] to 1 - rank
  copy temp[0]@0..m[0] to recv[0]@0..m[0]
)",
                                      {2});
  expect_by_any_window(scheduled, 5, [](quadrille_schedule schedule, MPI_Comm comm) {
    return sum_of_ranks(schedule, false, comm);
  });
}

// Copies of one step run in the order of the text.
TEST(WrittenOrder, CopiesOfAStepFollowOneAnother) {
  const Scheduled scheduled = written(R"(
algorithm copies-on for allreduce
commutative
table m = counts
require ranks = 2
temporary 2 blocks
if 0 < m[0]
  step 0
    receive right temp[1]@0..m[0] from 1 - rank
    copy send[0]@0..m[0] to temp[0]@0..m[0]
    send send[0]@0..m[0] to 1 - rank
    copy temp[0]@0..m[0] to temp[1]@0..m[0]
  copy temp[1]@0..m[0] to recv[0]@0..m[0]
)",
                                      {2});
  expect_by_any_window(scheduled, 5, [](quadrille_schedule schedule, MPI_Comm comm) {
    return sum_of_ranks(schedule, false, comm);
  });
}

// What a step sends goes as it was, also where a copy of the step comes to its place.
TEST(WrittenOrder, CopiesOverwriteNothingThatIsSent) {
  const Scheduled scheduled = written(R"(
algorithm copies-over for allgather
table m = counts
temporary 1 blocks
require ranks = 2
copy send[0] to recv[rank]
let other = 1 - rank
let h = m[0] div 2
if 0 < h
  copy send[0]@0..h to temp[0]@0..h
  step 0
    copy send[0]@h..2*h to temp[0]@0..h
    receive recv[other]@0..h from other
    send temp[0]@0..h to other
  step 1
    send temp[0]@0..h to other
    receive recv[other]@h..2*h from other
)",
                                      {2});
  for (const size_t ints : {1u, 5000u, 300000u})
    expect_by_any_window(scheduled, 5, [&](quadrille_schedule schedule, MPI_Comm comm) {
      std::vector<int> own(ints), all(2 * ints), wanted;
      for (int rank = 0; rank < 2; ++rank)
        for (size_t i = 0; i < ints; ++i) wanted.push_back(1000000 * rank + static_cast<int>(i));
      const size_t first = static_cast<size_t>(this_rank()) * ints;
      std::copy_n(wanted.begin() + static_cast<ptrdiff_t>(first), ints, own.begin());
      const int count = static_cast<int>(ints);
      const int code = quadrille_allgather(schedule, own.data(), count, MPI_INT, all.data(), count,
                                           MPI_INT, comm);
      EXPECT_EQ(all == wanted, true) << ints;
      return code;
    });
}

TEST(WrittenOrder, CopiesInPlaceOverwriteNothingThatIsSent) {
  const Scheduled scheduled = written(R"(
algorithm copies-over-in-place for alltoall
temporary 1 blocks
require ranks = 2
copy send[rank] to recv[rank]
step 0
  if rank = 0
    send sized send[1] to 1
  else
    receive sized temp[0] from 0
step 1
  if rank = 0
    receive sized recv[1] from 1
  else
    copy temp[0] to recv[0]
    send sized send[0] to 0
)",
                                      {2});
  for (const size_t ints : {10u, 10000u})
    for (const bool in_place : {false, true})
      expect_exchanged_by_any_window(scheduled, ints, in_place);
}

// Rank 0 has no block of its own to receive into, so its contribution stays in the user's buffer.
TEST(WrittenOrder, AnExscanInPlaceServesRank0) {
  const Scheduled scheduled = written(R"(
algorithm passes-on for exscan
in_place
require ranks = 3
step 0
  if 0 < rank
    receive recv[0] from rank - 1
  if rank < ranks - 1
    send send[0] to rank + 1
step 1
  if rank = 1
    send recv[0] to 2
  if rank = 2
    receive left recv[0] from 1
)",
                                      {3});
  expect_by_any_window(scheduled, 5, [](quadrille_schedule schedule, MPI_Comm comm) {
    int value = 10 + this_rank();
    const int code = quadrille_exscan(schedule, MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_EQ(value, this_rank() == 0 ? 10 : this_rank() == 1 ? 10 : 21);
    return code;
  });
}

// ---- what a schedule requires of a call

// It is bound although it serves no call without bytes.
TEST(WrittenRequirement, OfBytesIsNoneOfTheBinding) {
  const Scheduled scheduled = written(R"(
algorithm wants-bytes for allgather
table m = counts
require 3 <= m[0]
copy send[0] to recv[rank]
for k in 1 .. ranks
  step k
    if 0 < m[rank]
      send send[0] to wrap(rank + k, ranks)
    if 0 < m[wrap(rank - k, ranks)]
      receive recv[wrap(rank - k, ranks)] from wrap(rank - k, ranks)
)",
                                      {3});
  expect_by_any_window(scheduled, 3, [](quadrille_schedule schedule, MPI_Comm comm) {
    const int sent = 7 * this_rank();
    std::array<int, 3> all{};
    const int code = quadrille_allgather(schedule, &sent, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    EXPECT_EQ(all, (std::array<int, 3>{0, 7, 14}));
    return code;
  });
}

// ---- messages without blocks

// A token that is posted early awaits no data of a long message before it.
TEST(WrittenTokens, BesideLongMessagesWithLengths) {
  const Scheduled tokens = written(R"(
algorithm tokens for alltoall
copy send[rank] to recv[rank]
for round in 1 .. ranks
  let right = wrap(rank + round, ranks)
  let left = wrap(rank - round, ranks)
  step 2*round after -1
    send sized to right
      send[right]
    receive sized from left
      recv[left]
  step 2*round + 1 after -1
    send nothing to right
    receive nothing from left
)",
                                   {3});
  expect_exchanged_by_any_window(tokens, 10, false);
  expect_exchanged_by_any_window(tokens, 10000, false);
}

// ---- long messages with lengths

// More messages than a plan of a binding takes come before, or behind, one that brings its lengths.
TEST(WrittenTokens, FillPlansBesideLengthsThatTravel) {
  static constexpr char kProgram[] = R"(
algorithm many-tokens for alltoall
copy send[rank] to recv[rank]
for i in -1 .. 33001
  step i
    if i = {}
      send sized send[1 - rank] to 1 - rank
      receive sized recv[1 - rank] from 1 - rank
    else
      send to 1 - rank
      receive from 1 - rank
)";
  const auto call = [](quadrille_schedule schedule, MPI_Comm comm) {
    return exchange(schedule, 2, 10, false, comm);
  };
  for (const int at : {-1, 33000})
    expect_everywhere(written(fmt::format(kProgram, at), {2}), {}, MPI_SUCCESS, call);
}

// A rank that waits for its own long message to go, as it is to be overwritten, goes on with those that come.
TEST(WrittenInPlace, LongBlocksHangNobody) {
  for (const int ranks : {3, 4, 5})
    for (const size_t ints : {10, 3000, 10000}) {
      expect_exchanged_by_any_window(exchanging("tuna", {ranks}, {2}), ints, true);
      expect_exchanged_by_any_window(exchanging("hierarchical-overlapped", {1, ranks - 1}, {0}),
                                     ints, true);
      if (HasFailure()) return;
    }
}

// The buffer of a message that has arrived saves a block that the next message overwrites, no sooner.
TEST(WrittenInPlace, ABufferIsNotUsedAgainBeforeItsMessageHasArrived) {
  const Scheduled scheduled = written(R"(
algorithm hands-over for alltoall
temporary 1 blocks
require ranks = 3
copy send[rank] to recv[rank]
step 0
  if rank = 0
    send sized send[1] to 1
    receive sized recv[1] from 1
  if rank = 1
    send sized send[0] to 0
    receive sized recv[0] from 0
    receive sized from 2
      temp[0]
      recv[2]
  if rank = 2
    send sized to 1
      send[0]
      send[1]
step 1
  if rank = 0
    send sized send[2] to 2
    receive sized recv[2] from 1
  if rank = 1
    send sized send[2] to 2
    send sized temp[0] to 0
  if rank = 2
    receive sized recv[0] from 0
    receive sized recv[1] from 1
)",
                                      {3});
  for (const size_t ints : {10u, 10000u}) expect_exchanged_by_any_window(scheduled, ints, true);
}

// ---- keys

TEST(WrittenKeys, ReachFromTheLeastNumberToTheGreatest) {
  for (const std::string after : {"", " after -1", " after -9223372036854775807 - 1"})
    expect_exchanged_by_any_window(written("algorithm far-apart for alltoall\n"
                                           "copy send[rank] to recv[rank]\n"
                                           "for round in 1 .. ranks\n"
                                           "  step (round = 1 ? -9223372036854775807 - 1 : "
                                           "9223372036854775805 + round)" +
                                               after + R"(
    send send[wrap(rank + round, ranks)] to wrap(rank + round, ranks)
    receive recv[wrap(rank - round, ranks)] from wrap(rank - round, ranks)
)",
                                           {3}),
                                   10, false);
}

// ---- copies outside steps

// What stands behind such a copy waits for all that stands before it, whatever its `after`.
TEST(WrittenCopies, OutsideStepsSeparateAllToAlls) {
  expect_exchanged_by_any_window(written(R"(
algorithm barrier for alltoall
temporary 1 blocks
step 1 after -1
  send sized send[wrap(rank + 2, ranks)] to wrap(rank + 1, ranks)
  receive sized temp[0] from wrap(rank - 1, ranks)
step 2 after 1
  send sized temp[0] to wrap(rank + 1, ranks)
  receive sized recv[wrap(rank - 2, ranks)] from wrap(rank - 1, ranks)
step 3 after 2
  send sized send[wrap(rank + 3, ranks)] to wrap(rank + 1, ranks)
  receive sized temp[0] from wrap(rank - 1, ranks)
copy send[rank] to recv[rank]
step 4 after -1
  send sized temp[0] to wrap(rank + 2, ranks)
  receive sized recv[wrap(rank - 3, ranks)] from wrap(rank - 2, ranks)
step 5 after -1
  send sized send[wrap(rank + 1, ranks)] to wrap(rank + 1, ranks)
  receive sized recv[wrap(rank - 1, ranks)] from wrap(rank - 1, ranks)
)",
                                         {4}),
                                 10, false);
}

void expect_gathered_by_any_window(const Scheduled& scheduled) {
  expect_by_any_window(scheduled, 20, [&](quadrille_schedule schedule, MPI_Comm comm) {
    const int own = 10 + this_rank();
    std::vector<int> all(static_cast<size_t>(scheduled.ranks), -1), wanted;
    for (int r = 0; r < scheduled.ranks; ++r) wanted.push_back(10 + r);
    const int code = quadrille_allgather(schedule, &own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    EXPECT_EQ(all, wanted);
    return code;
  });
}

TEST(WrittenCopies, OutsideStepsSeparateAllgathers) {
  expect_gathered_by_any_window(written(R"(
algorithm barrier for allgather
step 1 after -1
  send send[0] to wrap(rank + 1, ranks)
  receive recv[wrap(rank - 1, ranks)] from wrap(rank - 1, ranks)
copy send[0] to recv[rank]
step 2 after -1
  send recv[wrap(rank - 1, ranks)] to wrap(rank + 1, ranks)
  receive recv[wrap(rank - 2, ranks)] from wrap(rank - 1, ranks)
)",
                                        {3}));
}

// ---- places that hold foreign blocks for a while

// Rank 1 keeps block 0 where block 2 is to come, and sends it on from there; what others do meanwhile
// differs. The receive of block 2 must not be posted before that.
std::string borrowing(const std::string& meanwhile) {
  return R"(
algorithm borrow for allgather
copy send[0] to recv[rank]
)" + meanwhile +
         R"(
if rank = 0
  step 3000
    send recv[0] to 1
if rank = 1
  step 3000
    receive recv[2] from 0
  step 3001
    send recv[2] to 2
  step 3002
    receive recv[2] from 2
if rank = 2
  step 3001
    receive recv[0] from 1
  step 3002 after 0
    send recv[2] to 1
step 3010
  if rank = 0
    send recv[0] to 1
  if rank = 1
    receive recv[0] from 0
step 3020
  if rank = 0
    receive recv[2] from 2
    receive recv[1] from 1
  if rank = 1
    send recv[1] to 0
    send recv[1] to 2
  if rank = 2
    send recv[2] to 0
    receive recv[1] from 1
)";
}

TEST(WrittenPlaces, ThatHoldAForeignBlockAreReadBeforeTheirOwnArrives) {
  expect_gathered_by_any_window(written(borrowing(""), {3}));
  expect_gathered_by_any_window(written(borrowing(R"(if rank < 2
  for k in 0 .. 40
    step k
      send nothing to 1 - rank
      receive nothing from 1 - rank)"),
                                        {3}));
  expect_gathered_by_any_window(written(borrowing(R"(if rank != 1
  for k in 0 .. 40
    step k after k - 7
      send nothing to 2 - rank
      receive nothing from 2 - rank)"),
                                        {3}));
  expect_gathered_by_any_window(written(borrowing(R"(step 1 after -1
  send recv[rank] to wrap(rank + 1, 3)
  receive recv[wrap(rank + 1, 3)] from wrap(rank - 1, 3))"),
                                        {3}));
}

}  // namespace
}  // namespace quadrille::net
