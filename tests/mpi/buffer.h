// Datatypes, and buffers of blocks whose every byte is known, also beside the blocks.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace quadrille::mpi {

// A datatype that MPI made, and its layout as a list of byte offsets.
struct Shape {
  std::string name;
  MPI_Datatype type;
  int per_unit;                    // elements in a unit; the units of a family have one signature
  std::vector<ptrdiff_t> offsets;  // of each byte in packed order, from the element's address
  ptrdiff_t extent;

  int64_t bytes() const { return static_cast<int64_t>(offsets.size()); }
  ptrdiff_t least() const { return *std::ranges::min_element(offsets); }
  ptrdiff_t most() const { return *std::ranges::max_element(offsets) + 1; }
};

// Two families of shapes. Any shape of a family can send what another one receives.
const std::vector<Shape>& integer_shapes();  // a unit is two ints
const std::vector<Shape>& mixed_shapes();    // a unit is a char, a double and an int

// The elements of reductions, with and without gaps, and with commutative and non-commutative operators.
struct Element {
  Shape shape;
  MPI_Op operation;
  bool commutes;
  // Takes one packed element each: sets `right` to left op right.
  void (*combine)(const uint8_t* left, uint8_t* right);
};
const std::vector<Element>& elements();

inline uint64_t mix(uint64_t x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

// The bytes that one place has for another. Most of the tests' time goes to making and comparing them.
class Contents {
 public:
  Contents(unsigned seed, int source, int target)
      : start_(mix(seed * 0x9e3779b97f4a7c15u +
                   static_cast<uint64_t>(64 * source + target) * 0xd1342543de82ef95u)) {}
  [[gnu::always_inline]] uint8_t operator[](size_t k) const {
    uint64_t x = (start_ + k) * 0x7fb5d329728ea185u;
    x = (x ^ x >> 32) * 0x81dadef4bc2dd44du;
    return static_cast<uint8_t>(x >> 56);
  }

 private:
  uint64_t start_;
};

// Where the blocks of a buffer are. Block b has counts[b] elements of shapes[b]. Its first element is bytes[b] bytes
// after the buffer's address.
struct Layout {
  std::vector<const Shape*> shapes;
  std::vector<int64_t> counts, bytes;

  size_t blocks() const { return counts.size(); }
  // Returns the displacements in elements. All blocks must have one shape.
  std::vector<int64_t> displacements() const {
    std::vector<int64_t> result;
    for (size_t b = 0; b < blocks(); ++b) result.push_back(bytes[b] / shapes[b]->extent);
    return result;
  }
};

// Returns a layout of blocks in order, whose first elements are `apart` elements apart.
inline Layout in_order(const Shape& shape, const std::vector<int64_t>& units, int64_t apart) {
  Layout layout{std::vector<const Shape*>(units.size(), &shape), {}, {}};
  for (size_t b = 0; b < units.size(); ++b) {
    layout.counts.push_back(units[b] * shape.per_unit);
    layout.bytes.push_back(static_cast<int64_t>(b) * apart * shape.extent);
  }
  return layout;
}

// Returns a layout of blocks in random order, with gaps of up to two elements.
inline Layout scattered(const std::vector<const Shape*>& shapes, const std::vector<int64_t>& units,
                        uint64_t seed) {
  Layout layout{shapes, {}, std::vector<int64_t>(units.size())};
  std::vector<size_t> order(units.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return std::pair(mix(seed * 1000 + a), a) < std::pair(mix(seed * 1000 + b), b);
  });
  for (size_t b = 0; b < units.size(); ++b) layout.counts.push_back(units[b] * shapes[b]->per_unit);
  const bool is_one = std::equal(shapes.begin() + 1, shapes.end(), shapes.begin());
  int64_t next = static_cast<int64_t>(mix(seed) % 3) * shapes[0]->extent;
  for (const size_t b : order) {
    const Shape& shape = *shapes[b];
    const int64_t count = layout.counts[b];
    // Blocks of one shape may interlock. Blocks of different shapes must not overlap, so they follow one another.
    layout.bytes[b] = is_one ? next : next - shape.least();
    if (is_one)
      next += count * shape.extent;
    else if (count > 0)
      next += (count - 1) * shape.extent + shape.most() - shape.least();
    next += static_cast<int64_t>(mix(seed + b) % 3) * shape.extent;
  }
  return layout;
}

