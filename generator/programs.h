// The algorithms whose programs and proofs are texts in generator/programs.
#ifndef QUADRILLE_GENERATOR_PROGRAMS_H_
#define QUADRILLE_GENERATOR_PROGRAMS_H_

#include <string>
#include <vector>

#include "generator/registry.h"

namespace quadrille {

struct ProgramText {
  std::string file;  // without its ending
  std::string program, proof;
};

// What the build made of the files.
const std::vector<ProgramText>& program_texts();

std::vector<Algorithm> written_algorithms();

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_PROGRAMS_H_
