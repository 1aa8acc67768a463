// The fate of every mutant of a program: the checker refutes it on a small job, its proof fails, or it survives both
// and must be explained.
#ifndef QUADRILLE_TESTS_PROVE_MUTANT_SURVEY_H_
#define QUADRILLE_TESTS_PROVE_MUTANT_SURVEY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/mutants.h"
#include "tests/support/variants.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"

namespace quadrille {

// The reason why a survivor is correct all the same.
enum class Excuse {
  kSameEvents,   // on every job of at most 8 ranks each rank acts as before
  kOtherClaims,  // the same, but it claims or requires something else
  kOtherWaits,   // the same steps, which wait for fewer or more of those before them
  kOtherOrder,   // the same steps, with the two messages of one exchanged, or a copy elsewhere
  kOtherSteps,   // steps with other keys: another schedule, proven for all sizes like the original
};
inline constexpr int kExcuseCount = 5;

struct Fate {
  std::optional<verifier::FailingJob> refuted;  // by the checker, on the smallest job
  bool asked = false;                           // the prover was asked
  std::string unproven;                         // the first obligation that failed, or why the
                                                // proof does not fit; empty: proven
  bool gave_up = false;                         // the solver, in that obligation
  // The solver gives up on that obligation of the original too, and no other one failed.
  bool undecided = false;

  bool refused() const { return asked && !unproven.empty() && !undecided; }  // by the prover
  bool proven() const { return asked && unproven.empty(); }
  bool survives() const { return !refuted && proven(); }
};

// The equality of events: of all of a rank's events, of those without `after`, or of those of each key in any order.
enum class Sameness { kEvents, kSteps, kContents };

// The mutants of one program, and the proof of the original.
class Survey {
 public:
  explicit Survey(const Variant& variant);

  const std::string& name() const { return variant_.name; }
  const std::vector<Mutant>& mutants() const { return mutants_; }

  // Proves obligations up to the first that fails. Those that the original has too are known. An obligation says
  // nothing about a mutant if the solver gives up on the original's as well.
  Fate fate(const Mutant& mutant, bool ask_prover);
  // The reason for a survivor.
  Excuse excuse(const Mutant& mutant) const;
  // The first case in which the checker refutes the survivor, among larger ones than before.
  std::optional<std::string> refuted_on_larger_jobs(const Mutant& mutant) const;

 private:
  void ask(const Mutant& mutant, Fate& fate);
  bool gives_up_on_original(const std::string& obligation);
  bool same_everywhere(const Program& other, Sameness sameness) const;

  const Variant& variant_;
  verifier::Proof proof_;
  std::vector<Mutant> mutants_;
  verifier::Prover prover_;
  std::map<std::string, int> failures_;   // of obligations, by name
  std::map<std::string, bool> gives_up_;  // on obligations of the original, by name
};

const char* describe(Excuse excuse);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_PROVE_MUTANT_SURVEY_H_
