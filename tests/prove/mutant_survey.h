// What happens to a mutant of a program: the checker refutes it on a small job, its proof fails, or it survives. A
// survivor must be explained.
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

// Why a survivor is correct, by comparison with the original on every job of at most 8 ranks.
enum class Excuse {
  kSameEvents,   // each rank has the same events
  kOtherClaims,  // the same events, but the program claims or requires something else
  kOtherWaits,   // the same steps, which wait for fewer or more of those before them
  kOtherOrder,   // the same messages in each step, in another order, or copies elsewhere
  kOtherSteps,   // other steps: another schedule, proven for all sizes like the original
};
inline constexpr int kExcuseCount = 5;

struct Fate {
  std::optional<verifier::FailingJob> refuted;  // the smallest job on which the checker refutes it
  bool asked = false;                           // whether the prover was asked
  std::string unproven;                         // the last obligation that failed, or why the
                                                // proof is refused; empty: proven
  bool gave_up = false;                         // whether the solver gave up on that obligation
  // Whether only obligations failed on which the solver gives up for the original, too.
  bool undecided = false;

  bool refused() const { return asked && !unproven.empty() && !undecided; }  // by the prover
  bool proven() const { return asked && unproven.empty(); }
  bool survives() const { return !refuted && proven(); }
};

// What two programs must have in common at each rank: all events, all but `after`, or each step's in any order.
enum class Sameness { kEvents, kSteps, kContents };

// The mutants of one program, and the proof of the original.
class Survey {
 public:
  explicit Survey(const Variant& variant);

  const std::string& name() const { return variant_.name; }
  const std::vector<Mutant>& mutants() const { return mutants_; }

  // Checks the mutant on small jobs. If the checker accepts it, or `ask_prover`, proves its obligations up to the
  // first that fails. An obligation says nothing if the solver gives up on the original's as well.
  Fate fate(const Mutant& mutant, bool ask_prover);
  // Returns why a survivor is correct.
  Excuse excuse(const Mutant& mutant) const;
  // Returns the first larger case in which the checker refutes the survivor, if there is one.
  std::optional<std::string> refuted_on_larger_jobs(const Mutant& mutant) const;

 private:
  void ask(const Mutant& mutant, Fate& fate);
  bool gives_up_on_original(const std::string& obligation);
  bool same_everywhere(const Program& other, Sameness sameness) const;

  const Variant& variant_;
  verifier::Proof proof_;
  verifier::ProofPlan plan_;  // of the original
  std::vector<Mutant> mutants_;
  verifier::Prover prover_;
  std::map<std::string, int> failures_;   // by obligation: how many mutants failed it
  std::map<std::string, bool> gives_up_;  // by obligation: whether Z3 gives up on the original's
};

const char* describe(Excuse excuse);

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_PROVE_MUTANT_SURVEY_H_
