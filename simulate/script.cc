// Reads the plans of each rank one after another, and keeps what takes time. Tested by tests/simulate.
#include "simulate/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "runtime/plan/builder.h"

namespace quadrille {
namespace {

Error too_long() {
  return Error{
      fmt::format("a message has more than {} bytes, too many to simulate", kLongestMessage)};
}

constexpr int64_t kMostParts = int64_t{1} << 28;  // if blocks differ; they take some gigabytes

// What the scripts may still take. All threads take from it. The functions return whether there was enough.
class Budget {
 public:
  explicit Budget(const ScriptLimits& limits)
      : messages_(limits.messages), parts_(limits.parts), iterations_(limits.iterations) {}
  bool take(int64_t messages, int64_t parts) {
    return (messages_ -= messages) >= 0 && (parts_ -= parts) >= 0;
  }
  bool iterate(int64_t times) { return (iterations_ -= times) >= 0; }

 private:
  std::atomic<int64_t> messages_, parts_, iterations_;
};

// Makes the script of one rank from its plans, and its Parts if blocks differ in length.
class Reader {
 public:
  Reader(const qd_builder& builder, const qd_plan& plan, const BlockLengths& lengths, Parts* parts)
      : known_(builder.traits.has_global_counts),
        travel_(!known_ && !plan.is_typed && lengths.travel),
        first_temporary_(known_ ? std::numeric_limits<int32_t>::max()
                                : plan.regions.send_blocks + plan.regions.receive_blocks),
        own_(builder.input.own),
        lengths_(lengths),
        parts_(parts) {
    if (builder.traits.at_once > 0) script_.window = builder.window.size;
    script_.reads_lengths = travel_;
    if (!parts_) return;
    parts_->send_blocks = plan.regions.send_blocks;
    parts_->receive_blocks = plan.regions.receive_blocks;
    parts_->regions = first_temporary_ + plan.regions.temporaries;
    parts_->first_peer = builder.input.remote_real ? builder.input.remote_real[0] : 0;
    if (builder.input.program->groups == 1) parts_->first_peer = 0;
  }

  // Adds a plan. Returns false if the budget does not allow it.
  bool read(const qd_plan& plan, Budget& budget) {
    int64_t parts = 0;
    for (int32_t i = 0; i < plan.receives.count; ++i) parts += plan.receives.all[i].count;
    for (int32_t i = 0; i < plan.sends.count; ++i) parts += plan.sends.all[i].count;
    if (!budget.take(plan.sends.count, parts + plan.operation_count)) return false;
    for (int32_t i = 0; i < plan.receives.count; ++i)
      read(plan, plan.receives.all[i], script_.receives, true);
    for (int32_t i = 0; i < plan.sends.count; ++i)
      read(plan, plan.sends.all[i], script_.sends, false);
    for (int32_t i = 0; i < plan.operation_count; ++i) read(plan, plan.operations[i]);
    return true;
  }

  // True if a message has more than kLongestMessage bytes.
  bool has_too_long() const { return has_too_long_; }

  Script take() {
    if (copies_ > 0) script_.turns.push_back({.copies = copies_, .copied = copied_});
    // Compact lists lie close together in memory, where the engine reads them one after another.
    script_.turns.shrink_to_fit();
    script_.sends.shrink_to_fit();
    script_.receives.shrink_to_fit();
    return std::move(script_);
  }

 private:
  void read(const qd_plan& plan, const qd_message& message, std::vector<Post>& all, bool receives) {
    const qd_part* part = qd_parts_of(&plan, &message);
    const bool straight = message.zero_copy && !message.needs_staging && !message.combines;
    int32_t copied = message.count;
    // A received temporary block is not copied: it stays where it arrived.
    if (receives && !known_)
      for (int32_t i = 0; i < message.count; ++i) copied -= part[i].region >= first_temporary_;
    if (straight && !travel_) copied = 0;
    const int64_t bytes = known_ ? message.bytes : message.count * lengths_.of(0, 0);
    has_too_long_ |= bytes > kLongestMessage;
    all.push_back({.peer = message.peer,
                   .parts = copied,
                   .all_parts = message.count,
                   .bytes = bytes,
                   .straight = straight});
    if (!parts_) return;
    std::vector<int32_t>& regions = receives ? parts_->received : parts_->sent;
    for (int32_t i = 0; i < message.count; ++i) regions.push_back(part[i].region);
  }

