// The obligations of a program: what has to be proven. They are made from the program itself; the proof only brings
// witnesses, lemmas and hints.
//
// There is one set of obligations for all collectives. Each piece of a message, copy or reduction carries a *span*:
// bytes, or elements, of what one rank, or several consecutive ranks, contribute to a block. The collective defines
// the spans of the send buffer. If it only moves data, it also defines those of the receive buffer. The proof defines
// the spans of all other blocks, and the tokens that messages of a barrier bring (`carries`). An obligation's name
// begins with its kind. Kinds have the names of the hypotheses of the theorem (theory/Theorem.v), which states what
// follows from them:
//   defined   every partial operation has a value wherever the program comes to it, tables are what is known
//             of them, pieces lie within blocks and buffers, and no rank receives its own contribution
//   fits      every value has 64 bits, and tables are within their limits
//   keys      the keys of each iteration of a loop lie in the interval that the proof gives,
//             intervals follow one another, and so do the statements of a body: by induction over
//             iterations, keys strictly increase at a rank
//   match     every send has its receive, of the same span, in a step with the same key, at the rank that it
//             names, and that receive names it; the two maps are inverse, so this pairs all messages one to
//             one. Messages of several pieces meet, with their pieces in one order. Of the messages of a
//             step no two go to one rank, or come from one: the t-th send of a rank to another meets
//             the t-th receive there
//   held      what is read of the receive or the temporary buffer was put there by a write that the proof
//             names, and that is over by then: steps in the order of their keys, as far as they wait for one
//             another, and what stands between steps in the order of the text. So is what something is combined
//             with. An allgather's own block is there from the beginning, where the program begins with its copy
//   apart     any other write of that place is over before the named one, or the read is over,
//             or in the same step, when it comes; or it writes the same. A receive block of data that only moves
//             always holds the same, so nothing is asked there. In place, a block of the send buffer is sent
//             no later than what overwrites it arrives
//   combine   what comes is beside what is there: its contributors follow, or come before, on the stated side,
//             or on either where the operator commutes; and what is left is both
//   final     every byte of every other rank's block, or of what all contribute, arrives where it belongs, as the
//             last write; and a rank's own block is copied there
//   once      nothing but that arrives in the receive buffer; nothing is written where it is already. Where blocks
//             of an all-to-all pass through temporary buffers, no rank sends the same block twice from one
//   used      what is written to another block is read: by something that names this write
//   role      between groups, of the root's group the root alone has messages
//   port      two inter-node exchanges of a node at one key are the same exchange; those of one
//             direction, where the port has one for each; or a rank's
// Between two groups each query asks this of the ranks of both; whose ranks, tables and counts are meant stands
// in an Instance. One of the theorem's hypotheses is missing: `posted_early`, which is a rule of the runtime
// (runtime/plan/order.c): it posts early only what nothing touches before. `used` is none of them: what comes
// of a program does not depend on it.
//
// In an all-to-all in which messages alone touch temporary blocks, and none comes from the receive buffer, nothing is
// left over, without `used`: of each contribution count the pieces sent from the send buffer (F), sent from (R) and
// written to (W) temporary blocks, and received into the receive buffer (T). F + R = W + T by match, T = 1 by
// final and once, F <= 1 and R <= W by once and held, as no two reads have one write. Hence F = 1 and R = W.
//
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
struct Query : Logic {
  Query(z3::context& context, const Program& program)
      : Logic(context, program), goal(context), mutant(context) {}

  std::vector<z3::expr> hypotheses;
  z3::expr goal, mutant;
  int group = 0;             // whose ranks are spoken of
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
  bool deadlocks = false;  // what is proven is that the program deadlocks, where, at every rank,
  std::vector<Expression> given = {};  // this holds
};

// Errors are the proof's: a witness that is missing, a name that is not known.
Result<ProofPlan> plan_proof(const Proof& proof);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_OBLIGATIONS_H_
