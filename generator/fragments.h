// Lets proofs share text, and programs. A fragment is a text with a name, and `include` inserts it:
//
//   fragment hits(r, x)          at the beginning of a line; its lines are indented by two more
//     use inside({r}, {x})       {r} stands for the include's argument r
//     use met({r}, {x} + 1)
//   match send 1
//     include hits(rank, x)      the fragment's lines replace this one, with its indentation
//   used receive 1, receive 2    two statements with the same lines
//   both 2 3 where k = k         match send 2 with receive 3 for these values, and match receive 3 with send 2
//     use met(k, 1)              a hint for both. "both 2" is for send 2 and receive 2
//   keys k                       from k, unless `from` stands below, to one more, unless `to` does
//   -- A comment                 is left out
//
// Fragments may overlap: a hint that the statement already has is not put in again.
//
// A fragment must precede its includes. Fragments of generator/lemmas/ precede every proof, file by file in the order
// of names, and those of programs.lemmas every program. No two fragments have one name. An argument is inserted as text,
// so the fragment supplies parentheses.
#pragma once

#include <string>
#include <vector>

#include "schedule/result.h"

namespace quadrille {

struct TextFile {
  std::string name, text;
};

// Returns the text of the last file for the verifier. Its includes are replaced by fragments of this file and of the
// files before it. Errors name the file and the line.
Result<std::string> put_in_fragments(const std::vector<TextFile>& files);

}  // namespace quadrille
