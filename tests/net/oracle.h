// What a rank has to post, told by the walk of schedule/ and by nothing of the runtime, and whether it did.
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
  Key after;  // earlier steps up to this key are over before it sends
  std::vector<ExpectedMessage> messages;
};

// By rank in the communicator, in the order of keys.
using Expected = std::vector<std::vector<ExpectedStep>>;

// A program with its job, made ready to be walked.
struct Walked {
  Walked(const Program& program, const Job& job, const Call& call);
  Collective collective;
  Code code;
  Binding binding;
  int64_t ranks;
};

// How long blocks are: of an all-to-all, from rank to rank of the schedule; of an allgather, a rank's own.
using Lengths = std::function<int64_t(Rank source, Rank target)>;

// `real` has the communicator's rank of each of the schedule's.
Expected expect_posts(const Walked& walked, const std::vector<int>& real, const Lengths& lengths);

// What holds of how a call posts.
struct Manner {
  int window = 16;
  bool is_synchronous = false;
  // The receiver does not know lengths: they may travel ahead, in the message or in one of their own, and empty
  // messages may be left out or not.
  bool has_heads = false;
  // Steps are in flight as a whole, and over when their sends are as well; else sends and receives each have the
  // window, and `after` means what has arrived.
  bool has_whole_steps = true;
  MPI_Comm users = MPI_COMM_NULL;  // no message travels there
};

// What is wrong with the posts of one rank between two marks; empty: nothing. Messages to itself are not looked at.
std::string check_posts(const std::vector<ExpectedStep>& expected, const Listing& listing,
                        int first_mark, int last_mark, int own, const Manner& manner);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_ORACLE_H_
