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
// its proof. Every corpus may use these keys:
//
//   from: NAME          begin with the program and the proof of the earlier case whose title begins with NAME, or
//                       with those that the test has under NAME
//   change: A => B      replace A, which must occur, with B, or delete it without B; \n is the end of a line
//   change all: A => B  replace every A
//   change proof: A => B, change all proof: A => B
//   try: A => B ==> key: value | key: value    adds a case: this one with that change, and with these expectations
//   try proof: A => B ==> ..., try before the proof: TEXT ==> ..., and so on
//
// Proofs may use the short forms of generator/fragments.h.
// Lines below "after the program", "before the proof" or "after the proof" are added there.
#pragma once

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

  // Returns all values of a key, in order.
  std::vector<std::string> values(const std::string& key) const;
};

// Prints a case in messages of tests.
inline void PrintTo(const TextCase& one, std::ostream* out) { *out << one.title; }

// Returns the program and the proof for a name that no earlier case has.
using Elsewhere = std::function<std::pair<std::string, std::string>(const std::string& name)>;

// Returns the cases of all files in the folder that end in ".cases", file by file in alphabetical order.
std::vector<TextCase> read_cases(const std::string& folder, const Elsewhere& elsewhere = {});

// Returns `text` with the edit "A => B" applied to the first A, or to all. Aborts if no A occurs.
std::string edited(std::string text, const std::string& edit, bool all = false);

std::string read_text(const std::string& path);

}  // namespace quadrille
