// Edge cases: wrong or unusual arguments, and scarce resources.
#include <array>
#include <deque>

#include "tests/net/jobs.h"

namespace quadrille::net::edges_test {

std::vector<Scheduled> exchanges() {
  return {exchanging("factor", {4}), exchanging("spread-out", {4}), exchanging("tuna", {4}, {2}),
          exchanging("hierarchical-overlapped", {1, 3}, {0})};
}

// ---- A rank's own block

MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

// Returns a type with an int `by` bytes after an element's start, and elements `extent` bytes apart.
MPI_Datatype displaced(MPI_Aint by, MPI_Aint extent) {
  const int one = 1;
  MPI_Datatype inner, type;
  MPI_Type_create_hindexed(1, &one, &by, MPI_INT, &inner);
  MPI_Type_create_resized(inner, 0, extent, &type);
  MPI_Type_free(&inner);
  return committed(type);
}

// The send buffer is one field of an array of structs, the receive buffer another.
struct Pair {
  int out, in;
};

constexpr std::array<int, 4> kOnes = {1, 1, 1, 1}, kPlaces = {0, 1, 2, 3};

// Both buffers are the array, or both are MPI_BOTTOM and the types contain the addresses.
using CallOnPairs = std::function<int(quadrille_schedule, void* pairs, MPI_Datatype out,
                                      MPI_Datatype in, MPI_Comm)>;

void expect_pairs(bool is_at_bottom, const CallOnPairs& call) {
  for (const Scheduled& scheduled : exchanges())
    expect_everywhere(scheduled, {}, MPI_SUCCESS, [&](quadrille_schedule schedule, MPI_Comm comm) {
      std::array<Pair, 4> pairs;
      const int own = this_rank();
      for (int r = 0; r < 4; ++r) pairs[static_cast<size_t>(r)] = {100 * own + r, -1};
      MPI_Aint base = 0;
      if (is_at_bottom) MPI_Get_address(pairs.data(), &base);
      MPI_Datatype out = displaced(base, 8), in = displaced(base + 4, 8);
      const int code = call(schedule, is_at_bottom ? MPI_BOTTOM : pairs.data(), out, in, comm);
      MPI_Type_free(&out);
      MPI_Type_free(&in);
      for (int r = 0; r < 4; ++r) {
        EXPECT_EQ(pairs[static_cast<size_t>(r)].in, 100 * r + own) << "rank " << own;
        EXPECT_EQ(pairs[static_cast<size_t>(r)].out, 100 * own + r) << "rank " << own;
      }
      return code;
    });
}

TEST(OwnBlock, IsCopiedBetweenFieldsOfOneArrayInAnAllToAll) {
  expect_pairs(false, [](quadrille_schedule schedule, void* pairs, MPI_Datatype out,
                         MPI_Datatype in, MPI_Comm comm) {
    return quadrille_alltoall(schedule, pairs, 1, out, pairs, 1, in, comm);
  });
}

TEST(OwnBlock, IsCopiedBetweenFieldsOfOneArrayInAPersistentAllToAll) {
  expect_pairs(false, [](quadrille_schedule schedule, void* pairs, MPI_Datatype out,
                         MPI_Datatype in, MPI_Comm comm) {
    quadrille_request request;
    int code =
        quadrille_alltoallv_init(schedule, pairs, kOnes.data(), kPlaces.data(), out, pairs,
                                 kOnes.data(), kPlaces.data(), in, comm, MPI_INFO_NULL, &request);
    if (code != MPI_SUCCESS) return code;
    code = quadrille_start(request);
    if (code == MPI_SUCCESS) code = quadrille_wait(request);
    quadrille_free_request(&request);
    return code;
  });
}

// A schedule that forwards blocks packs them, and MPICH's MPI_Pack refuses a null address for any type.
TEST(OwnBlock, IsCopiedBetweenAbsoluteTypesAtMpiBottom) {
  expect_pairs(true, [](quadrille_schedule schedule, void* pairs, MPI_Datatype out, MPI_Datatype in,
                        MPI_Comm comm) {
    return quadrille_alltoallv(schedule, pairs, kOnes.data(), kPlaces.data(), out, pairs,
                               kOnes.data(), kPlaces.data(), in, comm);
  });
}

// The send buffer's address is that of the rank's block in the receive buffer, but the type's data is behind this
// block. If the runtime did not copy it, all ranks would get an unset block.
TEST(OwnBlock, IsCopiedFromADisplacedTypeInAnAllgather) {
  for (const char* name : {"linear-ring", "recursive-doubling"})
    expect_everywhere(
        gathering(name, {4}), {}, MPI_SUCCESS, [](quadrille_schedule schedule, MPI_Comm comm) {
          std::array<int, 5> buffer = {-1, -1, -1, -1, 70 + this_rank()};
          MPI_Datatype type = displaced(4 * (4 - this_rank()), 4);
          const int code = quadrille_allgather(schedule, &buffer[static_cast<size_t>(this_rank())],
                                               1, type, buffer.data(), 1, MPI_INT, comm);
          MPI_Type_free(&type);
          EXPECT_EQ(buffer, (std::array<int, 5>{70, 71, 72, 73, 70 + this_rank()}));
          return code;
        });
}

// ---- Arguments

// The call has more elements than there are addresses. It is refused, and posts nothing.
TEST(EdgeArguments, CountsThatOverflowAddressesAreRefused) {
  const std::pair<MPI_Count, MPI_Aint> huge[] = {{int64_t{1} << 62, 4},
                                                 {int64_t{1} << 24, MPI_Aint{1} << 40}};
  for (const Scheduled& scheduled : exchanges())
    for (const std::pair<MPI_Count, MPI_Aint>& one : huge)
      expect_survives([&, count = one.first, extent = one.second] {
        expect_everywhere(
            scheduled, {}, MPI_ERR_COUNT, [&](quadrille_schedule schedule, MPI_Comm comm) {
              int from = 0, to = 0;
              MPI_Datatype type = displaced(0, extent);
              const int code =
                  quadrille_alltoall_c(schedule, &from, count, type, &to, count, type, comm);
              MPI_Type_free(&type);
              return code;
            });
      });
}

// This holds even for the displacement of a single block. An empty block may have any displacement.
TEST(EdgeArguments, DisplacementsThatOverflowAddressesAreRefused) {
  for (const bool is_empty : {false, true})
    expect_everywhere(gathering("linear-ring", {2}), {}, is_empty ? MPI_SUCCESS : MPI_ERR_COUNT,
                      [&](quadrille_schedule schedule, MPI_Comm comm) {
                        const int from = 1;
                        std::array<int, 2> to{};
                        const std::array<MPI_Count, 2> counts = {1, is_empty ? 0 : 1};
                        const std::array<MPI_Aint, 2> places = {0, MPI_Aint{1} << 62};
                        const MPI_Count own = counts[static_cast<size_t>(this_rank())];
                        return quadrille_allgatherv_c(schedule, &from, own, MPI_INT, to.data(),
                                                      counts.data(), places.data(), MPI_INT, comm);
                      });
}

// A rank sends itself more or fewer bytes than it receives from itself. No other rank can see that.
TEST(EdgeArguments, BlocksOfTwoLengthsAtOneRankAreAnErrorEverywhere) {
  for (const int sent : {1, 100})
    for (const int wrong : {0, 3}) {
      const auto found = outcomes(exchanging("tuna", {5}, {2}), {},
                                  [&](quadrille_schedule schedule, MPI_Comm comm) {
                                    std::vector<int> from(500, 7), to(500, -1);
                                    const int count = this_rank() == wrong ? sent : 10;
                                    return quadrille_alltoall(schedule, from.data(), count, MPI_INT,
                                                              to.data(), 10, MPI_INT, comm);
                                  });
      std::vector<int> expected(5, MPI_ERR_OTHER);
      expected[static_cast<size_t>(wrong)] = MPI_ERR_TRUNCATE;
      EXPECT_EQ(found, expected) << sent << " at rank " << wrong;
    }
}

// An empty block needs no memory, whatever its displacement.
TEST(EdgeArguments, NoPlaceIsNeededWhereTheCountIsZero) {
  for (const Scheduled& scheduled : exchanges())
    expect_everywhere(scheduled, {}, MPI_SUCCESS, [](quadrille_schedule schedule, MPI_Comm comm) {
      std::array<int, 4> from = {1, 2, 3, 4}, to = {-1, -1, -1, -1};
      std::array<MPI_Count, 4> counts{};
      std::array<MPI_Aint, 4> places;
      places.fill(INT64_MAX / 2);
      const auto pair = static_cast<size_t>(this_rank() ^ 1);
      counts[pair] = 1;
      places[pair] = 0;
      const int code =
          quadrille_alltoallv_c(schedule, from.data(), counts.data(), places.data(), MPI_INT,
                                to.data(), counts.data(), places.data(), MPI_INT, comm);
      EXPECT_EQ(to, (std::array<int, 4>{1, -1, -1, -1}));
      return code;
    });
}

TEST(EdgeArguments, NoDatatypeIsNeededWhereTheCountIsZero) {
  for (const Scheduled& scheduled : exchanges())
    expect_everywhere(scheduled, {}, MPI_SUCCESS, [](quadrille_schedule schedule, MPI_Comm comm) {
      std::array<int, 4> from = {1, 2, 3, 4}, to = {-1, -1, -1, -1}, counts{}, places{};
      std::array<MPI_Datatype, 4> types;
      types.fill(MPI_DATATYPE_NULL);
      const auto pair = static_cast<size_t>(this_rank() ^ 1);
      counts[pair] = 1;
      types[pair] = MPI_INT;
      const int code =
          quadrille_alltoallw(schedule, from.data(), counts.data(), places.data(), types.data(),
                              to.data(), counts.data(), places.data(), types.data(), comm);
      EXPECT_EQ(to, (std::array<int, 4>{1, -1, -1, -1}));
      return code;
    });
}

TEST(EdgeArguments, ANullBufferWithACountIsAnErrorOfItsOwn) {
  std::vector<Scheduled> all = exchanges();
  all.push_back(gathering("linear-ring", {4}));
  for (const Scheduled& scheduled : all)
    for (const bool sends : {false, true})
      expect_survives([&] {
        expect_everywhere(
            scheduled, {}, MPI_ERR_BUFFER, [&](quadrille_schedule schedule, MPI_Comm comm) {
              std::array<int, 4> there{};
              const void* const from = sends ? nullptr : there.data();
              void* const to = sends ? there.data() : nullptr;
              return scheduled.program.collective == Collective::kAllgather
                         ? quadrille_allgather(schedule, from, 1, MPI_INT, to, 1, MPI_INT, comm)
                         : quadrille_alltoall(schedule, from, 1, MPI_INT, to, 1, MPI_INT, comm);
            });
      });
}

// ---- Scarce resources

int make_persistent(quadrille_schedule schedule, MPI_Comm comm, quadrille_request* request) {
  static std::array<int, 2> from, to, counts = {1, 1}, places = {0, 1};
  return quadrille_alltoallv_init(schedule, from.data(), counts.data(), places.data(), MPI_INT,
                                  to.data(), counts.data(), places.data(), MPI_INT, comm,
                                  MPI_INFO_NULL, request);
}

// Makes a persistent call on another communicator, frees the schedule, and runs `body`. Expects no problem.
template <typename Body>
void expect_freed(const Body& body) {
  const Scheduled pair = exchanging("factor", {2});
  expect_no_problem(machine_of(pair, {}), [&](MPI_Comm comm) {
    MPI_Comm other;
    quadrille_request request;
    MPI_Comm_dup(comm, &other);
    {
      const Bound bound(pair, {}, other);
      EXPECT_EQ(make_persistent(bound, other, &request), MPI_SUCCESS);
    }
    body(comm, other, request);
  });
}

// Freeing a persistent call is local. The last one on a freed communicator also frees the data kept for that
// communicator.
TEST(EdgeResources, FreeingAPersistentCallNeedsNoOtherRank) {
  expect_freed([](MPI_Comm comm, MPI_Comm& other, quadrille_request& request) {
    MPI_Comm_free(&other);
    if (this_rank() == 1) MPI_Barrier(comm);
    expect_success(quadrille_free_request(&request), "free");
    if (this_rank() == 0) MPI_Barrier(comm);
  });
}

// Each rank frees its private communicator as soon as it needs it no more.
TEST(EdgeResources, APersistentCallMayBeFreedBeforeItsCommunicatorAtOneRankAlone) {
  expect_freed([](MPI_Comm, MPI_Comm& other, quadrille_request& request) {
    if (this_rank() == 0) expect_success(quadrille_free_request(&request), "free");
    MPI_Comm_free(&other);
    if (this_rank() == 1) expect_success(quadrille_free_request(&request), "free");
  });
}

// Makes persistent calls one after another, of which rank r keeps `kept[r]`. The tags up to `most_tag` must be
// enough.
void expect_enough_tags(int most_tag, int calls, const std::array<size_t, 2>& kept) {
  const Scheduled pair = exchanging("factor", {2});
  Machine machine = machine_of(pair, {});
  machine.most_tag = most_tag;
  expect_no_problem(machine, [&](MPI_Comm comm) {
    const Bound bound(pair, {}, comm);
    std::deque<quadrille_request> requests;
    const auto free_first = [&] {
      expect_success(quadrille_free_request(&requests.front()), "free");
      requests.pop_front();
    };
    for (int i = 0; i < calls; ++i) {
      const int code = make_persistent(bound, comm, &requests.emplace_back());
      EXPECT_EQ(code, MPI_SUCCESS) << "call " << i;
      if (code != MPI_SUCCESS) return;
      if (requests.size() > kept[static_cast<size_t>(this_rank())]) free_first();
    }
    while (!requests.empty()) free_first();
  });
}

// If tags were not used again, a long run would use them all.
TEST(EdgeResources, TagsOfPersistentCallsAreUsedAgain) { expect_enough_tags(50, 100, {0, 0}); }

// Tags are used again even if some calls always exist, and if the ranks free them at different times.
TEST(EdgeResources, TagsOfPersistentCallsAreUsedAgainBesideOthers) {
  expect_enough_tags(6, 20, {1, 3});
}

// MPI libraries have only a few thousand communicators, so bindings share one.
TEST(EdgeResources, TwoSchedulesOfACommunicatorShareOnePrivateCommunicator) {
  const Scheduled one = exchanging("factor", {3}), other = gathering("linear-ring", {3});
  const Outcome outcome = simulate(machine_of(one, {}), [&](MPI_Comm comm) {
    mark(0);
    const Bound first(one, {}, comm), second(other, {}, comm);
  });
  EXPECT_EQ(outcome.text(), "");
  int made = 0;
  for (const Event& event : outcome.listings[0]) {
    if (event.kind == Event::Kind::kMark) made = 0;
    made += event.name == "create" || event.name == "dup" || event.name == "split";
  }
  EXPECT_EQ(made, 1);
}

// ---- Elements without bytes

void combine_nothing(void*, void*, int*, MPI_Datatype*) {}

int combine(Collective collective, quadrille_schedule schedule, MPI_Datatype type, MPI_Op op,
            MPI_Comm comm) {
  int in = 1, out = 2;
  const std::vector<int> counts = {3, 0, 1, 2};
  switch (collective) {
    case Collective::kReduce: return quadrille_reduce(schedule, &in, &out, 3, type, op, 1, comm);
    case Collective::kAllreduce: return quadrille_allreduce(schedule, &in, &out, 3, type, op, comm);
    case Collective::kScan: return quadrille_scan(schedule, &in, &out, 3, type, op, comm);
    case Collective::kExscan: return quadrille_exscan(schedule, &in, &out, 3, type, op, comm);
    default: return quadrille_reduce_scatter(schedule, &in, &out, counts.data(), type, op, comm);
  }
}

TEST(ElementsWithoutBytes, AreCombinedByEverySchedule) {
  for (const Collective collective :
       {Collective::kReduce, Collective::kAllreduce, Collective::kReduceScatter, Collective::kScan,
        Collective::kExscan})
    // Scans over nodes serve no ranks in another order than that of nodes.
    for (const Scheduled& scheduled :
         scheduled_on(collective, collective < Collective::kScan ? std::vector<int64_t>{1, 3}
                                                                 : std::vector<int64_t>{4}))
      for (const MPI_Aint extent : {0, 16})
        expect_everywhere(scheduled, {.block_size = 5}, MPI_SUCCESS,
                          [&](quadrille_schedule schedule, MPI_Comm comm) {
                            MPI_Datatype empty, type;
                            MPI_Op op;
                            MPI_Type_contiguous(0, MPI_INT, &empty);
                            MPI_Type_create_resized(empty, 0, extent, &type);
                            MPI_Type_free(&empty);
                            MPI_Type_commit(&type);
                            MPI_Op_create(combine_nothing, 1, &op);
                            const int code = combine(collective, schedule, type, op, comm);
                            MPI_Type_free(&type);
                            return code;
                          });
}

}  // namespace quadrille::net::edges_test
