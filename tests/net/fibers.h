// Threads of control with their own stacks, which one scheduler runs in turn in one thread of the system. So every
// repetition of a run is the same.
#ifndef QUADRILLE_TESTS_NET_FIBERS_H_
#define QUADRILLE_TESTS_NET_FIBERS_H_

#include <functional>
#include <memory>
#include <vector>

namespace quadrille::net {

struct Fiber;

class Fibers {
 public:
  // That many fibers. None runs yet; each will call `body` with its index.
  Fibers(int count, std::function<void(int)> body);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  // Forgets the stack of a fiber that did not end.
  ~Fibers();

  // Runs a fiber until it pauses or ends.
  void resume(int index);
  bool has_ended(int index) const;
  // Returns to the caller that resumed this fiber.
  static void pause();
  // The running fiber, or -1 outside of all.
  static int current();

 private:
  std::vector<std::unique_ptr<Fiber>> fibers_;
};

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_FIBERS_H_
