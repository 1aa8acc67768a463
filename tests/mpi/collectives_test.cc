// Every collective by every schedule of the folder `collectives`, byte for byte what the MPI library itself does:
// counts from 0 up, even and uneven, all kinds of datatypes and operators, in place, with the root at every rank
// and in either group; each way to split the world in two groups.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>

#include "tests/mpi/settings.h"
#include "tests/support/effort.h"

namespace quadrille::mpi {
namespace {

// Each third of our calls is a persistent one; which, is the same at all ranks.
template <typename... Arguments>
int call_ours(auto now, auto init, quadrille_schedule schedule, MPI_Comm comm,
              const Arguments&... arguments) {
  static int calls = 0;
  if (++calls % 3 != 0) return now(schedule, arguments..., comm);
  quadrille_request request;
  int code = init(schedule, arguments..., comm, MPI_INFO_NULL, &request);
  if (code != MPI_SUCCESS) return code;
  code = quadrille_start(request);
  if (code == MPI_SUCCESS) code = quadrille_wait(request);
  EXPECT_EQ(quadrille_free_request(&request), MPI_SUCCESS);
  return code;
}

// A function, by its schedule, its communicator, and what stands between.
#define OURS(name, schedule, comm, ...) call_ours(name, name##_init, schedule, comm, __VA_ARGS__)

using Call = std::function<int(bool ours, const void* from, void* to)>;

// Both ways from equal buffers must lead to equal buffers. `in_place`: there is no send buffer; `aside`: the
// library, which need not master that, gets a copy of the receive buffer as one.
void expect_same(const std::string& what, const Bytes& from, const Bytes& to, bool in_place,
                 const Call& call, bool aside = false) {
  Bytes theirs = to, ours = to, sent = from, copy = to;
  void* const given = !in_place ? sent.data() : aside ? copy.data() : MPI_IN_PLACE;
  EXPECT_EQ(call(false, given, theirs.data()), MPI_SUCCESS) << what;
  char error[256] = "";
  const int code = call(true, in_place ? MPI_IN_PLACE : sent.data(), ours.data());
  if (code != MPI_SUCCESS) quadrille_last_error(error, sizeof error);
  ASSERT_EQ(code, MPI_SUCCESS) << what << ": " << error;
  EXPECT_EQ(sent, from) << what << ": the send buffer changed";
  const auto wrong = std::mismatch(ours.begin(), ours.end(), theirs.begin()).first;
  EXPECT_TRUE(ours == theirs) << what << ", rank " << rank_in(MPI_COMM_WORLD) << ", byte "
                              << wrong - ours.begin() << " of " << ours.size()
                              << (in_place ? ", in place" : "");
}

constexpr int kCounts[] = {0, 1, 3, 40, 5000};

int uneven(int rank, unsigned seed) {
  const unsigned turn = (static_cast<unsigned>(rank) * 7 + seed) % 5;
  return turn == 0 ? 0 : turn == 1 ? 300 : static_cast<int>(turn);
}

void bcast(quadrille_schedule schedule, const Setting& s, unsigned seed) {
  for (const int root : all_roots(s))
    for (const int count : kCounts) {
      const Kind& kind = kinds()[++seed % kinds().size()];
      const Bytes buffer = elements(kind, count, seed * 100 + static_cast<unsigned>(s.rank));
      expect_same(kind.name, {}, buffer, false, [&](bool ours, const void*, void* to) {
        return ours ? OURS(quadrille_bcast, schedule, s.comm, to, count, kind.type, root)
                    : MPI_Bcast(to, count, kind.type, root, s.comm);
      });
    }
}

bool receives_at_root(const Setting& s, int root) {
  return s.groups == 2 ? root == MPI_ROOT : root == s.rank;
}

void gather(quadrille_schedule schedule, const Setting& s, unsigned seed) {
  for (const int root : all_roots(s))
    for (const int count : kCounts) {
      const Kind& kind = kinds()[++seed % kinds().size()];
      const bool is_root = receives_at_root(s, root);
      const bool in_place = s.groups == 1 && is_root && seed % 3 == 0;
      const Bytes from = elements(kind, count, seed * 100 + static_cast<unsigned>(s.rank));
      const Bytes to = noise(is_root ? static_cast<size_t>(s.peers() * count * kind.extent) : 0, 7);
      expect_same(
          "gather " + kind.name, from, to, in_place, [&](bool ours, const void* f, void* t) {
            return (ours ? OURS(quadrille_gather, schedule, s.comm, f, count, kind.type, t, count,
                                kind.type, root)
                         : MPI_Gather(f, count, kind.type, t, count, kind.type, root, s.comm));
          });
      const Displaced d = displaced(
          s.peers(), [=](int r) { return uneven(r, seed) * (count > 3); }, seed);
      const int own = uneven(s.rank, seed) * (count > 3);
      const Bytes from_v = elements(kind, own, seed * 100 + static_cast<unsigned>(s.rank));
      const Bytes to_v = noise(is_root ? static_cast<size_t>(d.room * kind.extent) : 0, 8);
      expect_same("gatherv " + kind.name, from_v, to_v, in_place,
                  [&](bool ours, const void* f, void* t) {
                    return ours ? OURS(quadrille_gatherv, schedule, s.comm, f, own, kind.type, t,
                                       d.counts.data(), d.displacements.data(), kind.type, root)
                                : MPI_Gatherv(f, own, kind.type, t, d.counts.data(),
                                              d.displacements.data(), kind.type, root, s.comm);
                  });
    }
}

void scatter(quadrille_schedule schedule, const Setting& s, unsigned seed) {
  for (const int root : all_roots(s))
    for (const int count : kCounts) {
      const Kind& kind = kinds()[++seed % kinds().size()];
      const bool is_root = receives_at_root(s, root);
      const bool in_place = s.groups == 1 && is_root && seed % 3 == 0;
      const Bytes from = elements(kind, is_root ? int64_t{s.peers()} * count : 0, seed * 100);
      const Bytes to = noise(static_cast<size_t>(count * kind.extent), 7);
      expect_same("scatter " + kind.name, from, to, false, [&](bool ours, const void* f, void* t) {
        void* const at = in_place ? MPI_IN_PLACE : t;
        return ours ? OURS(quadrille_scatter, schedule, s.comm, f, count, kind.type, at, count,
                           kind.type, root)
                    : MPI_Scatter(f, count, kind.type, at, count, kind.type, root, s.comm);
      });
      const Displaced d = displaced(
          s.peers(), [=](int r) { return uneven(r, seed) * (count > 3); }, seed);
      const int own = uneven(s.rank, seed) * (count > 3);
      const Bytes from_v = elements(kind, is_root ? d.room : 0, seed * 100);
      const Bytes to_v = noise(static_cast<size_t>(own * kind.extent), 8);
      expect_same("scatterv " + kind.name, from_v, to_v, false,
                  [&](bool ours, const void* f, void* t) {
                    void* const at = in_place ? MPI_IN_PLACE : t;
                    return ours ? OURS(quadrille_scatterv, schedule, s.comm, f, d.counts.data(),
                                       d.displacements.data(), kind.type, at, own, kind.type, root)
                                : MPI_Scatterv(f, d.counts.data(), d.displacements.data(),
                                               kind.type, at, own, kind.type, root, s.comm);
                  });
    }
}

void allgather(quadrille_schedule schedule, const Setting& s, unsigned seed, bool any_counts) {
  for (const int count : kCounts) {
    const Kind& kind = kinds()[++seed % kinds().size()];
    const Bytes from = elements(kind, count, seed * 100 + static_cast<unsigned>(s.rank));
    const Bytes to = noise(static_cast<size_t>(s.peers() * count * kind.extent), 7);
    expect_same("allgather " + kind.name, from, to, false, [&](bool ours, const void* f, void* t) {
      return ours ? OURS(quadrille_allgather, schedule, s.comm, f, count, kind.type, t, count,
                         kind.type)
                  : MPI_Allgather(f, count, kind.type, t, count, kind.type, s.comm);
    });
    if (!any_counts) continue;
    // The groups' counts have nothing to do with each other.
    const auto length = [=](int r, bool low) {
      return count == 0 ? 0 : uneven(r + (low ? 0 : 2), seed) * (count > 3 ? 20 : 1);
    };
    const bool from_low = s.groups == 2 ? !s.is_low : s.is_low;
    const Displaced d = displaced(
        s.peers(), [&](int r) { return length(r, from_low); }, seed);
    const int own = length(s.rank, s.is_low);
    const Bytes from_v = elements(kind, own, seed * 100 + static_cast<unsigned>(s.rank));
    const Bytes to_v = noise(static_cast<size_t>(d.room * kind.extent), 8);
    expect_same("allgatherv " + kind.name, from_v, to_v, false,
                [&](bool ours, const void* f, void* t) {
                  return ours ? OURS(quadrille_allgatherv, schedule, s.comm, f, own, kind.type, t,
                                     d.counts.data(), d.displacements.data(), kind.type)
                              : MPI_Allgatherv(f, own, kind.type, t, d.counts.data(),
                                               d.displacements.data(), kind.type, s.comm);
                });
  }
}

void alltoall(quadrille_schedule schedule, const Setting& s, unsigned seed) {
  for (const int count : kCounts) {
    const Kind& kind = kinds()[++seed % kinds().size()];
    const int64_t all = int64_t{s.peers()} * count;
    const Bytes from = elements(kind, all, seed * 100 + static_cast<unsigned>(s.rank));
    const Bytes to = noise(static_cast<size_t>(all * kind.extent), 7);
    expect_same("alltoall " + kind.name, from, to, false, [&](bool ours, const void* f, void* t) {
      return ours ? OURS(quadrille_alltoall, schedule, s.comm, f, count, kind.type, t, count,
                         kind.type)
                  : MPI_Alltoall(f, count, kind.type, t, count, kind.type, s.comm);
    });
    const auto length = [=](int low, int high) {
      return count == 0 ? 0
                        : (low * 7 + high * 3 + static_cast<int>(seed)) % 6 * (count > 3 ? 30 : 1);
    };
    const auto sent = [&](int r) { return s.is_low ? length(s.rank, r) : length(r, s.rank); };
    const auto got = [&](int r) { return s.groups == 1 ? length(r, s.rank) : sent(r); };
    const Displaced f_side = displaced(s.peers(), sent, seed);
    const Displaced t_side = displaced(s.peers(), got, seed + 1);
    const Bytes from_v = elements(kind, f_side.room, seed * 100 + static_cast<unsigned>(s.rank));
    const Bytes to_v = noise(static_cast<size_t>(t_side.room * kind.extent), 8);
    expect_same(
        "alltoallv " + kind.name, from_v, to_v, false, [&](bool ours, const void* f, void* t) {
          return (ours ? OURS(quadrille_alltoallv, schedule, s.comm, f, f_side.counts.data(),
                              f_side.displacements.data(), kind.type, t, t_side.counts.data(),
                              t_side.displacements.data(), kind.type)
                       : MPI_Alltoallv(f, f_side.counts.data(), f_side.displacements.data(),
                                       kind.type, t, t_side.counts.data(),
                                       t_side.displacements.data(), kind.type, s.comm));
        });
  }
}

// Of those that combine.
struct Schedules {
  quadrille_schedule schedule;
  bool commutative;  // it is for operators that commute alone
};

void combine(const Schedules& with, const Setting& s, const std::string& collective,
             unsigned seed) {
  const quadrille_schedule schedule = with.schedule;
  const std::vector<int> roots = collective == "reduce" ? all_roots(s) : std::vector<int>{0};
  for (const int root : roots)
    for (const int count : kCounts)
      for (const Kind& kind : kinds()) {
        if (with.commutative && !kind.commutes) continue;
        ++seed;
        const bool is_root = collective != "reduce" || receives_at_root(s, root);
        const bool in_place = s.groups == 1 && is_root && seed % 3 == 0;
        const Bytes from = elements(kind, count, seed * 100 + static_cast<unsigned>(s.rank));
        const Bytes to =
            elements(kind, is_root ? count : 0, seed * 101 + static_cast<unsigned>(s.rank));
        expect_same(
            collective + " " + kind.name, from, to, in_place,
            [&](bool ours, const void* f, void* t) {
              if (collective == "reduce")
                return ours ? OURS(quadrille_reduce, schedule, s.comm, f, t, count, kind.type,
                                   kind.operation, root)
                            : MPI_Reduce(f, t, count, kind.type, kind.operation, root, s.comm);
              if (collective == "scan")
                return ours ? OURS(quadrille_scan, schedule, s.comm, f, t, count, kind.type,
                                   kind.operation)
                            : MPI_Scan(f, t, count, kind.type, kind.operation, s.comm);
              if (collective == "exscan")
                return ours ? OURS(quadrille_exscan, schedule, s.comm, f, t, count, kind.type,
                                   kind.operation)
                            : MPI_Exscan(f, t, count, kind.type, kind.operation, s.comm);
              return ours ? OURS(quadrille_allreduce, schedule, s.comm, f, t, count, kind.type,
                                 kind.operation)
                          : MPI_Allreduce(f, t, count, kind.type, kind.operation, s.comm);
            },
            true);
      }
}

// The results of both groups are equally long, and each group divides them as it likes.
std::vector<int> result_counts(const Setting& s, int count, unsigned seed) {
  const int total = count * s.ranks * std::max(1, s.remote);
  std::vector<int> counts(static_cast<size_t>(s.ranks));
  int left = total;
  for (int r = 0; r + 1 < s.ranks; ++r)
    left -= counts[static_cast<size_t>(r)] = std::min(left, uneven(r, seed) * count);
  counts.back() = left;
  return counts;
}

// What MPI_Reduce_scatter is defined to do: MPICH 4.0 reads beyond its buffers where elements have gaps.
int reduce_then_take(const Setting& s, const Kind& kind, const void* from, void* to, int64_t total,
                     const std::vector<int>& counts) {
  Bytes sums(static_cast<size_t>(total * kind.extent));
  const int code =
      MPI_Allreduce(from, sums.data(), static_cast<int>(total), kind.type, kind.operation, s.comm);
  const int64_t first = std::accumulate(counts.begin(), counts.begin() + s.rank, int64_t{0});
  const int64_t contents = kind.extent == sizeof(Matrix) ? sizeof(Matrix::entries) : kind.extent;
  for (int64_t i = 0; i < counts[static_cast<size_t>(s.rank)]; ++i)
    std::memcpy(static_cast<char*>(to) + i * kind.extent,
                &sums[static_cast<size_t>((first + i) * kind.extent)],
                static_cast<size_t>(contents));
  return code;
}

void reduce_scatter(const Schedules& with, const Setting& s, unsigned seed) {
  for (const int count : {0, 1, 3, 40})
    for (const Kind& kind : kinds())
      for (const bool equal : {true, false}) {
        if (with.commutative && !kind.commutes) continue;
        const bool in_place = s.groups == 1 && ++seed % 3 == 0;
        const int each = count * std::max(1, s.remote);
        const int64_t total = int64_t{each} * s.ranks;
        const std::vector<int> counts = equal ? std::vector<int>(static_cast<size_t>(s.ranks), each)
                                              : result_counts(s, count, seed);
        const int own = counts[static_cast<size_t>(s.rank)];
        const Bytes from = elements(kind, total, seed * 100 + static_cast<unsigned>(s.rank));
        const Bytes to =
            elements(kind, in_place ? total : own, seed + static_cast<unsigned>(s.rank));
        expect_same(
            std::string(equal ? "reduce_scatter_block " : "reduce_scatter ") + kind.name, from, to,
            in_place,
            [&](bool ours, const void* f, void* t) {
              const int code = !ours   ? reduce_then_take(s, kind, f, t, total, counts)
                               : equal ? OURS(quadrille_reduce_scatter_block, with.schedule, s.comm,
                                              f, t, each, kind.type, kind.operation)
                                       : OURS(quadrille_reduce_scatter, with.schedule, s.comm, f, t,
                                              counts.data(), kind.type, kind.operation);
              // What is left of the input behind the result is nobody's business.
              if (in_place && own < total)
                std::memset(static_cast<char*>(t) + own * kind.extent, 0,
                            static_cast<size_t>((total - own) * kind.extent));
              return code;
            },
            true);
      }
}

void run(const std::string& path, Setting s, unsigned seed) {
  SCOPED_TRACE(path + (s.groups == 2 ? ", groups of " + std::to_string(s.ranks) + " and " +
                                           std::to_string(s.remote)
                                     : ", " + std::to_string(s.ranks) + " ranks"));
  const Schedule schedule(path);
  quadrille_schedule_info info;
  info.size = sizeof info;
  ASSERT_EQ(quadrille_info(schedule, &info), MPI_SUCCESS);
  const int low = s.is_low ? s.ranks : s.remote, high = s.is_low ? s.remote : s.ranks;
  const bool fits =
      info.groups == 1 ? info.ranks == s.ranks : (info.ranks == low && info.remote_ranks == high);
  if (info.ranks > 0 && !fits) return;
  // More ranks than a machine's cores wait for each other longer than they work.
  if (!takes_next_of_many(kSanitized || ranks_of(MPI_COMM_WORLD) > 3)) return;
  s.serves_all_roots = info.ranks == 0 || info.ranks == info.remote_ranks;
  quadrille_bind_options options{sizeof options, QUADRILLE_LAYOUT_SHARED, 0, 0, 0};
  options.window = seed % 3 == 0 ? 0 : static_cast<int>(seed % 3);
  options.synchronous = static_cast<int>(seed % 2);
  ASSERT_EQ(quadrille_bind(schedule, s.comm, &options), MPI_SUCCESS);
  const std::string collective = info.collective;
  const Schedules with{schedule, info.commutative != 0};
  if (collective == "broadcast") bcast(schedule, s, seed);
  if (collective == "gather") gather(schedule, s, seed);
  if (collective == "scatter") scatter(schedule, s, seed);
  if (collective == "allgather")
    allgather(schedule, s, seed, info.algorithm != std::string("segment-map"));
  if (collective == "alltoall") alltoall(schedule, s, seed);
  if (collective == "reduce-scatter") reduce_scatter(with, s, seed);
  if (collective == "reduce" || collective == "allreduce" || collective == "scan" ||
      collective == "exscan")
    combine(with, s, collective, seed);
  if (collective == "barrier") {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(call_ours(quadrille_barrier, quadrille_barrier_init, schedule, s.comm),
                MPI_SUCCESS);
    }
  }
}

TEST(Collectives, WithinAGroupAreWhatTheLibraryDoes) {
  unsigned seed = 0;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (const std::string& path : collective_paths(1)) run(path, setting_of(comm, true), ++seed);
  MPI_Comm_free(&comm);
}

TEST(Collectives, BetweenGroupsAreWhatTheLibraryDoes) {
  const int rank = rank_in(MPI_COMM_WORLD), ranks = ranks_of(MPI_COMM_WORLD);
  unsigned seed = 0;
  for (int first = 1; first < ranks; ++first) {
    const bool is_low = rank < first;
    MPI_Comm own, between;
    MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, is_low ? first : 0, 1, &between);
    MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    for (const std::string& path : collective_paths(2))
      run(path, setting_of(between, is_low), ++seed);
    MPI_Comm_free(&between);
    MPI_Comm_free(&own);
  }
}

}  // namespace
}  // namespace quadrille::mpi
