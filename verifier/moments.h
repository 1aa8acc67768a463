// A program as it runs on one small job: each statement of each iteration at each rank, in order. `prove --skeleton` looks
// there for the witnesses of a proof. Nothing trusts these moments: the prover checks what was found.
#ifndef QUADRILLE_VERIFIER_MOMENTS_H_
#define QUADRILLE_VERIFIER_MOMENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "schedule/walk.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// Bytes of a block; all of it if the program names no range.
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
  std::vector<int64_t> variables;  // of the site
  int64_t key = 0, peer = 0;       // of a message
  std::optional<Bytes> from, to;
};

// The ranks whose contributions some data has, and for whom it is.
struct Data {
  int64_t group = 0, target = 0;
  std::vector<bool> contributors;  // by rank of that group
};

class Moments {
 public:
  // Empty if an expression has no value, or there are too many moments.
  static std::optional<Moments> make(const Program& program, const Anatomy& anatomy, const Job& job,
                                     const Call& call);

  const std::vector<Moment>& all() const { return all_; }
  const Binding& binding(int64_t group) const { return bindings_[group]; }

  // The other end of a message's piece, or null.
  const Moment* matched(const Moment& moment) const;
  // The last write of a byte before the moment, at its rank; null if there is none.
  const Moment* writer(const Moment& moment, const Bytes& byte) const;
  // The last write of a byte at that rank.
  const Moment* last_writer(int64_t group, int64_t rank, const Bytes& byte) const;
  // The first read of a byte after the moment, at its rank; null if there is none.
  const Moment* reader(const Moment& moment, const Bytes& byte) const;
  // What a moment sends or copies, or what it leaves behind where it receives or combines; empty if it is not known.
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

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_MOMENTS_H_
