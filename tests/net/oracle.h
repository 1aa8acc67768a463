// The posts that a rank must make, from the walk of schedule/ and without the runtime, and a check that it made them.
#ifndef QUADRILLE_TESTS_NET_ORACLE_H_
#define QUADRILLE_TESTS_NET_ORACLE_H_

#include <functional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/walk.h"
#include "tests/net/simulation.h"

namespace quadrille::net {

struct ExpectedMessage {
  bool receives;
  int peer;  // rank in the communicator
  int64_t bytes;
  int64_t pieces;  // none: a token
};

struct ExpectedStep {
  Key key;
  Key after;  // earlier steps up to this key are complete before it sends
  std::vector<ExpectedMessage> messages;
};

// By rank in the communicator, in the order of keys.
using Expected = std::vector<std::vector<ExpectedStep>>;

// A program with its job, ready for walks.
struct Walked {
  Walked(const Program& program, const Job& job, const Call& call);
  Program program;
  Binding binding;
  int64_t ranks;
};

// The lengths of blocks: in an all-to-all, from rank to rank of the schedule; in an allgather, a rank's own.
using Lengths = std::function<int64_t(Rank source, Rank target)>;

// `real` has the communicator's rank for each of the schedule's.
Expected expect_posts(const Walked& walked, const std::vector<int>& real, const Lengths& lengths);

// How a call posts.
struct Manner {
  int window = 16;
  bool is_synchronous = false;
  // The receiver does not know lengths. They may travel ahead, in the message or in a separate one, and empty messages
  // may be left out.
  bool has_heads = false;
  // Steps are in flight as a whole, and complete when their sends are as well. Otherwise sends and receives each have
  // the window, and `after` refers to received data.
  bool has_whole_steps = true;
  MPI_Comm users = MPI_COMM_NULL;  // the communicator that must carry no message
};

// The error in the posts of one rank between two marks; empty if there is none. Messages of a rank to itself are
// ignored.
std::string check_posts(const std::vector<ExpectedStep>& expected, const Listing& listing,
                        int first_mark, int last_mark, int own, const Manner& manner);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_ORACLE_H_
