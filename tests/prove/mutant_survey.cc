// The prover is asked with the original's proof file and the mutant in place of its program: what
// the author says of the original has to hold of the mutant, word by word. So a mutant that is
// right can still fail its proof; one that is wrong must.
#include "tests/prove/mutant_survey.h"

#include "generator/proof_file.h"
#include "tests/support/events.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"

namespace quadrille {
namespace {

constexpr unsigned kMilliseconds = 1000;  // for a question; what takes longer counts as not proven

// Node sizes in ascending order, each once.
std::vector<std::vector<int64_t>> ascending_vectors(int64_t most_ranks) {
  std::vector<std::vector<int64_t>> result;
  for (const std::vector<int64_t>& sizes : all_node_vectors(most_ranks))
    if (std::is_sorted(sizes.begin(), sizes.end())) result.push_back(sizes);
  return result;
}

bool same_on(const Program& one, const Program& two, const Job& job) {
  const Result<Binding> first = bind(one, job, {}, 0), second = bind(two, job, {}, 0);
  if (first.ok() != second.ok()) return false;
  if (!first.ok()) return true;
  for (int64_t rank = 0; rank < first->place.ranks; ++rank)
    if (oracle_events(one, *first, rank) != oracle_events(two, *second, rank)) return false;
  return true;
}

bool same_claims(const Program& one, const Program& two) {
  return one.port == two.port && one.in_place == two.in_place &&
         one.commutative == two.commutative && one.requirements == two.requirements;
}

}  // namespace

Survey::Survey(const Algorithm& algorithm, const Choices& choices)
    : name_(full_name(algorithm, choices)), prover_({kMilliseconds, false}) {
  Result<verifier::Proof> proof = verifier::parse_proof(proof_file(algorithm, choices), name_);
  if (!proof.ok()) check(false, proof.error().message.c_str());
  proof_ = std::move(proof).value();
  mutants_ = quadrille::mutants(proof_.program);
  Fate original;
  ask({proof_.program, "itself"}, original);
  check(original.proven(), "the original is proven");
}

Fate Survey::fate(const Mutant& mutant, bool ask_prover) {
  Fate fate;
  fate.refuted = verifier::find_failing_job(mutant.program);
  if (ask_prover || !fate.refuted) ask(mutant, fate);
  return fate;
}

void Survey::ask(const Mutant& mutant, Fate& fate) {
  fate.asked = true;
  verifier::Proof proof = proof_;
  proof.program = mutant.program;
  const Result<verifier::ProofPlan> plan = verifier::plan_proof(proof);
  if (!plan.ok()) {
    fate.unproven = plan.error().message;
    return;
  }
  for (const verifier::Obligation& obligation : plan->obligations) {
    const verifier::ProofPlan one{{obligation}, {}, plan->bounded_ranks};
    const verifier::ObligationResult result = prover_.prove(proof, one).obligations[0];
    if (result.proven) continue;
    fate.unproven = result.name;
    fate.gave_up = result.unknown;
    return;
  }
}

Excuse Survey::excuse(const Mutant& mutant) const {
  for (const std::vector<int64_t>& sizes : ascending_vectors(8))
    if (!same_on(proof_.program, mutant.program, job_of(sizes))) return Excuse::kOtherSteps;
  return same_claims(proof_.program, mutant.program) ? Excuse::kSameEvents : Excuse::kOtherClaims;
}

std::optional<std::string> Survey::refuted_on_larger_jobs(const Mutant& mutant) const {
  for (const std::vector<int64_t>& sizes : ascending_vectors(10)) {
    const Job job = job_of(sizes);
    if (job.groups[0].ranks() < 9) continue;
    const Result<verifier::Report> report = verifier::check_schedule(mutant.program, job, {}, {});
    if (report.ok() && report->violation) return job.groups[0].text();
  }
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{16}, {1, 2, 3, 4, 5}, {4, 4, 4, 4}, {1, 1, 7, 7, 8}}) {
    const Job job = job_of(sizes);
    const Result<verifier::Report> report = verifier::check_schedule(mutant.program, job, {}, {});
    if (report.ok() && report->violation) return job.groups[0].text();
  }
  return std::nullopt;
}

const char* describe(Excuse excuse) {
  switch (excuse) {
    case Excuse::kSameEvents: return "the same events";
    case Excuse::kOtherClaims: return "the same events, other claims";
    case Excuse::kOtherSteps: return "another schedule that is as right";
  }
  return "";
}

}  // namespace quadrille
