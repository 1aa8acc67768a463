#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace quadrille::cli {

Progress::Progress() : is_shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { say(""); }

void Progress::say(const std::string& what) {
  if (!is_shown_) return;
  fmt::print(stderr, "\r\033[K{}", what);  // to its beginning, and clear it
  std::fflush(stderr);
}

}  // namespace quadrille::cli
