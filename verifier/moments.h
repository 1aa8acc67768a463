// Runs a program on one small job. A moment is one statement in one iteration at one rank. `prove --skeleton`
// searches the moments for the witnesses of a proof. Nothing trusts them: the prover checks each witness.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "schedule/walk.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// The bytes low .. high of a block. If the program names no range, they are the whole block.
struct Bytes {
  Buffer buffer = Buffer::kSend;
  int64_t block = 0, low = 0, high = INT64_MAX;
  bool empty() const { return high <= low; }
  Bytes byte(int64_t at) const { return {buffer, block, at, at + 1}; }
  bool has(const Bytes& byte) const {
    return buffer == byte.buffer && block == byte.block && low <= byte.low && byte.low < high;
  }
};

struct Moment {
  const Site* site = nullptr;
  int64_t group = 0, rank = 0;
  std::vector<int64_t> variables;  // values of the site's variables
  int64_t key = 0, peer = 0;       // if the site is a message
  std::optional<Bytes> from, to;
};

// Describes data: the ranks of `group` that contributed to it, and the rank that it is for (0 if it is for all).
struct Data {
  int64_t group = 0, target = 0;
  std::vector<bool> contributors;  // by rank of that group
  // The first contributor, and their number if they are consecutive (modulo ranks), in the order in which they were
  // combined.
  int64_t first = 0;
  std::optional<int64_t> number = {};
};

class Moments {
 public:
  // Returns nothing if an expression has no value, or there are too many moments.
  static std::optional<Moments> make(const Program& program, const Anatomy& anatomy, const Job& job,
                                     const Call& call);

  const std::vector<Moment>& all() const { return all_; }
  const Binding& binding(int64_t group) const { return bindings_[group]; }

  // Returns the moment at the other end of a message's piece, or null.
  const Moment* matched(const Moment& moment) const;
  // Returns the last write of a byte before the moment, at its rank; null if there is none.
  const Moment* writer(const Moment& moment, const Bytes& byte) const;
  // Returns the last write of a byte at that rank; null if there is none.
  const Moment* last_writer(int64_t group, int64_t rank, const Bytes& byte) const;
  // Returns the first read of a byte after the moment, at its rank, also to combine it; null if there is none.
  const Moment* reader(const Moment& moment, const Bytes& byte) const;
  // Returns the data that a moment sends, receives or copies; if it combines, the result. Empty if that is not known.
  std::optional<Data> data(const Moment& moment, int depth = 0) const;

 private:
  std::optional<Data> read(const Moment& moment, const Bytes& bytes, int depth) const;
  void match();
  const Moment* last_write_before(size_t end, size_t first, const Bytes& byte) const;

  const Program* program_ = nullptr;
  std::vector<Binding> bindings_;
  std::vector<Moment> all_;  // rank by rank, in the order of the program
  std::map<std::pair<int64_t, int64_t>, std::pair<size_t, size_t>> of_rank_;  // by group and rank
  std::vector<int64_t> matched_;                                              // -1: none
};

// The most ranks that are tried on all numbers of ranks. Some jobs have more.
inline constexpr int64_t kMostRanksTried = 9;
// Runs the program on small jobs: on all nodes, or only on numbers of ranks if it knows no nodes. Of each job it takes some
// cases, which differ in roots, counts and values of parameters.
std::vector<Moments> runs_of(const Program& program, const Anatomy& anatomy);

}  // namespace quadrille::verifier
