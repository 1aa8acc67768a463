// Programs with the jobs that they run as, for the simulation: schedule files, machines, and the ways to bind.
#ifndef QUADRILLE_TESTS_NET_JOBS_H_
#define QUADRILLE_TESTS_NET_JOBS_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "generator/encode.h"
#include "tests/mpi/calls.h"
#include "tests/net/simulation.h"
#include "tests/support/variants.h"

namespace quadrille::net {

using mpi::CollectiveCall;
using mpi::CollectivePart;
using mpi::Groups;
using mpi::LengthKind;
using mpi::Mistake;

// A program on nodes, or for any nodes.
struct Scheduled {
  Scheduled(std::string name, const Program& program, const Job& job);
  // Whether the job, which is for any nodes, is also for those.
  bool serves(const Groups& groups) const;
  // What may be asked of it.
  mpi::Allowed allowed() const;

  std::string name;
  Program program;
  Job job;
  Bytes file;
  Groups groups;  // no ranks: any
  bool forwards;  // sized messages, temporary blocks, or messages of several pieces
  bool takes_block_size;
};

// All programs of a collective on these nodes, with every radix that fits.
std::vector<Scheduled> scheduled_on(Collective collective, const std::vector<int64_t>& sizes);
// Of one algorithm, for an all-to-all or an allgather.
Scheduled exchanging(const std::string& algorithm, const std::vector<int64_t>& sizes,
                     std::vector<int64_t> parameters = {});
Scheduled gathering(const std::string& algorithm, const std::vector<int64_t>& sizes,
                    std::vector<int64_t> parameters = {});
// Of a program in its text form, and of the one in that file.
Scheduled written(const std::string& text, const std::vector<int64_t>& sizes);
Scheduled of_file(const std::string& path, const std::vector<int64_t>& sizes,
                  std::vector<int64_t> parameters = {});

// All programs of the registry, of tests/programs and of tests/net/programs, for any nodes, by names like "gather between
// groups tree". Some also come with the claim that a call in place needs no copy.
const std::vector<Scheduled>& all_programs();
const Scheduled& program_named(const std::string& name);

// One test for each of all programs.
class OfEachProgram : public testing::TestWithParam<size_t> {
 protected:
  const Scheduled& program_ = all_programs()[GetParam()];
  const bool is_between_ = program_.program.groups == 2;
  const Collective collective_ = program_.program.collective;
};
std::string test_name(const testing::TestParamInfo<size_t>& program);
#define FOR_EACH_PROGRAM(suite) \
  INSTANTIATE_TEST_SUITE_P(All, suite, testing::Range<size_t>(0, all_programs().size()), test_name)

// How a job is run, and its schedule bound.
struct Ways {
  int window = 0;
  bool is_synchronous = false, is_eager = false;
  int64_t block_size = 0;  // where the program takes one; 0: as the file says
  unsigned seed = 0;
  bool are_ranges = false;  // two groups are ranges of the ranks of one communicator
  std::string text() const;
};

// Nodes of the job in any order, their ranks mixed.
Machine machine_of(const Scheduled& scheduled, const Ways& ways);
// The same of a program for any nodes, whose ranks lie on four.
Machine machine_of(const Scheduled& scheduled, const Groups& groups, const Ways& ways);
// The communicator's rank of each of the schedule's: nodes by size and lowest rank, where the program asks.
std::vector<int> real_ranks(const Program& program, const std::vector<int>& node_of);

int bind(quadrille_schedule schedule, const Scheduled& scheduled, const Groups& groups,
         const Ways& ways, MPI_Comm comm);
std::string last_error();
void expect_success(int code, const std::string& what);

// A rank's persistent call.
class Persistent {
 public:
  Persistent(const CollectiveCall& call, int place) : part_(call, place) {}
  int make(quadrille_schedule schedule, MPI_Comm comm) {
    return part_.make(schedule, comm, &request_);
  }
  void start(unsigned seed) {
    part_.fill(seed);
    expect_success(quadrille_start(request_), "start");
  }
  void wait(const std::string& what) {
    expect_success(quadrille_wait(request_), what);
    EXPECT_TRUE(part_.is_right()) << what;
    part_.expect_rest_untouched(what);
  }
  void free() { expect_success(quadrille_free_request(&request_), "free"); }

 private:
  CollectivePart part_;
  quadrille_request request_ = QUADRILLE_REQUEST_NULL;
};

// A rank's loaded and bound schedule.
class Bound {
 public:
  Bound(const Scheduled& scheduled, const Groups& groups, const Ways& ways, MPI_Comm comm);
  Bound(const Scheduled& scheduled, const Ways& ways, MPI_Comm comm)
      : Bound(scheduled, scheduled.groups, ways, comm) {}
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound();
  operator quadrille_schedule() const { return handle_; }

 private:
  quadrille_schedule handle_ = QUADRILLE_SCHEDULE_NULL;
};

// Runs that at all ranks, and expects that there is no problem.
void expect_no_problem(const Machine& machine, const std::function<void(MPI_Comm)>& body);
// With the schedule bound: what each rank comes to, as an error class.
using AtRank = std::function<int(quadrille_schedule, MPI_Comm)>;
std::vector<int> outcomes(const Scheduled& scheduled, const Ways& ways, const AtRank& body);
// All come to that.
void expect_everywhere(const Scheduled& scheduled, const Ways& ways, int error_class,
                       const AtRank& body);

// Where a case may crash or go on for hours: in a process of its own, for so many seconds at most.
template <typename Body>
void expect_survives(const Body& body) {
  EXPECT_EXIT(
      {
        alarm(20);
        body();
        _exit(testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_JOBS_H_
