// Buffers of blocks whose every byte is known, and where their blocks lie.
#ifndef QUADRILLE_TESTS_MPI_BUFFER_H_
#define QUADRILLE_TESTS_MPI_BUFFER_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tests/mpi/exchange.h"

namespace quadrille::mpi {

inline uint64_t mix(uint64_t x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

// Blocks of one shape in memory, with room around all of them that nobody may touch.
class Buffer {
 public:
  Buffer(const Shape& shape, std::vector<int64_t> counts, std::vector<int64_t> displacements)
      : shape_(shape), counts_(std::move(counts)), displacements_(std::move(displacements)) {
    const auto [least, most] = std::minmax_element(shape.offsets.begin(), shape.offsets.end());
    int64_t last = 0;
    for (size_t b = 0; b < counts_.size(); ++b)
      last = std::max(last, displacements_[b] + counts_[b]);
    origin_ = kGuard - std::min<ptrdiff_t>(*least, 0);
    bytes_.resize(static_cast<size_t>(origin_ + last * shape.extent + *most + kGuard));
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<uint8_t>(mix(i + 77));
  }

  void* address() { return bytes_.data() + origin_; }
  int64_t block_bytes(int block) const {
    return counts_[static_cast<size_t>(block)] * static_cast<int64_t>(shape_.offsets.size());
  }
  // Byte k of a block, packed.
  uint8_t& at(int block, int64_t k) {
    const int64_t size = static_cast<int64_t>(shape_.offsets.size());
    const int64_t element = displacements_[static_cast<size_t>(block)] + k / size;
    return bytes_.at(static_cast<size_t>(origin_ + element * shape_.extent +
                                         shape_.offsets[static_cast<size_t>(k % size)]));
  }
  template <typename Byte>
  void fill(const Byte& byte) {
    for (int b = 0; b < static_cast<int>(counts_.size()); ++b)
      for (int64_t k = 0; k < block_bytes(b); ++k) at(b, k) = byte(b, k);
  }
  std::vector<int64_t> counts() const { return counts_; }
  std::vector<int64_t> displacements() const { return displacements_; }

  void expect_equal(const Buffer& expected, const std::string& what) const {
    ASSERT_EQ(bytes_.size(), expected.bytes_.size());
    if (bytes_ == expected.bytes_) return;
    const auto wrong = std::mismatch(bytes_.begin(), bytes_.end(), expected.bytes_.begin()).first;
    ADD_FAILURE() << what << ": byte " << wrong - bytes_.begin() - origin_
                  << " of the buffer is wrong";
  }
  // Its bytes among others', and the place of its first element there.
  void append_to(Bytes& others) const { others.insert(others.end(), bytes_.begin(), bytes_.end()); }
  void take_from(const Bytes& others, size_t start) {
    std::copy_n(others.begin() + static_cast<ptrdiff_t>(start), bytes_.size(), bytes_.begin());
  }
  ptrdiff_t first_element() const { return origin_ + displacements_[0] * shape_.extent; }
  bool operator==(const Buffer& other) const { return bytes_ == other.bytes_; }
  uint8_t& raw(size_t i) { return bytes_.at(i); }

 private:
  static constexpr ptrdiff_t kGuard = 64;
  const Shape shape_;
  std::vector<int64_t> counts_, displacements_;  // in elements
  ptrdiff_t origin_ = 0;
  Bytes bytes_;
};

struct Side {
  std::vector<int64_t> counts, displacements;
};

// Blocks one after the other, as MPI_Alltoall has them.
inline Side in_order(int ranks, int64_t count) {
  Side side;
  for (int r = 0; r < ranks; ++r) {
    side.counts.push_back(count);
    side.displacements.push_back(r * count);
  }
  return side;
}

// Blocks in an order of their own, with gaps of up to two elements.
template <typename Units>
Side scattered(int ranks, const Shape& shape, uint64_t seed, const Units& units) {
  Side side;
  std::vector<size_t> order(static_cast<size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(mix(seed * 1000 + a), a) < std::pair(mix(seed * 1000 + b), b);
  });
  side.displacements.resize(order.size());
  for (int r = 0; r < ranks; ++r) side.counts.push_back(int64_t{units(r)} * shape.per_unit);
  int64_t next = static_cast<int64_t>(mix(seed) % 3);
  for (const size_t block : order) {
    side.displacements[block] = next;
    next += side.counts[block] + static_cast<int64_t>(mix(seed + block) % 3);
  }
  return side;
}

template <typename To>
std::vector<To> as(const std::vector<int64_t>& values) {
  return std::vector<To>(values.begin(), values.end());
}

}  // namespace quadrille::mpi

#endif  // QUADRILLE_TESTS_MPI_BUFFER_H_
