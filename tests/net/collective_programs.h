// Programs of all collectives, as schedules for any nodes.
#ifndef QUADRILLE_TESTS_NET_COLLECTIVE_PROGRAMS_H_
#define QUADRILLE_TESTS_NET_COLLECTIVE_PROGRAMS_H_

#include <string>
#include <vector>

#include "generator/encode.h"
#include "tests/net/collective_calls.h"
#include "tests/net/simulation.h"

namespace quadrille::net {

struct CollectiveProgram {
  std::string name;
  Program program;
  Job job;  // for any nodes
  Bytes file;
  bool takes_block_size;
  bool takes_equal_counts;  // it is for these alone

  // Whether that is what the program requires.
  bool serves(const Groups& groups) const;
};

// All of the registry and of tests/programs that are for other collectives than an all-to-all on one group, by names like
// "gather between groups tree"; some also with the claim that a call in place needs no copy.
const std::vector<CollectiveProgram>& collective_programs();
const CollectiveProgram& collective_program(const std::string& name);
// Of the program of that number, as gtest wants it.
std::string test_name(size_t program);

// How a schedule is bound, and a job run.
struct CollectiveWays {
  int window = 0;
  bool is_synchronous = false, is_eager = false;
  int64_t block_size = 0;  // where the program takes one; 0: as the file says
  unsigned seed = 0;
  bool are_ranges = false;  // two groups are ranges of the ranks of one communicator
  std::string text() const;
};

quadrille_bind_options options_of(const CollectiveProgram& program, const CollectiveWays& ways);
Machine machine_of(const CollectiveProgram& program, const Groups& groups,
                   const CollectiveWays& ways);

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_COLLECTIVE_PROGRAMS_H_
