// A proof is a text: the code of a program, and statements about it. The prover trusts no statement. It checks
// witnesses and proves lemmas. A hint (`use`) names an axiom of axioms.h or an earlier lemma.
//
// docs/proofs.md has the grammar.
#pragma once

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
  std::vector<Proof> halves = {};  // of both programs, if `program` is their sequence

  const Program& to_prove() const { return reversal ? *reversal : program; }
  // Returns the program that an obligation or a false claim of the plan is about.
  const Program& program_of(Half which) const {
    return which == Half::kNone ? program : halves[which == Half::kSecond].program;
  }
};

// Reads a proof with its heading. An error names the source and, if there is one, the line.
Result<Proof> parse_proof(std::string_view text, const std::string& source);
// Returns the proof of the sequence of two programs. The error says why they make none.
Result<Proof> sequence_proof(Proof first, Proof second);
// Reads a proof of a known program. It may lack a heading. If it has one, its code must be that of the program.
Result<Proof> parse_proof_of(const Program& program, std::string_view text,
                             const std::string& source);

}  // namespace quadrille::verifier
