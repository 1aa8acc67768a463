// The obligations of a program: what has to be proven. They are made from the program itself. The proof only brings
// witnesses, lemmas and hints.
//
// There is one set of obligations for all collectives. Each piece of a message, copy or reduction carries a *span*:
// bytes, or elements, of what one rank, or several consecutive ranks, contribute to a block. The collective defines
// the spans of the send buffer. If it only moves data, it also defines those of the receive buffer. The proof defines
// the spans of all other blocks, and the tokens that messages of a barrier bring (`carries`). In a reduction whose
// operator commutes, a span may be of any ranks, which the proof names by a condition (`contributors`). Obligations then
// hold for every rank as contributor, so two spans are the same if they agree in all ranks. An obligation's name
// begins with its kind. Kinds have the names of the hypotheses of the theorem (theory/Theorem.v), which states what
// follows from them:
//   defined   Every partial operation has a value wherever the program evaluates it. Tables are as the axioms say.
//             Pieces lie within blocks and buffers. No rank receives its own contribution.
//   fits      Every value has 64 bits, and tables are within their limits.
//   keys      The keys of each iteration of a loop lie in the interval that the proof gives. Intervals follow one
//             another, and so do the statements of a body. By induction over iterations, keys strictly increase at a
//             rank.
//   match     Every send has a receive of the same span, in a step with the same key, at the rank that it names. That
//             receive names the sender. The two maps are inverse, so this pairs all messages one to one. Messages of
//             several pieces have their pieces in one order. No two messages of a step go to one rank, or come from
//             one. So the t-th send of a rank to another meets the t-th receive there.
//   held      A write that the proof names brought the data that is read from the receive buffer or a temporary
//             buffer, or that something is combined with. That write is over by then: a step is over before the
//             steps that wait for it, and statements between steps run in the order of the text. An allgather's own
//             block is there from the beginning, if the program begins with its copy.
//   apart     Any other write to that place is over before the named one, or comes when the read is over or in the
//             step of the read; or it writes the same. A receive block of data that only moves always holds the same,
//             so nothing is asked there. In place, a block of the send buffer is sent no later than the data arrives
//             that overwrites it.
//   combine   The contributors of the data that comes follow, or precede, those of the data that is there: on the
//             stated side, or on either if the operator commutes. The result is both. If conditions name the
//             contributors, no rank is among both, and the result has the ranks of both. So each contribution counts
//             once.
//   final     Every byte of every other rank's block, or of the result of all, arrives where it belongs, by the last
//             write there. A rank's own block is copied there.
//   once      Nothing else arrives in the receive buffer. No data is written where it is already. If blocks of an
//             all-to-all pass through temporary buffers, no rank reads the same block twice from one. If conditions name
//             the contributors, only a receive that does not combine is asked: nothing else writes its place. The theorem
//             needs no more, as no other receive goes straight to its place.
//   used      Data that is written to another block is read, by a statement that names this write.
//   role      Between groups, only the root of the root's group has messages.
//   port      Two inter-node exchanges of a node at one key are the same exchange; if the port has one message each
//             way, this holds in each direction. For a port of a rank, it holds for the messages of the rank.
// Between two groups each query asks this of the ranks of both. An Instance says whose ranks, tables and counts it
// means. One of the theorem's hypotheses is missing: `posted_early` is a rule of the runtime (runtime/plan/order.c),
// which posts a receive early only if nothing touches its target before. `used` is no hypothesis: no result of a
// program depends on it.
//
// If an all-to-all reads nothing from the receive buffer, nothing is left over, without `used`. Of each contribution,
// count the pieces that messages and copies read from the send buffer (F) and from temporary blocks (R), and write to
// temporary blocks (W) and to the receive buffer (T). F + R = W + T by match and held, T = 1 by final and once, F <= 1
// and R <= W by once and held, as no two reads have one write. Hence F = 1 and R = W.
//
// A program deadlocks with sends that wait for their receives, if every rank comes to a send before it posts any
// receive. Then no send ever completes, and no receive is posted.
#ifndef QUADRILLE_VERIFIER_PROVE_OBLIGATIONS_H_
#define QUADRILLE_VERIFIER_PROVE_OBLIGATIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "verifier/prove/logic.h"
#include "verifier/prove/proof.h"

namespace quadrille::verifier {

// Hypotheses, a goal that they must imply, and a mutant of the goal that they must not imply.
struct Query : Logic {
  Query(z3::context& context, const Program& program)
      : Logic(context, program), goal(context), mutant(context) {}

  void suppose(const z3::expr& fact) { hypotheses.push_back(fact); }
  void suppose(const std::vector<z3::expr>& facts) {
    hypotheses.insert(hypotheses.end(), facts.begin(), facts.end());
  }

  std::vector<z3::expr> hypotheses;
  z3::expr goal, mutant;
  int group = 0;             // the group whose ranks it is about
  bool bit_vectors = false;  // it is not about jobs, so it needs no axioms
};

struct Obligation {
  std::string name;  // "match send 1", unique within a proof
  std::function<void(Query&)> build;
};

// A claim that the proof calls false.
struct FalseClaim {
  std::string name;
  std::vector<std::string> variables;
  std::vector<Expression> given;
  Expression show;
};

struct ProofPlan {
  std::vector<Obligation> obligations;
  std::vector<FalseClaim> false_claims;
  std::string scope;       // the cases that it is proven for: "all sizes, counts and values of B"
  bool deadlocks = false;  // the proof shows that the program deadlocks if
  std::vector<Expression> given = {};  // this holds at every rank
};

// The prover refuses lines of a proof that no obligation uses. They may stay if the proof was written for another
// program, and this one is its mutant.
enum class UnusedLines { kRefused, kMayStay };

// Errors are errors of the proof: a missing witness, or an unknown name.
Result<ProofPlan> plan_proof(const Proof& proof, UnusedLines unused = UnusedLines::kRefused);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_OBLIGATIONS_H_
