// The kinds of calls. What differs from call to call (types, counts, places) is drawn from the seed.
#include <gtest/gtest.h>

#include "tests/mpi/buffer.h"
#include "tests/mpi/gather.h"
#include "tests/net/jobs.h"

namespace quadrille::net {
namespace {

using mpi::Buffer;
using mpi::Counts;
using mpi::Entry;
using mpi::Exchange;
using mpi::Shape;

uint8_t data_byte(unsigned seed, int source, int target, int64_t k) {
  return static_cast<uint8_t>(mpi::mix(mpi::mix(seed + 11) + (static_cast<uint64_t>(source) << 40) +
                                       (static_cast<uint64_t>(target) << 20) +
                                       static_cast<uint64_t>(k)));
}

const Shape& any_shape(unsigned seed, unsigned salt, bool mixed) {
  const std::vector<Shape>& shapes = mixed ? mpi::mixed_shapes() : mpi::integer_shapes();
  // The last of the integers takes much memory.
  const size_t some = shapes.size() - (!mixed && seed % 16 != 0);
  return shapes[mpi::mix(seed * 16 + salt) % some];
}

// From rank to rank: some none, some of one length, some with few blocks at all; in both directions the same where
// a call in place asks for it.
Counts any_counts(unsigned seed, bool is_symmetric) {
  const unsigned kind = static_cast<unsigned>(mpi::mix(seed + 1000) % 4);
  return {"counts of kind " + std::to_string(kind), [=](int source, int target) {
            if (is_symmetric && source > target) std::swap(source, target);
            const uint64_t drawn = mpi::mix(seed + 64u * static_cast<unsigned>(source) +
                                            4096u * static_cast<unsigned>(target));
            switch (kind) {
              case 0: return static_cast<int>(drawn % 5);
              case 1: return drawn % 3 == 0 ? static_cast<int>(drawn / 3 % 9) : 0;
              case 2: return 3;
              default: return source == 0 && target > 0 ? 7 : static_cast<int>(drawn % 2);
            }
          }};
}

// One persistent call: its buffers and its request.
class Persistent {
 public:
  Persistent(const Exchange& e, unsigned seed, const Counts& counts, bool in_place)
      : own_(mpi::rank_in(e.comm)),
        in_place_(in_place),
        send_shape_(any_shape(seed, 1, false)),
        shape_(any_shape(seed, 2, false)),
        out_(side(e, seed, send_shape_, 0, [&](int r) { return counts.units(own_, r); })),
        in_(side(e, seed, shape_, 1, [&](int r) { return counts.units(r, own_); })),
        from_(send_shape_, out_.counts, out_.displacements),
        to_(shape_, in_.counts, in_.displacements) {
    const auto ints = [](const std::vector<int64_t>& values) { return mpi::as<int>(values); };
    EXPECT_EQ(quadrille_alltoallv_init(e.schedule, in_place ? MPI_IN_PLACE : from_.address(),
                                       ints(out_.counts).data(), ints(out_.displacements).data(),
                                       send_shape_.type, to_.address(), ints(in_.counts).data(),
                                       ints(in_.displacements).data(), shape_.type, e.comm,
                                       MPI_INFO_NULL, &request_),
              MPI_SUCCESS);
  }
  void start(unsigned seed) {
    seed_ = seed;
    const auto to_be_sent = [&](int block, int64_t k) { return data_byte(seed, own_, block, k); };
    to_.fill([](int, int64_t) { return uint8_t{0x33}; });
    (in_place_ ? to_ : from_).fill(to_be_sent);
    EXPECT_EQ(quadrille_start(request_), MPI_SUCCESS);
  }
  void wait() {
    EXPECT_EQ(quadrille_wait(request_), MPI_SUCCESS);
    Buffer expected(shape_, in_.counts, in_.displacements);
    expected.fill([&](int block, int64_t k) { return data_byte(seed_, block, own_, k); });
    to_.expect_equal(expected, "a persistent call, rank " + std::to_string(own_));
  }
  void free() { EXPECT_EQ(quadrille_free_request(&request_), MPI_SUCCESS); }

