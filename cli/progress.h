// What is being done, on a terminal.
#ifndef QUADRILLE_CLI_PROGRESS_H_
#define QUADRILLE_CLI_PROGRESS_H_

#include <string>

namespace quadrille::cli {

// One line on standard error that each word overwrites and that is gone in the end; nothing where that is no terminal. For
// one thread at a time.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(const std::string& what);

 private:
  bool is_shown_;
};

}  // namespace quadrille::cli

#endif  // QUADRILLE_CLI_PROGRESS_H_
