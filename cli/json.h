// Writes JSON documents as text. cli/schemas describes the documents that commands print.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quadrille::cli {

// A value. Commands convert numbers, texts, lists and absent values to it, and list the members of an object in their
// order: Json{{"schema", 1}, {"files", names}, {"root", std::nullopt}}.
class Json {
 public:
  using Member = std::pair<std::string, Json>;
  using Members = std::vector<Member>;

  Json(std::nullopt_t = std::nullopt) : text_("null") {}
  template <std::integral T>
  Json(T value) : text_(fmt::format("{}", value)) {}
  template <std::convertible_to<std::string_view> T>
  Json(const T& text) : text_(quoted(text)) {}
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}
  template <class T>
  Json(const std::vector<T>& values) : Json(list(values, "[", ", ", "]")) {}
  Json(const Members& members);
  Json(std::initializer_list<Member> members) : Json(Members(members)) {}

  static Json decimal(double value, int digits = 3);
  // Returns a list with a line for each value.
  static Json lines(const std::vector<Json>& values);

  const std::string& text() const { return text_; }

 private:
  // Quotes a text. The result is safe in a script of an HTML page. Bytes that are not UTF-8 become U+FFFD.
  static std::string quoted(std::string_view text);

  template <class T>
  static Json list(const std::vector<T>& values, const char* begin, const char* between,
                   const char* end) {
    Json all;
    all.text_ = begin;
    for (size_t i = 0; i < values.size(); ++i)
      all.text_ += (i == 0 ? "" : between) + Json(values[i]).text_;
    all.text_ += end;
    return all;
  }

  std::string text_;
};

inline Json::Members operator+(Json::Members first, const Json::Members& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

}  // namespace quadrille::cli