// Memory with the blocks of a layout, and guard bytes around them that no call may touch.
class Buffer {
 public:
  explicit Buffer(const Layout& layout) : layout_(layout) {
    int64_t low = 0, high = 0;
    for (size_t b = 0; b < layout.blocks(); ++b) {
      if (layout.counts[b] == 0) continue;
      const Shape& shape = *layout.shapes[b];
      low = std::min(low, layout.bytes[b] + shape.least());
      high = std::max(high, layout.bytes[b] + (layout.counts[b] - 1) * shape.extent + shape.most());
    }
    origin_ = kGuard - low;
    bytes_.resize(static_cast<size_t>(origin_ + high + kGuard));
    spoil();
  }

  // Overwrites the buffer with bytes that no block has.
  void spoil() {
    static const std::vector<uint8_t> kNoise = [] {
      std::vector<uint8_t> noise(4099);
      for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<uint8_t>(mix(i + 77));
      return noise;
    }();
    for (size_t i = 0; i < bytes_.size(); i += kNoise.size())
      std::copy_n(kNoise.begin(), std::min(kNoise.size(), bytes_.size() - i),
                  bytes_.begin() + static_cast<ptrdiff_t>(i));
  }

  void* address() { return bytes_.data() + origin_; }
  int blocks() const { return static_cast<int>(layout_.blocks()); }
  int64_t block_bytes(int block) const {
    const auto b = static_cast<size_t>(block);
    return layout_.counts[b] * layout_.shapes[b]->bytes();
  }
  // Visits the first `bytes` bytes of a block in packed order, and calls visit(byte, index) for each.
  template <typename Visit>
  void each(int block, int64_t bytes, const Visit& visit) {
    const auto b = static_cast<size_t>(block);
    const Shape& shape = *layout_.shapes[b];
    uint8_t* element = bytes_.data() + origin_ + layout_.bytes[b];
    for (size_t k = 0; k < static_cast<size_t>(bytes); element += shape.extent)
      for (size_t i = 0; i < shape.offsets.size() && k < static_cast<size_t>(bytes); ++i)
        visit(element[shape.offsets[i]], k++);
  }
  // Fills each block with the contents that `of` returns for it.
  template <typename Of>
  void fill(const Of& of) {
    for (int b = 0; b < blocks(); ++b) fill(b, of(b));
  }
  void fill(int block, const Contents& contents) {
    each(block, block_bytes(block), [&](uint8_t& at, size_t k) { at = contents[k]; });
  }
  // Copies the first `bytes` bytes of a block from a buffer of the same layout.
  void take(Buffer& from, int block, int64_t bytes) {
    each(block, bytes, [&](uint8_t& at, size_t) { at = from.bytes_[place_of(at)]; });
  }

  // Expects all bytes to be equal, those beside the blocks too. Reports the first difference as a failure.
  void expect_equal(const Buffer& expected, const std::string& what) const {
    ASSERT_EQ(bytes_.size(), expected.bytes_.size());
    if (bytes_ == expected.bytes_) return;
    const auto wrong = std::mismatch(bytes_.begin(), bytes_.end(), expected.bytes_.begin()).first;
    ADD_FAILURE() << what << ": byte " << wrong - bytes_.begin() - origin_
                  << " of the buffer is wrong";
  }
  uint8_t& raw(size_t i) { return bytes_.at(i); }

 private:
  size_t place_of(const uint8_t& byte) const { return static_cast<size_t>(&byte - bytes_.data()); }

  static constexpr ptrdiff_t kGuard = 64;
  Layout layout_;
  ptrdiff_t origin_ = 0;
  std::vector<uint8_t> bytes_;
};

template <typename To>
std::vector<To> as(const std::vector<int64_t>& values) {
  return std::vector<To>(values.begin(), values.end());
}

}  // namespace quadrille::mpi
