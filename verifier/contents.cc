// A sorted list that is searched, and changed where a part of it changes. Tested by
// tests/verifier/contents_test.cc against arrays of positions.
#include "verifier/contents.h"

#include <algorithm>

namespace quadrille::verifier {

namespace {

void append_joined(Fragments& fragments, const Fragment& next) {
  if (next.low >= next.high) return;
  if (!fragments.empty()) {
    Fragment& last = fragments.back();
    if (last.high == next.low && last.value == next.value && last.shift == next.shift &&
        last.unused == next.unused) {
      last.high = next.high;
      return;
    }
  }
  fragments.push_back(next);
}

// As far as it lies in low .. high.
Fragment within(Fragment fragment, int64_t low, int64_t high) {
  fragment.low = std::max(fragment.low, low);
  fragment.high = std::min(fragment.high, high);
  return fragment;
}

}  // namespace

std::span<const Fragment> BlockContents::fragments() const {
  if (list_) return *list_;
  return {&one_, one_.low < one_.high ? 1u : 0u};
}

size_t BlockContents::first_beyond(int64_t position) const {
  const auto all = fragments();
  return std::partition_point(all.begin(), all.end(),
                              [=](const Fragment& f) { return f.high <= position; }) -
         all.begin();
}

bool BlockContents::holds(int64_t low, int64_t high) const {
  const auto all = fragments();
  for (size_t i = first_beyond(low); i < all.size() && low < high && all[i].low <= low; ++i)
    low = all[i].high;
  return low >= high;
}

Fragments BlockContents::read(int64_t low, int64_t high) {
  Fragments result;
  const auto all = fragments();
  for (size_t i = first_beyond(low); i < all.size() && all[i].low < high; ++i) {
    const Fragment part = within(all[i], low, high);
    append_joined(result, {part.low - low, part.high - low, part.shift + low, part.value});
  }
  mark_read(low, high);
  return result;
}

void BlockContents::write(int64_t low, int64_t high, const Fragments& fragments) {
  written_ = true;
  if (low >= high) return;
  // With the neighbours on both sides, which may join what is new.
  const auto all = this->fragments();
  size_t first = first_beyond(low), last = first;
  while (last < all.size() && all[last].low < high) ++last;
  first -= first > 0;
  last += last < all.size();
  Fragments changed;
  for (size_t i = first; i < last; ++i) append_joined(changed, within(all[i], INT64_MIN, low));
  for (Fragment fragment : fragments) {
    fragment.unused = true;
    append_joined(changed, within(fragment, low, high));
  }
  for (size_t i = first; i < last; ++i) append_joined(changed, within(all[i], high, INT64_MAX));
  replace(first, last, changed);
}

void BlockContents::mark_read(int64_t low, int64_t high) {
  if (!unused(low, high)) return;
  const auto all = fragments();
  size_t first = first_beyond(low), last = first;
  while (last < all.size() && all[last].low < high) ++last;
  first -= first > 0;
  last += last < all.size();
  Fragments changed;
  for (size_t i = first; i < last; ++i) {
    append_joined(changed, within(all[i], INT64_MIN, low));
    Fragment used = within(all[i], low, high);
    used.unused = false;
    append_joined(changed, used);
    append_joined(changed, within(all[i], high, INT64_MAX));
  }
  replace(first, last, changed);
}

bool BlockContents::unused(int64_t low, int64_t high) const {
  const auto all = fragments();
  for (size_t i = first_beyond(low); i < all.size() && all[i].low < high; ++i)
    if (all[i].unused) return low < high;
  return false;
}

bool BlockContents::shares(const Fragments& fragments) const {
  const auto all = this->fragments();
  for (const Fragment& one : fragments)
    for (size_t i = first_beyond(one.low); i < all.size() && all[i].low < one.high; ++i)
      if (one.low < one.high && all[i].value == one.value && all[i].shift == one.shift) return true;
  return false;
}

void BlockContents::replace(size_t first, size_t last, const Fragments& by) {
  if (!list_) {
    if (by.size() <= 1 && first == 0 && last == fragments().size()) {
      one_ = by.empty() ? Fragment{} : by[0];
      return;
    }
    list_ = std::make_unique<Fragments>(fragments().begin(), fragments().end());
  }
  const size_t over = std::min(last - first, by.size());
  std::copy_n(by.begin(), over, list_->begin() + first);
  list_->erase(list_->begin() + first + over, list_->begin() + last);
  list_->insert(list_->begin() + first + over, by.begin() + over, by.end());
}

// Parts up to the position and parts from it on.
void Accesses::cut(int64_t position) {
  const auto at = std::partition_point(parts_.begin(), parts_.end(),
                                       [=](const Part& p) { return p.high <= position; });
  if (at == parts_.end() || position <= at->low) return;
  Part left = *at;
  left.high = at->low = position;
  parts_.insert(at, left);
}

// One step may read and write.
void Accesses::Part::use(int64_t key, bool write) {
  if (steps.empty() || steps.back().key != key) steps.push_back({key, false});
  steps.back().write |= write;
}

std::optional<int64_t> Accesses::Part::disturbed(int64_t key, int64_t after, bool write) const {
  std::optional<int64_t> first;
  for (auto step = steps.rbegin(); step != steps.rend() && step->key > after; ++step)
    if (step->key < key && (write || step->write)) first = step->key;
  return first;
}

std::optional<int64_t> Accesses::note(int64_t epoch, int64_t key, int64_t after,
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
