// Packs numbers into text for page.js: variable-length integers with 7 bits a byte, low bits first, in base64.
#pragma once

#include <cstdint>
#include <string>

namespace quadrille {

class Pack {
 public:
  // Adds a number of at least 0.
  void add(int64_t number);
  // Adds any number: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
  void add_signed(int64_t number) { add(number < 0 ? -2 * number - 1 : 2 * number); }
  // Returns the packed text, in quotes.
  std::string text() const;

 private:
  std::string bytes_;
};

// Returns the text with its special characters escaped for a page or an SVG.
std::string escaped(const std::string& text);

}  // namespace quadrille
