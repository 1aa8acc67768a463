// Four facts in 24 bits, unsigned; numbers of up to 2^20 and their doubles do not wrap round.
#include "verifier/prove/bitvector.h"

#include "schedule/topology.h"

namespace quadrille::verifier {
namespace {

constexpr unsigned kBits = 24;

struct Bits {
  explicit Bits(Query& query)
      : q(query),
        x(q.logic.context().bv_const("qd_x", kBits)),
        y(q.logic.context().bv_const("qd_y", kBits)),
        p(q.logic.context().bv_const("qd_p", kBits)) {
    q.bit_vectors = true;
    q.hypotheses.push_back(z3::ule(p, number(kMaxRanks)));
    q.hypotheses.push_back(z3::ult(x, p));
    q.hypotheses.push_back(z3::ult(y, p));
  }
  z3::expr number(int64_t value) const {
    return q.logic.context().bv_val(static_cast<uint64_t>(value), kBits);
  }

  Query& q;
  z3::expr x, y, p;
};

}  // namespace

std::vector<Obligation> bitvector_obligations() {
  std::vector<Obligation> result;
  // p xor (p - 1) = 2p - 1: p is a power of two, and then x xor y stays below it.
  result.push_back({"bit-vectors: x xor y < p", false, [](Query& q) {
                      Bits b(q);
                      q.hypotheses.push_back((b.p ^ (b.p - b.number(1))) ==
                                             b.p + b.p - b.number(1));
                      q.goal = z3::ult(b.x ^ b.y, b.p);
                      q.mutant = z3::ult(b.x ^ b.y, b.p - b.number(1));
                    }});
  result.push_back({"bit-vectors: (x xor y) xor y = x, (x xor y) xor x = y", false, [](Query& q) {
                      Bits b(q);
                      q.goal = ((b.x ^ b.y) ^ b.y) == b.x && ((b.x ^ b.y) ^ b.x) == b.y;
                      q.mutant = ((b.x ^ b.y) ^ b.y) == b.y;
                    }});
  result.push_back({"bit-vectors: x xor y = y xor x, = x only where y = 0, = 0 only where x = y",
                    false, [](Query& q) {
                      Bits b(q);
                      const z3::expr z = b.x ^ b.y;
                      q.goal = z == (b.y ^ b.x) && (z == b.x) == (b.y == b.number(0)) &&
                               (z == b.number(0)) == (b.x == b.y);
                      q.mutant = (b.x ^ b.y) == b.x;
                    }});
  // The groups of 2^k are x >> k and y >> k.
  result.push_back({"bit-vectors: x xor y < 2^k where x div 2^k = y div 2^k, and only there", false,
                    [](Query& q) {
                      Bits b(q);
                      const z3::expr k = q.logic.context().bv_const("qd_k", kBits);
                      q.hypotheses.push_back(z3::ule(k, b.number(20)));
                      const z3::expr same = z3::lshr(b.x, k) == z3::lshr(b.y, k);
                      q.goal = z3::ult(b.x ^ b.y, z3::shl(b.number(1), k)) == same;
                      q.mutant = z3::ult(b.x ^ b.y, k) == same;
                    }});
  return result;
}

}  // namespace quadrille::verifier
