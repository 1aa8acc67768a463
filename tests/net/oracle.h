// Computes the posts that a rank must make, by the walk of schedule/ and without the runtime, and checks them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/walk.h"
#include "tests/net/simulation.h"

namespace quadrille::net {

struct ExpectedMessage {
  bool receives;
  int peer;  // its rank in the communicator
  int64_t bytes;
  int64_t pieces;  // number of pieces; a token has none
};

struct ExpectedStep {
  Key key;
  Key after;  // the step sends only when earlier steps up to this key are complete
  std::vector<ExpectedMessage> messages;
};

// One list of steps for each rank of the communicator, in the order of keys.
using Expected = std::vector<std::vector<ExpectedStep>>;

// A program that is bound to its job and ready for walks.
struct Walked {
  Walked(const Program& program, const Job& job, const Call& call);
  Program program;
  Binding binding;
  int64_t ranks;
};

// Returns the length of a block, from rank to rank of the schedule. In an allgather both are the block's owner.
using Lengths = std::function<int64_t(Rank source, Rank target)>;

// Returns the posts of every rank. `real` has the communicator's rank for each rank of the schedule.
Expected expect_posts(const Walked& walked, const std::vector<int>& real, const Lengths& lengths);

// The manner in which a call posts.
struct Manner {
  int window = 16;
  bool is_synchronous = false;
  // The receiver does not know lengths. They may travel ahead or in the message, and empty messages may be left out.
  bool has_heads = false;
  // Steps are in flight as a whole, and complete only when their sends are complete, too. Otherwise the window limits
  // sends and receives separately, and `after` waits for received data alone.
  bool has_whole_steps = true;
  MPI_Comm users = MPI_COMM_NULL;  // no message may use this communicator
};

// Returns the error in one rank's posts between two marks, or an empty text. Messages of the rank to itself are
// ignored.
std::string check_posts(const std::vector<ExpectedStep>& expected, const Listing& listing,
                        int first_mark, int last_mark, int own, const Manner& manner);

}  // namespace quadrille::net
