// Bad input gives a value: a Result<T> is a T or an Error. The message of an Error is one sentence that says what is
// wrong, where, and how to mend it. A bug in the code makes check() abort instead.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace quadrille {

struct Error {
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  const Error& error() const { return std::get<Error>(state_); }
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const T& operator*() const { return value(); }
  T& operator*() { return value(); }

 private:
  std::variant<T, Error> state_;
};

// Checks an invariant of the code itself. Prints the message and aborts if it does not hold.
inline void check(bool holds, const char* message) {
  if (holds) return;
  std::fprintf(stderr, "quadrille: internal error: %s\n", message);
  std::abort();
}

}  // namespace quadrille
