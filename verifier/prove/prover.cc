// The prover's questions to Z3. Tested by tests/prove/cases, whose obligations fail in every possible way.
#include "verifier/prove/prover.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace quadrille::verifier {
namespace {

class Asker {
 public:
  Asker(const Question& question, const ProverOptions& options)
      : solver_(new_solver(question.assumed.ctx(), options, question.bit_vectors)) {
    solver_.add(question.assumed);
  }

  z3::check_result ask() { return solver_.check(); }

  // Denies one subgoal after another, and assumes those already shown. Counts these. Returns unsat if all are
  // shown.
  z3::check_result ask_denied_parts(const z3::expr& goal, size_t& shown) {
    z3::check_result answer = z3::unsat;
    solver_.push();
    for (const z3::expr& part : split(goal)) {
      answer = ask_denied(part);
      if (answer != z3::unsat) break;
      solver_.add(part);
      ++shown;
    }
    solver_.pop();
    return answer;
  }

  z3::check_result ask_denied(const z3::expr& goal) {
    solver_.push();
    solver_.add(!goal);
    const z3::check_result answer = ask();
    solver_.pop();
    return answer;
  }

 private:
  z3::solver solver_;
};

void judge(ObligationResult& result, z3::check_result answer, z3::check_result expected,
           const char* failure) {
  if (answer == expected || !result.failure.empty()) return;
  result.unknown = answer == z3::unknown;
  result.failure =
      result.unknown
          ? fmt::format("the solver gave up at its resource limit, asking whether {}", failure)
          : failure;
}

// Returns the query's hypotheses and, unless it is about bit-vectors, the facts about all its terms.
z3::expr_vector assumptions(Query& query) {
  z3::expr_vector all(query.context());
  for (const z3::expr& hypothesis : query.hypotheses) all.push_back(hypothesis);
  if (!query.bit_vectors)
    for (const z3::expr& fact : query.knowledge()) all.push_back(fact);
  return all;
}

z3::expr moved(const z3::expr& e, z3::context& to) { return {to, Z3_translate(e.ctx(), e, to)}; }

Question question_of(const Obligation& obligation, const Program& program, z3::context& context) {
  Query query(context, program);
  obligation.build(query);
  return {z3::mk_and(assumptions(query)), query.goal, query.mutant, query.bit_vectors};
}

}  // namespace

Prover::Terms Prover::terms_of(const Question& question) {
  return {question.assumed.id(), question.goal.id(), question.mutant.id()};
}

void Prover::know(const Question& question, const ObligationResult& result) {
  kept_.insert(kept_.end(), {question.assumed, question.goal, question.mutant});
  known_.emplace(terms_of(question), result);
}

ObligationResult Prover::run(const Obligation& obligation, const Program& program,
                             ProofResult& all) {
  const Question asked = question_of(obligation, program, context_);
  ObligationResult result{obligation.name, false, "", false};
  if (const auto earlier = known_.find(terms_of(asked)); earlier != known_.end()) {
    ++all.known;
    result = earlier->second;
    result.name = obligation.name;
    return result;
  }
  z3::context alone;
  const Question question{moved(asked.assumed, alone), moved(asked.goal, alone),
                          moved(asked.mutant, alone), asked.bit_vectors};
  ask(question, result);
  if (options_.keep_exports)
    all.exports.push_back(export_obligation(obligation.name, question, options_));
  know(asked, result);
  return result;
}

void Prover::take_as_proven(const Proof& proof, const ProofPlan& plan) {
  for (const Obligation& obligation : plan.obligations)
    know(question_of(obligation, proof.program_of(obligation.half), context_),
         {obligation.name, true, "", false});
}

void Prover::ask(const Question& question, ObligationResult& result) const {
  Asker asker(question, options_);
  judge(result, asker.ask_denied_parts(question.goal, result.part), z3::unsat,
        "the goal does not follow");
  const z3::check_result mutant = asker.ask_denied(question.mutant);
  // A model of the hypotheses and the negated mutant is a model of the hypotheses: one question answers both.
  const z3::check_result hypotheses = mutant == z3::sat ? mutant : asker.ask();
  judge(result, hypotheses, z3::sat, kContradiction);
  judge(result, mutant, z3::sat, kMutantFollows);
  result.proven = result.failure.empty();
}

ProofResult Prover::prove(const Proof& proof, const ProofPlan& plan) {
  const auto start = std::chrono::steady_clock::now();
  ProofResult result;
  for (const Obligation& obligation : plan.obligations) {
    try {
      result.obligations.push_back(run(obligation, proof.program_of(obligation.half), result));
    } catch (const z3::exception& error) {
      result.obligations.push_back(
          {obligation.name, false, fmt::format("the solver failed: {}", error.msg()), true});
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void work_on_all(size_t count, size_t threads, const ProverOptions& options,
                 const std::function<void(Prover&, size_t)>& work) {
  std::vector<std::atomic_flag> taken(count);
  const auto go = [&](size_t first) {
    Prover prover(options);
    for (size_t k = 0; k < count; ++k)
      if (const size_t i = (first + k) % count; !taken[i].test_and_set()) work(prover, i);
  };
  std::vector<std::jthread> others;
  for (size_t t = 1; t < threads; ++t) others.emplace_back(go, t * count / threads);
  go(0);
}

}  // namespace quadrille::verifier