 private:
  template <typename Units>
  static mpi::Side side(const Exchange& e, unsigned seed, const Shape& shape, unsigned salt,
                        const Units& units) {
    const uint64_t own = static_cast<uint64_t>(mpi::rank_in(e.comm));
    return mpi::scattered(mpi::ranks_of(e.comm), shape, 64 * seed + 2 * own + salt, units);
  }
  int own_;
  bool in_place_;
  const Shape &send_shape_, &shape_;
  mpi::Side out_, in_;
  Buffer from_, to_;
  quadrille_request request_ = QUADRILLE_REQUEST_NULL;
  unsigned seed_ = 0;
};

void start_three_times(const Exchange& e, const Counts& counts, bool in_place, int first_mark) {
  Persistent call(e, e.seed, counts, in_place);
  for (unsigned i = 0; i < 3; ++i) {
    mark(first_mark + static_cast<int>(2 * i));
    call.start(e.seed + i);
    call.wait();
    EXPECT_TRUE(mark(first_mark + static_cast<int>(2 * i) + 1));
  }
  call.free();
}

// Two under way at once, in both orders.
void start_two(const Exchange& e, const Counts& counts, const Counts& others) {
  Persistent a(e, e.seed, counts, false), b(e, e.seed + 1, others, false);
  a.start(e.seed + 2);
  b.start(e.seed + 3);
  a.wait();
  b.wait();
  b.start(e.seed + 4);
  a.start(e.seed + 5);
  b.wait();
  a.wait();
  a.free();
  b.free();
}

// Between two marks.
NetCall marked(std::string name, int64_t unit_bytes, std::function<int(int, int)> units,
               std::function<void(const Exchange&)> run) {
  return {std::move(name), unit_bytes, std::move(units),
          [run = std::move(run)](const Exchange& e, int first_mark) {
            mark(first_mark);
            run(e);
            EXPECT_TRUE(mark(first_mark + 1)) << "requests are left";
          }};
}

Exchange by(Exchange e, Entry entry) {
  e.entry = entry;
  return e;
}

NetCall persistent(unsigned seed, bool in_place) {
  const Counts counts = any_counts(seed, in_place);
  return {in_place ? "persistent in place" : "persistent",
          8,
          counts.units,
          [=](const Exchange& e, int first_mark) {
            start_three_times(e, counts, in_place, first_mark);
          },
          true,
          3};
}

// Equal blocks, or those of a type each.
NetCall persistent_of_types(unsigned seed, bool in_place) {
  const Counts counts = any_counts(seed, in_place);
  const auto equal_units = [](int, int) { return 3; };
  const bool is_equal = seed % 2;
  return {"persistent, of types",
          8,
          is_equal ? std::function<int(int, int)>(equal_units) : counts.units,
          [=](const Exchange& e, int) {
            const Exchange made = by(e, Entry::kPersistent);
            const Shape &send = any_shape(seed, 1, false), &receive = any_shape(seed, 2, false);
            if (is_equal)
              in_place ? expect_alltoall_in_place(made, receive, 3)
                       : expect_alltoall(made, send, receive, 3);
            else
              in_place ? expect_alltoallw_in_place(made, mpi::integer_shapes(), counts)
                       : expect_alltoallw(made, mpi::integer_shapes(), counts);
          },
          true,
          0};
}

NetCall two_persistent(unsigned seed) {
  const Counts a = any_counts(seed, false), b = any_counts(seed + 1, false);
  return {
      "two persistent", 8, a.units, [=](const Exchange& e, int) { start_two(e, a, b); }, true, 0};
}

// A few blocks of more bytes than travel with their lengths.
NetCall large(unsigned seed) {
  const auto units = [seed](int source, int target) {
    return mpi::mix(seed + 8u * static_cast<unsigned>(source) + static_cast<unsigned>(target)) % 8
               ? 1
               : 2100;
  };
  return marked("alltoallv of large blocks", 8, units, [=](const Exchange& e) {
    // Not of columns: blocks of so many would overlap.
    const Shape& receive = mpi::integer_shapes()[seed % 7];
    expect_alltoallv(e, mpi::integer_shapes()[0], receive, {"large", units});
  });
}

NetCall equal(unsigned seed, bool in_place) {
  const bool mixed = seed % 2;
  const Shape &send = any_shape(seed, 1, mixed), &receive = any_shape(seed, 2, mixed);
  const int units = static_cast<int>(seed % 4);
  return marked(
      in_place ? "alltoall in place" : "alltoall", mixed ? 13 : 8,
      [units](int, int) { return units; },
      [&send, &receive, units, in_place](const Exchange& e) {
        in_place ? expect_alltoall_in_place(e, receive, units)
                 : expect_alltoall(e, send, receive, units);
      });
}

NetCall counted(unsigned seed, bool in_place, Entry entry) {
  const bool mixed = seed % 2;
  const Shape &send = any_shape(seed, 1, mixed), &receive = any_shape(seed, 2, mixed);
  const Counts counts = any_counts(seed, in_place);
  return marked(in_place ? "alltoallv in place" : "alltoallv", mixed ? 13 : 8, counts.units,
                [&send, &receive, counts, in_place, entry](const Exchange& e) {
                  in_place ? expect_alltoallv_in_place(by(e, entry), receive, counts)
                           : expect_alltoallv(by(e, entry), send, receive, counts);
                });
}

NetCall typed(unsigned seed, bool in_place, Entry entry) {
  const bool mixed = seed % 2;
  const std::vector<Shape>& shapes = mixed ? mpi::mixed_shapes() : mpi::integer_shapes();
  const Counts counts = any_counts(seed, in_place);
  return marked(in_place ? "alltoallw in place" : "alltoallw", mixed ? 13 : 8, counts.units,
                [&shapes, counts, in_place, entry](const Exchange& e) {
                  in_place ? expect_alltoallw_in_place(by(e, entry), shapes, counts)
                           : expect_alltoallw(by(e, entry), shapes, counts);
                });
}

NetCall gathered(unsigned seed, bool in_place, bool is_uniform, Entry entry) {
  const bool mixed = seed % 2;
  const Shape &send = any_shape(seed, 1, mixed), &receive = any_shape(seed, 2, mixed);
  const Counts drawn = any_counts(seed, false);
  const int each = static_cast<int>(seed % 4);
  const auto units = [=](int rank) { return is_uniform ? each : drawn.units(rank, rank + 1); };
  const std::string name = is_uniform ? "allgather" : "allgatherv";
  return marked(
      in_place ? name + " in place" : name, mixed ? 13 : 8,
      [units](int rank, int) { return units(rank); },
      [&send, &receive, units, each, in_place, is_uniform, entry](const Exchange& from) {
        const Exchange e = by(from, entry);
        const mpi::Contributions contributions{"some", units};
        if (is_uniform)
          in_place ? expect_allgather_in_place(e, receive, each)
                   : expect_allgather(e, send, receive, each);
        else
          in_place ? expect_allgatherv_in_place(e, receive, contributions)
                   : expect_allgatherv(e, send, receive, contributions);
      });
}

// Blocks of ints, so many ints apart whatever their counts.
constexpr int kApart = 24;

mpi::Side apart(int ranks, const std::function<int(int)>& units) {
  mpi::Side side;
  for (int r = 0; r < ranks; ++r) {
    side.counts.push_back(2 * units(r));
    side.displacements.push_back(int64_t{r} * kApart);
  }
  return side;
}

// What comes from a source: of an allgather to all alike.
void expect_at_places(const Exchange& e, const Counts& counts, bool gathers) {
  const Shape& ints = mpi::integer_shapes()[0];
  const int own = mpi::rank_in(e.comm), ranks = mpi::ranks_of(e.comm);
  const auto target = [gathers](int rank) { return gathers ? 0 : rank; };
  const mpi::Side in = apart(ranks, [&](int r) { return counts.units(r, target(own)); });
  mpi::Side out = apart(ranks, [&](int r) { return counts.units(own, r); });
  if (gathers) out = {{2 * counts.units(own, 0)}, {0}};
  Buffer from(ints, out.counts, out.displacements), to(ints, in.counts, in.displacements);
  from.fill([&](int r, int64_t k) { return data_byte(e.seed, own, target(r), k); });
  Buffer expected = to;
  expected.fill([&](int r, int64_t k) { return data_byte(e.seed, r, target(own), k); });
  const auto as_ints = [](const std::vector<int64_t>& values) { return mpi::as<int>(values); };
  const int code =
      gathers ? quadrille_allgatherv(e.schedule, from.address(), static_cast<int>(out.counts[0]),
                                     MPI_INT, to.address(), as_ints(in.counts).data(),
                                     as_ints(in.displacements).data(), MPI_INT, e.comm)
              : quadrille_alltoallv(e.schedule, from.address(), as_ints(out.counts).data(),
                                    as_ints(out.displacements).data(), MPI_INT, to.address(),
                                    as_ints(in.counts).data(), as_ints(in.displacements).data(),
                                    MPI_INT, e.comm);
  EXPECT_EQ(code, MPI_SUCCESS);
  to.expect_equal(expected, "at the same places, rank " + std::to_string(own));
}

}  // namespace

NetCall call_at_places(Collective collective, unsigned seed) {
  const bool gathers = collective == Collective::kAllgather;
  const Counts drawn = any_counts(seed, false);
  const Counts counts = {drawn.name, [=](int source, int target) {
                           return drawn.units(source, gathers ? 0 : target);
                         }};
  return marked("at the same places", 8, counts.units,
                [=](const Exchange& e) { expect_at_places(e, counts, gathers); });
}

const unsigned kAlltoallKinds = 13, kAllgatherKinds = 7;

NetCall alltoall_call(unsigned kind, unsigned seed) {
  switch (kind % kAlltoallKinds) {
    case 0: return equal(seed, false);
    case 1: return counted(seed, false, Entry::kInt);
    case 2: return counted(seed, false, Entry::kLarge);
    case 3: return typed(seed, false, Entry::kInt);
    case 4: return equal(seed, true);
    case 5: return counted(seed, true, Entry::kInt);
    case 6: return typed(seed, true, Entry::kLarge);
    case 7: return persistent(seed, false);
    case 8: return persistent(seed, true);
    case 9: return two_persistent(seed);
    case 10: return persistent_of_types(seed, false);
    case 11: return persistent_of_types(seed, true);
    default: return large(seed);
  }
}

NetCall allgather_call(unsigned kind, unsigned seed) {
  switch (kind % kAllgatherKinds) {
    case 0: return gathered(seed, false, true, Entry::kInt);
    case 1: return gathered(seed, false, false, Entry::kInt);
    case 2: return gathered(seed, false, false, Entry::kLarge);
    case 3: return gathered(seed, true, true, Entry::kInt);
    case 4: return gathered(seed, true, false, Entry::kLarge);
    case 5: return gathered(2 * seed, false, false, Entry::kInt);
    default: return gathered(2 * seed + 1, true, false, Entry::kInt);
  }
}

}  // namespace quadrille::net
