// Jobs of programs for the simulation: a schedule file, a machine, the ways to bind; and runs of calls on them whose
// bytes and posts are compared with what they must be.
#ifndef QUADRILLE_TESTS_NET_JOBS_H_
#define QUADRILLE_TESTS_NET_JOBS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/encode.h"
#include "runtime/quadrille.h"
#include "tests/mpi/exchange.h"
#include "tests/net/oracle.h"
#include "tests/net/simulation.h"
#include "tests/support/variants.h"

namespace quadrille::net {

// A program on nodes.
struct Scheduled {
  Scheduled(const Program& program, const Job& job, std::string name);
  std::string name;
  Program program;
  Job job;
  Bytes file;
  int ranks;
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
// Of a program in its text form.
Scheduled written(const std::string& text, const std::vector<int64_t>& sizes);
// The same, of tests/mpi/programs/NAME.txt, for so many ranks on nodes of their own.
Scheduled of_file(const std::string& name, int64_t ranks);

// How a job is run.
struct Ways {
  int window = 0;
  bool is_synchronous = false, is_eager = false, is_shuffled = true;
  int64_t block_size = 5;  // where the program takes one
  unsigned seed = 0;
  std::string text() const;
};

// Nodes of those sizes in any order, their ranks mixed.
std::vector<int> shuffled_nodes(const Topology& topology, unsigned seed);
// The communicator's rank of each of the schedule's: nodes by size and lowest rank, where the program asks.
std::vector<int> real_ranks(const Program& program, const std::vector<int>& node_of);

// A call, or several; what it does is told by units of so many bytes between ranks of the communicator.
struct NetCall {
  std::string name;
  int64_t unit_bytes;
  std::function<int(int source, int target)> units;
  // Calls; `mark` is the first of ten marks, of which each pair brackets what `expect_posts` tells.
  std::function<void(const mpi::Exchange&, int mark)> run;
  bool is_persistent = false;
  int brackets = 1;  // 0: posts are not compared
};

// Of each kind one, by number; all ranks must have the same.
NetCall alltoall_call(unsigned kind, unsigned seed);
NetCall allgather_call(unsigned kind, unsigned seed);
// With counts drawn from the seed, of blocks that lie at the same places whatever the counts.
NetCall call_at_places(Collective collective, unsigned seed);
extern const unsigned kAlltoallKinds, kAllgatherKinds;

// A rank's loaded and bound schedule.
class Bound {
 public:
  Bound(const Scheduled& scheduled, const Ways& ways, MPI_Comm comm);
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound();
  operator quadrille_schedule() const { return handle_; }

 private:
  quadrille_schedule handle_ = QUADRILLE_SCHEDULE_NULL;
};

Machine machine_of(const Scheduled& scheduled, const Ways& ways);

// Runs the calls one after the other on one binding and expects every byte and every post to be right. False where
// one was not.
bool expect_calls(const Scheduled& scheduled, const Ways& ways, const std::vector<NetCall>& calls);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_JOBS_H_
