// Compares what each process noted with its plan, and what the two ends of each message noted. Times on two clocks
// contradict each other only if they differ by more than the error of the clocks. Tested by tests/trace.
#include "trace/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace quadrille::trace {
namespace {

using Messages = std::vector<const qd_trace_message*>;

// All messages of a process in a call.
struct Ends {
  Messages receives, sends;
};

Ends ends_of(const Noted& noted) {
  Ends ends;
  for (const PartSection* part : noted.parts) {
    for (const qd_trace_message& message : part->receives) ends.receives.push_back(&message);
    for (const qd_trace_message& message : part->sends) ends.sends.push_back(&message);
  }
  return ends;
}

// The messages and notes of all processes, by process. An idle rank has notes without a call.
struct AllEnds {
  std::vector<Ends> ends;
  std::vector<const Noted*> noted;
  std::vector<int32_t> real;  // rank in the communicator

  AllEnds(const TracedCall& call, const Planned& planned)
      : ends(call.ranks.size()), noted(call.ranks.size()), real(call.ranks.size()) {
    for (size_t rank = 0; rank < call.ranks.size(); ++rank) {
      const auto process = static_cast<size_t>(planned.process[rank]);
      ends[process] = ends_of(call.ranks[rank]);
      noted[process] = &call.ranks[rank];
      real[process] = static_cast<int32_t>(rank);
    }
  }
};

// The messages of one process in one direction.
class List {
 public:
  List(const char* what, const char* way, int32_t process, const Messages& noted,
       const std::vector<Post>& planned, const Planned& all)
      : what_(what), way_(way), process_(process), noted_(noted), planned_(planned), all_(all) {}

  std::string name(size_t index) const {
    return fmt::format("rank {}: {} {} of {}", process_, what_, index + 1, planned_.size());
  }

  // Returns the first difference between these messages and those of the plan.
  std::optional<std::string> difference() const {
    for (size_t i = 0; i < std::min(noted_.size(), planned_.size()); ++i) {
      const qd_trace_message& message = *noted_[i];
      if (message.posted == 0) return name(i) + " was not posted";
      const bool is_rank =
          message.peer >= 0 && static_cast<size_t>(message.peer) < all_.process.size();
      if (!is_rank || all_.process[static_cast<size_t>(message.peer)] != planned_[i].peer)
        return fmt::format(
            "{} {} {}; the plan has rank {}", name(i), way_,
            is_rank ? fmt::format("rank {}", all_.process[static_cast<size_t>(message.peer)])
                    : "no rank",
            planned_[i].peer);
      if (message.bytes < 0 || (all_.knows_bytes && message.bytes != planned_[i].bytes))
        return fmt::format("{} has {} bytes; the plan has {}", name(i), message.bytes,
                           static_cast<int64_t>(planned_[i].bytes));
      if (message.completed == 0) return name(i) + " was not completed";
      if (message.started > message.posted || message.waited > message.completed ||
          message.completed < message.posted)
        return name(i) + " was complete before it was posted";
    }
    if (noted_.size() < planned_.size())
      return fmt::format("{}, {} rank {}, is missing", name(noted_.size()), way_,
                         planned_[noted_.size()].peer);
    if (noted_.size() > planned_.size())
      return fmt::format("rank {} has {} {}s; the plan has {}", process_, noted_.size(), what_,
                         planned_.size());
    return std::nullopt;
  }

  const qd_trace_message& operator[](size_t index) const { return *noted_[index]; }

 private:
  const char *what_, *way_;
  const int32_t process_;
  const Messages& noted_;
  const std::vector<Post>& planned_;
  const Planned& all_;
};

// Checks the times of one process against the order of its plan. Each event comes after the one before. If sends may
// go early, the runtime completes receives and posts sends before their turn, each kind in its own order.
class Order {
 public:
  Order(const Script& script, const List& receives, const List& sends, bool early)
      : script_(script), receives_(receives), sends_(sends), early_(early) {}

  std::optional<std::string> difference() {
    for (const Turn& turn : script_.turns) {
      for (int32_t n = 0; n < turn.receives_done; ++n)
        see(receives_, received_, receives_[received_].completed, "completed",
            {&receive_done_, early_ ? nullptr : &other_}),
            ++received_;
      for (int32_t n = 0; n < turn.sends_done; ++n)
        see(sends_, sent_, sends_[sent_].completed, "completed",
            {&send_done_, early_ ? nullptr : &other_}),
            ++sent_;
      for (int32_t n = 0; n < turn.receives_posted; ++n)
        see(receives_, receives_posted_, receives_[receives_posted_].posted, "posted",
            {&other_, &receive_done_, &send_done_}),
            ++receives_posted_;
      for (int32_t n = 0; n < turn.sends_posted; ++n)
        see(sends_, sends_posted_, sends_[sends_posted_].posted, "posted",
            {&send_posted_, &receive_done_, early_ ? nullptr : &send_done_,
             early_ ? nullptr : &other_}),
            ++sends_posted_;
      if (wrong_) return wrong_;
    }
    return std::nullopt;
  }

 private:
  struct Event {
    int64_t time = 0;
    const List* list = nullptr;
    size_t index = 0;
    const char* what = "";
  };

