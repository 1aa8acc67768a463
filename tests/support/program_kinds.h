// Counts kinds of random programs. A test prints how many it drew of each, and fails if one is too rare.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/random_programs.h"

namespace quadrille {

class KindTally {
 public:
  // Counts a program for each of its kinds.
  void add(const RandomCase& drawn, bool is_right);
  // Returns a line for each kind: its name, the number of its right programs, and of its wrong ones.
  std::string text() const;
  // Returns the kinds with fewer than one program in `of_all`, or with fewer than one in ten of theirs right.
  std::vector<std::string> rare(int of_all) const;

 private:
  struct Count {
    int right = 0, wrong = 0;
  };
  int drawn_ = 0;
  std::map<std::string, Count> counts_;
};

}  // namespace quadrille
