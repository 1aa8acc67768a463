// Schedules with one byte changed and a corrected checksum. If one binds, it is run with MPI's messages replaced. A
// receive writes its whole block at once, even lengths that no library sends, and blocks have to lie within the user's
// buffers. So no mutant can hang, whatever it would do to the other ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/program/table_format.h"
#include "tests/mpi/world.h"
#include "tests/support/effort.h"
#include "tests/support/reseal.h"

namespace {

bool replaced;  // whether messages are replaced
const char *send_begin, *send_end;
char *receive_begin, *receive_end;
long outside, posted, wrong_peers;

const int length_tag = 2;  // the tag of messages that begin with lengths, which are in the
                           // library's own memory

// Records a block that is not within begin .. end.
bool lies_within(const char* address, int64_t bytes, const char* begin, const char* end) {
  ++posted;
  if (bytes == 0 || (address >= begin && address + bytes <= end)) return true;
  ++outside;
  return false;
}

int64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return int64_t{count} * size;
}

void check_peer(int peer, MPI_Comm comm) {
  if (peer < 0 || peer >= quadrille::mpi::ranks_of(comm)) ++wrong_peers;
}

}  // namespace

extern "C" int PMPI_Isend(const void* buffer, int count, MPI_Datatype type, int target, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  if (!replaced) return MPI_Isend(buffer, count, type, target, tag, comm, request);
  check_peer(target, comm);
  if (tag != length_tag)
    lies_within(static_cast<const char*>(buffer), bytes_of(count, type), send_begin, send_end);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

extern "C" int PMPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  if (!replaced) return MPI_Irecv(buffer, count, type, source, tag, comm, request);
  check_peer(source, comm);
  const int64_t bytes = bytes_of(count, type);
  const bool may_be_written = tag == length_tag || lies_within(static_cast<char*>(buffer), bytes,
                                                               receive_begin, receive_end);
  if (may_be_written && bytes > 0) std::memset(buffer, 0xaa, static_cast<size_t>(bytes));
  // A message has arrived.
  return MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, comm, request);
}

extern "C" int PMPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  const int code = MPI_Get_count(status, type, count);
  if (replaced) *count = 1;
  return code;
}

// Two nodes, for schedules that depend on nodes.
extern "C" int PMPI_Comm_split_type(MPI_Comm comm, int, int key, MPI_Info, MPI_Comm* result) {
  return PMPI_Comm_split(comm, quadrille::mpi::rank_in(MPI_COMM_WORLD) % 2, key, result);
}

