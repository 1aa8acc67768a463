// Programs in tests are texts. They pass through the generator's encoder and the verifier's decoder, like all others.
#include "tests/prove/proofs.h"

#include <fmt/core.h>

#include "generator/encode.h"
#include "generator/proof_file.h"
#include "schedule/text.h"
#include "tests/support/variants.h"
#include "verifier/prove/explain.h"
#include "verifier/prove/refute.h"

namespace quadrille {
namespace {

std::string line_of(const char* word, const Bytes& bytes) {
  std::string line = word;
  for (const uint8_t byte : bytes) line += fmt::format(" {:02x}", byte);
  return line + "\n";
}

Program parsed(const std::string& text) {
  Result<Program> program = parse_program(text, "program");
  if (!program.ok()) check(false, program.error().message.c_str());
  return std::move(program).value();
}

// Returns the program and statements that a case refers to: "factor", or one of the generator, "allgather.linear-ring".
std::pair<std::string, std::string> elsewhere(const std::string& name) {
  if (name == "factor") return {kFactor, kFactorProof};
  for (const Variant& variant : variants())
    if (variant.algorithm->proof && proof_name(*variant.algorithm, variant.choices) == name)
      return {print(variant.program), variant.algorithm->proof(variant.choices)};
  check(false, ("no case and no program: " + name).c_str());
  return {};
}

}  // namespace

const char* const kFactor = R"(algorithm factor for alltoall
port exchange per rank
in_place
for round in 0 .. ranks
  let peer = wrap(round - rank, ranks)
  if peer != rank
    step round after -1
      send send[peer] to peer
      receive recv[peer] from peer
  else
    copy send[rank] to recv[rank]
)";

const char* const kFactorProof = R"(match send 1
  with receive 1 where round = round
match receive 1
  with send 1 where round = round
cover
  with receive 1 where round = wrap(source + target, ranks)
copies
  with copy 1 where round = wrap(rank + rank, ranks)
keys round
  from round
  to round + 1
)";

std::string proof_text(const std::string& program, const std::string& statements) {
  const Program code = parsed(program);
  return "proof 1\n" + line_of("code", encode_code(code)) + line_of("names", encode_names(code)) +
         "\n" + statements;
}

Proving prove(const std::string& program, const std::string& statements, bool explains) {
  // Cases share most obligations with other cases, so one prover asks each of these once.
  static verifier::Prover prover({});
  Proving proving;
  const auto proof = verifier::parse_proof(proof_text(program, statements), "test.proof");
  if (!proof.ok()) {
    proving.error = proof.error().message;
    return proving;
  }
  const auto plan = verifier::plan_proof(*proof);
  if (!plan.ok()) {
    proving.error = plan.error().message;
    return proving;
  }
  proving.results = prover.prove(*proof, *plan).obligations;
  for (size_t i = 0; i < proving.results.size(); ++i) {
    const verifier::ObligationResult& result = proving.results[i];
    if (result.proven) continue;
    if (explains)
      for (const std::string& line :
           verifier::explain(plan->obligations[i], result, proof->program,
                             verifier::program_text("program", program), {}))
        proving.explained.push_back(result.name + ": " + line);
    if (proving.failed.empty()) proving.failure = result.failure;
    proving.failed.push_back(result.name);
  }
  return proving;
}

std::string smallest_failure(const std::string& program) {
  const auto job = verifier::find_failing_job(parsed(program));
  if (!job) return "";
  return fmt::format("{}: {}", job->text(), verifier::property_name(job->violation.property));
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  check(at != std::string::npos, from.c_str());
  return text.replace(at, from.size(), to);
}

const std::vector<TextCase>& proof_cases() {
  static const std::vector<TextCase> cases = read_cases("tests/prove/cases", elsewhere);
  return cases;
}

const TextCase& proof_case(const std::string& title) {
  for (const TextCase& one : proof_cases())
    if (one.title.starts_with(title)) return one;
  check(false, title.c_str());
  std::abort();
}

}  // namespace quadrille
