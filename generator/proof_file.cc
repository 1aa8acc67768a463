// //emitted:drift_test fails when a proof changes: emitted/proofs.txt has the hash of each.
#include "generator/proof_file.h"

#include <fmt/core.h>

#include "generator/encode.h"

namespace quadrille {
namespace {

std::string hexadecimal(const char* word, const Bytes& bytes) {
  constexpr size_t kBytesPerLine = 32;
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += i % kBytesPerLine == 0 ? fmt::format("{}{} ", i ? "\n" : "", word) : " ";
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text + "\n";
}

std::string proof_of(const Algorithm& part) { return proof_file(part, all_choices(part)[0]); }

}  // namespace

std::string proof_file(const Algorithm& algorithm, const Choices& choices) {
  const Program program = make_program(algorithm, choices);
  std::string text = "proof 1\n";
  text += fmt::format("algorithm {} for {}\n", full_name(algorithm, choices),
                      purpose_of(algorithm.collective, algorithm.groups));
  text += hexadecimal("code", encode_code(program)) + hexadecimal("names", encode_names(program));
  const std::vector<Algorithm>& parts = algorithm.parts;
  if (parts.size() == 2) return text + "\n" + proof_of(parts[0]) + "\n" + proof_of(parts[1]);
  if (parts.size() == 1) {
    const Program original = make_program(parts[0], all_choices(parts[0])[0]);
    text += hexadecimal("original", encode_code(original)) +
            hexadecimal("original-names", encode_names(original));
  }
  return text + "\n" + algorithm.proof(choices);
}

std::string proof_name(const Algorithm& algorithm, const Choices& choices) {
  return fmt::format("{}{}.{}", name_of(algorithm.collective),
                     algorithm.groups == 2 ? "-between-groups" : "", full_name(algorithm, choices));
}

}  // namespace quadrille
