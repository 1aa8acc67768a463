// certify OUT PROOF...: proves every proof and writes the table of verifier/proven.h as a C++
// source. Fails, and writes nothing, where any obligation is not proven or any false claim is not
// refuted: then there is no verifier.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/files.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"

namespace quadrille::verifier {
namespace {

std::string as_bytes(const std::vector<uint8_t>& code) {
  std::string text;
  for (size_t i = 0; i < code.size(); ++i)
    text += fmt::format("{}0x{:02x},", i % 16 ? " " : "\n    ", code[i]);
  return text;
}

// Whether everything about a proof holds; what does not is printed.
bool holds(const Proof& proof, const ProofPlan& plan, Prover& prover) {
  bool good = true;
  for (const ObligationResult& obligation : prover.prove(proof, plan).obligations)
    if (!obligation.proven) {
      fmt::print(stderr, "certify: {}: {}: {}\n", proof.source, obligation.name,
                 obligation.failure);
      good = false;
    }
  for (const FalseClaim& claim : plan.false_claims)
    if (!find_counterexample(proof.program, claim)) {
      fmt::print(stderr, "certify: {}: no counterexample to {} was found\n", proof.source,
                 claim.name);
      good = false;
    }
  return good;
}

int certify(const std::string& out, const std::vector<std::string>& files) {
  Prover prover({});
  std::string arrays, table;
  for (size_t i = 0; i < files.size(); ++i) {
    std::ifstream file(files[i]);
    std::stringstream text;
    text << file.rdbuf();
    const std::string name = std::filesystem::path(files[i]).stem().string();
    const Result<Proof> proof = parse_proof(text.str(), files[i]);
    if (!proof.ok()) {
      fmt::print(stderr, "certify: {}\n", proof.error().message);
      return 2;
    }
    const Result<ProofPlan> plan = plan_proof(*proof);
    if (!plan.ok()) {
      fmt::print(stderr, "certify: {}\n", plan.error().message);
      return 2;
    }
    if (plan->deadlocks) {
      fmt::print(stderr, "certify: {}: a proof that the program deadlocks\n", files[i]);
      return 1;
    }
    if (!holds(*proof, *plan, prover)) return 1;
    arrays += fmt::format(
        "constexpr uint8_t kCode{}[] = {{{}\n}};\nconstexpr std::string_view kProof{} = "
        "R\"proof({})proof\";\n",
        i, as_bytes(proof->code), i, text.str());
    table += fmt::format("    {{\"{}\", kProof{}, kCode{}, {}, \"{}\"}},\n", name, i, i,
                         plan->bounded_ranks ? kBitVectorRanks : 0, plan->scope);
  }
  std::ofstream source(out);
  source << "// DO NOT EDIT. Made by verifier/certify.cc from the proofs that it has proven.\n"
         << "#include \"verifier/proven.h\"\n\nnamespace quadrille::verifier {\nnamespace {\n\n"
         << arrays << "\nconstexpr ProvenProgram kPrograms[] = {\n"
         << table << "};\n\n}  // namespace\n\n"
         << "std::span<const ProvenProgram> proven_programs() { return kPrograms; }\n\n}  // "
            "namespace quadrille::verifier\n";
  return source.good() ? 0 : 2;
}

int run(int argc, char** argv) {
  if (argc >= 3) return certify(argv[1], {argv + 2, argv + argc});
  fmt::print(stderr, "usage: certify OUT PROOF...\n");
  return 2;
}

}  // namespace
}  // namespace quadrille::verifier

int main(int argc, char** argv) {
  return quadrille::cli::run_main("certify", quadrille::verifier::run, argc, argv);
}
