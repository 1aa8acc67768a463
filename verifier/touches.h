// In which steps a block's parts were used, so that a step which may be in flight together
// with one of them is found.
#ifndef QUADRILLE_VERIFIER_TOUCHES_H_
#define QUADRILLE_VERIFIER_TOUCHES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "verifier/contents.h"

namespace quadrille::verifier {

class Touches {
 public:
  // Notes a use in the step with that key, which is no less than those before in the same epoch;
  // what was before an epoch is over. Returns the key of the first earlier step above `after` that
  // has used part of the same, where one of the two writes.
  std::optional<int64_t> note(int64_t epoch, int64_t key, int64_t after, const Interval& part,
                              bool write);

 private:
  struct Step {
    int64_t key;
    bool write;
    friend bool operator==(const Step&, const Step&) = default;
  };
  struct Part {
    int64_t low, high;
    std::vector<Step> steps;  // that have used it, in their order

    void use(int64_t key, bool write);
    std::optional<int64_t> disturbed(int64_t key, int64_t after, bool write) const;
  };

  void cut(int64_t position);

  int64_t epoch_ = 0;
  std::vector<Part> parts_;  // ascending
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_TOUCHES_H_
