// Which blocks of an all-to-all have arrived: a bit for every two ranks.
#ifndef QUADRILLE_VERIFIER_ARRIVALS_H_
#define QUADRILLE_VERIFIER_ARRIVALS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace quadrille::verifier {

class Arrivals {
 public:
  explicit Arrivals(int64_t ranks)
      : ranks_(ranks), row_words_((ranks + 63) / 64), bits_(ranks * row_words_, 0) {}

  bool has(int64_t source, int64_t target) const {
    return bits_[word(source, target)] >> (source % 64) & 1;
  }
  // False where the block had arrived before.
  bool add(int64_t source, int64_t target) {
    uint64_t& bits = bits_[word(source, target)];
    const uint64_t bit = uint64_t{1} << (source % 64);
    if (bits & bit) return false;
    bits |= bit;
    ++count_;
    return true;
  }
  void prefetch(int64_t source, int64_t target) const {
    __builtin_prefetch(&bits_[word(source, target)], 1);
  }

  // The first source and target whose block is missing.
  std::optional<std::pair<int64_t, int64_t>> missing() const {
    if (count_ == ranks_ * ranks_) return std::nullopt;
    int64_t pair = 0;
    while (has(pair % ranks_, pair / ranks_)) ++pair;
    return std::pair{pair % ranks_, pair / ranks_};
  }

 private:
  size_t word(int64_t source, int64_t target) const { return target * row_words_ + source / 64; }

  int64_t ranks_, row_words_;
  std::vector<uint64_t> bits_;
  int64_t count_ = 0;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_ARRIVALS_H_
