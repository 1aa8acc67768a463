// Proofs that share text. A fragment is a named part of a proof, and `include` puts it in:
//
//   fragment hits(r, x)          at the beginning of a line; its lines are indented by two more
//     use inside({r}, {x})       {r} stands for what the include gives for r
//     use met({r}, {x} + 1)
//   match send 1
//     include hits(rank, x)      its lines take the place of this one, indented as it is
//   used receive 1, receive 2    two statements with the same lines
//   -- A comment                 stays behind
//
// Fragments may overlap: a hint that the statement has already is not put in again.
//
// A fragment has to stand above what includes it. Those of generator/lemmas/ stand above every proof, file by file in the
// order of names; no two fragments have one name. An argument is put in as text: the fragment has the parentheses.
#ifndef QUADRILLE_GENERATOR_FRAGMENTS_H_
#define QUADRILLE_GENERATOR_FRAGMENTS_H_

#include <string>
#include <vector>

#include "schedule/result.h"

namespace quadrille {

struct TextFile {
  std::string name, text;
};

// The last file with its fragments and those of the files before it put in, as the verifier reads it. An error names file
// and line.
Result<std::string> put_in_fragments(const std::vector<TextFile>& files);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_FRAGMENTS_H_
