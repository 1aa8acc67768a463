// A message between nodes passes the port of its sender and, a latency later, the port of its receiver. It may occupy
// both at once, because bytes that have left one port go on to the other.
#include "simulate/network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "simulate/queue.h"

namespace quadrille {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int64_t latency(const LinearModel& model) { return model.alpha_ns * kNanosecond; }

// True if all messages inside a node share its memory.
bool has_memory(const Machine& machine) { return machine.memory_ps != 0; }

int64_t gap_inside(const Machine& machine) {
  return has_memory(machine) ? machine.gap_inside_ns * kNanosecond : 0;
}

int64_t time_of_a_byte_in_memory(const Machine& machine) {
  return machine.memory_ps.value_or(machine.inside.beta_ps);
}

// Returns the picoseconds per byte of a message that is alone inside a node.
int64_t time_of_a_byte_inside(const Machine& machine) {
  return std::max(
      {machine.inside.beta_ps, machine.beta_alone_ps, time_of_a_byte_in_memory(machine)});
}

// A port, a memory or a switch that messages share. It serves `servers` messages at once.
struct Place {
  size_t first = 0;  // its first number; it has one number for each message that it serves at once
  int64_t servers = 1;
};

// The places that a message passes, in this order.
struct Path {
  std::array<Place, 4> places;
  int32_t count = 0;
  void add(const Place& place) { places[count++] = place; }
};

// Numbers places: ports that send, ports that receive, memories of nodes, and both directions of each switch's ports.
class Places {
 public:
  Places(const Machine& machine, int32_t ports)
      : machine_(machine), ports_(ports), count_(ports * (2 * machine.ports + 1)) {
    first_of_switches_ = static_cast<size_t>(count_);
    if (machine.switch_nodes > 0)
      count_ += 2 * machine.switch_ports * (1 + (ports - 1) / machine.switch_nodes);
  }

  size_t count() const { return static_cast<size_t>(count_); }

  Path path(const Flow& flow) const {
    Path path;
    if (flow.is_inside()) {
      path.add({2 * ports_ * servers() + flow.from, 1});
      return path;
    }
    path.add({flow.from * servers(), machine_.ports});
    if (const int64_t nodes = machine_.switch_nodes;
        nodes > 0 && flow.from_node / nodes != flow.to_node / nodes) {
      path.add(of_switch(2 * (flow.from_node / nodes)));
      path.add(of_switch(2 * (flow.to_node / nodes) + 1));
    }
    path.add({(machine_.exclusive ? flow.to : ports_ + flow.to) * servers(), machine_.ports});
    return path;
  }

 private:
  size_t servers() const { return static_cast<size_t>(machine_.ports); }
  Place of_switch(int64_t index) const {
    return {first_of_switches_ + static_cast<size_t>(index * machine_.switch_ports),
            machine_.switch_ports};
  }

  const Machine& machine_;
  size_t ports_;
  int64_t count_;
  size_t first_of_switches_;
};

// Messages between nodes that are on their way to one port slow each other down there.
class Congestion {
 public:
  Congestion(const Machine& machine, int32_t ports)
      : beta_(machine.beta_congestion_ps), on_way_(static_cast<size_t>(ports)) {}

  void add(const Flow& flow, int64_t count) {
    if (!flow.is_inside()) on_way_[static_cast<size_t>(flow.to)] += count;
  }
  // Returns by how much longer a message keeps its receiver's port busy that reaches the port now.
  int64_t extra(const Flow& flow) const {
    if (flow.is_inside()) return 0;
    const int64_t others = on_way_[static_cast<size_t>(flow.to)] - 1;
    return static_cast<int64_t>(__int128{beta_} * flow.bytes * others / 1000);
  }

 private:
  int64_t beta_;
  std::vector<int64_t> on_way_;  // by port
};

// Each place serves its messages one after another, in the order in which they come.
class InTurn final : public Network {
 public:
  InTurn(const Machine& machine, int32_t ports)
      : machine_(machine),
        places_(machine_, ports),
        free_(places_.count()),
        congestion_(machine, ports) {}

