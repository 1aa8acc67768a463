// A proof is a text: the code of a program, and statements about it. The prover trusts no statement. It checks
// witnesses and proves lemmas. A hint (`use`) names an axiom of axioms.h or an earlier lemma.
//
// The heading. It ends at an empty line.
//
//   proof 1
//   algorithm hierarchical-factor     for people
//   code 00 15 ...                    section PRG of a schedule file, in hexadecimal, on as many lines as needed
//   names 13 68 ...                   section NAM
//   original 00 15 ...                if the program is a reversal (schedule/reverse.h): section PRG of the original,
//   original-names 13 68 ...          which all statements are about, and its section NAM
//
// Definitions and lemmas.
//
//   define NAME(x, y)                 gives an expression a name
//     as NUMBER
//   lemma NAME(x, y)                  for all integers x, y: `given` implies `show`
//     given CONDITION                 any number of these lines
//     show CONDITION
//     induction x from LOW to HIGH    optional: prove `show` for x = LOW, and for x + 1 if it holds for x. LOW, HIGH
//                                     and `given` must not name x
//     use AXIOM(...) or LEMMA(...)    any number of these lines
//   lemma NAME(x, y) by bits          a lemma of `given` and `show` alone, which bit-vectors decide (bits.h). `given`
//                                     must bound each variable. Its tables are powers of two
//   theorem NAME(x, y)                a lemma that readers should know
//   refute NAME(x, y)                 a false claim, with `given` and `show`; the prover looks for the smallest
//                                     counterexample
//
// Witnesses. The first `with` line whose condition holds is the witness. Only the last one has no `if`.
//
//   match send 1                      which receive matches this send
//     with receive 2 where u = l, round = round if CONDITION
//     rewrite LEMMA(...)              rewrites terms by the lemma's equation, whose conditions the prover shows
//                                     first. Also under held, once and apart
//   match receive 2                   which send matches this receive
//   held send 1                       which receive, copy or reduction wrote the data that this reads from the
//     with receive 1 where k = k - 1  receive buffer or a temporary block. In an allgather, recv[rank] needs none
//   base receive 2                    which one wrote the data that this receive or reduction combines with
//     with copy 1 where ...
//   used copy 1                       which send, copy or reduction reads what this writes to a block where it does
//     with send 1 where ...           not stay. An all-to-all needs this only if it reads from the receive buffer
//   cover                             which write brings rank `target` the block that rank `source` has for it. If
//     with receive 1 where k = ...    all ranks contribute to one block: which write to it is the last
//   copies                            which copy brings `rank` its own block. Not needed if the program has only one
//     with copy 1 where ...           copy, outside loops
//   carries send 1                    the data of this statement, if the collective does not say
//     source NUMBER                   the rank whose block it is, or the first rank of several that contributed
//     number NUMBER                   how many consecutive ranks contributed; 1 if left out
//     target NUMBER                   the rank that the data is for, if each rank gets other data
//     remote                          source is a rank of the other group
//     contributors CONDITION          in place of source and number, in all `carries` of a proof: whether the rank
//                                     `contributor` has contributed. It must hold for the rank that has the data.
//                                     Only in reductions on one group whose operator commutes, other than scans
//   keys LOOP                         the keys of each iteration of the loop are at least `from` and less than `to`
//     from NUMBER
//     to NUMBER
//   deadlock                          if `given` holds at every rank, the program deadlocks when sends wait for their
//     given CONDITION                 receives: each rank comes to this send before any receive. The other statements
//     with send 1 where k = 0         of such a proof are define, lemma, keys and defined
//
// In a barrier, `carries` says which tokens a message brings. Tokens are numbered through both groups, the first
// group before the second, and wrap around. A send without `held` brings only its rank's own token.
//
// Hints (`use`) may stand below all statements above, and below these, which have no other lines:
//
//   once receive 1                    nothing arrives twice. If data only moves to the receive buffer: `cover`, or
//                                     `copies`, names this very write. Otherwise: no other write brings the same
//                                     data. If an all-to-all has temporary blocks: no other send has the same data
//   apart send 1                      nothing is overwritten before it is read. In place: no block of the send buffer
//                                     is overwritten before it is sent
//   combine receive 2                 the arriving data and the data already there come from adjacent ranks
//   products                          all products with a common factor are compared in every obligation, by `monotone`
//     compare all
//   order                             the keys of a statement are below those of later statements of its body
//   defined                           values exist, and pieces of copies and reductions lie within their blocks. (For
//                                     pieces of messages, see match.) These hints also count for fits
//   fits                              values fit in 64 bits
//   port                              the claim of the port line
//     inside send 3                   the step of this send, or receive, stays inside its node
//     lane NUMBER                     which of the k messages each way of a port k+k a message is, from 0
//
// Names. A statement about a send, receive, copy or reduction may use the names that the program may use there.
// `keys` may use those of the loop, `cover` source and target, and `copies` rank. Where an obligation compares two
// instances (port, apart, once), names of the second end in _2. Under `apart`, the second is the read. Blocks of an
// all-to-all travel whole. In other collectives, cover, held, base, used, apart, combine and once are about one byte,
// or element, of a block: `offset`. In a barrier, `offset` is the number of a token. If `carries` has `contributors`,
// match, held, base, combine, and lines below a `with` of cover, may use `contributor`, which stands for any rank.
//
// A let of the program is also a function of a rank and of the variables of its enclosing loops: b(source, phase,
// round). The value of a let outside loops at rank `target` is levels(target).
//
// A `use` counts for each obligation of its statement that knows its names; below a `with`, for that witness only.
// The prover refuses a line that no obligation uses, and an expression of more than 10000 operators and operands.
#ifndef QUADRILLE_VERIFIER_PROVE_PROOF_H_
#define QUADRILLE_VERIFIER_PROVE_PROOF_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/lexer.h"
#include "schedule/program.h"
#include "schedule/result.h"

namespace quadrille::verifier {

// What a statement is about: the whole program, a name that it introduces, a site, or a loop.
enum class ProofSubject : uint8_t { kNone, kName, kSite, kLoop };

struct ProofStatement {
  std::string kind;  // "lemma", "match", ...
  ProofSubject about = ProofSubject::kNone;
  std::string subject;                 // the lemma's or loop's name, "send 1", or nothing
  std::vector<std::string> variables;  // of a lemma
  bool by_bits = false;                // whether bit-vectors decide the lemma
  std::vector<Line> lines;             // the indented lines, with their first words
  int line = 0;
};

// Which of the two programs of a sequence (schedule/sequence.h) the proof is about, if any.
enum class Half : uint8_t { kNone, kFirst, kSecond };

struct Proof {
  std::string source;         // the file's name, for messages
  std::vector<uint8_t> code;  // empty if the proof has no heading
  Program program;            // that the statements are about
  std::vector<ProofStatement> statements;
  std::optional<Program> reversal = {};  // of that program, if the reversal is to be proven
  Half half = Half::kNone;

  const Program& to_prove() const { return reversal ? *reversal : program; }
};

// Reads a proof with its heading. An error names the source and, if there is one, the line.
Result<Proof> parse_proof(std::string_view text, const std::string& source);
// Reads a proof of a known program. It may lack a heading. If it has one, its code must be that of the program.
Result<Proof> parse_proof_of(const Program& program, std::string_view text,
                             const std::string& source);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_PROOF_H_
