// Shows a command's progress in a line on the terminal.
#pragma once

#include <chrono>
#include <string>

namespace quadrille::cli {

// One line on standard error. Each say() overwrites it, and the destructor clears it. If standard error is no terminal,
// nothing is written. Only one thread at a time may use it.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(const std::string& what);
  // Returns whether the line is shown and at least 0.1 s old. Callers that often have news ask this first.
  bool is_due() const;
  bool is_shown() const { return is_shown_; }

 private:
  bool is_shown_;
  std::chrono::steady_clock::time_point said_;
};

}  // namespace quadrille::cli
