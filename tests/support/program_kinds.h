// Counts kinds of random programs. A test of random programs says how many it drew of each kind, and fails if one is
// too rare.
#ifndef QUADRILLE_TESTS_SUPPORT_PROGRAM_KINDS_H_
#define QUADRILLE_TESTS_SUPPORT_PROGRAM_KINDS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/support/random_programs.h"

namespace quadrille {

class KindTally {
 public:
  // Adds a program, which is of several kinds.
  void add(const RandomCase& drawn, bool is_right);
  // One line per kind: its name, the number of correct programs, and that of others.
  std::string text() const;
  // Kinds with fewer than one program in `of_all`, or with fewer than one in ten of theirs correct.
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
