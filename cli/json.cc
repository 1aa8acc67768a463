// Tested by tests/cli/schemas_test.py.
#include "cli/json.h"

#include <fmt/format.h>

namespace quadrille::cli {
namespace {

// Returns how many bytes the UTF-8 character has that the text begins with, or 0 if there is none.
size_t character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Refuses characters that are longer than needed, surrogates, or above U+10FFFF.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90))
    return 0;
  return length;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const size_t length = character(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0)
      json += "\\ufffd";
    else if (first == '"' || first == '\\' || first == '<' || first < ' ')
      json += fmt::format("\\u{:04x}", first);
    else
      json += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return json + '"';
}

std::string json_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) values.push_back(json_text(text));
  return json_list(values);
}

std::string json_list(const std::vector<std::string>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string json_lines(const std::vector<std::string>& values) {
  return values.empty() ? "[]" : fmt::format("[\n{}\n]", fmt::join(values, ",\n"));
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  return this->value(name, json_text(value));
}

JsonObject& JsonObject::number(std::string_view name, std::optional<int64_t> value) {
  return this->value(name, value ? fmt::format("{}", *value) : "null");
}

JsonObject& JsonObject::decimal(std::string_view name, double value) {
  return this->value(name, fmt::format("{:.3f}", value));
}

JsonObject& JsonObject::truth(std::string_view name, bool value) {
  return this->value(name, value ? "true" : "false");
}

JsonObject& JsonObject::value(std::string_view name, std::string_view json) {
  members_ += fmt::format("{}{}: {}", members_.empty() ? "" : ", ", json_text(name), json);
  return *this;
}

}  // namespace quadrille::cli
