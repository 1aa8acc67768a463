// Sanitized builds are about ten times slower. So tests with very many cases take only every n-th one in sanitized
// builds. Tests with even more cases do so in all builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace quadrille {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
inline constexpr int kThinning = kSanitized ? 16 : 1;

// Returns a number from the environment, such as SEED or PROGRAMS, or `otherwise` if it is not set.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Returns `stride` for a test that takes one case in `stride`, or 1 if EVERY_CASE is in the environment.
inline std::size_t one_in(std::size_t stride) { return std::getenv("EVERY_CASE") ? 1 : stride; }

// Returns whether to take the next of many cases. The answers depend only on how often a rank has asked.
inline bool takes_next_of_many(bool is_slow = kSanitized) {
  static int asked = 0;
  return asked++ % one_in(is_slow ? 6 : 1) == 0;
}

}  // namespace quadrille
