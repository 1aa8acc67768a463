// A queue of events, none earlier than the last one that was taken: a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan
// 1990). Events of one time come out in the order in which they went in.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace quadrille {

template <class Event>  // has a field `time`, 0 or more
class Queue {
 public:
  // Adds an event. It must not be earlier than the last one that was taken.
  void push(const Event& event) {
    buckets_[bucket(event.time)].push_back(event);
    if (size_++ == 0 || event.time == last_ || (is_known_ && event.time < least_)) {
      least_ = event.time;
      is_known_ = true;
    }
  }

  // Returns the least time in the queue; the greatest integer if it is empty.
  int64_t time() {
    if (size_ == 0) return std::numeric_limits<int64_t>::max();
    if (is_known_) return least_;
    size_t lowest = 1;  // the first bucket is empty
    while (buckets_[lowest].empty()) ++lowest;
    least_ = buckets_[lowest][0].time;
    for (const Event& event : buckets_[lowest]) least_ = event.time < least_ ? event.time : least_;
    is_known_ = true;
    return least_;
  }

  // Returns an event that comes out soon after the first one of time(), or null. The caller may prefetch its data.
  const Event* soon() const {
    constexpr size_t kAhead = 8;
    return first_ + kAhead < buckets_[0].size() ? &buckets_[0][first_ + kAhead] : nullptr;
  }

  // Takes the first event of time(). The queue must not be empty.
  Event pop() {
    if (first_ == buckets_[0].size()) refill();
    --size_;
    const Event event = buckets_[0][first_++];
    least_ = last_;
    is_known_ = first_ < buckets_[0].size();
    return event;
  }

 private:
  // Returns 0 if the time equals last_. Otherwise the highest bit in which both differ chooses the bucket.
  size_t bucket(int64_t time) const {
    return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(time ^ last_)));
  }

  void refill() {
    const int64_t least = time();
    buckets_[0].clear();
    first_ = 0;
    size_t lowest = 1;
    while (buckets_[lowest].empty()) ++lowest;
    moved_.swap(buckets_[lowest]);
    last_ = least;
    for (const Event& event : moved_) buckets_[bucket(event.time)].push_back(event);
    moved_.clear();
  }

  std::array<std::vector<Event>, 65> buckets_;
  std::vector<Event> moved_;
  size_t first_ = 0, size_ = 0;
  int64_t last_ = 0;       // the time of the last event that was taken
  int64_t least_ = 0;      // the least time in the queue
  bool is_known_ = false;  // whether least_ is up to date
};

}  // namespace quadrille
