// Tested by tests/cli/schemas_test.py.
#include "cli/json.h"

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

std::string Json::quoted(std::string_view text) {
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

Json::Json(const Members& members) : text_("{") {
  for (const auto& [name, value] : members)
    text_ += (text_.size() == 1 ? "" : ", ") + quoted(name) + ": " + value.text_;
  text_ += '}';
}

Json Json::decimal(double value, int digits) {
  Json json;
  json.text_ = fmt::format("{:.{}f}", value, digits);
  return json;
}

Json Json::lines(const std::vector<Json>& values) {
  return values.empty() ? Json(values) : list(values, "[\n", ",\n", "\n]");
}

}  // namespace quadrille::cli
