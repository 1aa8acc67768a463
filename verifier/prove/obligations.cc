// The planner's way out: the obligations of a plan keep alive what they refer to. Tested by
// tests/prove/: every algorithm's proof holds, every mutant of a program fails a proof or the
// checker, and every kind of obligation has a program that only it refuses.
#include "verifier/prove/obligations.h"

#include "verifier/prove/planner.h"

namespace quadrille::verifier {

Result<ProofPlan> plan_proof(const Proof& proof) {
  // The queries refer to the planner.
  auto planner = std::make_shared<Planner>(proof);
  Result<ProofPlan> plan = planner->run();
  if (!plan.ok()) return plan;
  for (Obligation& obligation : plan->obligations)
    obligation.build = [planner, build = std::move(obligation.build)](Query& query) {
      build(query);
    };
  return plan;
}

}  // namespace quadrille::verifier
