// The list of all algorithms. Tests, help text, proofs, pictures and measurements run over this list. A new algorithm
// is two texts in generator/programs, and one row in programs.cc.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

// A choice between programs, as a flag of `generate`. The first value is the default. Every other value adds "+value"
// to the algorithm's name.
struct Option {
  std::string name;
  std::vector<std::string> values;
  std::string help;
};

// kRadix: a radix, from 2 to the number of ranks, or the initial number. kBatch: rounds, nodes or blocks in flight,
// from 1. kNodes: nodes, from 0. kLanes: ranks or messages of a node that use the network at a time, from 1.
enum class NumberKind : uint8_t { kRadix, kBatch, kNodes, kLanes };

// Returns the flag for an option or number of that name: block_count has the flag "--block-count".
std::string flag_of(std::string name);

// A parameter of the program whose value is in the file, as a flag of `generate`.
struct Number {
  std::string name;  // the parameter's name
  int64_t initial;   // if the flag is not given
  NumberKind kind;
  std::string help;
  int64_t least() const { return kind == NumberKind::kRadix ? 2 : kind != NumberKind::kNodes; }
};

// The chosen value of each option, by name.
using Choices = std::map<std::string, std::string>;

// What the opening comment of a program says. It begins with the idea, up to an empty comment or the first of these lines:
//   -- Use: when to use it
//   -- Source: paper and section, by the names of docs/references.md; without a paper "ours: " and what it builds on
//   -- Cost: rounds, messages and bytes, for p ranks (of each group)
//   -- Needs: for people, as the program's own `require` decides; may be left out
// `list` prints this, and docs/algorithms.md is made of it.
struct Opening {
  std::string idea, use, source, cost, needs;
};
Opening opening_of(const std::string& program);

struct Algorithm {
  std::string name;
  Collective collective;
  std::vector<Option> options;
  // `program` returns the text form (schedule/text.h). `proof` returns its claims and proof (verifier/prove/proof.h);
  // it is nullptr if no proof is known.
  std::function<std::string(const Choices& choices)> program;
  std::function<std::string(const Choices& choices)> proof;
  std::vector<Number> numbers = {};
  int groups = 1;  // 2: between groups, on an intercommunicator
  // What the program is made of, if it is not written out: the original of a reversal (schedule/reverse.h), or both programs
  // of a sequence (schedule/sequence.h), each with its default options. Their proofs are its proof.
  std::vector<Algorithm> parts = {};
};

// Returns the opening of the program with default options.
Opening opening_of(const Algorithm& algorithm);

const std::vector<Algorithm>& algorithms();
// An algorithm of one group and one between groups may have the same name.
const Algorithm* find_algorithm(Collective collective, const std::string& name, int groups = 1);

// Returns all combinations of the values of an algorithm's options.
std::vector<Choices> all_choices(const Algorithm& algorithm);

// Returns the name with the values that are not defaults: "hierarchical-factor+token".
std::string full_name(const Algorithm& algorithm, const Choices& choices);

// Returns the program with these choices. Aborts if its text does not parse, because that is a bug.
Program make_program(const Algorithm& algorithm, const Choices& choices);

}  // namespace quadrille
