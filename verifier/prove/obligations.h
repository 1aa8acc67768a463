// What has to be proven of a program, made from the program itself: the proof only brings
// witnesses, lemmas and hints.
//
// The glue that no solver sees, for direct all-to-all programs (every block travels once, from a
// send to a receive buffer):
//   defined   every partial operation has a value wherever the program comes to it
//   keys      the keys of each iteration of a loop lie in the interval that the proof gives,
//             intervals follow one another, and so do the statements of a body: by induction over
//             iterations, keys strictly increase at a rank
//   match     every send has its receive, in a step with the same key, at the rank that it names,
//             and that receive names it; the two maps are inverse, so this pairs all messages one
//             to one. With keys: the lowest key at which some rank is not done is the same at both
//             ends of its messages, so they meet: progress with no buffering at all, by induction
//             over keys
//   place     block d goes to rank d and arrives as block s from rank s
//   cover     for every two ranks, some send carries the block; once: no two do. Copies serve the
//             diagonal in the same way. With match: every receive block is written once, so steps
//             in flight together touch no block in common (overlap)
//   in_place  each block is sent no later than the block that overwrites it arrives
//   port      two inter-node exchanges of a node at one key are the same exchange. Loops whose
//             bounds and intervals do not depend on the rank are in the same iteration at equal
//             keys, everywhere, because their intervals are disjoint
// For allgather programs, where blocks are sent on from the receive buffer, whole or in parts, several
// to a message, place, copies and in_place fall away; keys, match and port are as above, and
//   message   two messages of several pieces meet, and their pieces stand in one order
//   piece     what a piece carries lies within a block and, where blocks have lengths, is not empty;
//             no rank receives its own
//   held      what a rank sends of another's block has arrived, in a step that the sending step waits
//             for. Its own block is copied before anything else. So by induction over keys every
//             piece carries the bytes that it names, whatever is in flight together
//   cover     every byte of every other rank's contribution arrives; once: in no two pieces
// For all-to-all programs whose blocks pass through other ranks' temporary buffers each piece carries a
// contribution, of a source for a target: send[b] of rank u that of u for b, recv[b] of rank v that of
// b for v; of temp[b] the proof says which. Then
//   match     also says that what is sent is what is received; message is as above
//   piece     a contribution is of one rank for another, and a temporary block is one that there is
//   peers     of the messages of a step, in loops or not, no two go to one rank, or come from one: with
//             equal keys, the t-th send of a rank to another meets the t-th receive there
//   held      each read of a temporary block has its write, in a step that is over, of the same block
//             and contribution
//   apart     of two reads of a temporary block the earlier is over, or in the same step, when the
//             write of the later one comes; a send block is read once
//   cover     every contribution arrives in its receive block; once: in no two pieces. No
//             contribution comes back to a temporary block where it has been
// So what is read is what was written. Of each contribution count the pieces sent from the send buffer
// (F), read from (R) and written to (W) temporary blocks, and received into the receive buffer (T):
// F + R = W + T by match, T = 1 by cover and once, F <= 1 by apart, and R <= W, as by apart no two reads
// have one write. Hence F = 1 and R = W: each write has one read. Were there a write of a block between
// a write and its read, or in the step of the former, then of the two reads one would not be apart
// from the other's write. And where steps are in flight together, each of these has waited for the one
// before. By induction over keys every piece carries the contribution that it is said to carry.
// That a program deadlocks, where sends wait for their receives: every rank comes to a send before any
// receive is posted; so no send is ever done, and no receive posted.
#ifndef QUADRILLE_VERIFIER_PROVE_OBLIGATIONS_H_
#define QUADRILLE_VERIFIER_PROVE_OBLIGATIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verifier/prove/logic.h"
#include "verifier/prove/proof.h"

namespace quadrille::verifier {

// Hypotheses, a goal that they must imply, and a mutant of the goal that they must not imply.
struct Query {
  Query(z3::context& context, const Program& program)
      : logic(context, program), goal(context), mutant(context) {}

  Logic logic;
  std::vector<z3::expr> hypotheses;
  z3::expr goal, mutant;
  bool bit_vectors = false;  // says nothing of jobs: no axioms are needed
};

struct Obligation {
  std::string name;  // "match send 1", unique within a proof
  bool theorem = false;
  std::function<void(Query&)> build;
};

// A claim that the proof says is false.
struct FalseClaim {
  std::string name;
  std::vector<std::string> variables;
  std::vector<Expression> given;
  Expression show;
};

struct ProofPlan {
  std::vector<Obligation> obligations;
  std::vector<FalseClaim> false_claims;
  std::string scope;       // what it is proven for: "all sizes, counts and values of B"
  bool deadlocks = false;  // what is proven is that the program deadlocks
};

// Errors are the proof's: a witness that is missing, a name that is not known.
Result<ProofPlan> plan_proof(const Proof& proof);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_OBLIGATIONS_H_
