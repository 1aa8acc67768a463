// An MPI library with many ranks in one process. Tests check the messages that Quadrille's runtime posts over it, and
// their results.
//
// Each rank is a fiber. A seed decides which rank runs next, and when a matched message is delivered. So a run can be
// repeated, and many seeds try many timings. In rendezvous mode nothing is buffered: a send is complete when its
// receive is posted and its data, which is read only then, has arrived. In eager mode a send is complete at once, or,
// if it is synchronous, when its receive is posted.
//
// Every misuse of MPI is a problem: buffers in flight that overlap, change, or are not the caller's to read; requests
// that are never waited for, or twice; communicators and datatypes that are not freed; ranks that call different
// collectives; operators for the wrong types; a deadlock. The buffer of a posted receive is filled with rubbish until
// its message arrives. Where MPI leaves the order of two groups open, the seed decides.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quadrille::net {

struct Machine {
  int ranks = 1;
  int remote = 0;  // how many of the ranks, the last ones, form the second of two groups
  std::vector<int> node_of = {};  // by rank; if empty, all ranks share one node
  unsigned seed = 0;
  bool is_eager = false;
  // Whether MPI_COMM_WORLD returns errors. It gets those of waits, which have no communicator (as in MPICH).
  bool world_returns_errors = true;
  int most_tag = INT16_MAX;  // MPI_TAG_UB
};

// An action of a rank.
struct Event {
  enum class Kind { kSend, kReceive, kCollective, kMark };
  Kind kind;
  int peer = -1;  // of a message: the other rank, in its communicator
  int tag = 0;    // of a message, or the number of a mark
  MPI_Comm comm = MPI_COMM_NULL;
  bool is_synchronous = false;
  int sends_in_flight = 0;  // of a send: those of its communicator and tag, with itself
  std::string name = {};    // of a collective
};
using Listing = std::vector<Event>;

struct Outcome {
  std::vector<std::string> problems;
  std::vector<Listing> listings;  // for each rank, its actions in order
  std::string text() const;       // all problems
};

// Runs `body` on all ranks. Their communicator has all ranks, returns errors, and is freed at the end. With two
// groups it is an intercommunicator.
Outcome simulate(const Machine& machine, const std::function<void(MPI_Comm)>& body);

// Returns the running rank. Only in a simulation.
int this_rank();
// Puts a mark into the rank's list. Returns whether the rank has no request in flight.
bool mark(int number);
// Is called with the previous and the new rank when another rank continues.
extern std::function<void(int from, int to)> on_switch;

}  // namespace quadrille::net
