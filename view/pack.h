// Numbers as text for a script: variable-length integers of 7 bits a byte, low ones first, in base64. page.js reads them.
#ifndef QUADRILLE_VIEW_PACK_H_
#define QUADRILLE_VIEW_PACK_H_

#include <cstdint>
#include <string>

namespace quadrille {

class Pack {
 public:
  // At least 0.
  void add(int64_t number);
  // Any number: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
  void add_signed(int64_t number) { add(number < 0 ? -2 * number - 1 : 2 * number); }
  // In quotes.
  std::string text() const;

 private:
  std::string bytes_;
};

// Text for a page or an SVG.
std::string escaped(const std::string& text);

}  // namespace quadrille

#endif  // QUADRILLE_VIEW_PACK_H_
