// Corpora: files with many cases. Each case is a program with its expected results.
//
//   === A sentence that names the case
//   key: value                      any number of these; each test defines its keys
//   algorithm name for alltoall     the program, from its first line or the comment above it
//   ...
//   proof                           the statements of its proof, if it has one
//   ...
//
// Text above the first case is for readers. A case without a program begins with the last whole program above it, and
// its proof. These keys are for all corpora:
//
//   from: NAME          begin with the program and the proof of an earlier case whose title begins with NAME, or
//                       with a whole program from elsewhere
//   change: A => B      replace A, which must occur, with B, or delete it without B; \n is the end of a line
//   change all: A => B  the same for every A
//   change proof: A => B, change all proof: A => B
//   try: A => B ==> key: value | key: value    a separate case: this one with that change, and its expectations
//   try proof: A => B ==> ..., try before the proof: TEXT ==> ..., and so on
//
// In a proof the line "both 2 where i = i" stands for 'match send 2' with receive 2 and 'match receive 2' with send 2; "both 2 3"
// for those of send 2 and receive 3. "keys k" alone is from k to k + 1. "carries send 1, receive 2" says the same of each.
// Lines below "after the program", "before the proof" or "after the proof" are added there.
#ifndef QUADRILLE_TESTS_SUPPORT_CASES_H_
#define QUADRILLE_TESTS_SUPPORT_CASES_H_

#include <functional>
#include <ostream>
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

// For messages of tests.
inline void PrintTo(const TextCase& one, std::ostream* out) { *out << one.title; }

// Program and proof of a name that no earlier case has.
using Elsewhere = std::function<std::pair<std::string, std::string>(const std::string& name)>;

// The cases of all files of the folder that end in ".cases", in the order of their names.
std::vector<TextCase> read_cases(const std::string& folder, const Elsewhere& elsewhere = {});

// `text` with the edit "A => B" applied once, or to every A.
std::string edited(std::string text, const std::string& edit, bool all = false);

std::string read_text(const std::string& path);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_CASES_H_
