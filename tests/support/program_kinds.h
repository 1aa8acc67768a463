// Kinds of random programs, counted: a test of random programs says how many it drew of each, and fails where one is too
// rare.
#ifndef QUADRILLE_TESTS_SUPPORT_PROGRAM_KINDS_H_
#define QUADRILLE_TESTS_SUPPORT_PROGRAM_KINDS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/support/random_programs.h"

namespace quadrille {

class KindTally {
 public:
  // A program is of several kinds.
  void add(const RandomCase& drawn, bool is_right);
  // One line a kind: its name, how many are right, how many are not.
  std::string text() const;
  // Those of which there are fewer than one in so many of all, or of which fewer than one in ten are right.
  std::vector<std::string> rare(int of_all) const;

 private:
  struct Count {
    int right = 0, wrong = 0;
  };
  int drawn_ = 0;
  std::map<std::string, Count> counts_;
};

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_PROGRAM_KINDS_H_
