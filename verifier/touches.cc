// An interval map. Tested by tests/verifier/contents_test.cc against a list of all uses.
#include "verifier/touches.h"

#include <algorithm>

namespace quadrille::verifier {

// Parts up to the position and parts from it on.
void Touches::cut(int64_t position) {
  const auto at = std::partition_point(parts_.begin(), parts_.end(),
                                       [=](const Part& p) { return p.high <= position; });
  if (at == parts_.end() || position <= at->low) return;
  Part left = *at;
  left.high = at->low = position;
  parts_.insert(at, left);
}

// One step may read and write.
void Touches::Part::use(int64_t key, bool write) {
  if (steps.empty() || steps.back().key != key) steps.push_back({key, false});
  steps.back().write |= write;
}

std::optional<int64_t> Touches::Part::disturbed(int64_t key, int64_t after, bool write) const {
  std::optional<int64_t> first;
  for (auto step = steps.rbegin(); step != steps.rend() && step->key > after; ++step)
    if (step->key < key && (write || step->write)) first = step->key;
  return first;
}

std::optional<int64_t> Touches::note(int64_t epoch, int64_t key, int64_t after,
                                     const Interval& part, bool write) {
  if (epoch != epoch_) parts_.clear();
  epoch_ = epoch;
  if (part.low >= part.high) return std::nullopt;
  cut(part.low);
  cut(part.high);
  std::optional<int64_t> first;
  std::vector<Part> used;
  const auto begin = std::partition_point(parts_.begin(), parts_.end(),
                                          [&](const Part& p) { return p.high <= part.low; });
  auto next = begin;
  for (int64_t low = part.low; low < part.high; low = used.back().high) {
    Part here{low, part.high, {}};
    if (next != parts_.end() && next->low == low)
      here = std::move(*next++);
    else if (next != parts_.end())
      here.high = std::min(here.high, next->low);
    const auto disturbed = here.disturbed(key, after, write);
    if (disturbed && (!first || *disturbed < *first)) first = disturbed;
    here.use(key, write);
    if (!used.empty() && used.back().steps == here.steps)
      used.back().high = here.high;
    else
      used.push_back(std::move(here));
  }
  const auto at = parts_.erase(begin, next);
  parts_.insert(at, std::make_move_iterator(used.begin()), std::make_move_iterator(used.end()));
  return first;
}

}  // namespace quadrille::verifier
