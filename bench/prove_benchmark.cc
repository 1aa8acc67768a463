// prove_benchmark [--benchmark_...]: times each built-in proof, from its text to the solver's last answer, with Google
// Benchmark. Each proof runs alone, so the solver answers shared questions again.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "verifier/prove/prover.h"
#include "verifier/proven.h"

namespace quadrille::verifier {
namespace {

void prove(benchmark::State& state, const ProvenProgram& program) {
  size_t obligations = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const Result<Proof> proof = parse_proof(std::string(program.proof), std::string(program.name));
    if (!proof.ok()) return state.SkipWithError(proof.error().message.c_str());
    const Result<ProofPlan> plan = plan_proof(*proof);
    if (!plan.ok()) return state.SkipWithError(plan.error().message.c_str());
    Prover prover({});
    const ProofResult result = prover.prove(*proof, *plan);
    for (const ObligationResult& obligation : result.obligations)
      if (!obligation.proven) return state.SkipWithError("not proven");
    obligations = result.obligations.size();
  }
  state.counters["obligations"] = static_cast<double>(obligations);
}

}  // namespace
}  // namespace quadrille::verifier

int main(int argc, char** argv) {
  using quadrille::verifier::ProvenProgram;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  // NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): the library keeps them
  for (const ProvenProgram& program : quadrille::verifier::proven_programs())
    benchmark::RegisterBenchmark(std::string(program.name).c_str(), quadrille::verifier::prove,
                                 program)
        ->Unit(benchmark::kMillisecond);
  // NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
