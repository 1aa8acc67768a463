// The simulation's insides: ranks, communicators, messages.
#ifndef QUADRILLE_TESTS_NET_WORLD_H_
#define QUADRILLE_TESTS_NET_WORLD_H_

#include <map>
#include <memory>
#include <random>
#include <string>

#include "tests/net/datatypes.h"
#include "tests/net/fibers.h"
#include "tests/net/simulation.h"

// Defines MPI_Name as another name of PMPI_Name, which this file defines.
#define NAME_OF_MPI(Name) decltype(PMPI_##Name) MPI_##Name __attribute__((alias("PMPI_" #Name)));

namespace quadrille::net {

// The data that all ranks of a communicator share.
struct Context {
  int id;
  std::vector<int> members;  // ranks of the world; two groups follow one another
  int low = 0;               // with two groups: the number of ranks of the first
  // Calls of a collective that not all ranks have reached, by number.
  struct Meeting {
    std::string name;
    std::vector<void*> arguments;  // by place
    int arrived = 0, left = 0;
    bool is_over = false;
  };
  std::map<int64_t, Meeting> meetings;
};

// One rank's communicator.
struct Communicator {
  std::shared_ptr<Context> context;
  int owner = -1, place = -1;  // in the world, and among the members
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
  // The number of ranks that messages go to.
  int peers() const { return is_between_groups() ? remote_size() : size(); }
  int peer_in_world(int peer) const {
    const int first = is_between_groups() && !is_high() ? context->low : 0;
    return context->members[static_cast<size_t>(first) + static_cast<size_t>(peer)];
  }
};

struct Request {
  bool receives = false, is_synchronous = false, is_persistent = false;
  bool is_active = false;    // posted and not waited for
  bool is_complete = false;  // only the wait is left
  bool is_freed = false;
  int owner = -1, peer = -1, tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  int context = 0, source = -1, target = -1;  // of the match
  Data data;
  std::vector<Interval> intervals;
  std::vector<char> before;  // of a send: the data; of a receive: the earlier contents of its
                             // buffer
  Request* partner = nullptr;
  int64_t arrived = 0;
  int64_t asked = -1;  // how many of the rank's requests were complete when this one was last
                       // tested
  int error = MPI_SUCCESS;
  int status_source = MPI_ANY_SOURCE, status_tag = MPI_ANY_TAG;
  size_t event = kNever;
};

struct Rank {
  Listing listing;
  std::function<bool()> can_go_on;  // empty: at any time
  std::string awaits;
  std::vector<Request*> active;
  MPI_Comm world = MPI_COMM_NULL, self = MPI_COMM_NULL;
};

struct World {
  explicit World(const Machine& machine);

  Machine machine;
  std::mt19937 random;
  std::vector<Rank> ranks;
  std::vector<std::unique_ptr<Request>> requests;  // by handle
  std::vector<Request*> posted;                    // unmatched, in order
  std::vector<Request*> meeting;                   // matched receives without their data
  std::vector<Request*> leaving;  // sends whose data are delivered, before completion
  std::vector<std::string> problems;
  std::string ended;  // why the job ended early
  int contexts = 0;
  // How this run is scheduled.
  unsigned pause_odds = 2;      // a call that need not wait pauses once in that many; 0: never
  unsigned deliver_weight = 1;  // against the weight of a rank that continues
  int slow = -1;                // continues only if no other rank can

  Rank& current() { return ranks[static_cast<size_t>(this_rank())]; }
};

// The running simulation, or null.
extern World* world;

// Records a misuse of MPI by this rank, or by MPI_COMM_WORLD.
void problem(const std::string& what);
// Lets other ranks run, now and then.
void maybe_pause();
// Lets other ranks run until the condition holds.
void wait_until(const std::function<bool()>& holds, const std::string& what);
// Delivers a message, or completes a send.
void deliver_one();
bool can_deliver();

// communicators.cc: the communicator of a handle, on the running rank. Null, and a problem, if there is none.
Communicator* find_communicator(MPI_Comm handle);
MPI_Comm make_communicator(std::shared_ptr<Context> context, int owner, bool is_predefined = false);
std::shared_ptr<Context> make_context(std::vector<int> members, int low = 0);
// Collective over an intracommunicator: makes two groups, the first of that many ranks.
MPI_Comm make_groups(MPI_Comm comm, int low);
void set_handler(MPI_Comm handle, MPI_Errhandler handler);
// The first action of MPI_Finalize: deletes the attributes of MPI_COMM_SELF, on the current rank.
void delete_attributes_of_self();
void check_communicators_are_freed();
void close_communicators();
// Raises an error through the communicator's handler and returns it.
int raise(MPI_Comm comm, int code);

// operators.cc: whether MPI has that operator for elements of that type.
bool is_operator_for(MPI_Op op, const TypeRef& type);
// Combines `in`, on the left, with `inout`. Both are elements of that type.
void combine(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op);

// collectives.cc: waits until all ranks of the communicator have entered. The last one acts for all.
void meet(Communicator& comm, const std::string& name, void* argument,
          const std::function<void(std::vector<void*>&)>& act);

// messages.cc
int post(const Request& request, MPI_Request* handle);
Request* find_request(MPI_Request handle);
void start(Request& request);
std::string text_of(const Request& request);
void check_requests_are_over();
// waits.cc: completes a request at the caller, and sets the handle to null unless it is persistent.
int finish(MPI_Request* handle, MPI_Status* status);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_WORLD_H_
