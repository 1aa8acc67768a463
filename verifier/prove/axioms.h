// The axioms: facts that the prover assumes without proof. Most are about tables, and are instantiated for every term
// that occurs. A proof asks for the others by name, with `use NAME(arguments)`. tests/prove/axioms_test.cc checks
// each axiom on every small topology and call.
//
// Tables (nodes: sizes S of N nodes, ascending; P = prefix(S); D = distinct(S)):
//   N >= 1; 1 <= S[i] <= S[N-1]; i <= j -> S[i] <= S[j]
//   P[0] = 0; P[i+1] = P[i] + S[i]; P[N] = ranks; i <= P[i]; P[i] + S[i] <= ranks;
//     i < j -> P[i] + S[i] <= P[j]
//   D[0] = 0; length(D) >= 2; i <= D[i]; i < j -> D[i] + (j - i) <= D[j];
//     the last entry of D is S[N-1]
// Tables of the call (counts M, one per rank; a table of expressions E; Q = prefix(E), if an obligation shows that
// every entry of E is at least 1):
//   0 <= M[i]; E[i] is its expression of i
//   Q[0] = 0; Q[i+1] = Q[i] + E[i]; i <= Q[i]; Q[i] + E[i] <= Q[length(E)];
//     i < j -> Q[i] + E[i] <= Q[j] and Q[i] < Q[j]
//   G = greatest(E) of any table E: G[0] = 0; 0 <= G[i] <= G[length(E)]; i < j -> G[i] <= G[j];
//     E[i] <= G[length(E)]
//   for the counts, R = prefix(M): R[0] = 0; R[i+1] = R[i] + M[i]; 0 <= R[i] <= R[ranks];
//     i < j -> R[i] + M[i] <= R[j]
// Table T of the powers of r, up to the first that is at least m (an obligation shows 2 <= r):
//   length(T) >= 1; T[0] = 1; T[i+1] = r*T[i]; i < j -> T[i] < T[j]; m <= T[length(T) - 1], and T[i]
//   < m for every other i
// Any table T that the program searches with locate (an obligation shows that a table of expressions ascends):
//   a = locate(T, x): -1 <= a < length(T); a >= 0 -> T[a] <= x; a + 1 < length(T) -> x < T[a+1]
// By name:
//   monotone(a, b, c)   a <= b and 0 <= c -> a*c <= b*c. The statement `products` of a proof brings monotone(x + 1, y, c) and
//                       monotone(x, y, c) for all products x*c and y*c of an obligation, among them 0 and c
//   member(D, k)        1 <= k < length(D) -> S[locate(S, D[k])] = D[k], with locate(S, D[k]) a
//                       node
//   covered(D, i)       i a node -> D[locate(D, S[i])] = S[i], with locate(D, S[i]) >= 1
// By name, and proven over bit-vectors:
//   xor_range(x, y)     ranks x, y, a power of two of ranks, at most 2^20 -> x xor y is a rank
//   xor_cancel(x, y)    ranks x, y, at most 2^20 of them -> (x xor y) xor y = x, (x xor y) xor x =
//                       y, x xor y = y xor x; x xor y = x only if y = 0; x xor y = 0 only if x = y
//   xor_groups(T, k, x, y)  T powers of 2, 0 <= k < length(T), T[k] at most 2^20, ranks x, y, at most
//                       2^20 of them -> x xor y < T[k] if and only if x div T[k] = y div T[k]
//   xor_flip(T, k, x, y)    the same T, k, x and y -> F(x) xor y = F(x xor y), not negative, where F(a) is a with digit k flipped:
//                       (a div T[k]) mod 2 = 0 ? a + T[k] : a - T[k]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/expression.h"
#include "schedule/program.h"
#include "verifier/prove/obligations.h"
#include "verifier/prove/sites.h"

namespace quadrille::verifier {

// Returns an axiom as a condition over its arguments. A table argument is an index into the program's tables. Returns
// nullopt if no axiom has the name or the arguments do not fit.
struct AxiomArgument {
  std::optional<int64_t> table;
  Expression value;
};
std::optional<Expression> named_axiom(const Program& program, const std::string& name,
                                      const std::vector<AxiomArgument>& arguments);

// Returns the obligations over bit-vectors that prove the axioms xor_range, xor_cancel, xor_groups and xor_flip.
std::vector<Obligation> bitvector_obligations();

}  // namespace quadrille::verifier
