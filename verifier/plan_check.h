// Checks that plans are lawful. The laws are the hypotheses of the theorem in theory/Runtime.v. The check walks the
// program by itself. It takes only the call and the plans from the builder.
//
// Each rank's plan is checked alone. match() compares the messages of all ranks. The verifier, not this check, proves the
// hypotheses about the program (`match`, `held`, `apart` ...).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct qd_builder;  // runtime/plan/builder.h
struct qd_plan;     // runtime/plan/plan.h

namespace quadrille::verifier {

// The fields of the theorem's record lawful_plan, then the laws that Coq states elsewhere.
inline constexpr const char* kPlanLaws[] = {
    "own",            // the messages and copies are those of the program, with the same parts
    "all_posted",     // every send is posted
    "all_opened",     // every receive is posted
    "all_sent",       // the rank waits for every send
    "all_received",   // the rank waits for every receive
    "all_put_away",   // the data of every receive is delivered; all_received implies it here
    "in_steps",       // sends and copies are made in the order of the steps
    "after_steps",    // a send is posted after the receives that its step waits for are complete
    "read_in_step",   // a copy is made after the receives that its step waits for are complete
    "early",          // a receive that combines is not posted straight into its target
    "puts_away",      // data is delivered after all earlier reads and writes there
    "posted_by_key",  // before it waits for a message, a rank has posted all up to that step
    "posted_early",   // nothing earlier uses the target of a receive that is posted directly there
    "buffers",        // a buffer is not used again while its data is needed
    "match",          // the t-th send to a rank meets its t-th receive: same step, as many bytes
};

// Stands for the name of a law if a check would take too much memory or time. The plans may then be lawful or not.
inline constexpr std::string_view kPlansNotChecked =
    "not checked: they have too many messages or temporary blocks, or too many that touch the same "
    "bytes";

struct Offence {
  std::string_view law;
  std::string text;  // how the plan breaks it
};

// Checks the plans of one rank in one call.
class PlanCheck {
 public:
  // Walks the program for the call of an open builder.
  explicit PlanCheck(const qd_builder& builder);
  PlanCheck(PlanCheck&&) noexcept;
  ~PlanCheck();

  // Takes the next plan of the call. A call that is streamed has several plans.
  void feed(const qd_plan& plan);
  // Returns a law that the plans of the call break, or nothing. Call it after the last plan.
  std::optional<Offence> end();
  // Compares the messages of all ranks. `checks` is by rank in the private communicator, each after its end().
  static std::optional<Offence> match(const std::vector<PlanCheck>& checks);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quadrille::verifier
