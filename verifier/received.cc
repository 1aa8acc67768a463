// Sets are merged as sorted lists are. Tested by tests/verifier/received_test.cc and by what the checker says of
// barriers.
#include "verifier/received.h"

#include <algorithm>

namespace quadrille::verifier {

void ProcessSet::add(const ProcessSet& others) {
  std::vector<Interval> all;
  all.reserve(intervals_.size() + others.intervals_.size());
  std::merge(intervals_.begin(), intervals_.end(), others.intervals_.begin(),
             others.intervals_.end(), std::back_inserter(all),
             [](const Interval& a, const Interval& b) { return a.low < b.low; });
  intervals_.clear();
  for (const Interval& next : all) {
    if (intervals_.empty() || intervals_.back().high < next.low)
      intervals_.push_back(next);
    else
      intervals_.back().high = std::max(intervals_.back().high, next.high);
  }
}

int64_t ProcessSet::first_missing() const {
  return intervals_.empty() || intervals_[0].low > 0 ? 0 : intervals_[0].high;
}

bool operator==(const ProcessSet& a, const ProcessSet& b) {
  return std::equal(a.intervals_.begin(), a.intervals_.end(), b.intervals_.begin(),
                    b.intervals_.end(), [](const Interval& one, const Interval& other) {
                      return one.low == other.low && one.high == other.high;
                    });
}

void BarrierProgress::begin(std::optional<int64_t> after) {
  const auto waited_for =
      after ? std::partition_point(steps_.begin(), steps_.end(),
                                   [&](const Completed& step) { return step.key <= *after; })
            : steps_.end();
  sent_ = waited_for == steps_.begin() ? ProcessSet(process_) : std::prev(waited_for)->received;
  arriving_ = ProcessSet();
  begun_ = true;
}

void BarrierProgress::complete(int64_t key) {
  if (!begun_) return;
  begun_ = false;
  ProcessSet received = all();
  received.add(arriving_);
  if (!keep_) steps_.clear();
  steps_.push_back({key, std::move(received)});
}

}  // namespace quadrille::verifier
