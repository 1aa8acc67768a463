// The prover takes the original's proof with the mutant in place of the program. The statements of the proof do not
// change. So the proof may fail for a correct mutant, and must fail for a wrong one.
#include "tests/prove/mutant_survey.h"

#include <algorithm>

#include "generator/proof_file.h"
#include "tests/support/events.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"
#include "verifier/proven.h"

namespace quadrille {
namespace {

constexpr unsigned kMostWork = 10'000'000;  // per question (rlimit); beyond it the prover gives up

// Returns each multiset of node sizes once, in ascending order.
std::vector<std::vector<int64_t>> ascending_vectors(int64_t most_ranks) {
  std::vector<std::vector<int64_t>> result;
  for (const std::vector<int64_t>& sizes : all_node_vectors(most_ranks))
    if (std::is_sorted(sizes.begin(), sizes.end())) result.push_back(sizes);
  return result;
}

Events normalized(Events events, Sameness sameness) {
  if (sameness == Sameness::kEvents) return events;
  for (std::string& event : events)
    if (event.starts_with("step ")) event = event.substr(0, event.find(" after"));
  if (sameness == Sameness::kSteps) return events;
  // kContents: messages and copies, each message with its step, in sorted order.
  Events contents;
  std::string step;
  for (const std::string& event : events) {
    if (event.starts_with("step ")) step = event == "step end" ? "" : event;
    const bool piece = event.size() > 4 && event[4] == '[';  // "send[3]"
    if (piece && !contents.empty())
      contents.back() += event;
    else
      contents.push_back(event.starts_with("copy") ? event : step + event);
  }
  std::sort(contents.begin(), contents.end());
  return contents;
}

bool same_in(const Program& one, const Program& two, const Case& c, Sameness sameness) {
  for (int64_t group = 0; group < one.groups; ++group) {
    const Result<Binding> first = bind(one, c.job, c.call, group),
                          second = bind(two, c.job, c.call, group);
    if (first.ok() != second.ok()) return false;
    if (!first.ok()) return true;
    for (int64_t rank = 0; rank < first->place.ranks; ++rank)
      if (normalized(oracle_events(one, *first, rank), sameness) !=
          normalized(oracle_events(two, *second, rank), sameness))
        return false;
  }
  return true;
}

bool same_claims(const Program& one, const Program& two) {
  return one.port == two.port && one.in_place == two.in_place &&
         one.commutative == two.commutative && one.requirements == two.requirements;
}

}  // namespace

Survey::Survey(const Variant& variant) : variant_(variant), prover_({.most_work = kMostWork}) {
  const std::string text = proof_file(*variant.algorithm, variant.choices);
  const auto proven = verifier::proven_programs();
  check(std::any_of(proven.begin(), proven.end(), [&](const auto& p) { return p.proof == text; }),
        "the proof of the original is none that the verifier was built with");
  Result<verifier::Proof> proof = verifier::parse_proof(text, variant.name);
  if (!proof.ok()) check(false, proof.error().message.c_str());
  proof_ = std::move(proof).value();
  mutants_ = quadrille::mutants(proof_.program);
  Result<verifier::ProofPlan> plan = verifier::plan_proof(proof_);
  check(plan.ok(), "the original has no plan of its proof");
  plan_ = std::move(plan).value();
  prover_.take_as_proven(proof_, plan_);
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
  Result<verifier::ProofPlan> plan = verifier::plan_proof(proof, verifier::UnusedLines::kMayStay);
  if (!plan.ok()) {
    fate.unproven = plan.error().message;
    return;
  }
  // Tries the obligations that failed most often first.
  std::stable_sort(plan->obligations.begin(), plan->obligations.end(),
                   [&](const auto& one, const auto& other) {
                     return failures_[one.name] > failures_[other.name];
                   });
  for (const verifier::Obligation& obligation : plan->obligations) {
    const verifier::ProofPlan one{{obligation}, {}, {}, false};
    const verifier::ObligationResult result = prover_.prove(proof, one).obligations[0];
    if (result.proven) continue;
    fate.unproven = result.name;
    fate.gave_up = result.unknown;
    fate.undecided = result.unknown && gives_up_on_original(result.name);
    if (fate.undecided) continue;
    ++failures_[result.name];
    return;
  }
}

bool Survey::gives_up_on_original(const std::string& obligation) {
  const auto [known, is_new] = gives_up_.try_emplace(obligation, false);
  if (!is_new) return known->second;
  verifier::Prover prover({.most_work = kMostWork});  // which has taken nothing as proven
  for (const verifier::Obligation& one : plan_.obligations)
    if (one.name == obligation)
      known->second = prover.prove(proof_, {{one}, {}, {}, false}).obligations[0].unknown;
  return known->second;
}

bool Survey::same_everywhere(const Program& other, Sameness sameness) const {
  for (const std::vector<int64_t>& sizes : ascending_vectors(8))
    for (const Case& c : cases_on(variant_, sizes))
      if (!same_in(proof_.program, other, c, sameness)) return false;
  return true;
}

Excuse Survey::excuse(const Mutant& mutant) const {
  const Program& other = mutant.program;
  if (same_everywhere(other, Sameness::kEvents))
    return same_claims(proof_.program, other) ? Excuse::kSameEvents : Excuse::kOtherClaims;
  if (same_everywhere(other, Sameness::kSteps)) return Excuse::kOtherWaits;
  return same_everywhere(other, Sameness::kContents) ? Excuse::kOtherOrder : Excuse::kOtherSteps;
}

std::optional<std::string> Survey::refuted_on_larger_jobs(const Mutant& mutant) const {
  std::vector<std::vector<int64_t>> larger = {{16}, {1, 2, 3, 4, 5}, {4, 4, 4, 4}, {1, 1, 7, 7, 8}};
  for (const std::vector<int64_t>& sizes : ascending_vectors(10))
    if (job_of(sizes).groups[0].ranks() > 8) larger.push_back(sizes);
  for (const std::vector<int64_t>& sizes : larger)
    for (const Case& c : cases_on(variant_, sizes)) {
      const Result<verifier::Report> report =
          verifier::check_schedule(mutant.program, c.job, c.call, {});
      if (report.ok() && report->violation) return c.text;
    }
  return std::nullopt;
}

const char* describe(Excuse excuse) {
  switch (excuse) {
    case Excuse::kSameEvents: return "the same events";
    case Excuse::kOtherClaims: return "the same events, other claims";
    case Excuse::kOtherWaits: return "the same steps, which wait for others";
    case Excuse::kOtherOrder: return "the same steps, in another order within";
    case Excuse::kOtherSteps: return "other keys, as right";
  }
  return "";
}

}  // namespace quadrille
