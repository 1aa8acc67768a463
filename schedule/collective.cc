// Each function states one rule of the MPI standard for all collectives. Between groups, rooted collectives have
// their root in group 0 and their leaves in group 1. Tested by tests/schedule/collective_test.cc against small cases.
#include "schedule/collective.h"

#include <array>

namespace quadrille {
namespace {

constexpr std::array<std::string_view, kCollectiveCount> kNames = {
    "alltoall",  "allgather",      "broadcast", "gather", "scatter", "reduce",
    "allreduce", "reduce-scatter", "scan",      "exscan", "barrier"};

// True at the root, the source or destination of all contributions of a rooted collective.
bool is_root(const Place& place) {
  return place.rank == place.root && (!place.intercommunicator() || place.group == 0);
}
bool is_leaf(const Place& place) { return !place.intercommunicator() || place.group == 1; }

// Returns the group whose contributions a receiver gets.
int64_t source_group(const Place& place) { return place.intercommunicator() ? 1 - place.group : 0; }

}  // namespace

std::string_view name_of(Collective collective) { return kNames[static_cast<int>(collective)]; }

std::optional<Collective> collective_named(std::string_view name) {
  for (int i = 0; i < kCollectiveCount; ++i)
    if (kNames[i] == name) return static_cast<Collective>(i);
  return std::nullopt;
}

std::string in_words(Collective collective) {
  if (collective == Collective::kAlltoall) return "an all-to-all";
  const std::string name(name_of(collective));
  return (std::string_view("ae").find(name[0]) != std::string_view::npos ? "an " : "a ") + name;
}

std::string purpose_of(Collective collective, int groups) {
  return std::string(name_of(collective)) + (groups == 2 ? " between groups" : "");
}

bool reduces(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kAllreduce ||
         collective == Collective::kReduceScatter || collective == Collective::kScan ||
         collective == Collective::kExscan;
}

bool rooted(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kGather ||
         collective == Collective::kScatter || collective == Collective::kReduce;
}

bool has_one_buffer(Collective collective, int groups) {
  return collective == Collective::kBroadcast && groups == 1;
}

bool only_ends_know_lengths(Collective collective) {
  return collective == Collective::kAlltoall || collective == Collective::kGather ||
         collective == Collective::kScatter;
}

bool has_one_count(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kAllreduce || collective == Collective::kScan ||
         collective == Collective::kExscan;
}

bool blocks_may_differ(Collective collective) {
  return !has_one_count(collective) && collective != Collective::kBarrier;
}

bool has_one_contribution(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kScan || collective == Collective::kExscan;
}

bool may_pass_over_trees(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kAllgather || collective == Collective::kReduceScatter;
}

bool exists_between_groups(Collective collective) {
  return collective != Collective::kScan && collective != Collective::kExscan;
}

bool is_bystander(Collective collective, const Place& place) {
  return rooted(collective) && place.intercommunicator() && place.group == 0 &&
         place.rank != place.root;
}

// Rank 0 has no receive block in an exclusive scan, because MPI does not define the buffer there.
int64_t block_count(Collective collective, Buffer buffer, const Place& place) {
  const bool send = buffer == Buffer::kSend;
  switch (collective) {
    case Collective::kAlltoall: return place.peers();
    case Collective::kAllgather: return send ? 1 : place.peers();
    case Collective::kBroadcast: return (send ? is_root(place) : is_leaf(place)) ? 1 : 0;
    case Collective::kGather: return send ? is_leaf(place) : (is_root(place) ? place.peers() : 0);
    case Collective::kScatter: return send ? (is_root(place) ? place.peers() : 0) : is_leaf(place);
    case Collective::kReduce: return (send ? is_leaf(place) : is_root(place)) ? 1 : 0;
    case Collective::kAllreduce: return 1;
    case Collective::kReduceScatter: return send ? place.peers() : 1;
    case Collective::kScan: return 1;
    case Collective::kExscan: return send || place.rank > 0 ? 1 : 0;
    case Collective::kBarrier: return 0;
  }
  return 0;
}

Contributors contributors(Collective collective, const Place& place, Block block) {
  const int64_t from = source_group(place);
  switch (collective) {
    case Collective::kAlltoall: return {from, block.value, 1, place.rank};
    case Collective::kAllgather: return {from, block.value, 1, 0};
    case Collective::kBroadcast: return {0, place.root, 1, 0};
    case Collective::kGather: return {from, block.value, 1, 0};
    case Collective::kScatter: return {0, place.root, 1, place.rank};
    case Collective::kReduce:
    case Collective::kAllreduce: return {from, 0, place.peers(), 0};
    case Collective::kReduceScatter: return {from, 0, place.peers(), place.rank};
    case Collective::kScan: return {from, 0, place.rank + 1, 0};
    case Collective::kExscan: return {from, 0, place.rank, 0};
    case Collective::kBarrier: return {from, 0, 0, 0};
  }
  return {from, 0, 0, 0};
}

std::vector<Contribution> required(Collective collective, const Place& place, Block block) {
  const Contributors run = contributors(collective, place, block);
  std::vector<Contribution> all;
  for (int64_t i = 0; i < run.count; ++i) all.push_back({run.group, run.first + i, run.block});
  return all;
}

LengthSource length_source(Collective collective, Buffer buffer, const Place& place, Block block) {
  const bool inter = place.intercommunicator();
  switch (collective) {
    case Collective::kAllgather:
      return buffer == Buffer::kSend ? LengthSource{false, place.rank}
                                     : LengthSource{inter, block.value};
    case Collective::kGather:
      return buffer == Buffer::kSend ? LengthSource{false, place.rank}
                                     : LengthSource{inter, block.value};
    case Collective::kScatter:
      return buffer == Buffer::kSend ? LengthSource{inter, block.value}
                                     : LengthSource{false, place.rank};
    case Collective::kReduceScatter:
      return buffer == Buffer::kSend ? LengthSource{inter, block.value}
                                     : LengthSource{false, place.rank};
    case Collective::kBroadcast: return {inter && place.group == 1, place.root};
    case Collective::kAlltoall:
    case Collective::kReduce:
    case Collective::kAllreduce:
    case Collective::kScan:
    case Collective::kExscan:
    case Collective::kBarrier: return {false, 0};
  }
  return {false, 0};
}

}  // namespace quadrille
