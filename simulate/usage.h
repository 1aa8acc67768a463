// How busy ports are over time, in memory that does not grow with the number of messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadrille {

// Adds up the use in intervals of time. Time is cut into equal bins, which double in width as time goes on.
class Usage {
 public:
  // Adds `use` from `begin` to `end`, in picoseconds.
  void add(int64_t begin, int64_t end, double use = 1) {
    while (end >= width_ * static_cast<int64_t>(kBins)) widen();
    change(begin, use);
    change(end, -use);
  }

  // Returns the average use in each of `count` equal parts of the time up to `end`.
  std::vector<double> parts(int64_t end, size_t count) const {
    std::vector<double> sums(count);
    const double part = static_cast<double>(end) / static_cast<double>(count);
    double level = 0;
    for (size_t bin = 0; bin < kBins; ++bin) {
      level += steps_[bin];
      const int64_t first = static_cast<int64_t>(bin) * width_;
      if (first >= end) break;
      const auto begin = static_cast<double>(first);
      const auto stop = static_cast<double>(std::min(first + width_, end));
      const double use = (level * static_cast<double>(width_) + rests_[bin]) / (stop - begin);
      for (auto at = static_cast<size_t>(begin / part); at < count; ++at) {
        const double from = std::max(begin, static_cast<double>(at) * part);
        const double to = std::min(stop, static_cast<double>(at + 1) * part);
        if (to > from) sums[at] += use * (to - from) / part;
        if (to >= stop) break;
      }
    }
    return sums;
  }

 private:
  static constexpr size_t kBins = 4096;

  // Raises the use by `use` from `time` on.
  void change(int64_t time, double use) {
    const auto bin = static_cast<size_t>(time / width_);
    rests_[bin] += use * static_cast<double>(static_cast<int64_t>(bin + 1) * width_ - time);
    steps_[bin + 1] += use;
  }

  void widen() {
    std::vector<double> steps(kBins + 1), rests(kBins);
    for (size_t bin = 0; bin < kBins / 2; ++bin) {
      steps[bin] = steps_[2 * bin] + (bin > 0 ? steps_[2 * bin - 1] : 0);
      rests[bin] =
          rests_[2 * bin] + rests_[2 * bin + 1] + steps_[2 * bin + 1] * static_cast<double>(width_);
    }
    steps[kBins / 2] = steps_[kBins - 1] + steps_[kBins];
    steps_ = std::move(steps);
    rests_ = std::move(rests);
    width_ *= 2;
  }

  int64_t width_ = 1;  // picoseconds of a bin
  // By bin: steps_ raises the use in this bin and all later ones. rests_ adds use times picoseconds in this bin
  // alone. One step is after the last bin.
  std::vector<double> steps_ = std::vector<double>(kBins + 1);
  std::vector<double> rests_ = std::vector<double>(kBins);
};

// The use of one port in one direction, from 0 to 1, and the sum over all ports and both directions.
struct PortUse {
  int32_t port = 0;
  bool receives = false, exclusive = false;  // if exclusive, both directions of the port count
  Usage busiest, all;
  void add(int32_t of, bool receives_there, int64_t begin, int64_t end, double use) {
    all.add(begin, end, use);
    if (of == port && (exclusive || receives == receives_there)) busiest.add(begin, end, use);
  }
};

}  // namespace quadrille
