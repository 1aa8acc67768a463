#include "tests/support/property.h"

#include <rapidcheck.h>

namespace quadrille {

bool holds(const std::string& what, const std::function<void()>& property) {
  return rc::check(what, property);
}

int64_t drawn(int64_t low, int64_t high) { return *rc::gen::inRange(low, high); }

std::vector<int64_t> drawn_list(int64_t length, int64_t low, int64_t high) {
  return *rc::gen::container<std::vector<int64_t>>(length, rc::gen::inRange(low, high));
}

std::vector<int64_t> drawn_list(int64_t low, int64_t high) {
  return *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::inRange(low, high)));
}

void require(bool condition, const char* what, const char* file, int line) {
  if (!condition) RC_FAIL(std::string(what) + " at " + file + ":" + std::to_string(line));
}

}  // namespace quadrille
