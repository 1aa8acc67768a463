// What becomes of every mutant of a program: the checker refutes it on a small job, its proof no
// longer goes through, or it survives both and has to be explained.
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

// Why a survivor is right all the same.
enum class Excuse {
  kSameEvents,   // on every job of at most 8 ranks each rank does what it did before
  kOtherClaims,  // the same, but it claims or requires something else
  kOtherWaits,   // the same steps, which wait for fewer or more of those before them
  kOtherOrder,   // the same steps, the two messages of one in the other order, or a copy elsewhere
  kOtherSteps,   // steps with other keys: another schedule, proven for all sizes like the original
};
inline constexpr int kExcuseCount = 5;

struct Fate {
  std::optional<verifier::FailingJob> refuted;  // by the checker, on the smallest job
  bool asked = false;                           // the prover
  std::string unproven;                         // the first obligation that failed, or why the
                                                // proof does not fit; empty: proven
  bool gave_up = false;                         // the solver did, in that obligation

  bool proven() const { return asked && unproven.empty(); }
  bool survives() const { return !refuted && proven(); }
};

// What counts as the same: all of a rank's events, or those less what `after` says, or those in any
// order within what has one key.
enum class Sameness { kEvents, kSteps, kContents };

// The mutants of one program, and the proof of the original.
class Survey {
 public:
  explicit Survey(const Variant& variant);

  const std::string& name() const { return variant_.name; }
  const std::vector<Mutant>& mutants() const { return mutants_; }

  // Obligations up to the first that fails; those that the original has too are known.
  Fate fate(const Mutant& mutant, bool ask_prover);
  // Of a survivor.
  Excuse excuse(const Mutant& mutant) const;
  // The first case of those that the checker refutes the survivor in; larger than those before.
  std::optional<std::string> refuted_on_larger_jobs(const Mutant& mutant) const;

 private:
  void ask(const Mutant& mutant, Fate& fate);

  bool same_everywhere(const Program& other, Sameness sameness) const;

  const Variant& variant_;
  verifier::Proof proof_;
  std::vector<Mutant> mutants_;
  verifier::Prover prover_;
  std::map<std::string, int> failures_;  // of obligations, by name
};

const char* describe(Excuse excuse);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_PROVE_MUTANT_SURVEY_H_
