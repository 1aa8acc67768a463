// An MPI library of many ranks in one process, for tests of what Quadrille's runtime posts and what comes of it.
//
// Each rank is a fiber. Which rank goes on, and when a message that has met its receive is delivered, is drawn from
// a seed: so a run can be repeated, and many seeds try many timings. Nothing is buffered in rendezvous mode: a send
// is over once its receive was posted and the data, which are read then, have arrived. In eager mode a send is over
// at once. (A synchronous send is over once its receive was posted.)
//
// What MPI forbids is a problem: buffers of messages under way that overlap, or change, or are not the caller's to
// read; requests that are never waited for, or twice; communicators and datatypes that are not freed; ranks that
// call different collectives; operators for other types than theirs; that nobody can go on. The buffer of a posted
// receive is filled with rubbish until its message arrives. Where MPI leaves open which of two groups comes first,
// the seed says it.
#ifndef QUADRILLE_TESTS_NET_SIMULATION_H_
#define QUADRILLE_TESTS_NET_SIMULATION_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quadrille::net {

struct Machine {
  int ranks = 1;
  int remote = 0;                 // so many of them, the last ones, are the other one of two groups
  std::vector<int> node_of = {};  // by rank; empty: all on one
  unsigned seed = 0;
  bool is_eager = false;
  // What MPI_COMM_WORLD does with errors of waits, which have no communicator of their own (MPICH).
  bool world_returns_errors = true;
  int most_tag = INT16_MAX;  // MPI_TAG_UB
};

inline constexpr size_t kNever = SIZE_MAX;

// What a rank did, in order.
struct Event {
  enum class Kind { kSend, kReceive, kWait, kCollective, kMark };
  Kind kind;
  int peer = -1;      // of a message: rank in its communicator
  int64_t bytes = 0;  // of a receive: the room that it has
  int tag = 0;        // of a message; of a mark: its number
  MPI_Comm comm = MPI_COMM_NULL;
  bool is_synchronous = false;
  int64_t arrived = -1;     // of a receive: bytes of the message
  size_t waited = kNever;   // of a message: the place in the list of what waited for it
  size_t message = kNever;  // of a wait: the place of the message
  std::string name = {};    // of a collective
};
using Listing = std::vector<Event>;

struct Outcome {
  std::vector<std::string> problems;
  std::vector<Listing> listings;  // by rank
  std::string text() const;       // the problems
};

// Runs `body` at all ranks, with a communicator of all of them that returns errors and is freed in the end; an
// intercommunicator where there are two groups.
Outcome simulate(const Machine& machine, const std::function<void(MPI_Comm)>& body);

// Within a simulation: the rank that runs.
int this_rank();
// Puts a mark into the rank's list; says whether none of its requests is in flight.
bool mark(int number);
// Called whenever another rank goes on: with the one before, and that one.
extern std::function<void(int from, int to)> on_switch;

// One line an event, for messages.
std::string text_of(const Listing& listing);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_SIMULATION_H_
