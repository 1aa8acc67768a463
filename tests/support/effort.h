// Sanitized builds are some ten times slower: where a test runs over very many cases, they take
// every so many-th; where it is over very many more, all builds do.
#ifndef QUADRILLE_TESTS_SUPPORT_EFFORT_H_
#define QUADRILLE_TESTS_SUPPORT_EFFORT_H_

#include <cstddef>
#include <cstdlib>

namespace quadrille {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
inline constexpr int kThinning = kSanitized ? 16 : 1;

// Where a test takes one in so many of its cases: that number, or 1 where EVERY_CASE stands in the
// environment.
inline std::size_t one_in(std::size_t stride) { return std::getenv("EVERY_CASE") ? 1 : stride; }

// Whether the next case of many is one to take, where time is short; the same at all ranks that ask as
// often.
inline bool takes_next_of_many(bool is_slow = kSanitized) {
  static int asked = 0;
  return asked++ % one_in(is_slow ? 6 : 1) == 0;
}

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_EFFORT_H_
