// Reads plans part by part and keeps what takes time. Tested by tests/simulate.
#include "simulate/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "runtime/plan/builder.h"

namespace quadrille {
namespace {

// What the scripts may still hold. All threads take from it.
class Budget {
 public:
  explicit Budget(const ScriptLimits& limits) : messages_(limits.messages), parts_(limits.parts) {}
  // Returns whether there was enough.
  bool take(int64_t messages, int64_t parts) {
    return (messages_ -= messages) >= 0 && (parts_ -= parts) >= 0;
  }

 private:
  std::atomic<int64_t> messages_, parts_;
};

// One rank's plans become its script.
class Reader {
 public:
  Reader(const qd_builder& builder, int64_t block)
      : known_(builder.traits.has_global_counts), block_(block) {
    if (builder.traits.at_once > 0) script_.window = builder.window.size;
  }

  // Returns whether the budget allows it.
  bool read(const qd_plan& plan, Budget& budget) {
    int64_t parts = 0;
    for (int32_t i = 0; i < plan.receives.count; ++i) parts += plan.receives.all[i].count;
    for (int32_t i = 0; i < plan.sends.count; ++i) parts += plan.sends.all[i].count;
    if (!budget.take(plan.sends.count, parts + plan.operation_count)) return false;
    for (int32_t i = 0; i < plan.receives.count; ++i) read(plan.receives.all[i], script_.receives);
    for (int32_t i = 0; i < plan.sends.count; ++i) read(plan.sends.all[i], script_.sends);
    for (int32_t i = 0; i < plan.operation_count; ++i) read(plan, plan.operations[i]);
    return true;
  }

  Script take() {
    if (copies_ > 0) script_.turns.push_back({.copies = copies_, .copied = copied_});
    return std::move(script_);
  }

 private:
  void read(const qd_message& message, std::vector<Post>& all) const {
    const bool straight = message.zero_copy && !message.needs_staging && !message.combines;
    all.push_back({message.peer, 0, straight ? 0 : message.count,
                   known_ ? message.bytes : message.count * block_});
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
      copied_ += operation.kind == QD_PLAN_COPY ? bytes(plan.copies[operation.what].from) : block_;
    }
  }

  int64_t bytes(const qd_part& part) const {
    return part.form == QD_RANGE ? part.high - part.low : block_;
  }

  const bool known_;
  const int64_t block_;
  Script script_;
  int32_t copies_ = 0;
  int64_t copied_ = 0;
};

// The indices of messages, by peer, each peer's in their order.
std::vector<int32_t> by_peer(const std::vector<Post>& all) {
  std::vector<int32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t one, int32_t other) { return all[one].peer < all[other].peer; });
  return order;
}

// The t-th send to a process meets its t-th receive from there.
Result<bool> match(std::vector<Script>& all) {
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
      send.partner = *next;
      there[*next++].partner = index;
    }
    sends += order.size();
    received += all[from].receives.size();
  }
  if (sends != received) return Error{"a receive has no send"};
  return true;
}

// The script of a rank of a group. Nothing if the budget does not allow it.
Result<std::optional<Script>> script_of(const verifier::Plans& plans, int64_t group, int64_t rank,
                                        int64_t block, const verifier::PlanOptions& options,
                                        Budget& budget) {
  Result<verifier::RankPlans> made = plans.of_rank(group, rank, options);
  if (!made.ok()) return made.error();
  Reader reader(made->builder(), block);
  Result<const qd_plan*> plan = made->next();
  for (; plan.ok() && *plan; plan = made->next())
    if (!reader.read(**plan, budget)) return std::optional<Script>{};
  if (!plan.ok()) return plan.error();
  return std::optional<Script>{reader.take()};
}

}  // namespace

Result<std::optional<Scripts>> scripts_of(const verifier::Plans& plans, const Job& job,
                                          int64_t block, const verifier::PlanOptions& options,
                                          const ScriptLimits& limits) {
  Scripts scripts;
  std::vector<std::pair<int64_t, int64_t>> places;  // group and rank, by process
  for (size_t group = 0; group < job.groups.size(); ++group) {
    for (int64_t rank = 0; rank < job.groups[group].ranks(); ++rank)
      places.emplace_back(static_cast<int64_t>(group), rank);
    for (const int64_t size : job.groups[group].sizes())
      scripts.node.insert(scripts.node.end(), static_cast<size_t>(size), scripts.nodes++);
  }
  scripts.all.resize(places.size());
  std::atomic<size_t> next = 0;
  Budget budget(limits);
  std::atomic<bool> is_cut = false;
  std::mutex failing;
  size_t failed = places.size();  // the first process whose plans are refused
  Error why;
  const auto work = [&] {
    for (size_t i = next++; i < places.size(); i = next++) {
      Result<std::optional<Script>> script =
          script_of(plans, places[i].first, places[i].second, block, options, budget);
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
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) others.emplace_back(work);
    work();
  }
  if (failed < places.size()) return why;
  if (is_cut) return std::optional<Scripts>{};
  const Result<bool> matched = match(scripts.all);
  if (!matched.ok()) return matched.error();
  return std::optional<Scripts>{std::move(scripts)};
}

}  // namespace quadrille