  void read(const qd_plan& plan, const qd_operation& operation) {
    if (operation.kind == QD_PLAN_MESSAGES) {
      const qd_progress& more = operation.more;
      script_.turns.push_back({more.receives_done, more.sends_done, more.receives_posted,
                               more.sends_posted, copies_, copied_});
      copies_ = 0;
      copied_ = 0;
    } else if (operation.kind != QD_PLAN_END) {
      ++copies_;
      copied_ += operation.kind == QD_PLAN_COPY ? bytes(plan.copies[operation.what].from)
                                                : lengths_.of(own_, own_);
      if (parts_ && operation.kind == QD_PLAN_COPY)
        parts_->copies.push_back({static_cast<int32_t>(script_.turns.size()),
                                  plan.copies[operation.what].from.region,
                                  plan.copies[operation.what].to.region});
    }
  }

  // Returns the bytes of a part, but 0 if blocks differ in length: follow_blocks() adds them.
  int64_t bytes(const qd_part& part) const {
    if (part.form == QD_RANGE) return part.high - part.low;
    return parts_ ? 0 : lengths_.of(0, 0);
  }

  const bool known_, travel_;
  const int32_t first_temporary_, own_;
  const BlockLengths& lengths_;
  Parts* const parts_;
  Script script_;
  int32_t copies_ = 0;
  int64_t copied_ = 0;
  bool has_too_long_ = false;
};

// Matches the t-th send from one process to another with the t-th receive there. `are_parts_alike`: both ends must have
// as many parts, since each has a length of its own.
Result<bool> match(std::vector<Script>& all, bool are_parts_alike) {
  std::vector<std::vector<int32_t>> receives(all.size());
  for (size_t i = 0; i < all.size(); ++i) receives[i] = by_peer(all[i].receives);
  size_t sends = 0, received = 0;
  for (size_t from = 0; from < all.size(); ++from) {
    const std::vector<int32_t> order = by_peer(all[from].sends);
    int32_t peer = -1;
    std::vector<int32_t>::const_iterator next, end;
    for (const int32_t index : order) {
      Post& send = all[from].sends[index];
      std::vector<Post>& there = all[send.peer].receives;
      if (send.peer != peer) {
        peer = send.peer;
        end = receives[peer].end();
        next = std::lower_bound(
            receives[peer].begin(), receives[peer].end(), from,
            [&](int32_t i, size_t rank) { return there[i].peer < static_cast<int64_t>(rank); });
      }
      if (next == end || there[*next].peer != static_cast<int64_t>(from))
        return Error{fmt::format("a send of process {} to process {} has no receive", from, peer)};
      const Post& receive = there[*next];
      const auto differ = [&](int64_t sent, const char* what, int64_t received) {
        return Error{fmt::format("process {} sends {} {} to process {}, which receives {}", from,
                                 sent, what, peer, received)};
      };
      if (send.bytes != receive.bytes) return differ(send.bytes, "bytes", receive.bytes);
      if (are_parts_alike && send.all_parts != receive.all_parts)
        return differ(send.all_parts, "blocks", receive.all_parts);
      send.partner = *next;
      there[*next++].partner = index;
    }
    sends += order.size();
    received += all[from].receives.size();
  }
  if (sends != received) return Error{"a receive has no send"};
  return true;
}

// Returns the script of a rank of a group. Nothing if the budget does not allow it.
Result<std::optional<Script>> script_of(const verifier::Plans& plans, int64_t group, int64_t rank,
                                        const BlockLengths& lengths, Parts* parts,
                                        const verifier::PlanOptions& options, Budget& budget) {
  Result<verifier::RankPlans> made = plans.of_rank(group, rank, options);
  if (!made.ok()) return made.error();
  Result<const qd_plan*> plan = made->next();
  if (!plan.ok()) return plan.error();
  Reader reader(made->builder(), **plan, lengths, parts);
  for (; plan.ok() && *plan; plan = made->next())
    if (!reader.read(**plan, budget)) return std::optional<Script>{};
  if (!plan.ok()) return plan.error();
  if (reader.has_too_long()) return too_long();
  const qd_builder& builder = made->builder();
  if (!budget.iterate(builder.input.most_iterations - builder.reading.walker.iterations))
    return std::optional<Script>{};
  return std::optional<Script>{reader.take()};
}

}  // namespace

int64_t messages(const Scripts& scripts) {
  int64_t count = 0;
  for (const Script& script : scripts.all) count += static_cast<int64_t>(script.sends.size());
  return count;
}

std::vector<int32_t> by_peer(const std::vector<Post>& all) {
  std::vector<int32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t one, int32_t other) { return all[one].peer < all[other].peer; });
  return order;
}

