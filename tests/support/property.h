// RapidCheck's properties and draws, compiled once: its templates take seconds in each file that includes them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quadrille {

// Returns whether the property holds for all values drawn. Prints the smallest failing case if not.
bool holds(const std::string& what, const std::function<void()>& property);

// Only inside a property: return a number in [low, high), `length` such numbers, and a list of at least one.
int64_t drawn(int64_t low, int64_t high);
std::vector<int64_t> drawn_list(int64_t length, int64_t low, int64_t high);
std::vector<int64_t> drawn_list(int64_t low, int64_t high);

template <typename T, typename... More>
T drawn_of(const T& one, const More&... more) {
  return std::vector<T>{one, T(more)...}[drawn(0, 1 + sizeof...(more))];
}

inline bool drawn_bool() { return drawn(0, 2) == 1; }

// Fails the case if the condition does not hold.
void require(bool condition, const char* what, const char* file, int line);

}  // namespace quadrille

#define REQUIRE(...) ::quadrille::require((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define PROPERTY(Suite, Name)                                                              \
  void property_##Suite##_##Name();                                                        \
  TEST(Suite, Name) { EXPECT_TRUE(::quadrille::holds(#Name, property_##Suite##_##Name)); } \
  void property_##Suite##_##Name()
