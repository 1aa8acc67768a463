// Threads of control with their own stacks. One scheduler runs them in turn in one system thread, so a run can be
// repeated.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace quadrille::net {

struct Fiber;

class Fibers {
 public:
  // Makes `count` fibers that do not run yet. Each will call `body` with its index.
  Fibers(int count, std::function<void(int)> body);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  // Does not unwind fibers that have not ended: the objects on their stacks are never destroyed.
  ~Fibers();

  // Runs a fiber until it pauses or ends.
  void resume(int index);
  bool has_ended(int index) const;
  // Pauses the running fiber: resume() returns to its caller.
  static void pause();
  // Returns the index of the running fiber, or -1 outside fibers.
  static int current();

 private:
  std::vector<std::unique_ptr<Fiber>> fibers_;
};

}  // namespace quadrille::net
