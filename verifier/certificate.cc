// Tested by tests/prove/prove_command_test.sh and tests/cli/program_test.sh.
#include "verifier/certificate.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <sstream>

#include "cli/files.h"
#include "runtime/program/digest.h"
#include "schedule/text.h"

namespace quadrille::verifier {
namespace {

constexpr const char* kHeading = "quadrille certificate 1";

std::string hash_of_text(const std::string& text) {
  return hash_of({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// Names are for people, so they are none of the program's own here.
std::string hash_of_program(Program program) {
  std::vector<std::string> all = names(program);
  for (size_t i = 0; i < all.size(); ++i) all[i] = fmt::format("n{}", i);
  set_names(program, all);
  return hash_of_text(print(program));
}

}  // namespace

std::string hash_of(std::span<const uint8_t> bytes, size_t digits) {
  qd_sha256 hash;
  qd_sha256_start(&hash);
  qd_sha256_add(&hash, bytes.data(), bytes.size());
  std::array<unsigned char, 32> digest;
  qd_sha256_end(&hash, digest.data());
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text.substr(0, digits);
}

std::string certificate_of(const Program& program, const std::string& proof,
                           const std::string& scope, const std::string& proven) {
  return fmt::format("{}\nalgorithm {} for {}\nprogram {}\nproof {}\nscope {}\nproven {}\n",
                     kHeading, program.algorithm.text,
                     purpose_of(program.collective, program.groups), hash_of_program(program),
                     hash_of_text(proof), scope, proven);
}

Result<std::string> read_certificate(const std::string& path, const Program& program) {
  const Result<std::vector<uint8_t>> bytes = cli::read_file(path);
  if (!bytes.ok()) return bytes.error();
  std::istringstream text(std::string(bytes->begin(), bytes->end()));
  std::map<std::string, std::string> lines;
  std::string line;
  if (!std::getline(text, line) || line != kHeading)
    return Error{fmt::format("{}: no certificate; `prove --certificate` writes one", path)};
  while (std::getline(text, line)) {
    const size_t blank = std::min(line.find(' '), line.size());
    lines[line.substr(0, blank)] = line.substr(std::min(blank + 1, line.size()));
  }
  if (lines["program"] != hash_of_program(program))
    return Error{fmt::format("{}: the certificate of another program; prove this one", path)};
  return fmt::format("proven for {} ({}), as {} says", lines["scope"], lines["proven"], path);
}

}  // namespace quadrille::verifier
