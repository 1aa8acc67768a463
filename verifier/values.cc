// Runs are made greedily from the left, so each sequence has one form. Rings and trees sum neighbors: such a sum is
// one or two runs, for any number of ranks. Tested by tests/verifier/contents_test.cc against plain lists.
#include "verifier/values.h"

#include <algorithm>

namespace quadrille::verifier {
namespace {

ContributionRun single(const Contribution& contribution) {
  return {static_cast<int32_t>(contribution.rank), 1, static_cast<int32_t>(contribution.block),
          static_cast<int8_t>(contribution.group), 0};
}

// Appends a run. The last run takes as much of it as it can.
void append(ContributionRuns& runs, ContributionRun more) {
  if (!runs.empty()) {
    ContributionRun& last = runs.back();
    const int32_t by = more.first - last.last();
    const bool joins = last.group == more.group && last.block == more.block &&
                       (by == 1 || by == -1) && (last.count == 1 || by == last.step);
    if (joins) {
      const int32_t taken = more.count == 1 || more.step == by ? more.count : 1;
      last.step = static_cast<int8_t>(by);
      last.count += taken;
      if (taken == more.count) return;
      more.first += more.step;
      --more.count;
      if (more.count == 1) more.step = 0;
    }
  }
  runs.push_back(more);
}

// Upwards, by group, block and rank.
ContributionRuns sorted(const ContributionRuns& runs) {
  ContributionRuns upwards = runs;
  for (ContributionRun& run : upwards)
    if (run.step < 0) run = {run.last(), run.count, run.block, run.group, 1};
  std::sort(upwards.begin(), upwards.end(), [](const auto& a, const auto& b) {
    return std::tie(a.group, a.block, a.first) < std::tie(b.group, b.block, b.first);
  });
  return upwards;
}

bool has_one_twice(const ContributionRuns& runs) {
  const ContributionRuns upwards = sorted(runs);
  return std::adjacent_find(upwards.begin(), upwards.end(), [](const auto& a, const auto& b) {
           return a.group == b.group && a.block == b.block && b.first <= a.last();
         }) != upwards.end();
}

}  // namespace

size_t Values::Hash::operator()(const ContributionRuns& runs) const {
  uint64_t hash = runs.size();
  for (const ContributionRun& run : runs)
    for (const uint64_t word : {static_cast<uint64_t>(run.first) << 32 | uint32_t(run.block),
                                static_cast<uint64_t>(run.count) << 32 |
                                    static_cast<uint64_t>(run.group) << 8 | uint8_t(run.step)}) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
  return hash;
}

int32_t Values::number(ContributionRuns runs) {
  const auto [entry, added] =
      numbers_.try_emplace(std::move(runs), static_cast<int32_t>(runs_.size()));
  if (added) runs_.push_back(&entry->first);
  return entry->second;
}

int32_t Values::number(const Contribution& contribution) {
  return number(ContributionRuns{single(contribution)});
}

int32_t Values::number(const std::vector<Contribution>& sequence) {
  ContributionRuns runs;
  for (const Contribution& contribution : sequence) append(runs, single(contribution));
  return number(std::move(runs));
}

int32_t Values::sum_of(const Contributors& c) {
  if (c.count == 0) return number(ContributionRuns{});
  return number(ContributionRuns{{static_cast<int32_t>(c.first), static_cast<int32_t>(c.count),
                                  static_cast<int32_t>(c.block), static_cast<int8_t>(c.group),
                                  static_cast<int8_t>(c.count > 1)}});
}

std::optional<int32_t> Values::combine(int32_t left, int32_t right) {
  const auto [entry, added] = combined_.try_emplace(int64_t{left} << 32 | right);
  if (!added) return entry->second;
  ContributionRuns all = runs(left);
  all.insert(all.end(), runs(right).begin(), runs(right).end());
  if (has_one_twice(all)) return std::nullopt;
  ContributionRuns joined;
  for (const ContributionRun& run : all) append(joined, run);
  entry->second = number(std::move(joined));
  return entry->second;
}

int32_t Values::in_any_order(int32_t value) {
  const auto known = in_any_order_.find(value);
  if (known != in_any_order_.end()) return known->second;
  ContributionRuns runs;
  for (const ContributionRun& run : sorted(this->runs(value))) append(runs, run);
  return in_any_order_[value] = number(std::move(runs));
}

int64_t Values::size(int32_t value) const {
  int64_t size = 0;
  for (const ContributionRun& run : runs(value)) size += run.count;
  return size;
}

}  // namespace quadrille::verifier