namespace quadrille::mpi {
namespace {

constexpr int kGuard = 16, kRoom = 8, kUntouched = 0x77777777;

// Blocks of one to three ints, with gaps between them, and guards around them all.
struct Blocks {
  Blocks() : ints(static_cast<size_t>(2 * kGuard + kRoom * all()), kUntouched) {
    for (int r = 0; r < all(); ++r) {
      counts.push_back(1 + r % 3);
      displacements.push_back(r * kRoom + r % 2);
    }
  }
  int* begin() { return ints.data() + kGuard; }
  int* end() { return begin() + kRoom * all(); }
  // Whether every int outside blocks is unchanged.
  bool is_whole_outside_blocks() {
    for (int i = -kGuard; i < kRoom * all() + kGuard; ++i) {
      bool in_block = false;
      for (size_t r = 0; r < counts.size(); ++r)
        in_block |= i >= displacements[r] && i < displacements[r] + counts[r];
      if (!in_block && begin()[i] != kUntouched) return false;
    }
    return true;
  }
  std::vector<int> ints, counts, displacements;
};

void run_replaced(quadrille_schedule schedule, MPI_Comm comm, bool in_place) {
  Blocks from, to;
  send_begin = in_place ? nullptr : reinterpret_cast<char*>(from.begin());
  send_end = in_place ? reinterpret_cast<char*>(UINTPTR_MAX) : reinterpret_cast<char*>(from.end());
  receive_begin = reinterpret_cast<char*>(to.begin());
  receive_end = reinterpret_cast<char*>(to.end());
  outside = wrong_peers = 0;
  replaced = true;
  quadrille_alltoallv(schedule, in_place ? MPI_IN_PLACE : from.begin(), from.counts.data(),
                      from.displacements.data(), MPI_INT, to.begin(), to.counts.data(),
                      to.displacements.data(), MPI_INT, comm);
  replaced = false;
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(wrong_peers, 0);
  EXPECT_TRUE(to.is_whole_outside_blocks());
  EXPECT_EQ(from.ints, Blocks().ints);
}

struct Outcomes {
  long not_loaded = 0, not_bound = 0, run = 0;
  std::string refusals;  // of binding, on this rank
};

void try_mutant(const Bytes& file, int layout, MPI_Comm comm, Outcomes& outcomes) {
  quadrille_schedule schedule;
  if (quadrille_load_memory(file.data(), file.size(), &schedule) != MPI_SUCCESS) {
    ++outcomes.not_loaded;
    quadrille_free(&schedule);
    return;
  }
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  quadrille_bind_options options = trusted();
  options.layout = layout;
  const int code = quadrille_bind(schedule, copy, &options);
  expect_error_everywhere(comm, code, quadrille_error_class(code));
  if (code != MPI_SUCCESS) {
    char text[256];
    quadrille_last_error(text, sizeof text);
    outcomes.refusals += std::string(text) + "\n";
    ++outcomes.not_bound;
  } else {
    ++outcomes.run;
    run_replaced(schedule, copy, false);
    run_replaced(schedule, copy, true);
  }
  MPI_Comm_free(&copy);
  quadrille_free(&schedule);
}

TEST(Mutants, AreRefusedOrStayWithinTheUsersBuffers) {
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  Outcomes outcomes;
  std::vector<std::string> paths = schedule_paths(all());
  for (const std::string& path : schedule_paths(all(), "forward")) paths.push_back(path);
  // For any nodes: with a formula, with words, with every use of nodes.
  for (const char* name : {"hierarchical-factor_any", "tuna_any_radix-sqrt", "xor_any"})
    paths.push_back(std::string("tests/mpi/any/") + name + ".qs");
  for (const std::string& path : paths) {
    const int layout = path.find("/any/") == std::string::npos ? QUADRILLE_LAYOUT_TRUSTED
                                                               : QUADRILLE_LAYOUT_SHARED;
    const Bytes original = read_bytes(path);
    // From the code to the job. Names follow them, and change nothing.
    const uint8_t names[] = {'N', 'A', 'M', 0};
    const auto end = std::search(original.begin(), original.end(), names, names + 4);
    const uint8_t changes[] = {1, 2, 255, 4, 16, 128};
    for (size_t i = QD_SECTIONS_OFFSET; i < static_cast<size_t>(end - original.begin()); ++i)
      for (const size_t k : {i, i + 1}) {
        if (!takes_next_of_many()) continue;
        Bytes file = original;
        file[i] ^= changes[k % 6];
        quadrille_reseal(file.data(), file.size());
        try_mutant(file, layout, comm, outcomes);
        if (HasFailure()) FAIL() << path << ": byte " << i << " xor " << int{changes[k % 6]};
      }
  }
  // Checksums alone do not refuse all mutants.
  EXPECT_GT(outcomes.not_loaded, 100);
  EXPECT_GT(outcomes.not_bound, 20);
  EXPECT_GT(outcomes.run, 20);
  for (const char* part : {"does not serve", "not in order", "outside its table", "divisor"})
    EXPECT_NE(outcomes.refusals.find(part), std::string::npos) << part;
}

// The replaced messages count correctly: without a change, each block is sent and received once.
TEST(Mutants, OfNothingSendAndReceiveEveryBlock) {
  const Schedule schedule(schedule_paths(all())[0]);
  const Communicator comm(MPI_COMM_WORLD, 0, own());
  const quadrille_bind_options options = trusted();
  ASSERT_EQ(quadrille_bind(schedule, comm, &options), MPI_SUCCESS);
  posted = 0;
  run_replaced(schedule, comm, false);
  EXPECT_EQ(posted, 2 * (all() - 1));
  EXPECT_FALSE(lies_within(send_begin - 1, 4, send_begin, send_end));
  EXPECT_FALSE(lies_within(send_end - 2, 4, send_begin, send_end));
}

}  // namespace
}  // namespace quadrille::mpi
