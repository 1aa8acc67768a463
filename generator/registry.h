// Every algorithm that Quadrille generates. Tests, help text, proofs, pictures and measurements run over this list. A
// new algorithm is one file that defines an Algorithm, and one row in registry.cc.
#ifndef QUADRILLE_GENERATOR_REGISTRY_H_
#define QUADRILLE_GENERATOR_REGISTRY_H_

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

// kRadix: from 2 to the number of ranks, or the initial one; kBatch: how many at a time, from 1; kNodes: a number of
// nodes, from 0.
// kLanes: of ranks or messages that a node has at a time.
enum class NumberKind : uint8_t { kRadix, kBatch, kNodes, kLanes };

// The flag for an option or number of that name: "--block-count".
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

struct Algorithm {
  std::string name;
  Collective collective;
  std::string summary;
  // Paper and section, by the names of docs/references.md. Without a paper: "ours: " and the work that it builds on.
  std::string source;
  // Rounds, messages and bytes, for p ranks (of each group); docs/algorithms.md has the same words.
  std::string cost;
  std::string precondition;  // for people; the program's own `require` decides
  std::vector<Option> options;
  // The program in its text form (schedule/text.h), and its claims and proof (verifier/prove/proof.h), or nullptr
  // without a known proof.
  std::function<std::string(const Choices& choices)> program;
  std::function<std::string(const Choices& choices)> proof;
  std::vector<Number> numbers = {};
  int groups = 1;  // 2: between groups, on an intercommunicator
};

const std::vector<Algorithm>& algorithms();
// An algorithm of one group and one between groups may have the same name.
const Algorithm* find_algorithm(Collective collective, const std::string& name, int groups = 1);

// All combinations of an algorithm's options.
std::vector<Choices> all_choices(const Algorithm& algorithm);

// "hierarchical-factor+token": the name with the values that are not defaults.
std::string full_name(const Algorithm& algorithm, const Choices& choices);

// The program itself. Aborts if the text does not parse, since that is a bug.
Program make_program(const Algorithm& algorithm, const Choices& choices);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_REGISTRY_H_
