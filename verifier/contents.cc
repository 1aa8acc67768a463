// Interval lists, kept sorted and joined. Blocks have few fragments, so lists are searched from the
// left. Tested by tests/verifier/contents_test.cc against arrays of positions.
#include "verifier/contents.h"

#include <algorithm>

namespace quadrille::verifier {
namespace {

void append_joined(Fragments& fragments, Fragment next) {
  if (next.low >= next.high) return;
  if (!fragments.empty()) {
    Fragment& last = fragments.back();
    if (last.high == next.low && last.value == next.value && last.shift == next.shift) {
      last.high = next.high;
      return;
    }
  }
  fragments.push_back(next);
}

void subtract(std::vector<Interval>& intervals, int64_t low, int64_t high) {
  std::vector<Interval> rest;
  for (const Interval& interval : intervals) {
    if (interval.low < std::min(interval.high, low))
      rest.push_back({interval.low, std::min(interval.high, low)});
    if (std::max(interval.low, high) < interval.high)
      rest.push_back({std::max(interval.low, high), interval.high});
  }
  intervals = std::move(rest);
}

}  // namespace

int32_t Values::number(const std::vector<Contribution>& sequence) {
  const auto [entry, added] =
      numbers_.try_emplace(sequence, static_cast<int32_t>(sequences_.size()));
  if (added) sequences_.push_back(&entry->first);
  return entry->second;
}

std::optional<int32_t> Values::combine(int32_t left, int32_t right) {
  const auto [entry, added] = combined_.try_emplace({left, right});
  if (!added) return entry->second;
  std::vector<Contribution> sequence = this->sequence(left);
  sequence.insert(sequence.end(), this->sequence(right).begin(), this->sequence(right).end());
  std::vector<Contribution> sorted = sequence;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end())
    entry->second = number(sequence);
  return entry->second;
}

Fragments cut(const Fragments& fragments, int64_t low, int64_t high, int64_t by) {
  Fragments result;
  for (const Fragment& fragment : fragments)
    append_joined(result, {std::max(fragment.low, low) + by, std::min(fragment.high, high) + by,
                           fragment.value, fragment.shift - by});
  return result;
}

bool covers(const Fragments& fragments, int64_t low, int64_t high) {
  for (const Fragment& fragment : fragments)
    if (fragment.low <= low && low < fragment.high) low = fragment.high;
  return low >= high;
}

bool share(const Fragments& a, const Fragments& b) {
  for (const Fragment& one : a)
    for (const Fragment& other : b)
      if (one.value == other.value && one.shift == other.shift &&
          std::max(one.low, other.low) < std::min(one.high, other.high))
        return true;
  return false;
}

void BlockContents::write(int64_t low, int64_t high, const Fragments& fragments) {
  Fragments result = cut(fragments_, INT64_MIN, low, 0);
  for (const Fragment& fragment : cut(fragments, low, high, 0)) append_joined(result, fragment);
  for (const Fragment& fragment : cut(fragments_, high, INT64_MAX, 0))
    append_joined(result, fragment);
  fragments_ = std::move(result);
  written_ = true;
  subtract(unused_, low, high);
  if (low < high) unused_.push_back({low, high});
}

void BlockContents::mark_read(int64_t low, int64_t high) { subtract(unused_, low, high); }

bool BlockContents::unused(int64_t low, int64_t high) const {
  return std::any_of(unused_.begin(), unused_.end(), [&](const Interval& interval) {
    return interval.meets({low, high});
  });
}

}  // namespace quadrille::verifier
