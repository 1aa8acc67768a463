// A certificate says that `prove` has proven a program of the user's own. It is a text beside the program:
//
//   quadrille certificate 1
//   algorithm shift for alltoall         for people
//   program 94c0...                      SHA-256 of the program's text, with the names n0, n1, ..
//   proof 51ab...                        of the proof file; of both, if the program is a sequence
//   scope all sizes                      the cases that the proof covers
//   proven 52 obligations by z3 4.8.12
//
// Commands that read a schedule FILE also read FILE.certificate. They take its word for it: to be sure, prove again.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "schedule/program.h"

namespace quadrille::verifier {

// What stands behind the name of a schedule file in the name of its certificate.
inline constexpr const char* kCertificateEnd = ".certificate";

// Returns the first `digits` hexadecimal digits of the SHA-256 of the bytes.
std::string hash_of(std::span<const uint8_t> bytes, size_t digits = 64);

// Returns the text of a certificate. `proof`: the texts of the proof files. `scope` and `proven`: as above.
std::string certificate_of(const Program& program, const std::string& proof,
                           const std::string& scope, const std::string& proven);

// Returns what a certificate says of the program, in words: "proven for all sizes (52 obligations by z3 4.8.12), as
// shift.qs.certificate says". The error says why the file is none for this program.
Result<std::string> read_certificate(const std::string& path, const Program& program);

}  // namespace quadrille::verifier
