// Byte k of rank r's contribution is a hash of (seed, r, k).
#include "tests/mpi/gather.h"

#include "tests/mpi/buffer.h"

namespace quadrille::mpi {
namespace {

uint8_t data_byte(unsigned seed, int rank, int64_t k) {
  return static_cast<uint8_t>(
      mix(mix(seed + 5) + (static_cast<uint64_t>(rank) << 40) + static_cast<uint64_t>(k)));
}

std::string describe(const Exchange& e, const std::string& what) {
  return what + ", seed " + std::to_string(e.seed) + ", rank " + std::to_string(rank_in(e.comm));
}

int call(const Exchange& e, bool uniform, const void* from, int64_t send_count,
         MPI_Datatype send_type, void* to, const Side& receive, MPI_Datatype receive_type) {
  const int count = static_cast<int>(send_count);
  const int64_t each = receive.counts[0];
  if (uniform && e.entry == Entry::kInt)
    return quadrille_allgather(e.schedule, from, count, send_type, to, static_cast<int>(each),
                               receive_type, e.comm);
  if (uniform)
    return quadrille_allgather_c(e.schedule, from, send_count, send_type, to, each, receive_type,
                                 e.comm);
  if (e.entry == Entry::kInt)
    return quadrille_allgatherv(e.schedule, from, count, send_type, to,
                                as<int>(receive.counts).data(),
                                as<int>(receive.displacements).data(), receive_type, e.comm);
  return quadrille_allgatherv_c(e.schedule, from, send_count, send_type, to,
                                as<MPI_Count>(receive.counts).data(),
                                as<MPI_Aint>(receive.displacements).data(), receive_type, e.comm);
}

void expect_call(const Exchange& e, const std::string& what, bool uniform, const Shape& send_shape,
                 int64_t send_count, const Shape& receive_shape, const Side& receive) {
  const int own = rank_in(e.comm);
  Buffer from(send_shape, {send_count}, {0});
  Buffer to(receive_shape, receive.counts, receive.displacements);
  from.fill([&](int, int64_t k) { return data_byte(e.seed, own, k); });
  const Buffer sent = from;
  Buffer expected = to;
  expected.fill([&](int block, int64_t k) { return data_byte(e.seed, block, k); });
  EXPECT_EQ(call(e, uniform, from.address(), send_count, send_shape.type, to.address(), receive,
                 receive_shape.type),
            MPI_SUCCESS)
      << describe(e, what);
  to.expect_equal(expected, describe(e, what));
  from.expect_equal(sent, describe(e, what) + " (send buffer)");
}

void expect_call_in_place(const Exchange& e, const std::string& what, bool uniform,
                          const Shape& shape, const Side& side) {
  const int own = rank_in(e.comm);
  Buffer buffer(shape, side.counts, side.displacements);
  Buffer expected = buffer;
  for (int64_t k = 0; k < buffer.block_bytes(own); ++k)
    buffer.at(own, k) = data_byte(e.seed, own, k);
  expected.fill([&](int block, int64_t k) { return data_byte(e.seed, block, k); });
  EXPECT_EQ(
      call(e, uniform, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer.address(), side, shape.type),
      MPI_SUCCESS)
      << describe(e, what);
  buffer.expect_equal(expected, describe(e, what));
}

Side scattered_at(const Exchange& e, const Shape& shape, const Contributions& contributions) {
  const unsigned seed = e.seed * 64 + static_cast<unsigned>(rank_in(e.comm));
  return scattered(ranks_of(e.comm), shape, seed, contributions.units);
}

}  // namespace

void expect_allgather(const Exchange& e, const Shape& send, const Shape& receive, int units) {
  expect_call(e, "allgather of " + send.name + " to " + receive.name, true, send,
              int64_t{units} * send.per_unit, receive,
              in_order(ranks_of(e.comm), int64_t{units} * receive.per_unit));
}

void expect_allgather_in_place(const Exchange& e, const Shape& shape, int units) {
  expect_call_in_place(e, "allgather in place of " + shape.name, true, shape,
                       in_order(ranks_of(e.comm), int64_t{units} * shape.per_unit));
}

void expect_allgatherv(const Exchange& e, const Shape& send, const Shape& receive,
                       const Contributions& contributions) {
  expect_call(e, "allgatherv of " + send.name + " to " + receive.name + ", " + contributions.name,
              false, send, int64_t{contributions.units(rank_in(e.comm))} * send.per_unit, receive,
              scattered_at(e, receive, contributions));
}

void expect_allgatherv_in_place(const Exchange& e, const Shape& shape,
                                const Contributions& contributions) {
  expect_call_in_place(e, "allgatherv in place of " + shape.name + ", " + contributions.name, false,
                       shape, scattered_at(e, shape, contributions));
}

void expect_gathers(quadrille_schedule schedule, MPI_Comm comm, unsigned seed) {
  const Shape& ints = integer_shapes()[0];
  expect_allgatherv({schedule, comm, seed, Entry::kInt}, ints, ints,
                    {"some", [](int rank) { return rank % 3 + 1; }});
}

}  // namespace quadrille::mpi