  void start(const Flow& flow, int64_t now) override {
    congestion_.add(flow, 1);
    const Path path = places_.path(flow);
    if (flow.is_inside()) {
      const int64_t busy = gap_inside(machine_) + flow.bytes * time_of_a_byte_in_memory(machine_);
      const int64_t begun = serve(path.places[0], now, busy, flow.sent, 0);
      const int64_t taken = std::max(busy, flow.bytes * time_of_a_byte_inside(machine_));
      queue_.push({begun + latency(machine_.inside) + taken, flow, path.count});
      return;
    }
    const int64_t busy = time_at_port(machine_, flow.bytes);
    const int64_t begun = serve(path.places[0], now, busy, flow.sent, 0);
    note_port(flow.from, false, begun, busy);
    queue_.push({begun + latency(machine_.between), flow, 1});
  }

  void note_waits(std::vector<Queued>* waits) override {
    waits_ = waits;
    last_.resize(free_.size());
  }

  int64_t next() override { return queue_.time(); }

  void advance(int64_t now, std::vector<Sent>& arrived) override {
    while (queue_.time() == now) {
      Event event = queue_.pop();
      ++events_;
      const Path path = places_.path(event.flow);
      if (event.at == path.count) {
        congestion_.add(event.flow, -1);
        arrived.push_back(event.flow.sent);
        continue;
      }
      const bool is_last = event.at == path.count - 1;
      const int64_t busy =
          time_at_port(machine_, event.flow.bytes) + (is_last ? congestion_.extra(event.flow) : 0);
      event.time = serve(path.places[event.at], now, busy, event.flow.sent, event.at);
      ++event.at;
      if (is_last) {
        note_port(event.flow.to, true, event.time, busy);
        event.time += busy;
      }
      queue_.push(event);
    }
  }

 private:
  struct Event {
    int64_t time;
    Flow flow;
    int32_t at;  // the place of its path that its first byte has reached; at the end: arrived
  };

  void note_port(int32_t port, bool receives, int64_t begun, int64_t busy) {
    if (use_)
      use_->add(port, receives, begun, begun + busy, 1 / static_cast<double>(machine_.ports));
  }

  // Queues a message at a place, and returns when the place begins with it. `at`: which place of its path that is.
  int64_t serve(const Place& place, int64_t now, int64_t busy, const Sent& sent, int32_t at) {
    const auto first = free_.begin() + static_cast<int64_t>(place.first);
    const auto free = std::min_element(first, first + place.servers);
    const int64_t begun = std::max(now, *free);
    if (waits_) {
      auto& [last, last_at] = last_[static_cast<size_t>(free - free_.begin())];
      if (begun > now) waits_->push_back({sent, at, begun, last, last_at});
      last = sent, last_at = at;
    }
    *free = begun + busy;
    return begun;
  }

  const Machine machine_;
  const Places places_;
  std::vector<int64_t> free_;  // when each place is free
  Congestion congestion_;
  std::vector<Queued>* waits_ = nullptr;
  std::vector<std::pair<Sent, int32_t>> last_;  // the last message at each place, for waits_
  Queue<Event> queue_;
};

// All messages at a place have equal shares of it. What one of them cannot use goes to the others: max-min fairness
// (Bertsekas and Gallager 1992, section 6.5.2).
class Fair final : public Network {
 public:
  Fair(const Machine& machine, int32_t ports)
      : machine_(machine),
        places_(machine_, ports),
        left_(places_.count()),
        sharers_(places_.count()),
        congestion_(machine, ports) {}

  void start(const Flow& flow, int64_t now) override {
    congestion_.add(flow, 1);
    const int64_t work = flow.is_inside()
                             ? gap_inside(machine_) + flow.bytes * time_of_a_byte_inside(machine_)
                             : time_at_port(machine_, flow.bytes);
    queue_.push({now + latency(flow.is_inside() ? machine_.inside : machine_.between),
                 {flow, places_.path(flow), static_cast<double>(work), 0}});
  }

  int64_t next() override { return std::min(queue_.time(), done_); }

