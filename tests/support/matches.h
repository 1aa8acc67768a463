// Regular expressions for tests. Those of the standard library take the compiler seconds for each file that uses them.
#ifndef QUADRILLE_TESTS_SUPPORT_MATCHES_H_
#define QUADRILLE_TESTS_SUPPORT_MATCHES_H_

#include <string>
#include <vector>

namespace quadrille {

struct Match {
  size_t at = 0;                    // where it begins
  std::vector<std::string> groups;  // first the whole match; empty if a group has not matched
};

// All matches of that POSIX extended regular expression, from the left. An expression that is wrong aborts.
std::vector<Match> matches(const std::string& text, const std::string& expression);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_MATCHES_H_
