#include "simulate/bound.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>

#include "schedule/volume.h"
#include "simulate/network.h"

namespace quadrille {
namespace {

// Adds to a sum, up to the greatest integer.
void add(int64_t& sum, int64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) sum = INT64_MAX;
}

// Returns a volume in bytes, up to the greatest integer.
Volume of_bytes(const Volume& volume, int64_t unit) {
  const auto times = [&](int64_t count) {
    int64_t bytes = 0;
    return __builtin_mul_overflow(count, unit, &bytes) ? INT64_MAX : bytes;
  };
  return {times(volume.in), times(volume.out)};
}

// The places that send and receive: nodes, if there are several whose ranks share a port, else ranks.
class Places {
 public:
  Places(const std::vector<Topology>& groups, const Machine& machine)
      : groups_(groups), machine_(machine) {
    for (const Topology& group : groups) {
      ranks_ += group.ranks();
      nodes_ += group.nodes();
      largest_ = std::max(largest_, group.runs().back().size);
    }
  }

  int64_t ranks() const { return ranks_; }
  int64_t largest_node() const { return largest_; }
  bool are_nodes() const { return nodes_ > 1 && machine_.port == PortScope::kNode; }

  // Calls visit(group, first rank, number of ranks, number of ranks of its node) for each place.
  void for_each(const std::function<void(int64_t, int64_t, int64_t, int64_t)>& visit) const {
    for (size_t group = 0; group < groups_.size(); ++group) {
      int64_t first = 0;
      for (const int64_t size : groups_[group].sizes()) {
        const int64_t step = are_nodes() ? size : 1;
        for (int64_t rank = 0; rank < size; rank += step)
          visit(static_cast<int64_t>(group), first + rank, step, size);
        first += size;
      }
    }
  }

  // Returns the least picoseconds in which a place moves this data. `size`: the number of ranks of its node.
  __int128 time(const Volume& bytes, int64_t size) const {
    const int64_t ports = nodes_ > 1 ? machine_.ports : 0;
    const bool is_alone = are_nodes() || size == 1;
    const bool has_own = machine_.port == PortScope::kRank;  // each rank has its own memory
    // What a rank receives inside its node comes out of its senders' memories.
    const int64_t leaving = is_alone ? 0 : 1, entering = is_alone ? 0 : has_own ? size - 1 : 1;
    const __int128 apart =
        std::max(through(bytes.in, ports, entering), through(bytes.out, ports, leaving));
    if (!machine_.exclusive || ports == 0) return latency() + apart;
    // The latency is not added to the second time, because a port may send while it waits for what it receives.
    int64_t both = bytes.in;
    add(both, bytes.out);
    return std::max(latency() + apart, through(both, ports, entering + leaving));
  }

  // Returns the least picoseconds in which the ranks of a node together move this data through ports and memory. In an
  // allreduce, n ranks and all others need 2n messages until each knows all contributions. Ports pass half of them in
  // each direction.
  __int128 time_of_all(const Volume& bytes, bool is_allreduce) const {
    const int64_t alpha = std::min(machine_.between.alpha_ns, machine_.inside.alpha_ns);
    int64_t both = std::max(bytes.in, bytes.out);
    if (is_allreduce) add(both, both);
    return __int128{alpha} * kNanosecond +
           through(both, (is_allreduce ? 2 : 1) * machine_.ports, 1);
  }

  // Returns the least picoseconds until `count` nodes have the data of one of them. By symmetry, one node has the data
  // of `count` no sooner. Each message keeps a port of its sender busy for the gap, and arrives a latency later.
  __int128 time_to_tell(int64_t count) const {
    if (!are_nodes()) return 0;
    const __int128 gap = __int128{machine_.gap_ns} * kNanosecond;
    struct Next {
      __int128 informed;
      int64_t messages;
      __int128 arrival;
      bool operator>(const Next& other) const { return arrival > other.arrival; }
    };
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    const auto push = [&](__int128 informed, int64_t messages) {
      const __int128 sent = std::max(gap, messages * gap / machine_.ports);
      queue.push({informed, messages, informed + sent + latency()});
    };
    push(0, 1);
    __int128 time = 0;
    for (int64_t told = 1; told < count; ++told) {
      const Next next = queue.top();
      queue.pop();
      time = next.arrival;
      push(next.informed, next.messages + 1);
      push(time, 1);
    }
    return time;
  }

 private:
  __int128 latency() const {
    const int64_t between = machine_.between.alpha_ns, inside = machine_.inside.alpha_ns;
    return __int128{are_nodes()  ? between
                    : nodes_ > 1 ? std::min(between, inside)
                                 : inside} *
           kNanosecond;
  }

