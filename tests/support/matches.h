// Regular expressions for tests. The compiler needs seconds for each file that uses those of the standard library.
#pragma once

#include <string>
#include <vector>

namespace quadrille {

struct Match {
  size_t at = 0;                    // where the match begins
  std::vector<std::string> groups;  // the whole match first; a group that has not matched is empty
};

// Returns all matches of a POSIX extended regular expression, from left to right. Aborts if the expression is wrong.
std::vector<Match> matches(const std::string& text, const std::string& expression);

}  // namespace quadrille
