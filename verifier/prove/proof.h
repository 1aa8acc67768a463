// A proof: the code of a program, and statements about it, as text. The prover trusts none of them: it checks witnesses
// and proves lemmas, and `use` names an axiom of axioms.h or an earlier lemma.
//
//   proof 1                                  the heading, up to an empty line
//   algorithm hierarchical-factor            for people
//   code 00 15 ...                           section PRG of a schedule file, in hexadecimal, on as
//                                            many lines as needed
//   names 13 68 ...                          section NAM
//
//   define NAME(x, y)                        a name for an expression
//     as NUMBER
//   lemma NAME(x, y)                         for all integers x, y: `given` implies `show`
//     given CONDITION                        any number
//     show CONDITION
//     induction x from LOW to HIGH           optional: shown for LOW, and from each x to x + 1;
//                                            neither LOW, HIGH nor a `given` names x
//     use AXIOM(...) or LEMMA(...)           any number
//   theorem NAME(x, y)                       a lemma that is worth telling
//   refute NAME(x, y)                        a claim that is false: the smallest counterexample is
//                                            looked for
//     rewrite LEMMA(...)                     under match or once: the lemma's conditions hold, and
//                                            what it equates is one
//   match send 1                             which receive meets this send, in terms of the send's
//                                            names
//     with receive 2 where u = l, round = round if CONDITION
//                                            the first that applies counts; only the last goes
//                                            without an `if`
//   match receive 2                          and the reverse
//   cover                                    which write of rank `target` brings the block that rank
//     with receive 1 where phase = ..., v = ... if CONDITION
//                                            `source` has for it, or, last of all, what all have
//   copies                                   which copy of `rank` brings its own block there; may be
//     with copy 1 where ...                  missing where there is one copy, in no loop
//   once receive 1                           hints that nothing arrives twice
//   held send 1                              which receive, copy or reduction brought what is read of
//     with receive 1 where k = k - 1         the receive or temporary buffer, in terms of the reader's
//                                            names; not for recv[rank] of an allgather
//   base receive 2                           and which what is combined with: of a receive that
//     with copy 1 where ...                  combines, or a reduce
//   used copy 1                              which reads what is written where it does not stay; in an
//     with send 1 where ... if CONDITION     all-to-all only if others than messages touch such blocks
//   carries send 1                           what is there, where the collective does not say it, when
//     source NUMBER                          it is sent, received, copied or combined: whose block, from
//     number NUMBER                          how many ranks (1, if it does not say) from source on, and
//     target NUMBER                          for whom, where each has its own, in terms of the site's
//     remote                                 names; source is of the other group. In a barrier whose
//                                            tokens a message brings, modulo the ranks of both groups,
//                                            which are numbered the first group's before the second's
//   apart send 1                             hints that what is read is not written over before; of the
//                                            write and the reader the names of the latter end in _2. In
//                                            place, that a block of the send buffer is not
//   combine receive 2                        hints
//   once send 2                              for each write, and, with temporary blocks, each send of an
//                                            all-to-all: hints that none brings, or sends, what another
//                                            does; the names of the second of the two end in _2
//   keys LOOP                                the keys of each iteration lie in from .. to, in
//                                            terms of the loop's names
//     from NUMBER
//     to NUMBER
//   deadlock                                in place of all but define, lemma, keys and defined: the
//     given CONDITION                        program deadlocks where sends wait for their receives
//     with send 1 where k = 0                and `given` holds of every rank; what each sends first
//   order, defined, fits, port               hints for the obligations of that name (order: of keys);
//                                            those of defined are for fits, too, and for the pieces of
//                                            copies and reductions; of messages those of match are
//     inside send 3                          under port: the step of this send, or receive, stays
//                                            inside its node
//
// But in an all-to-all, whose blocks travel whole, cover, held, base, used, apart, combine and once ask for one
// byte, or element, of a block, by the name `offset`; in a barrier, for the token of the rank of that number. There a
// send without `held` brings its rank's own token alone.
//
// A let of the program can be used as a function of a rank and of the variables of its enclosing
// loops: b(source, phase, round). Where two instances are compared (port), the names of the second
// end in _2. A `use` counts wherever all its names are known, and after a `with` for that witness
// only. What has more than 10000 operators and operands, definitions and lets put in, is refused.
#ifndef QUADRILLE_VERIFIER_PROVE_PROOF_H_
#define QUADRILLE_VERIFIER_PROVE_PROOF_H_

#include <string>
#include <string_view>
#include <vector>

#include "schedule/lexer.h"
#include "schedule/program.h"
#include "schedule/result.h"

namespace quadrille::verifier {

struct ProofStatement {
  std::string kind;                    // "lemma", "match", ...
  std::string subject;                 // the lemma's or loop's name, "send 1", or nothing
  std::vector<std::string> variables;  // of a lemma
  std::vector<Line> lines;             // what is indented below, first word included
  int line = 0;
};

struct Proof {
  std::string source;         // for messages
  std::vector<uint8_t> code;  // empty where the proof brings none
  Program program;
  std::vector<ProofStatement> statements;
};

Result<Proof> parse_proof(std::string_view text, const std::string& source);
// The same of a program that is known, which the proof need not bring: then it starts with its
// statements. The code that it does bring must be that program's.
Result<Proof> parse_proof_of(const Program& program, std::string_view text,
                             const std::string& source);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PROVE_PROOF_H_
