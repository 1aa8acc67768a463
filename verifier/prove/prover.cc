// Tested by tests/prove/prover_test.cc with obligations that fail in each of the ways that there are.
#include "verifier/prove/prover.h"

#include <fmt/format.h>

#include <chrono>

namespace quadrille::verifier {
namespace {

Answer answer_of(z3::check_result result) {
  switch (result) {
    case z3::sat: return Answer::kSatisfiable;
    case z3::unsat: return Answer::kUnsatisfiable;
    default: return Answer::kUnknown;
  }
}

class Asker {
 public:
  Asker(const z3::expr& assumed, const ProverOptions& options, ProofResult& result, const std::string& name)
      : solver_(assumed.ctx(), z3::solver::simple()), options_(options), result_(result), name_(name) {
    z3::params parameters(assumed.ctx());
    parameters.set("timeout", options.timeout_milliseconds);
    parameters.set("arith.solver", 2u);  // the older one is faster on these
    solver_.set(parameters);
    solver_.add(assumed);
  }

  Answer ask(const char* what, Answer expected) {
    ++result_.queries;
    if (options_.keep_questions)
      result_.questions.push_back({fmt::format("{}: {}", name_, what), expected, solver_.to_smt2()});
    return answer_of(solver_.check());
  }

  Answer ask_denied(const z3::expr& goal, const char* what, Answer expected) {
    solver_.push();
    solver_.add(!goal);
    const Answer answer = ask(what, expected);
    solver_.pop();
    return answer;
  }

 private:
  z3::solver solver_;
  const ProverOptions& options_;
  ProofResult& result_;
  const std::string& name_;
};

void judge(ObligationResult& result, Answer answer, Answer expected, const char* failure) {
  if (answer == expected || !result.failure.empty()) return;
  result.unknown = answer == Answer::kUnknown;
  result.failure = result.unknown ? fmt::format("the solver gave up asking whether {}", failure) : failure;
}

// Hypotheses and everything that is known, as one term.
z3::expr assumptions(Query& query) {
  z3::expr_vector all(query.logic.context());
  for (const z3::expr& hypothesis : query.hypotheses) all.push_back(hypothesis);
  for (const z3::expr& fact : query.logic.knowledge()) all.push_back(fact);
  return z3::mk_and(all);
}

}  // namespace

ObligationResult Prover::run(const Obligation& obligation, const Program& program, ProofResult& all) {
  ObligationResult result{obligation.name, obligation.theorem, false, "", false};
  Query query(context_, program);
  obligation.build(query);
  const z3::expr assumed = assumptions(query);
  const Terms terms = {assumed.id(), query.goal.id(), query.mutant.id()};
  if (const auto earlier = known_.find(terms); earlier != known_.end()) {
    ++all.known;
    result.proven = earlier->second.proven;
    result.failure = earlier->second.failure;
    result.unknown = earlier->second.unknown;
    return result;
  }
  Asker asker(assumed, options_, all, obligation.name);
  judge(result, asker.ask_denied(query.goal, "goal", Answer::kUnsatisfiable), Answer::kUnsatisfiable, "the goal does not follow");
  const Answer mutant = asker.ask_denied(query.mutant, "mutant", Answer::kSatisfiable);
  // What satisfies the hypotheses and denies the mutant satisfies the hypotheses.
  const Answer hypotheses = mutant == Answer::kSatisfiable && !options_.keep_questions
                                ? Answer::kSatisfiable
                                : asker.ask("hypotheses", Answer::kSatisfiable);
  judge(result, hypotheses, Answer::kSatisfiable, "the hypotheses contradict each other");
  judge(result, mutant, Answer::kSatisfiable, "a mutant of the goal follows as well");
  result.proven = result.failure.empty();
  kept_.insert(kept_.end(), {assumed, query.goal, query.mutant});
  known_.emplace(terms, result);
  return result;
}

ProofResult Prover::prove(const Proof& proof, const ProofPlan& plan) {
  const auto start = std::chrono::steady_clock::now();
  ProofResult result;
  for (const Obligation& obligation : plan.obligations) {
    try {
      result.obligations.push_back(run(obligation, proof.program, result));
    } catch (const z3::exception& error) {
      result.obligations.push_back(
          {obligation.name, obligation.theorem, false, fmt::format("the solver failed: {}", error.msg()), true});
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace quadrille::verifier
