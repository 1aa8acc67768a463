// Reads bytes from the left, numbers in their shortest form only.
#ifndef QUADRILLE_VERIFIER_CURSOR_H_
#define QUADRILLE_VERIFIER_CURSOR_H_

#include <cstdint>
#include <span>

namespace quadrille::verifier {

// After the first failure everything reads as zero.
class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool at_end() const { return next_ == bytes_.size(); }
  bool failed() const { return failed_; }
  void fail() { failed_ = true; }

  uint8_t byte() {
    if (failed_ || at_end()) {
      failed_ = true;
      return 0;
    }
    return bytes_[next_++];
  }
  uint64_t fixed(int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; ++i) value |= uint64_t{byte()} << (8 * i);
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t next = byte();
      if (failed_) return 0;
      // The tenth byte holds one bit; a last byte of zero would be a longer form of a shorter
      // number.
      if ((shift == 63 && next > 1) || (next == 0 && shift > 0)) failed_ = true;
      value |= uint64_t{next & 0x7fu} << shift;
      if (next < 0x80 || failed_) return failed_ ? 0 : value;
    }
  }
  int64_t signed_varint() {
    const uint64_t value = varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  size_t position() const { return next_; }
  std::span<const uint8_t> take(uint64_t length) {
    if (failed_ || length > bytes_.size() - next_) {
      failed_ = true;
      return {};
    }
    next_ += length;
    return bytes_.subspan(next_ - length, length);
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t next_ = 0;
  bool failed_ = false;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_CURSOR_H_
