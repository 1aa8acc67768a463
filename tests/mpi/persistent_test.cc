// Persistent calls: several in flight, among other calls, after the communicator is freed; and refusals.
// tests/net/persistent_test.cc tests all programs the same way over the simulated MPI.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/mpi/calls.h"
#include "tests/mpi/refused.h"

namespace quadrille::mpi {
namespace {

// Pairs of ints, whose values depend on both ranks and on `round`.
class Call {
 public:
  Call(quadrille_schedule schedule, MPI_Comm comm, int units, MPI_Datatype type = MPI_INT)
      : units_(units),
        from_(static_cast<size_t>(all() * units + 1)),
        to_(from_.size()),
        counts_(static_cast<size_t>(all()), units) {
    for (int r = 0; r < all(); ++r) places_.push_back(r * units);
    code_ = quadrille_alltoallv_init(schedule, from_.data(), counts_.data(), places_.data(), type,
                                     to_.data(), counts_.data(), places_.data(), type, comm,
                                     MPI_INFO_NULL, &request_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (request_ != QUADRILLE_REQUEST_NULL) {
      EXPECT_EQ(quadrille_free_request(&request_), MPI_SUCCESS);
      EXPECT_EQ(request_, QUADRILLE_REQUEST_NULL);
    }
  }
  int code() const { return code_; }
  quadrille_request request() const { return request_; }
  quadrille_request* place() { return &request_; }
  void start(int round) {
    round_ = round;
    for (size_t i = 0; i + 1 < from_.size(); ++i)
      from_[i] = value(own(), static_cast<int>(i) / units_, static_cast<int>(i) % units_);
    std::fill(to_.begin(), to_.end(), -1);
    EXPECT_EQ(quadrille_start(request_), MPI_SUCCESS);
  }
  void wait() {
    EXPECT_EQ(quadrille_wait(request_), MPI_SUCCESS);
    for (size_t i = 0; i + 1 < to_.size(); ++i)
      ASSERT_EQ(to_[i], value(static_cast<int>(i) / units_, own(), static_cast<int>(i) % units_));
    EXPECT_EQ(to_.back(), -1);
  }

 private:
  int value(int source, int target, int i) const {
    return round_ * 1000000 + source * 10000 + target * 1000 + i;
  }
  int units_, round_ = 0, code_ = MPI_SUCCESS;
  std::vector<int> from_, to_, counts_, places_;
  quadrille_request request_ = QUADRILLE_REQUEST_NULL;
};

std::vector<std::string> paths() {
  std::vector<std::string> paths = schedule_paths(all(), "forward");
  paths.push_back(schedule_paths(all())[0]);
  paths.push_back(schedule_paths(all()).back());
  return paths;
}

template <typename Body>
void with_schedules(const Body& body) {
  for (const std::string& path : paths()) {
    SCOPED_TRACE(path);
    const Schedule schedule(path);
    Communicator comm(MPI_COMM_WORLD, 0, own());
    const quadrille_bind_options options = trusted();
    ASSERT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
    body(schedule, comm);
  }
}

TEST(Persistent, CallsOfOneBindingAreInFlightTogether) {
  with_schedules([](quadrille_schedule schedule, MPI_Comm comm) {
    Call small(schedule, comm, 2), large(schedule, comm, 9000), again(schedule, comm, 2);
    for (int round = 0; round < 3; ++round) {
      if (own() == round % all()) usleep(2000);
      small.start(3 * round);
      large.start(3 * round + 1);
      expect_works(schedule, comm, static_cast<unsigned>(round));
      again.start(3 * round + 2);
      again.wait();
      small.wait();
      expect_works(schedule, comm);
      large.wait();
    }
  });
}

TEST(Persistent, CallsOutliveTheirCommunicatorScheduleAndTypes) {
  for (const std::string& path : paths()) {
    Schedule schedule(path);
    Communicator comm(MPI_COMM_WORLD, 0, own());
    const quadrille_bind_options options = trusted();
    ASSERT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
    MPI_Datatype type;
    MPI_Type_vector(1, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    Call first(schedule, comm, 3, type), second(schedule, comm, 40);
    MPI_Type_free(&type);
    first.start(1);
    comm.free();
    schedule.free();
    second.start(2);
    second.wait();
    first.wait();
    first.start(3);
    first.wait();
  }
}

class PersistentRefused : public Refused {
 protected:
  PersistentRefused() {
    const quadrille_bind_options options = trusted();
    EXPECT_EQ(quadrille_bind(schedule_, comm_, &options), MPI_SUCCESS);
  }
  // The functions without a communicator have no handler to call.
  void expect_unhandled(int code, const std::string& part) {
    expect_error(code, MPI_ERR_REQUEST, part);
    expect_one_sentence();
  }
  const Schedule schedule_{schedule_paths(all(), "forward").back()};
};

TEST_F(PersistentRefused, WhatIsDoneOutOfTurnChangesNothing) {
  Call call(schedule_, comm_, 5);
  expect_unhandled(quadrille_wait(call.request()), "the call was not started; start it first");
  call.start(1);
  expect_unhandled(quadrille_start(call.request()), "the call was started before; wait for it");
  const quadrille_request before = call.request();
  expect_unhandled(quadrille_free_request(call.place()),
                   "the call is in flight; wait for it first");
  EXPECT_EQ(call.request(), before);
  call.wait();
  expect_unhandled(quadrille_wait(call.request()), "the call was not started");
  call.start(2);
  call.wait();
  quadrille_request copy = call.request();
  EXPECT_EQ(quadrille_free_request(call.place()), MPI_SUCCESS);
  for (quadrille_request stale : {copy, QUADRILLE_REQUEST_NULL, copy + 1000}) {
    expect_unhandled(quadrille_start(stale), "the request is null or was freed");
    expect_unhandled(quadrille_wait(stale), "the request is null or was freed");
    expect_unhandled(quadrille_free_request(&stale), "the request is null or was freed");
  }
  expect_unhandled(quadrille_free_request(nullptr), "the request to free is NULL");
}

TEST_F(PersistentRefused, ArgumentsThatOneRankAloneCanSeeAreWrong) {
  std::vector<int> counts(static_cast<size_t>(all()), 1), places(counts.size());
  if (own() == 0) counts[0] = -1;
  char from[8] = {}, to[8] = {};
  quadrille_request request = 77;
  expect_refusal_everywhere(
      quadrille_alltoallv_init(schedule_, from, counts.data(), places.data(), MPI_CHAR, to,
                               counts.data(), places.data(), MPI_CHAR, comm_, MPI_INFO_NULL,
                               &request),
      MPI_ERR_COUNT, own() == 0 ? "a count is negative" : "another rank's arguments are wrong");
  counts[0] = 1;
  expect_refusal_everywhere(
      quadrille_alltoallv_init(schedule_, from, counts.data(), places.data(), MPI_CHAR, to,
                               counts.data(), places.data(), MPI_CHAR, comm_, MPI_INFO_NULL,
                               own() == 0 ? nullptr : &request),
      MPI_ERR_ARG,
      own() == 0 ? "the place for the request is NULL" : "another rank's arguments are wrong");
  Call call(schedule_, comm_, 2);
  call.start(1);
  call.wait();
}

}  // namespace
}  // namespace quadrille::mpi
