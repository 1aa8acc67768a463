// Programs with their jobs for the simulation: schedule files, machines, and the ways to bind.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "generator/encode.h"
#include "tests/mpi/calls.h"
#include "tests/mpi/handles.h"
#include "tests/net/simulation.h"
#include "tests/support/variants.h"

namespace quadrille::net {

using mpi::CollectiveCall;
using mpi::CollectivePart;
using mpi::Groups;
using mpi::last_error;
using mpi::LengthKind;
using mpi::Mistake;
using mpi::Schedule;

// A program with a job on given nodes, or for any nodes.
struct Scheduled {
  Scheduled(std::string name, const Program& program, const Job& job);
  // Returns whether the program serves groups of these sizes. The job must be for any nodes.
  bool serves(const Groups& groups) const;
  // Returns the calls that the program allows.
  mpi::Allowed allowed() const;

  std::string name;
  Program program;
  Job job;
  Bytes file;
  Groups groups;  // no ranks if the job is for any nodes
  bool forwards;  // by sized messages, temporary blocks, or messages of several pieces
  bool takes_block_size;
};

// Returns all programs of a collective on these nodes, with every radix that fits.
std::vector<Scheduled> scheduled_on(Collective collective, const std::vector<int64_t>& sizes);
// Return one algorithm: exchanging() for an all-to-all, gathering() for an allgather.
Scheduled exchanging(const std::string& algorithm, const std::vector<int64_t>& sizes,
                     std::vector<int64_t> parameters = {});
Scheduled gathering(const std::string& algorithm, const std::vector<int64_t>& sizes,
                    std::vector<int64_t> parameters = {});
// Return the program of a text, or of a file.
Scheduled written(const std::string& text, const std::vector<int64_t>& sizes,
                  std::vector<int64_t> parameters = {});
Scheduled of_file(const std::string& path, const std::vector<int64_t>& sizes,
                  std::vector<int64_t> parameters = {});

// Returns all programs of the registry and of tests/net/programs, for any nodes. Their names are like "gather between
// groups tree". Some are there a second time, with the claim that a call in place needs no copy.
const std::vector<Scheduled>& all_programs();
const Scheduled& program_named(const std::string& name);

// A test suite with one test for each program of all_programs().
class OfEachProgram : public testing::TestWithParam<size_t> {
 protected:
  const Scheduled& program_ = all_programs()[GetParam()];
  const bool is_between_ = program_.program.groups == 2;
  const Collective collective_ = program_.program.collective;
};
std::string test_name(const testing::TestParamInfo<size_t>& program);
// Replaces all but letters and digits by underscores.
std::string as_identifier(std::string name);
#define FOR_EACH_PROGRAM(suite) \
  INSTANTIATE_TEST_SUITE_P(All, suite, testing::Range<size_t>(0, all_programs().size()), test_name)

// How a job runs and its schedule is bound.
struct Ways {
  int window = 0;
  bool is_synchronous = false, is_eager = false;
  int64_t block_size = 0;  // for programs that take one; 0 keeps the file's choice
  unsigned seed = 0;
  bool are_ranges = false;  // two groups are ranges of ranks of one communicator
  bool keeps_order =
      true;  // if contributions are combined in order, nodes have the communicator's order of ranks
  std::string text() const;
};

// Returns a machine with the nodes of the job, in random order and with their ranks mixed.
Machine machine_of(const Scheduled& scheduled, const Ways& ways);
// Returns a machine on which the ranks of a program for any nodes are on up to four nodes.
Machine machine_of(const Scheduled& scheduled, const Groups& groups, const Ways& ways);
// Returns the communicator's rank for each rank of the schedule. If the program uses nodes, they are in order of size
// and lowest rank.
std::vector<int> real_ranks(const Program& program, const std::vector<int>& node_of);

int bind(quadrille_schedule schedule, const Scheduled& scheduled, const Groups& groups,
         const Ways& ways, MPI_Comm comm);
void expect_success(int code, const std::string& what);

// One rank's persistent call.
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

// One rank's loaded and bound schedule.
class Bound : public Schedule {
 public:
  Bound(const Scheduled& scheduled, const Groups& groups, const Ways& ways, MPI_Comm comm);
  Bound(const Scheduled& scheduled, const Ways& ways, MPI_Comm comm)
      : Bound(scheduled, scheduled.groups, ways, comm) {}
};

void expect_no_problem(const Machine& machine, const std::function<void(MPI_Comm)>& body);
// Runs at a rank with the schedule bound. Returns the rank's error code.
using AtRank = std::function<int(quadrille_schedule, MPI_Comm)>;
std::vector<int> outcomes(const Scheduled& scheduled, const Ways& ways, const AtRank& body);
void expect_everywhere(const Scheduled& scheduled, const Ways& ways, int error_class,
                       const AtRank& body);

// Runs a case that may crash or never end in a process of its own, for at most 20 seconds.
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