  // Checks that an event comes after all of `after`. Stores it in the first of these, and in `other_` unless early_.
  void see(const List& list, size_t index, int64_t time, const char* what,
           std::initializer_list<Event*> after) {
    for (const Event* event : after)
      if (event && event->list && event->time > time && !wrong_)
        wrong_ = fmt::format("{} was {} before this: {} was {}", list.name(index), what,
                             event->list->name(event->index), event->what);
    Event& own = **after.begin();
    own = {time, &list, index, what};
    if (!early_) other_ = own;
  }

  const Script& script_;
  const List &receives_, &sends_;
  const bool early_;
  size_t received_ = 0, sent_ = 0, receives_posted_ = 0, sends_posted_ = 0;
  Event receive_done_, send_done_, send_posted_, other_;  // the last of each kind
  std::optional<std::string> wrong_;
};

// Returns the first contradiction between the two ends of a message.
std::optional<std::string> difference_of_ends(const AllEnds& all, const Scripts& scripts) {
  for (size_t from = 0; from < all.ends.size(); ++from)
    for (size_t i = 0; i < all.ends[from].sends.size(); ++i) {
      const Post& send = scripts.all[from].sends[i];
      const auto to = static_cast<size_t>(send.peer);
      const qd_trace_message& out = *all.ends[from].sends[i];
      const qd_trace_message& in = *all.ends[to].receives[static_cast<size_t>(send.partner)];
      const std::string name = fmt::format("send {} of rank {} to rank {}", i + 1, from, to);
      if (out.bytes != in.bytes)
        return fmt::format("{} has {} bytes; its receive has {}", name, out.bytes, in.bytes);
      if (out.bytes == 0 && out.parts > 0) continue;  // nothing travels
      const int64_t error = all.noted[from]->error + all.noted[to]->error;
      const int64_t early =
          out.started + all.noted[from]->shift - in.completed - all.noted[to]->shift;
      if (early > error)
        return fmt::format(
            "{} was received {} ns before it was sent, and clocks are known to {} ns", name, early,
            error);
    }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Checker::difference(const TracedCall& call, const Planned& planned) {
  const AllEnds all(call, planned);
  for (size_t process = 0; process < all.ends.size(); ++process) {
    const Script& script = planned.scripts.all[process];
    const auto number = static_cast<int32_t>(process);
    const List receives("receive", "from", number, all.ends[process].receives, script.receives,
                        planned);
    const List sends("send", "to", number, all.ends[process].sends, script.sends, planned);
    if (auto wrong = receives.difference()) return wrong;
    if (auto wrong = sends.difference()) return wrong;
    const bool early = script.window > 0 && !planned.call.counts.empty();
    if (auto wrong = Order(script, receives, sends, early).difference()) return wrong;
  }
  return difference_of_ends(all, planned.scripts);
}

Measured Checker::measure(const TracedCall& call, const Planned& planned) {
  const AllEnds all(call, planned);
  constexpr int64_t kPicoseconds = 1000;
  Measured made{planned.scripts, {}, {}, {}, all.real};
  const size_t processes = all.ends.size();
  made.trace.messages.resize(processes);
  made.trace.waits.resize(processes);
  made.trace.busy.resize(processes);
  const auto time = [&](size_t process, int64_t noted) {
    return std::max<int64_t>(0, noted + all.noted[process]->shift - call.begun) * kPicoseconds;
  };
  for (size_t i = 0; i < processes; ++i) {
    const Noted& noted = *all.noted[i];
    made.begins.push_back(noted.setup ? time(i, noted.parts.front()->head.begun) : 0);
    made.outcome.ends.push_back(noted.setup ? time(i, noted.parts.back()->head.ended) : 0);
    made.outcome.time = std::max(made.outcome.time, made.outcome.ends.back());
    const auto add = [&](const qd_trace_message& message, Sent of) {
      if (message.started < message.posted)
        made.trace.busy[i].push_back({time(i, message.started), time(i, message.posted)});
      if (message.waited < message.completed)
        made.trace.waits[i].push_back({time(i, message.waited), time(i, message.completed), of});
    };
    std::vector<Post>&sends = made.scripts.all[i].sends, &receives = made.scripts.all[i].receives;
    for (size_t n = 0; n < sends.size(); ++n) {
      const qd_trace_message& message = *all.ends[i].sends[n];
      const auto peer = static_cast<size_t>(sends[n].peer);
      const qd_trace_message& in = *all.ends[peer].receives[static_cast<size_t>(sends[n].partner)];
      // MPI may return from a send after its message has arrived.
      const int64_t arrived = time(peer, in.completed);
      made.trace.messages[i].push_back(
          {std::min(time(i, message.posted), arrived), time(peer, in.posted), arrived});
      sends[n].bytes = message.bytes;
      made.outcome.bytes += message.bytes;
      ++made.outcome.messages;
      add(message, {static_cast<int32_t>(i), static_cast<int32_t>(n)});
    }
    for (size_t n = 0; n < receives.size(); ++n) {
      receives[n].bytes = all.ends[i].receives[n]->bytes;
      add(*all.ends[i].receives[n], {receives[n].peer, receives[n].partner});
    }
    const auto in_time = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    std::ranges::sort(made.trace.waits[i], in_time);
    std::ranges::sort(made.trace.busy[i], in_time);
  }
  return made;
}

}  // namespace quadrille::trace
