// Encodes a program and its job as the bytes of a schedule file (runtime/program/table_format.h).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/binding.h"
#include "schedule/program.h"

namespace quadrille {

using Bytes = std::vector<uint8_t>;

// Encodes the code only. Equal programs have equal code, whatever the job and the names.
Bytes encode_code(const Program& program);

// Encodes the names of a program, in the form of section NAM.
Bytes encode_names(const Program& program);

// Encodes a whole file.
Bytes encode(const Program& program, const Job& job);

}  // namespace quadrille
