// The obligations of a program: the statements that the prover must show. The prover derives them from the program.
// The proof only brings witnesses, lemmas and hints.
//
// There is one set of obligations for all collectives. Each piece of a message, copy or reduction carries a *span*:
// bytes, or elements, of what one rank, or several consecutive ranks, contribute to a block. The collective says
// which spans the send buffer holds, and the receive buffer if it only moves data. The proof says which spans all
// other blocks hold, and which tokens the messages of a barrier bring (`carries`). In a reduction whose operator
// commutes, a span's ranks need not be consecutive: the proof may name them by a condition (`contributors`).
// Obligations then hold for every rank as contributor, and two spans are equal if they agree on each rank. An
// obligation's name begins with its kind. Kinds are named after hypotheses in theory/Theorem.v, which says what
// follows:
//   defined   Every partial operation has a value wherever the program evaluates it. Tables are as the axioms say.
//             Pieces lie within blocks, and blocks within buffers. No rank receives its own contribution.
//   fits      Every value fits in 64 bits, and every table has at most the allowed number of entries.
//   keys      Keys strictly increase at a rank, by induction over iterations. The keys of an iteration lie in the
//             interval that the proof gives. A later iteration's interval, and a later statement of a body, has
//             higher keys.
//   match     Every send names a rank that has a receive of the same span, in a step with the same key, and the
//             receive names the sender. The two maps are inverse, so they pair all messages one to one. Both messages
//             have their pieces in the same order. No two sends of a step go to one rank, and no two receives come
//             from one. So the t-th send of a rank to another matches the t-th receive there.
//   held      Whatever a statement reads from the receive buffer or a temporary block, or combines data with, is what
//             an earlier write left there, which the proof names. That write completes first: a step completes before
//             the steps that wait for it start, and statements between steps run in the order of the text. In an
//             allgather that begins by copying a rank's own block, that block needs no named write.
//   apart     Any other write to that place completes before the named one, or comes after the read, or in the step
//             of the read, or writes the same data. If data only moves, a block of the receive buffer only ever gets
//             one value, and needs no obligation. In place, the program sends a block of the send buffer no later
//             than it receives the data that overwrites it.
//   combine   The contributors of the arriving data are next to those of the data already there, on the stated side,
//             or on either if the operator commutes. The result's contributors are both. If conditions name them, no
//             rank contributed to both, and the result's condition names the ranks of either. So each contribution
//             counts once.
//   final     Every byte of every other rank's block, or of the combined result, is in its place at the end: the last
//             write there brings it. A copy brings a rank's own block.
//   once      Only the data of `final` arrives in the receive buffer. No data is written where it is already. If
//             blocks of an all-to-all pass through temporary blocks, no rank reads one block twice from the same
//             buffer. If conditions name the contributors, nothing else may write where a receive without `left` or
//             `right` writes. The theorem needs no more: only such a receive may go straight to its place.
//   used      A statement reads all data that is written to a block where it does not stay, and names this write.
//   role      Between groups, only the root of the root's group has messages.
//   port      Two inter-node exchanges of a node at one key are the same exchange. With a port of a message each way,
//             this holds for sends and for receives. With a port per rank, it holds for the rank's messages.
// Between two groups each query is about the ranks of both. An Instance says whose ranks, tables and counts are
// meant. One hypothesis has no obligation: the runtime ensures `posted_early`. It posts a receive early only if
// nothing touches its target before (runtime/plan/order.c). `used` is no hypothesis: the results do not need it.
//
// An all-to-all that reads nothing from the receive buffer leaves no data unread, without `used`. Count the pieces of
// one contribution that messages and copies read from the send buffer (F) and from temporary blocks (R), and those
// that they write to temporary blocks (W) and to the receive buffer (T). Then F + R = W + T by match and held. T = 1
// by final and once. F <= 1 by once. R <= W by held and once, as no two reads share a write. Hence F = 1 and R = W.
//
// A proof of a reversal (schedule/reverse.h) has the obligations of the original. `fits` is also about the keys and bounds
// of loops that the reversal computes from the original's. theory/Reverse.v says why this is enough. A sequence
// (schedule/sequence.h) has those of both programs, whose names then begin with `first` or `second`. There `fits` also shows
// that their keys are apart (theory/Sequence.v), and that there are not too many temporary blocks.
//
// Suppose that every rank reaches a send before it posts any receive, and that sends wait for their receives. Then no
// send completes and no receive is ever posted: the program deadlocks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "verifier/prove/logic.h"
#include "verifier/prove/proof.h"
#include "verifier/prove/sites.h"

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
  int group = 0;             // the group whose ranks the query is about
  bool bit_vectors = false;  // the query is about bit-vectors, and needs no axioms

  // For people (explain.h): the lets that are known, and the instances of the sites in the obligation's name.
  bool explains = false;
  std::vector<std::pair<Names, Instance>> lets = {};
  std::vector<Instance> instances = {};
};

struct Obligation {
  std::string name;  // "match send 1", unique within a proof
  std::function<void(Query&)> build;
  int statement = -1;  // of the program (ProgramPart) that it is about; -1: its name says which
  Half half = Half::kNone;  // of a sequence: the program that it is about
};

// A claim that the proof calls false (`refute`): for some values, `given` holds and `show` does not.
struct FalseClaim {
  std::string name;
  std::vector<std::string> variables;
  std::vector<Expression> given;
  Expression show;
  Half half = Half::kNone;
};

struct ProofPlan {
  std::vector<Obligation> obligations;
  std::vector<FalseClaim> false_claims;
  std::string scope;                   // the cases that the proof covers, as scope_of() names them
  bool deadlocks = false;              // the proof claims a deadlock
  std::vector<Expression> given = {};  // on jobs where these conditions hold at every rank
};

// Whether a line of a proof that no obligation uses is an error. It is not if the proof was written for another
// program, of which this one is a mutant.
enum class UnusedLines { kRefused, kMayStay };

// Makes the obligations. Errors: a mistake in the proof, such as a missing witness, or a program it does not support.
Result<ProofPlan> plan_proof(const Proof& proof, UnusedLines unused = UnusedLines::kRefused);

// Returns the cases that a proof of the program covers: "all sizes, counts and values of B".
std::string scope_of(const Program& program);
// Returns whether the program has, for every job, at most the allowed number of temporary blocks.
bool temporary_blocks_fit(const Program& program);

}  // namespace quadrille::verifier