  void advance(int64_t now, std::vector<Sent>& arrived) override {
    pass(now);
    std::erase_if(flows_, [&](const Moving& one) {
      if (one.work > kRounding) return false;
      ++events_;
      congestion_.add(one.flow, -1);
      arrived.push_back(one.flow.sent);
      return true;
    });
    while (queue_.time() == now) {
      Moving moving = queue_.pop().moving;
      ++events_;
      if (moving.work <= kRounding) {
        congestion_.add(moving.flow, -1);
        arrived.push_back(moving.flow.sent);
      } else if (!moving.flow.is_inside() || has_memory(machine_)) {
        moving.work += static_cast<double>(congestion_.extra(moving.flow));
        flows_.push_back(moving);
      } else {
        const int64_t end = now + std::llround(moving.work);
        moving.work = 0;
        queue_.push({end, moving});
      }
    }
    share(now);
  }

 private:
  static constexpr double kRounding = 1e-3;  // picoseconds
  struct Moving {
    Flow flow;
    Path path;
    double work, rate;  // picoseconds left at full speed; its share of full speed
  };
  struct Event {
    int64_t time;
    Moving moving;
  };

  void pass(int64_t now) {
    for (const Moving& one : flows_) {
      if (!use_ || one.flow.is_inside() || now == since_) continue;
      const double use = one.rate / static_cast<double>(machine_.ports);
      use_->add(one.flow.from, false, since_, now, use);
      use_->add(one.flow.to, true, since_, now, use);
    }
    for (Moving& one : flows_) one.work -= one.rate * static_cast<double>(now - since_);
    if (done_ <= now)  // rounding must not keep the message that is done
      for (Moving& one : flows_)
        if (one.work < one.rate) one.work = 0;
    since_ = now;
  }

  // Returns how many messages like this one a place can serve at full speed.
  double capacity(const Moving& one, const Place& place) const {
    if (!one.flow.is_inside()) return static_cast<double>(place.servers);
    const int64_t memory = time_of_a_byte_in_memory(machine_);
    if (memory == 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(time_of_a_byte_inside(machine_)) / static_cast<double>(memory);
  }

  // Returns the rate that a message gets if its places give equal shares to all messages without a fixed rate.
  double share_of(const Moving& one) const {
    double share = 1;
    for (int32_t i = 0; i < one.path.count; ++i) {
      const size_t place = one.path.places[i].first;
      share = std::min(share, left_[place] / sharers_[place]);
    }
    return share;
  }

  // Raises all rates together. Whenever a place is full, the rates of its messages are fixed, and the others rise on.
  void share(int64_t now) {
    std::ranges::fill(sharers_, 0);
    open_.clear();
    for (Moving& one : flows_) {
      for (int32_t i = 0; i < one.path.count; ++i) {
        const Place& place = one.path.places[i];
        ++sharers_[place.first];
        left_[place.first] = capacity(one, place);
      }
      open_.push_back(&one);
    }
    while (!open_.empty()) fix_least();
    done_ = kNever;
    for (const Moving& one : flows_)
      done_ = std::min(done_, now + static_cast<int64_t>(std::ceil(one.work / one.rate)));
  }

  void fix_least() {
    double least = 1;
    for (const Moving* one : open_) least = std::min(least, share_of(*one));
    std::erase_if(open_, [&](Moving* one) {
      if (share_of(*one) > least * (1 + 1e-12)) return false;
      one->rate = least;
      fixed_.push_back(one);
      return true;
    });
    for (const Moving* one : fixed_)
      for (int32_t i = 0; i < one->path.count; ++i) {
        left_[one->path.places[i].first] -= least;
        --sharers_[one->path.places[i].first];
      }
    fixed_.clear();
  }

  const Machine machine_;
  const Places places_;
  std::vector<double> left_;  // the capacity of each place without that of fixed rates
  std::vector<int32_t> sharers_;
  Congestion congestion_;
  std::vector<Moving> flows_;
  std::vector<Moving*> open_, fixed_;
  Queue<Event> queue_;
  int64_t since_ = 0, done_ = kNever;
};

}  // namespace

int64_t time_at_port(const Machine& machine, int64_t bytes) {
  return machine.gap_ns * kNanosecond + bytes * machine.between.beta_ps;
}

std::unique_ptr<Network> make_network(const Machine& machine, int32_t ports) {
  if (machine.sharing == Sharing::kFair) return std::make_unique<Fair>(machine, ports);
  return std::make_unique<InTurn>(machine, ports);
}

}  // namespace quadrille
