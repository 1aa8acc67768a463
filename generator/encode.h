// A program and its job as the bytes of a schedule file (runtime/program/table_format.h).
#ifndef QUADRILLE_GENERATOR_ENCODE_H_
#define QUADRILLE_GENERATOR_ENCODE_H_

#include <cstdint>
#include <vector>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

using Bytes = std::vector<uint8_t>;

// The code only. Equal programs have equal code, whatever the job and the names.
Bytes encode_code(const Program& program);

// The names of a program, in the form of section NAM.
Bytes encode_names(const Program& program);

// A whole file.
Bytes encode(const Program& program, const Job& job);

}  // namespace quadrille

#endif  // QUADRILLE_GENERATOR_ENCODE_H_