  // Returns the picoseconds that bytes take if ports and memories share them. No product has more than 126 bits.
  __int128 through(int64_t bytes, int64_t ports, int64_t memories) const {
    const __int128 of_port = machine_.between.beta_ps;
    const __int128 of_memory = machine_.memory_ps.value_or(machine_.inside.beta_ps);
    if (memories == 0) return bytes * of_port / ports;
    if (ports == 0) return bytes * of_memory / memories;
    const __int128 speed = ports * of_memory + memories * of_port;
    return speed == 0 ? 0 : bytes * (of_port * of_memory) / speed;
  }

  const std::vector<Topology>& groups_;
  const Machine& machine_;
  int64_t ranks_ = 0, nodes_ = 0, largest_ = 0;
};

}  // namespace

__int128 least_time(Collective collective, const std::vector<Topology>& groups, const Call& call,
                    int64_t unit, const Machine& machine) {
  const LeastVolume least(collective, {groups, {}}, call);
  const Places places(groups, machine);
  if (places.ranks() == 1) return 0;
  const bool is_allreduce = collective == Collective::kAllreduce && groups.size() == 1;
  const bool is_barrier = collective == Collective::kBarrier;
  __int128 time = is_barrier ? places.time({}, places.largest_node()) : 0;
  // By group: places that know something for others, and places that need something of others.
  std::array<int64_t, 2> senders{}, receivers{};
  const auto take = [&](const Volume& volume, int64_t size) {
    if (volume != Volume{}) time = std::max(time, places.time(of_bytes(volume, unit), size));
  };
  places.for_each([&](int64_t group, int64_t first, int64_t count, int64_t size) {
    const Volume volume = least.of(group, first, count);
    take(volume, size);
    senders[static_cast<size_t>(group)] += is_barrier || volume.out > 0;
    receivers[static_cast<size_t>(group)] += is_barrier || volume.in > 0;
    Volume all;
    for (int64_t rank = first; count > 1 && rank < first + count; ++rank) {
      const Volume one = of_bytes(least.of(group, rank, 1), unit);
      add(all.in, one.in);
      add(all.out, one.out);
    }
    if (all != Volume{}) time = std::max(time, places.time_of_all(all, is_allreduce));
  });
  // Some place moves more than it needs itself. The schedule decides which one, so it may be in the largest node.
  if (collective == Collective::kAllreduce)
    take(places.are_nodes() ? least.of_a_node() : least.of_a_rank(), places.largest_node());
  // A place tells all that need something, or learns from all that know something: in the other group, or in its own if
  // there is one. There it may be one of them itself.
  int64_t partners = 0;
  for (size_t group = 0; group < groups.size(); ++group) {
    const size_t other = groups.size() - 1 - group;
    if (senders[group] > 0) partners = std::max(partners, receivers[other] + 1);
    if (receivers[group] > 0) partners = std::max(partners, senders[other] + 1);
  }
  if (groups.size() == 1) partners = std::min(partners, groups[0].nodes());
  return std::max(time, places.time_to_tell(partners));
}

__int128 least_time(const BlockLengths& lengths, const std::vector<Topology>& groups,
                    const Machine& machine) {
  const Places places(groups, machine);
  std::vector<size_t> place_of;  // by process
  std::vector<int64_t> sizes;    // of the nodes, by place
  places.for_each([&](int64_t, int64_t, int64_t count, int64_t size) {
    place_of.insert(place_of.end(), static_cast<size_t>(count), sizes.size());
    sizes.push_back(size);
  });
  const auto first = groups.size() == 2 ? static_cast<size_t>(groups[0].ranks()) : 0;
  struct Load {
    Volume place, ranks;  // what the place moves, and what its ranks move together
  };
  std::vector<Load> loads(sizes.size());
  for (size_t from = 0; from < place_of.size(); ++from)
    for (size_t to = 0; to < place_of.size(); ++to) {
      if (from == to || (first > 0 && (from < first) == (to < first))) continue;
      const int64_t bytes = lengths.of(static_cast<int64_t>(from), static_cast<int64_t>(to));
      Load &sender = loads[place_of[from]], &receiver = loads[place_of[to]];
      add(sender.ranks.out, bytes);
      add(receiver.ranks.in, bytes);
      if (&sender == &receiver) continue;
      add(sender.place.out, bytes);
      add(receiver.place.in, bytes);
    }
  __int128 time = 0;
  for (size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].place != Volume{}) time = std::max(time, places.time(loads[i].place, sizes[i]));
    if (places.are_nodes() && loads[i].ranks != Volume{})
      time = std::max(time, places.time_of_all(loads[i].ranks, false));
  }
  return time;
}

}  // namespace quadrille
