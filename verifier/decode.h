// The verifier's own reader of schedule files. It trusts no byte, and shares only the numbers of
// runtime/program/table_format.h with the encoder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/program.h"
#include "schedule/result.h"

namespace quadrille::verifier {

struct Schedule {
  Program program;            // validated; named from section NAM, or v0, v1, ... without one
  Job job;                    // as in the file; without groups if the file is for any nodes
  bool any_nodes = false;     // the file is for any nodes; stays true after on_nodes()
  std::vector<uint8_t> code;  // section PRG
  std::string hash;           // 32 hexadecimal digits
  int major = 0, minor = 0;
  std::string certificate = {};  // what a certificate beside the file says, or nothing
};

// Decodes a whole file. Errors say what is wrong and begin with `source`.
Result<Schedule> decode(std::span<const uint8_t> file, const std::string& source);

// Decodes a program from the code and names sections that a proof carries. Errors begin with `source`.
Result<Program> decode_program(std::span<const uint8_t> code, std::span<const uint8_t> names,
                               const std::string& source);

}  // namespace quadrille::verifier
