#include "view/pack.h"

namespace quadrille {

void Pack::add(int64_t number) {
  auto rest = static_cast<uint64_t>(number);
  for (; rest >= 128; rest >>= 7) bytes_ += static_cast<char>(128 | (rest & 127));
  bytes_ += static_cast<char>(rest);
}

std::string Pack::text() const {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = "\"";
  for (size_t i = 0; i < bytes_.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes_.size() ? static_cast<uint8_t>(bytes_[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      text += i + k <= bytes_.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text + '"';
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

}  // namespace quadrille
