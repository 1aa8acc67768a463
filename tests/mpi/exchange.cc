// The reference is a rule for each byte: byte k of the block from s to t is a hash of (seed, s, t,
// k). Every other byte of a buffer is a hash of its place, and has to stay.
#include "tests/mpi/exchange.h"

#include <gtest/gtest.h>

#include "tests/mpi/buffer.h"

namespace quadrille::mpi {
namespace {

uint8_t data_byte(unsigned seed, int source, int target, int64_t k) {
  return static_cast<uint8_t>(mix(
      mix(seed + 1) + (static_cast<uint64_t>(source) << 40 | static_cast<uint64_t>(target) << 20) +
      static_cast<uint64_t>(k)));
}

std::string describe(const Exchange& exchange, const std::string& what) {
  return what + ", seed " + std::to_string(exchange.seed) + ", rank " +
         std::to_string(rank_in(exchange.comm));
}

// The counts and displacements are gone when it starts. `code`: of making it.
int start(int code, quadrille_request request) {
  if (code != MPI_SUCCESS) return code;
  // In place, the second start brings back what the first one sent; the third is as the first.
  for (int i = 0; i < 3 && code == MPI_SUCCESS; ++i) {
    code = quadrille_start(request);
    if (code == MPI_SUCCESS) code = quadrille_wait(request);
  }
  EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
  return code;
}

int call_alltoallv(const Exchange& e, const void* from, const Side& send, MPI_Datatype send_type,
                   void* to, const Side& receive, MPI_Datatype receive_type) {
  quadrille_request request = QUADRILLE_REQUEST_NULL;
  if (e.entry == Entry::kPersistent) {
    const int code = quadrille_alltoallv_init(
        e.schedule, from, as<int>(send.counts).data(), as<int>(send.displacements).data(),
        send_type, to, as<int>(receive.counts).data(), as<int>(receive.displacements).data(),
        receive_type, e.comm, MPI_INFO_NULL, &request);
    return start(code, request);
  }
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
  quadrille_request request = QUADRILLE_REQUEST_NULL;
  if (e.entry == Entry::kPersistent) {
    const int code =
        quadrille_alltoall_init_c(e.schedule, from, send_count, send_type, to, receive_count,
                                  receive_type, e.comm, MPI_INFO_NULL, &request);
    return start(code, request);
  }
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

// Blocks of a shape each, one after the other in memory.
class Separate {
 public:
  void add(const Shape& shape, int64_t units) {
    blocks_.emplace_back(shape, std::vector<int64_t>{units * shape.per_unit},
                         std::vector<int64_t>{static_cast<int64_t>(blocks_.size() % 2)});
    types.push_back(shape.type);
    side.counts.push_back(units * shape.per_unit);
    starts_.push_back(bytes_.size());
    side.displacements.push_back(static_cast<int64_t>(bytes_.size()) +
                                 blocks_.back().first_element());
    blocks_.back().append_to(bytes_);
  }
  template <typename Byte>
  void fill(const Byte& byte) {
    bytes_.clear();
    for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
      blocks_[static_cast<size_t>(b)].fill([&](int, int64_t k) { return byte(b, k); });
      blocks_[static_cast<size_t>(b)].append_to(bytes_);
    }
  }
  void* address() { return bytes_.data(); }
  void expect_equal(const Separate& expected, const std::string& what) {
    for (size_t b = 0; b < blocks_.size(); ++b) {
      blocks_[b].take_from(bytes_, starts_[b]);
      blocks_[b].expect_equal(expected.blocks_[b], what + ", block " + std::to_string(b));
    }
  }
  Side side;  // displacements in bytes
  std::vector<MPI_Datatype> types;

 private:
  std::vector<Buffer> blocks_;
  std::vector<size_t> starts_;
  Bytes bytes_;
};

int call_alltoallw(const Exchange& e, const void* from, const Separate* send, void* to,
                   const Separate& receive) {
  const Side none, &out = send ? send->side : none, &in = receive.side;
  const MPI_Datatype* types = send ? send->types.data() : nullptr;
  quadrille_request request = QUADRILLE_REQUEST_NULL;
  if (e.entry == Entry::kPersistent) {
    std::vector<MPI_Datatype> types_in = receive.types;
    const int code = quadrille_alltoallw_init(
        e.schedule, from, as<int>(out.counts).data(), as<int>(out.displacements).data(), types, to,
        as<int>(in.counts).data(), as<int>(in.displacements).data(), types_in.data(), e.comm,
        MPI_INFO_NULL, &request);
    types_in.assign(types_in.size(), MPI_DATATYPE_NULL);
    return start(code, request);
  }
  if (e.entry == Entry::kInt)
    return quadrille_alltoallw(
        e.schedule, from, as<int>(out.counts).data(), as<int>(out.displacements).data(), types, to,
        as<int>(in.counts).data(), as<int>(in.displacements).data(), receive.types.data(), e.comm);
  return quadrille_alltoallw_c(e.schedule, from, as<MPI_Count>(out.counts).data(),
                               as<MPI_Aint>(out.displacements).data(), types, to,
                               as<MPI_Count>(in.counts).data(),
                               as<MPI_Aint>(in.displacements).data(), receive.types.data(), e.comm);
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

void expect_alltoallw(const Exchange& e, const std::vector<Shape>& shapes, const Counts& counts) {
  const int ranks = ranks_of(e.comm), own = rank_in(e.comm);
  const auto shape = [&](int a, int b) -> const Shape& {
    return shapes[(static_cast<size_t>(3 * a + b) + e.seed) % shapes.size()];
  };
  Separate from, to;
  for (int r = 0; r < ranks; ++r) {
    from.add(shape(own, r), counts.units(own, r));
    to.add(shape(r, own + 2), counts.units(r, own));
  }
  from.fill([&](int block, int64_t k) { return data_byte(e.seed, own, block, k); });
  Separate expected = to;
  const Separate sent = from;
  expected.fill([&](int block, int64_t k) { return data_byte(e.seed, block, own, k); });
  const std::string what = describe(e, "alltoallw, " + counts.name);
  EXPECT_EQ(call_alltoallw(e, from.address(), &from, to.address(), to), MPI_SUCCESS) << what;
  to.expect_equal(expected, what);
  from.expect_equal(sent, what + " (send buffer)");
}

void expect_alltoallw_in_place(const Exchange& e, const std::vector<Shape>& shapes,
                               const Counts& counts) {
  const int own = rank_in(e.comm);
  Separate buffer;
  for (int r = 0; r < ranks_of(e.comm); ++r)
    buffer.add(shapes[(static_cast<size_t>(own + 2 * r) + e.seed) % shapes.size()],
               counts.units(own, r));
  Separate expected = buffer;
  buffer.fill([&](int block, int64_t k) { return data_byte(e.seed, own, block, k); });
  expected.fill([&](int block, int64_t k) { return data_byte(e.seed, block, own, k); });
  const std::string what = describe(e, "alltoallw in place, " + counts.name);
  EXPECT_EQ(call_alltoallw(e, MPI_IN_PLACE, nullptr, buffer.address(), buffer), MPI_SUCCESS)
      << what;
  buffer.expect_equal(expected, what);
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
