#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace quadrille::cli {

Progress::Progress()
    : is_shown_(isatty(STDERR_FILENO) == 1), said_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { say(""); }

void Progress::say(const std::string& what) {
  if (!is_shown_) return;
  fmt::print(stderr, "\r\033[K{}", what);  // go to the line's beginning, and clear it
  std::fflush(stderr);
  said_ = std::chrono::steady_clock::now();
}

bool Progress::is_due() const {
  constexpr std::chrono::milliseconds kStands(100);
  return is_shown_ && std::chrono::steady_clock::now() - said_ >= kStands;
}

}  // namespace quadrille::cli
