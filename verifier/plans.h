// The plans that the runtime makes of a schedule, built without MPI: printed, and checked for all ranks together by
// runtime/plan/check.h. The runtime's loader and builder are not trusted here: they are what is checked.
#ifndef QUADRILLE_VERIFIER_PLANS_H_
#define QUADRILLE_VERIFIER_PLANS_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "schedule/binding.h"
#include "schedule/result.h"

struct qd_plan;  // runtime/plan/plan.h

namespace quadrille::verifier {

struct PlanOptions {
  int window = 0;         // steps in flight; 0: the runtime's default
  bool in_place = false;  // where the collective has a call in place
  bool whole = true;      // one plan, else streamed as in a call
};

// What objection() says of plans whose check would take too much memory or time: nothing is known of them.
inline constexpr std::string_view kPlansNotChecked =
    "not checked: they have too many messages, or too many that touch the same bytes";

class Plans {
 public:
  // The schedule file's bytes, and what the verifier's own decoder made of them for a call. Where the call has no counts,
  // every block is 8 units long. Errors say what the runtime refuses.
  static Result<Plans> make(std::span<const uint8_t> file, const Program& program, const Job& job,
                            const Call& call);
  Plans(Plans&&) noexcept;
  Plans& operator=(Plans&&) noexcept;
  ~Plans();

  // One operation a line; the rank is one of that group. The error says what the runtime refuses.
  Result<std::string> print(int64_t group, int64_t rank, const PlanOptions& options) const;
  // What a test does to the plan of a process, before it is checked.
  using Change = std::function<void(size_t process, qd_plan& plan)>;
  // Checks the plans of all ranks together: nothing where all are lawful, else the law, the rank and what breaks it.
  // The error says what the runtime refuses.
  Result<std::optional<std::string>> broken_law(const PlanOptions& options,
                                                const Change& change = {}) const;
  // The same for windows 1, 2 and the default one, kept and streamed, in place where there is such a call. What breaks a
  // law, or is refused by the runtime, or kPlansNotChecked; nothing where all are lawful.
  std::optional<std::string> objection() const;
  // Whether a call in place has a plan of its own.
  bool has_in_place() const;

 private:
  struct State;
  explicit Plans(std::unique_ptr<State> job);
  std::unique_ptr<State> state_;
};

}  // namespace quadrille::verifier

#endif  // QUADRILLE_VERIFIER_PLANS_H_
