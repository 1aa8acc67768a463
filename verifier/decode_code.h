// The sections of a schedule file that hold a program.
#ifndef QUADRILLE_VERIFIER_DECODE_CODE_H_
#define QUADRILLE_VERIFIER_DECODE_CODE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "schedule/program.h"
#include "verifier/cursor.h"

namespace quadrille::verifier {

// Section PRG, not yet validated; names are v0, v1, ... Nothing where it is malformed.
std::optional<Program> read_code(std::span<const uint8_t> section);

// The next expression, not yet validated.
Expression read_formula(Cursor& in);

// Section NAM. False where the names do not fit the program: they must be as many as it declares,
// be words, and tell parameters and tables apart.
bool read_names(Program& program, std::span<const uint8_t> section);

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_DECODE_CODE_H_
