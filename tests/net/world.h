// The inner parts of the simulation: ranks, communicators and messages.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>

#include "tests/net/datatypes.h"
#include "tests/net/fibers.h"
#include "tests/net/simulation.h"

// Begins the function PMPI_Name, of which MPI_Name is another name.
#define SIMULATED(Name, ...)                                              \
  decltype(PMPI_##Name) MPI_##Name __attribute__((alias("PMPI_" #Name))); \
  int PMPI_##Name(__VA_ARGS__)

namespace quadrille::net {

// What all ranks of a communicator share.
struct Context {
  int id;
  std::vector<int> members;  // ranks of the world; the second group follows the first
  int low = 0;               // with two groups, the number of ranks in the first
  // The collective calls that not all ranks have reached, by number.
  struct Meeting {
    std::string name;
    std::vector<void*> arguments;  // one for each member
    int arrived = 0, left = 0;
    bool is_over = false;
  };
  std::map<int64_t, Meeting> meetings;
};

// One rank's view of a communicator.
struct Communicator {
  std::shared_ptr<Context> context;
  int owner = -1, place = -1;  // its rank in the world, and its index among the members
  int64_t collectives = 0;
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  std::map<int, void*> attributes;
  bool is_freed = false, is_predefined = false;

  int all() const { return static_cast<int>(context->members.size()); }
  bool is_between_groups() const { return context->low > 0; }
  bool is_high() const { return is_between_groups() && place >= context->low; }
  int rank() const { return is_high() ? place - context->low : place; }
  int size() const { return is_high() ? all() - context->low : all() - remote_size(); }
  int remote_size() const {
    return !is_between_groups() ? 0 : is_high() ? context->low : all() - context->low;
  }
  // Returns the number of ranks that may receive messages.
  int peers() const { return is_between_groups() ? remote_size() : size(); }
  int peer_in_world(int peer) const {
    const int first = is_between_groups() && !is_high() ? context->low : 0;
    return context->members[static_cast<size_t>(first) + static_cast<size_t>(peer)];
  }
};

struct Request {
  bool receives = false, is_synchronous = false, is_persistent = false;
  bool is_active = false;    // posted, and not yet waited for
  bool is_complete = false;  // has only to be waited for
  bool is_freed = false;
  int owner = -1, peer = -1, tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  int context = 0, source = -1, target = -1;  // what it matches by
  Data data;
  std::vector<Interval> intervals;
  std::vector<char> before;  // a send's data, or the earlier contents of a receive's buffer
  Request* partner = nullptr;
  int64_t arrived = 0;
  int64_t asked = -1;  // how many of the rank's requests were complete at this one's last test
  int error = MPI_SUCCESS;
  int status_source = MPI_ANY_SOURCE, status_tag = MPI_ANY_TAG;
};

struct Rank {
  Listing listing;
  std::function<bool()> can_go_on;  // empty if it always can
  std::string awaits;
  std::vector<Request*> active;
  MPI_Comm world = MPI_COMM_NULL, self = MPI_COMM_NULL;
};

struct World {
  explicit World(const Machine& machine);

  Machine machine;
  std::mt19937 random;
  std::vector<Rank> ranks;
  std::vector<std::unique_ptr<Request>> requests;  // their handles are indices
  std::vector<Request*> posted;                    // without a match, in order
  std::vector<Request*> meeting;  // receives with a match that still lack their data
  std::vector<Request*> leaving;  // sends whose data was delivered, and which are not complete
  std::vector<std::string> problems;
  std::string ended;  // the reason if the job ended early
  int contexts = 0;
  // The style of this run.
  unsigned pause_odds = 2;      // one in that many calls pauses without need; 0 for none
  unsigned deliver_weight = 1;  // of a delivery, against 1 of each rank that can continue
  int slow = -1;                // this rank continues only if no other rank can

  Rank& current() { return ranks[static_cast<size_t>(this_rank())]; }
};

// The running simulation, or null.
extern World* world;

// Records a misuse of MPI by the running rank.
void problem(const std::string& what);
// Lets other ranks run first, now and then.
void maybe_pause();
// Lets other ranks run until the condition holds. `what` names it for reports of deadlocks.
void wait_until(const std::function<bool()>& holds, const std::string& what);
// Delivers a message to its receive, or completes a send.
void deliver_one();
bool can_deliver();

// communicators.cc. Returns the running rank's communicator. Reports a problem and returns null if there is none.
Communicator* find_communicator(MPI_Comm handle);
MPI_Comm make_communicator(std::shared_ptr<Context> context, int owner, bool is_predefined = false);
std::shared_ptr<Context> make_context(std::vector<int> members, int low = 0);
// Must be called by all ranks of an intracommunicator. Makes two groups, the first of `low` ranks.
MPI_Comm make_groups(MPI_Comm comm, int low);
void set_handler(MPI_Comm handle, MPI_Errhandler handler);
// Deletes the attributes of MPI_COMM_SELF on the running rank. MPI_Finalize does this first.
void delete_attributes_of_self();
void check_communicators_are_freed();
void close_communicators();
// Passes an error to the communicator's handler, and returns its code.
int raise(MPI_Comm comm, int code);

// operators.cc. Returns whether MPI has the operator for elements of that type.
bool is_operator_for(MPI_Op op, const TypeRef& type);
// Combines `in`, as the left operand, into `inout`. Both have `count` elements of that type.
void combine(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op);

// collectives.cc. Waits until all ranks of the communicator have entered. The last one runs `act` for all.
void meet(Communicator& comm, const std::string& name, void* argument,
          const std::function<void(std::vector<void*>&)>& act);

// messages.cc.
int post(const Request& request, MPI_Request* handle);
Request* find_request(MPI_Request handle);
void start(Request& request);
std::string text_of(const Request& request);
void check_requests_are_over();
// mpi_messages.cc. Completes a request at its owner. Sets the handle to null unless the request is persistent.
int finish(MPI_Request* handle, MPI_Status* status);

}  // namespace quadrille::net
