// Builds the runtime's plans of a schedule without MPI, prints them, and checks those of all ranks together with
// verifier/plan_check.h. The runtime's loader and builder are not trusted here: they are under test.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/binding.h"
#include "schedule/result.h"
#include "verifier/plan_check.h"

namespace quadrille::verifier {

struct PlanOptions {
  int window = 0;               // steps in flight; 0: the runtime's default
  bool in_place = false;        // takes effect where the collective has calls in place
  bool whole = true;            // true: one plan; false: several, streamed as in a call
  int64_t unit = 1;             // bytes of an element, if all ranks know all counts
  bool has_block_size = false;  // the user gave a block size
};

// Builds the plans of one rank in one call, one after another.
class RankPlans {
 public:
  struct Memory;
  explicit RankPlans(std::unique_ptr<Memory> memory);
  RankPlans(RankPlans&&) noexcept;
  ~RankPlans();

  // Returns the next plan, valid until the next call; null after the last. Errors are the runtime's refusals.
  Result<const qd_plan*> next();
  // Returns the builder that makes the plans.
  const qd_builder& builder() const;

 private:
  friend class Plans;
  std::unique_ptr<Memory> memory_;
  bool more_ = true;
};

class Plans {
 public:
  // Takes the schedule file's bytes, and the program that the verifier's own decoder read from them for a call. If the
  // call has no counts, every block is 8 units long. Errors are the runtime's refusals.
  static Result<Plans> make(std::span<const uint8_t> file, const Program& program, const Job& job,
                            const Call& call);
  Plans(Plans&&) noexcept;
  Plans& operator=(Plans&&) noexcept;
  ~Plans();

  // Returns the plans of a rank of that group. They refer to this object. Errors are the runtime's refusals.
  Result<RankPlans> of_rank(int64_t group, int64_t rank, const PlanOptions& options) const;
  // Returns these plans as text, one operation per line. Errors are the runtime's refusals.
  Result<std::string> print(int64_t group, int64_t rank, const PlanOptions& options) const;
  // Lets a test change the plan of a process before the check.
  using Change = std::function<void(size_t process, qd_plan& plan)>;
  // Checks the plans of all ranks together. Returns nothing if all are lawful, else the law, the rank and the offence.
  // Errors are the runtime's refusals.
  Result<std::optional<std::string>> broken_law(const PlanOptions& options,
                                                const Change& change = {}) const;
  // Returns the windows that objection() tries: 1, 2, the default, and the one that the program asks for.
  std::vector<int> windows() const;
  // Runs broken_law() for each of these windows, with plans kept and streamed, and also in place if has_in_place().
  // Returns a broken law, a refusal of the runtime, or kPlansNotChecked. Returns nothing if all plans are lawful.
  std::optional<std::string> objection() const;
  // Returns whether a call in place has a plan of its own.
  bool has_in_place() const;

 private:
  struct State;
  explicit Plans(std::unique_ptr<State> job);
  std::unique_ptr<State> state_;
};

}  // namespace quadrille::verifier
