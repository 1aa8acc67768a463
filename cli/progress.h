// A line on the terminal that shows a command's progress.
#ifndef QUADRILLE_CLI_PROGRESS_H_
#define QUADRILLE_CLI_PROGRESS_H_

#include <chrono>
#include <string>

namespace quadrille::cli {

// One line on standard error. Each say() overwrites it, and the destructor clears it. If standard error is no terminal,
// nothing is written. For one thread at a time.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(const std::string& what);
  // Whether the line is shown and a tenth of a second old. Callers that change often ask first.
  bool is_due() const;
  bool is_shown() const { return is_shown_; }

 private:
  bool is_shown_;
  std::chrono::steady_clock::time_point said_;
};

}  // namespace quadrille::cli

#endif  // QUADRILLE_CLI_PROGRESS_H_