Result<std::optional<Scripts>> scripts_of(std::span<const uint8_t> file, const Program& program,
                                          const Job& job, const Call& call,
                                          const BlockLengths& lengths,
                                          const verifier::PlanOptions& options, const Tell& tell,
                                          const ScriptLimits& limits) {
  const Result<verifier::Plans> plans = verifier::Plans::make(file, program, job, call);
  if (!plans.ok()) return plans.error();
  Scripts scripts;
  std::vector<std::pair<int64_t, int64_t>> places;  // group and rank, by process
  for (size_t group = 0; group < job.groups.size(); ++group) {
    for (int64_t rank = 0; rank < job.groups[group].ranks(); ++rank)
      places.emplace_back(static_cast<int64_t>(group), rank);
    for (const int64_t size : job.groups[group].sizes())
      scripts.node.insert(scripts.node.end(), static_cast<size_t>(size), scripts.nodes++);
  }
  scripts.all.resize(places.size());
  std::vector<Parts> parts(lengths.differ() ? places.size() : 0);
  std::atomic<size_t> next = 0;
  std::atomic<int64_t> blocks = 0;
  Budget budget(limits);
  std::atomic<bool> is_cut = false;
  std::mutex failing;
  size_t failed = places.size();  // the first process whose plans are refused
  Error why;
  std::exception_ptr thrown;
  const auto follow = [&](bool tells) {
    for (size_t i = next++; i < places.size(); i = next++) {
      if (tells && tell) tell(static_cast<int64_t>(i), static_cast<int64_t>(places.size()));
      Result<std::optional<Script>> script =
          script_of(*plans, places[i].first, places[i].second, lengths,
                    lengths.differ() ? &parts[i] : nullptr, options, budget);
      if (script.ok() && lengths.differ() &&
          (blocks += static_cast<int64_t>(parts[i].sent.size())) > kMostParts)
        script = Error{fmt::format(
            "messages have more than {} blocks with lengths of their own, too many to follow; give "
            "--sizes equal",
            kMostParts)};
      if (script.ok() && *script) {
        scripts.all[i] = **std::move(script);
        continue;
      }
      next = places.size();
      if (script.ok()) {
        is_cut = true;
        continue;
      }
      const std::lock_guard<std::mutex> lock(failing);
      if (i < failed) failed = i, why = script.error();
    }
  };
  // No exception may leave a thread, such as one because memory runs out.
  const auto work = [&](bool tells) {
    try {
      follow(tells);
    } catch (...) {
      next = places.size();
      const std::lock_guard<std::mutex> lock(failing);
      thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t)
      others.emplace_back(work, false);
    work(true);
  }
  if (thrown) std::rethrow_exception(thrown);
  if (failed < places.size()) return why;
  if (is_cut) return std::optional<Scripts>{};
  const Result<bool> matched = match(scripts.all, lengths.differ());
  if (!matched.ok()) return matched.error();
  if (lengths.differ() && !follow_blocks(scripts.all, parts, lengths)) return too_long();
  if (lengths.leaves_out_empty) send_lengths(scripts.all);
  return std::optional<Scripts>{std::move(scripts)};
}

}  // namespace quadrille
