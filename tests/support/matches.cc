#include "tests/support/matches.h"

#include <regex.h>

#include <algorithm>
#include <cstdlib>

namespace quadrille {

std::vector<Match> matches(const std::string& text, const std::string& expression) {
  regex_t compiled;
  if (regcomp(&compiled, expression.c_str(), REG_EXTENDED) != 0) std::abort();
  std::vector<regmatch_t> found(compiled.re_nsub + 1);
  std::vector<Match> result;
  size_t from = 0;
  while (from <= text.size() && regexec(&compiled, text.c_str() + from, found.size(), found.data(),
                                        from > 0 ? REG_NOTBOL : 0) == 0) {
    Match match{from + found[0].rm_so, {}};
    for (const regmatch_t& group : found)
      match.groups.push_back(group.rm_so < 0
                                 ? std::string()
                                 : text.substr(from + group.rm_so, group.rm_eo - group.rm_so));
    from = match.at + std::max<size_t>(match.groups[0].size(), 1);
    result.push_back(std::move(match));
  }
  regfree(&compiled);
  return result;
}

}  // namespace quadrille
