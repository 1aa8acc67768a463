// A proof: the code of a program, and statements about it, as text. The prover trusts none of them. It checks witnesses and
// proves lemmas. A hint (`use`) names an axiom of axioms.h or an earlier lemma.
//
// The heading. It ends at an empty line.
//
//   proof 1
//   algorithm hierarchical-factor            for people
//   code 00 15 ...                           section PRG of a schedule file, in hexadecimal, on as many lines as needed
//   names 13 68 ...                          section NAM
//
// Definitions and lemmas.
//
//   define NAME(x, y)                        a name for an expression
//     as NUMBER
//   lemma NAME(x, y)                         for all integers x, y: `given` implies `show`
//     given CONDITION                        any number of these
//     show CONDITION
//     induction x from LOW to HIGH           optional: `show` is proven for LOW, and for x + 1 if it holds for x. LOW, HIGH
//                                            and `given` do not name x
//     use AXIOM(...) or LEMMA(...)           any number of these
//   theorem NAME(x, y)                       a lemma that is worth telling
//   refute NAME(x, y)                        a false claim, with `given` and `show`; the prover looks for the smallest
//                                            counterexample
//
// Witnesses. Of several `with` lines, the first counts whose condition holds. Only the last one has no `if`.
//
//   match send 1                             which receive meets this send
//     with receive 2 where u = l, round = round if CONDITION
//     rewrite LEMMA(...)                     an equation; the prover shows its conditions first. Under held, once, apart, too
//   match receive 2                          which send meets this receive
//   held send 1                              which receive, copy or reduction wrote the data that this reads from the receive
//     with receive 1 where k = k - 1         buffer or a temporary buffer. In an allgather recv[rank] needs none
//   base receive 2                           which one wrote the data that this receive, or reduce, combines with
//     with copy 1 where ...
//   used copy 1                              which send, copy or reduction reads the data that this writes where it does not
//     with send 1 where ... if CONDITION     stay. In an all-to-all, only if it reads from the receive buffer
//   cover                                    which write at rank `target` brings the block that rank `source` has for it. If
//     with receive 1 where phase = ...       the ranks contribute to one block, the last write to it
//   copies                                   which copy of `rank` brings its own block there. Not needed for a single copy
//     with copy 1 where ...                  outside loops
//   carries send 1                           what this sends, receives, copies or combines, if the collective does not tell:
//     source NUMBER                          whose block; the first of `number` ranks if these have contributed to it
//     number NUMBER                          1, if it is left out
//     target NUMBER                          for whom, if each rank has a block of its own
//     remote                                 source is a rank of the other group
//     contributors CONDITION                 in place of source and number, in all `carries` of a proof: which ranks have
//                                            contributed, for a rank named `contributor`. It must hold for the rank itself.
//                                            Only in reductions on one group whose operator commutes, other than scans
//   keys LOOP                                the keys of each iteration of the loop are at least `from` and less than `to`
//     from NUMBER
//     to NUMBER
//   deadlock                                 in place of all but define, lemma, keys and defined: if `given` holds at every
//     given CONDITION                        rank, the program deadlocks with sends that wait for their receives. The send
//     with send 1 where k = 0                is the first of each rank
//
// In a barrier, `carries` says which tokens a message brings. Ranks are counted modulo the ranks of both groups, and those of
// the first group come first. A send without `held` brings its rank's own token alone.
//
// Hints. Below the statements above, and below these, which have no other lines:
//
//   once receive 1                           nothing arrives twice. If data only moves to the receive buffer, this asks that
//                                            `cover`, or `copies`, names this very write. Otherwise no other write brings
//                                            the same data. With temporary blocks, no two sends of an all-to-all do, either
//   apart send 1                             nothing is overwritten before it is read; in place, no block of the send buffer
//                                            is overwritten before it is sent
//   combine receive 2                        the data that arrives and the data that is there are of adjacent ranks
//   order                                    the keys of a statement precede those of the next one
//   defined                                  values exist, and pieces of copies and reductions lie within their blocks; for
//                                            pieces of messages the hints of match count. These hints count for fits, too
//   fits                                     values have 64 bits
//   port                                     the claim of the port line
//     inside send 3                          the step of this send, or receive, stays inside its node
//     lane NUMBER                            which of the k messages each way of a port k+k a message is, from 0
//
// Names. A statement about a send, receive, copy or reduction knows the names that the program knows there. `keys` knows
// those of the loop, `cover` knows source and target, and `copies` knows rank. If an obligation compares two statements, the
// names of the second end in _2: under port, of the reader under apart, and of the second write or send under once. Blocks of
// an all-to-all travel whole. In all other collectives cover, held, base, used, apart, combine and once ask for one byte, or
// element, of a block, by the name `offset`. In a barrier, `offset` is the rank of the token. If `carries` has
// `contributors`, then match, held, base, combine, and what is below a `with` of cover, know the name `contributor`. It is
// any rank.
//
// A let of the program is also a function of a rank and of the variables of its enclosing loops: b(source, phase, round). So
// `cover` writes levels(target) for a let outside loops.
//
// A `use` counts wherever its names are known, and below a `with` for that witness only. The prover refuses a line that no
// obligation takes up. It also refuses what has more than 10000 operators and operands, definitions and lets put in.
#ifndef QUADRILLE_VERIFIER_PROVE_PROOF_H_
#define QUADRILLE_VERIFIER_PROVE_PROOF_H_

#include <string>
#include <string_view>
#include <vector>

#include "schedule/lexer.h"
#include "schedule/program.h"
#include "schedule/result.h"

namespace quadrille::verifier {

// What a statement is about: the whole program, or what it names.
enum class ProofSubject : uint8_t { kNone, kName, kSite, kLoop };

struct ProofStatement {
  std::string kind;  // "lemma", "match", ...
  ProofSubject about = ProofSubject::kNone;
  std::string subject;                 // the lemma's or loop's name, "send 1", or nothing
  std::vector<std::string> variables;  // of a lemma
  std::vector<Line> lines;             // the indented lines, first word included
  int line = 0;
};

struct Proof {
  std::string source;         // for messages
  std::vector<uint8_t> code;  // empty if the proof brings none
  Program program;
  std::vector<ProofStatement> statements;
};

Result<Proof> parse_proof(std::string_view text, const std::string& source);
// The same for a known program: the proof may leave its heading out and start with its statements. Code that it does
// bring must be that program's.
Result<Proof> parse_proof_of(const Program& program, std::string_view text,
                             const std::string& source);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_PROOF_H_
