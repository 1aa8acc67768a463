// certify [--known LIST] PROOF...: proves every proof. It prints one line for each: name, hash of the code, hash of
// the proof file, number of obligations, solver. A proof in LIST is not proven again if this very prover wrote LIST.
// certify --write OUT LIST PROVEN PROOF...: for the build. PROVEN is a file with the lines that certify printed for
// these proofs. It writes them to LIST, and the table of verifier/proven.h to OUT, as a C++ source.
//
// If an obligation is not proven, or a false claim is not refuted, it prints no lines, and the verifier is not built.
// The same happens if the checker, which knows nothing of proofs, refutes the program on some nodes of up to 6 ranks.
// Use certify to try a proof that does not hold yet: it does not need the verifier. The build proves in parts, so
// that a change of one proof proves few others again (certificates.bzl). Tested by tests/prove/certify_test.sh.
#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "cli/files.h"
#include "verifier/certificate.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"

namespace quadrille::verifier {
namespace {

// Returns C++ source for an array of these bytes, each as a literal. Everything read from a file becomes numbers in
// the source, so no text in it can become code.
template <class Bytes>
std::string array(const std::string& name, const char* type, const char* literal,
                  const Bytes& bytes) {
  std::string text = fmt::format("constexpr {} {}[] = {{", type, name);
  size_t i = 0;
  for (const auto byte : bytes) {
    text += i++ % 16 ? " " : "\n    ";
    text += fmt::format(fmt::runtime(literal), static_cast<uint8_t>(byte));
  }
  return text + "\n};\n";
}

std::string text_constant(const std::string& name, const std::string& text) {
  return array(name + "Bytes", "char", "'\\x{:02x}',", text) +
         fmt::format("constexpr std::string_view {0}(std::begin({0}Bytes), std::end({0}Bytes));\n",
                     name);
}

// Returns the first digits of the SHA-256 of the bytes, as `sha256sum FILE | cut -c1-16` prints them for a file.
template <class Bytes>
std::string short_hash(const Bytes& bytes) {
  return hash_of({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, 16);
}

// Returns whether everything about a proof holds. Prints what does not.
bool holds(const Proof& proof, const ProofPlan& plan, Prover& prover) {
  bool good = true;
  for (const ObligationResult& obligation : prover.prove(proof, plan).obligations)
    if (!obligation.proven) {
      fmt::print(stderr, "certify: {}: {}: {}\n", proof.source, obligation.name,
                 obligation.failure);
      good = false;
    }
  for (const FalseClaim& claim : plan.false_claims)
    if (!find_counterexample(proof.program_of(claim.half), claim)) {
      fmt::print(stderr, "certify: {}: no counterexample to {} was found\n", proof.source,
                 claim.name);
      good = false;
    }
  if (const auto job = find_failing_job(proof.to_prove(), kRanksChecked, true)) {
    fmt::print(stderr, "certify: {}: proven, but refuted on {}: {}\n", proof.source, job->text(),
               job->violation.detail);
    good = false;
  }
  return good;
}

struct Certificate {
  int code = 0;                // the exit code, if the proof fails
  std::string constants, row;  // for OUT
  std::string line;            // for LIST
};

Certificate refused(int code, const std::string& why) {
  fmt::print(stderr, "certify: {}\n", why);
  return {code, "", "", ""};
}

// The lines that certify printed before.
struct Proven {
  std::set<std::string> lines;
  bool all = false;  // a proof without a line is refused, not proven
};

// Returns the line of a list that names its prover. It hashes this program (the prover, the checker and the
// language), the version of Z3, and the lines. So a list that is merged from two belongs to no prover.
std::string prover_line(const std::string& lines) {
  std::vector<uint8_t> bytes = cli::read_file("/proc/self/exe").value();
  const std::string rest = Z3_get_full_version() + lines;
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return "# prover " + short_hash(bytes);
}

// Returns the lines of a list, without the second solver's words. Returns none if this prover did not write them all.
Proven known_lines(const std::string& list) {
  Proven known;
  std::string prover, lines;
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# prover")) prover = line;
    if (line.starts_with("#")) continue;
    const std::string proven = line.substr(0, line.find(" cvc5")) + "\n";
    known.lines.insert(proven);
    lines += proven;
  }
  return prover == prover_line(lines) ? known : Proven{};
}

// Returns the certificate of a proof. Proves it, unless its line is in `proven`.
Certificate certificate_of(const std::string& path, size_t i, Prover& prover,
                           const Proven& proven) {
  const Result<std::vector<uint8_t>> bytes = cli::read_file(path);
  if (!bytes.ok()) return refused(2, bytes.error().message);
  const std::string text(bytes->begin(), bytes->end());
  const Result<Proof> proof = parse_proof(text, path);
  if (!proof.ok()) return refused(2, proof.error().message);
  const Result<ProofPlan> plan = plan_proof(*proof);
  if (!plan.ok()) return refused(2, plan.error().message);
  if (plan->deadlocks) return refused(1, path + ": a proof that the program deadlocks");
  const std::string name = std::filesystem::path(path).stem().string();
  const std::string line = fmt::format("{} {} {} {} z3\n", name, short_hash(proof->code),
                                       short_hash(text), plan->obligations.size());
  const bool known = proven.lines.contains(line);
  if (proven.all && !known) return refused(1, path + ": it is not proven");
  if (!known && !holds(*proof, *plan, prover)) return {1, "", "", ""};
  return {0,
          text_constant(fmt::format("kName{}", i), name) +
              text_constant(fmt::format("kProof{}", i), text) +
              array(fmt::format("kCode{}", i), "uint8_t", "0x{:02x},", proof->code) +
              text_constant(fmt::format("kScope{}", i), plan->scope),
          fmt::format("    {{kName{0}, kProof{0}, kCode{0}, kScope{0}}},\n", i), line};
}

// The certificates of all proofs. If one proof does not hold, they are empty and `code` is the exit code.
struct Certificates {
  int code = 0;
  std::string constants, table, lines;
};

Certificates certify(const std::vector<std::string>& files, const Proven& proven) {
  std::vector<Certificate> all(files.size());
  work_on_all(files.size(), std::thread::hardware_concurrency(), {}, [&](Prover& prover, size_t i) {
    all[i] = certificate_of(files[i], i, prover, proven);
  });
  Certificates result;
  for (const Certificate& one : all) {
    if (one.code != 0) return {one.code, "", "", ""};
    result.constants += one.constants;
    result.table += one.row;
    result.lines += one.line;
  }
  return result;
}

int write(const std::string& out, const std::string& list, const Certificates& certificates) {
  std::ofstream source(out);
  source << "// DO NOT EDIT. Made by verifier/certify.cc from the proofs that it has proven.\n"
         << "#include \"verifier/proven.h\"\n\n#include <iterator>\n\nnamespace "
            "quadrille::verifier {\nnamespace {\n\n"
         << certificates.constants << "\nconstexpr ProvenProgram kPrograms[] = {\n"
         << certificates.table << "};\n\n}  // namespace\n\n"
         << "std::span<const ProvenProgram> proven_programs() { return kPrograms; }\n\n}  // "
            "namespace quadrille::verifier\n";
  std::ofstream listed(list);
  listed << "# DO NOT EDIT. Made by: bazel run //emitted:update\n"
         << prover_line(certificates.lines) << "\n"
         << "# name, hash of the code, hash of the proof file, obligations, solvers\n"
         << certificates.lines;
  return source.good() && listed.good() ? 0 : 2;
}

int run(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  const std::string option = files.empty() ? "" : files[0];
  const size_t before = option == "--write" ? 4 : option == "--known" ? 2 : 0;  // arguments
  if (files.size() <= before) {
    fmt::print(stderr, "usage: certify [--write OUT LIST PROVEN | --known LIST] PROOF...\n");
    return 2;
  }
  const std::vector<std::string> arguments(files.begin(), files.begin() + before);
  files.erase(files.begin(), files.begin() + before);
  if (option == "--write") {
    std::ifstream lines(arguments[3]);
    Proven proven{{}, true};
    for (std::string line; std::getline(lines, line);) proven.lines.insert(line + "\n");
    const Certificates certificates = certify(files, proven);
    return certificates.code != 0 ? certificates.code
                                  : write(arguments[1], arguments[2], certificates);
  }
  for (std::string& file : files) file = cli::user_path(file);
  const Certificates certificates =
      certify(files, option == "--known" ? known_lines(cli::user_path(arguments[1])) : Proven{});
  fmt::print("{}", certificates.lines);
  return certificates.code;
}

}  // namespace
}  // namespace quadrille::verifier

int main(int argc, char** argv) {
  return quadrille::cli::run_main("certify", quadrille::verifier::run, argc, argv);
}
