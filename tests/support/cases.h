// Corpora: files with many cases, each a program with what is expected of it.
//
//   === A sentence that names the case
//   key: value                      any number of these; the tests say which they know
//   algorithm name for alltoall     the program, from its first line or the comment above it
//   ...
//   proof                           the statements of its proof, if it has one
//   ...
//
// Text above the first case is for readers. Two keys are for all corpora:
//
//   from: NAME          begin with the program and the proof of another case; NAME begins its title
//   change: A => B      put B, or nothing, in the place of A, which must be there; \n is the end of a line
//   change all: A => B  the same wherever A is
//   change proof: A => B, change all proof: A => B
#ifndef QUADRILLE_TESTS_SUPPORT_CASES_H_
#define QUADRILLE_TESTS_SUPPORT_CASES_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace quadrille {

struct TextCase {
  std::string title;
  std::vector<std::pair<std::string, std::string>> expectations;  // keys and values, in order
  std::string program, proof;

  // The values of that key.
  std::vector<std::string> values(const std::string& key) const;
};

// Program and proof of a name that no case of the file has.
using Elsewhere = std::function<std::pair<std::string, std::string>(const std::string& name)>;

// The cases of all files of the folder that end in ".cases", in the order of their names.
std::vector<TextCase> read_cases(const std::string& folder, const Elsewhere& elsewhere = {});

// `text` with the edit "A => B" done once, or wherever A is.
std::string edited(std::string text, const std::string& edit, bool all = false);

std::string read_text(const std::string& path);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_CASES_H_
