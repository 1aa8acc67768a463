// The reference is a rule for each byte: byte k of the block from s to t is a hash of (seed, s, t,
// k). Every other byte of a buffer is a hash of its place, and has to stay.
#include "tests/mpi/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace quadrille::mpi {
namespace {

uint64_t mix(uint64_t x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

uint8_t data_byte(unsigned seed, int source, int target, int64_t k) {
  return static_cast<uint8_t>(mix(
      mix(seed + 1) + (static_cast<uint64_t>(source) << 40 | static_cast<uint64_t>(target) << 20) +
      static_cast<uint64_t>(k)));
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
Side in_order(int ranks, int64_t count) {
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

std::string describe(const Exchange& exchange, const std::string& what) {
  return what + ", seed " + std::to_string(exchange.seed) + ", rank " +
         std::to_string(rank_in(exchange.comm));
}

int call_alltoallv(const Exchange& e, const void* from, const Side& send, MPI_Datatype send_type,
                   void* to, const Side& receive, MPI_Datatype receive_type) {
  if (e.entry == Entry::kInt)
    return quadrille_alltoallv(e.schedule, from, as<int>(send.counts).data(),
                               as<int>(send.displacements).data(), send_type, to,
                               as<int>(receive.counts).data(),
                               as<int>(receive.displacements).data(), receive_type, e.comm);
  return quadrille_alltoallv_c(e.schedule, from, as<MPI_Count>(send.counts).data(),
                               as<MPI_Aint>(send.displacements).data(), send_type, to,
                               as<MPI_Count>(receive.counts).data(),
                               as<MPI_Aint>(receive.displacements).data(), receive_type, e.comm);
}

int call_alltoall(const Exchange& e, const void* from, int64_t send_count, MPI_Datatype send_type,
                  void* to, int64_t receive_count, MPI_Datatype receive_type) {
  if (e.entry == Entry::kInt)
    return quadrille_alltoall(e.schedule, from, static_cast<int>(send_count), send_type, to,
                              static_cast<int>(receive_count), receive_type, e.comm);
  return quadrille_alltoall_c(e.schedule, from, send_count, send_type, to, receive_count,
                              receive_type, e.comm);
}

// Fills the buffers, calls, compares; `call` gets both addresses.
template <typename Call>
void expect_call(const Exchange& e, const std::string& what, const Shape& send_shape,
                 const Side& send, const Shape& receive_shape, const Side& receive,
                 const Call& call) {
  const int own = rank_in(e.comm);
  Buffer from(send_shape, send.counts, send.displacements);
  Buffer to(receive_shape, receive.counts, receive.displacements);
  from.fill([&](int block, int64_t k) { return data_byte(e.seed, own, block, k); });
  const Buffer sent = from;
  Buffer expected = to;
  expected.fill([&](int block, int64_t k) { return data_byte(e.seed, block, own, k); });
  EXPECT_EQ(call(from.address(), to.address()), MPI_SUCCESS) << describe(e, what);
  to.expect_equal(expected, describe(e, what));
  from.expect_equal(sent, describe(e, what) + " (send buffer)");
}

template <typename Call>
void expect_call_in_place(const Exchange& e, const std::string& what, const Shape& shape,
                          const Side& side, const Call& call) {
  const int own = rank_in(e.comm);
  Buffer buffer(shape, side.counts, side.displacements);
  Buffer expected = buffer;
  buffer.fill([&](int block, int64_t k) { return data_byte(e.seed, own, block, k); });
  expected.fill([&](int block, int64_t k) { return data_byte(e.seed, block, own, k); });
  EXPECT_EQ(call(buffer.address()), MPI_SUCCESS) << describe(e, what);
  buffer.expect_equal(expected, describe(e, what));
}

}  // namespace

void expect_alltoall(const Exchange& e, const Shape& send, const Shape& receive, int units) {
  const int ranks = ranks_of(e.comm);
  const int64_t sent = int64_t{units} * send.per_unit, received = int64_t{units} * receive.per_unit;
  expect_call(e, "alltoall of " + send.name + " to " + receive.name, send, in_order(ranks, sent),
              receive, in_order(ranks, received), [&](const void* from, void* to) {
                return call_alltoall(e, from, sent, send.type, to, received, receive.type);
              });
}

void expect_alltoallv(const Exchange& e, const Shape& send, const Shape& receive,
                      const Counts& counts) {
  const int ranks = ranks_of(e.comm), own = rank_in(e.comm);
  const uint64_t seed = e.seed * 64u + static_cast<unsigned>(own);
  const Side out = scattered(ranks, send, 2 * seed, [&](int r) { return counts.units(own, r); });
  const Side in =
      scattered(ranks, receive, 2 * seed + 1, [&](int r) { return counts.units(r, own); });
  expect_call(e, "alltoallv of " + send.name + " to " + receive.name + ", " + counts.name, send,
              out, receive, in, [&](const void* from, void* to) {
                return call_alltoallv(e, from, out, send.type, to, in, receive.type);
              });
}

void expect_alltoall_in_place(const Exchange& e, const Shape& shape, int units) {
  const int64_t count = int64_t{units} * shape.per_unit;
  expect_call_in_place(e, "alltoall in place of " + shape.name, shape,
                       in_order(ranks_of(e.comm), count), [&](void* buffer) {
                         return call_alltoall(e, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, count,
                                              shape.type);
                       });
}

void expect_alltoallv_in_place(const Exchange& e, const Shape& shape, const Counts& counts) {
  const int own = rank_in(e.comm);
  const Side side = scattered(ranks_of(e.comm), shape, e.seed * 64u + static_cast<unsigned>(own),
                              [&](int r) { return counts.units(own, r); });
  expect_call_in_place(e, "alltoallv in place of " + shape.name + ", " + counts.name, shape, side,
                       [&](void* buffer) {
                         return call_alltoallv(e, MPI_IN_PLACE, {}, MPI_DATATYPE_NULL, buffer, side,
                                               shape.type);
                       });
}

void expect_works(quadrille_schedule schedule, MPI_Comm comm, unsigned seed) {
  const Shape& ints = integer_shapes()[0];
  expect_alltoall({schedule, comm, seed, Entry::kInt}, ints, ints, 3);
}

bool notices_a_wrong_byte(bool beside_blocks) {
  const Shape& shape = integer_shapes()[2];
  Buffer expected(shape, {3, 1}, {2, 0});
  expected.fill([](int block, int64_t k) { return data_byte(1, block, 0, k); });
  Buffer actual = expected;
  if (beside_blocks)
    actual.raw(3) ^= 1;
  else
    actual.at(0, 5) ^= 1;
  return !(actual == expected);
}

}  // namespace quadrille::mpi
