// Threads of control that one scheduler runs in turn, on stacks of their own, in one thread of the system: so a run
// is the same each time it is repeated.
#ifndef QUADRILLE_TESTS_NET_FIBERS_H_
#define QUADRILLE_TESTS_NET_FIBERS_H_

#include <functional>
#include <memory>
#include <vector>

namespace quadrille::net {

struct Fiber;

class Fibers {
 public:
  // So many fibers, none of which runs yet; each will call `body` with its index.
  Fibers(int count, std::function<void(int)> body);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  // What a fiber has on its stack that did not end is forgotten.
  ~Fibers();

  // Runs a fiber until it pauses or ends.
  void resume(int index);
  bool has_ended(int index) const;
  // Goes back to who resumed this fiber.
  static void pause();
  // The fiber that runs; -1 outside of all.
  static int current();

 private:
  std::vector<std::unique_ptr<Fiber>> fibers_;
};

}  // namespace quadrille::net

#endif  // QUADRILLE_TESTS_NET_FIBERS_H_
