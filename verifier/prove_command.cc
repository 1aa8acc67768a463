// Proves one proof after another, prints the verdicts, and lets a second solver answer again.
#include "verifier/prove_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>

#include "cli/files.h"
#include "cli/progress.h"
#include "runtime/program/table_format.h"
#include "schedule/text.h"
#include "verifier/decode.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"
#include "verifier/prove/smtlib.h"
#include "verifier/proven.h"

namespace quadrille::verifier {
namespace {

using cli::bad_input;
using cli::ExitCode;

struct NamedProof {
  std::string name;
  Proof proof;
};

// "alltoall.factor" is asked for by its whole name, or without the collective.
bool is_named(const std::string& name, const std::string& wanted) {
  return name == wanted || name.substr(name.find('.') + 1) == wanted;
}

Result<std::string> read_text(const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = cli::read_file(path);
  if (!bytes.ok()) return bytes.error();
  return std::string(bytes->begin(), bytes->end());
}

// A user's program, from its text or a schedule file, with its proof. Without a proof, planning says what it lacks first.
Result<NamedProof> read_program_and_proof(const ProveArguments& arguments) {
  if (!arguments.names.empty() || arguments.files.size() > 1)
    return Error{"--program: give one program, one --proof of it, and no names"};
  const std::string& path = arguments.program;
  const Result<std::string> text = read_text(path);
  if (!text.ok()) return text.error();
  Result<Program> program = Error{};
  if (text->starts_with(QD_MAGIC)) {
    const std::vector<uint8_t> bytes(text->begin(), text->end());
    const Result<Schedule> schedule = decode(bytes, path);
    program = schedule.ok() ? Result<Program>(schedule->program) : schedule.error();
  } else {
    program = parse_program(*text, path);
  }
  if (!program.ok()) return program.error();
  const std::string& source = arguments.files.empty() ? path : arguments.files[0];
  const Result<std::string> statements =
      arguments.files.empty() ? std::string() : read_text(source);
  if (!statements.ok()) return statements.error();
  Result<Proof> proof = parse_proof_of(*program, *statements, source);
  if (!proof.ok()) return proof.error();
  return NamedProof{path, std::move(proof).value()};
}

// The built-in proofs of the given names, or those of the files.
Result<std::vector<NamedProof>> read_proofs(const ProveArguments& arguments) {
  if (!arguments.program.empty()) {
    Result<NamedProof> proof = read_program_and_proof(arguments);
    if (!proof.ok()) return proof.error();
    return std::vector{std::move(proof).value()};
  }
  std::vector<std::pair<std::string, std::string>> texts;  // name, text
  for (const std::string& file : arguments.files) {
    const Result<std::string> text = read_text(file);
    if (!text.ok()) return text.error();
    texts.emplace_back(file, *text);
  }
  if (arguments.files.empty())
    for (const ProvenProgram& program : proven_programs())
      texts.emplace_back(program.name, program.proof);
  for (const std::string& name : arguments.names) {
    const bool known = std::any_of(texts.begin(), texts.end(),
                                   [&](const auto& text) { return is_named(text.first, name); });
    if (!known)
      return Error{fmt::format("'{}' has no proof; {} prove --verbose names all that do", name,
                               cli::typed("verifier"))};
  }
  std::vector<NamedProof> proofs;
  for (const auto& [name, text] : texts) {
    const auto asked = [&, &name = name](const std::string& wanted) {
      return is_named(name, wanted);
    };
    if (!arguments.names.empty() &&
        std::none_of(arguments.names.begin(), arguments.names.end(), asked))
      continue;
    Result<Proof> proof = parse_proof(text, name);
    if (!proof.ok()) return proof.error();
    proofs.push_back({name, std::move(proof).value()});
  }
  return proofs;
}

std::vector<ProofResult> prove_all(const std::vector<NamedProof>& proofs,
                                   const std::vector<ProofPlan>& plans,
                                   const ProverOptions& options, size_t threads) {
  std::vector<ProofResult> results(proofs.size());
  cli::Progress progress;
  std::mutex telling;
  size_t over = 0;
  const auto tell = [&] { progress.say(fmt::format("{} of {} programs", over, proofs.size())); };
  tell();
  work_on_all(proofs.size(), threads, options, [&](Prover& prover, size_t i) {
    results[i] = prover.prove(proofs[i].proof, plans[i]);
    const std::lock_guard<std::mutex> lock(telling);
    ++over;
    tell();
  });
  return results;
}

class Session {
 public:
  explicit Session(const ProveArguments& arguments) : arguments_(arguments) {}

  int run() {
    if (arguments_.limit < 1 || arguments_.limit > UINT32_MAX)
      return bad_input("prove", "--limit: give 1 to 4294967295 units of work");
    Result<std::vector<NamedProof>> proofs = read_proofs(arguments_);
    if (!proofs.ok()) return bad_input("prove", proofs.error().message);
    std::vector<ProofPlan> plans;
    for (const NamedProof& named : *proofs) {
      Result<ProofPlan> plan = plan_proof(named.proof);
      if (!plan.ok()) return bad_input("prove", plan.error().message);
      plans.push_back(std::move(plan).value());
    }
    const auto start = std::chrono::steady_clock::now();
    std::vector<ProofResult> results =
        prove_all(*proofs, plans, {static_cast<unsigned>(arguments_.limit), exports_wanted()},
                  threads(proofs->size()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (size_t i = 0; i < plans.size(); ++i) tell((*proofs)[i], plans[i], results[i]);
    fmt::print("{} program{}, {} obligations, {:.1f} s with z3{}\n", plans.size(),
               plans.size() == 1 ? "" : "s", obligations_, took.count(),
               worst_ == ExitCode::kVerified ? ": everything proven" : "");
    if (exports_wanted()) {
      const int code = hand_on(*proofs);
      worst_ = std::max(worst_, code);
    }
    return worst_;
  }

 private:
  bool exports_wanted() const {
    return !arguments_.folder.empty() || !arguments_.second_solver.empty();
  }

  // Exported questions must not depend on which thread came first.
  size_t threads(size_t proofs) const {
    if (exports_wanted()) return 1;
    return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, std::max<size_t>(proofs, 1));
  }

  void tell(const NamedProof& named, const ProofPlan& plan, ProofResult& result) {
    obligations_ += result.obligations.size();
    std::optional<int64_t> walked;
    const auto failed = std::find_if(result.obligations.begin(), result.obligations.end(),
                                     [](const ObligationResult& o) { return !o.proven; });
    if (failed == result.obligations.end() && plan.deadlocks &&
        !find_deadlock(named.proof.program, plan.given)) {
      fmt::print(
          "{}: UNKNOWN: proven, but no nodes of up to {} ranks deadlock with the 'given' "
          "conditions at "
          "every rank\n",
          named.name, kRanksTried);
      worst_ = ExitCode::kUnknown;
    } else if (const auto job = failed == result.obligations.end()
                                    ? contradiction(named, plan, walked)
                                    : std::nullopt) {
      fmt::print(
          "{}: REFUTED: proven, and yet the checker finds it wrong on nodes {}: {}; please report "
          "this mistake of "
          "the verifier\n",
          named.name, job->text(), job->violation.detail);
      worst_ = ExitCode::kRefuted;
    } else if (failed == result.obligations.end()) {
      fmt::print("{}: proven {}for {} ({} obligations, {:.2f} s)\n", named.name,
                 plan.deadlocks ? "to deadlock, where what is given holds, " : "", plan.scope,
                 result.obligations.size(), result.seconds);
      if (walked) tell_walked(*walked);
    } else {
      tell_failure(named, result);
    }
    for (const ObligationResult& obligation : result.obligations) {
      if (arguments_.verbose || !obligation.proven)
        fmt::print("  {}{}\n", obligation.name, obligation.proven ? "" : ": " + obligation.failure);
      if (!obligation.proven)
        for (const std::string& hint : idle_hints_of(plan, obligation.name))
          fmt::print("    {}\n", hint);
    }
    for (const FalseClaim& claim : plan.false_claims) tell_claim(named, claim);
    exports_.push_back(std::move(result.exports));
  }

  // Built-in proofs were checked against the checker when the verifier was built (certify.cc); proofs from files are now.
  std::optional<FailingJob> contradiction(const NamedProof& named, const ProofPlan& plan,
                                          std::optional<int64_t>& walked) const {
    if (arguments_.files.empty() || plan.deadlocks) return std::nullopt;
    return find_failing_job(named.proof.program, kRanksChecked, true, &walked.emplace());
  }

  // Says on which jobs the checker found the proven program right, too.
  static void tell_walked(int64_t ranks) {
    if (ranks == 0)
      fmt::print("  walked on no nodes: the program requires more ranks than are tried\n");
    else if (ranks <= kRanksChecked)
      fmt::print("  walked on all nodes of up to {} ranks that it serves\n", ranks);
    else
      fmt::print("  walked on all nodes of {} ranks, the fewest that it serves\n", ranks);
  }

  // An obligation failed. A counterexample on small nodes refutes the program; otherwise the proof may be too weak.
  void tell_failure(const NamedProof& named, const ProofResult&) {
    const std::optional<FailingJob> job = find_failing_job(named.proof.program);
    if (!job) {
      fmt::print("{}: UNKNOWN: not proven, and no counterexample found on small nodes\n",
                 named.name);
      worst_ = std::max<int>(worst_, ExitCode::kUnknown);
      return;
    }
    fmt::print("{}: REFUTED on nodes {}: {}: {}\n", named.name, job->text(),
               property_name(job->violation.property), job->violation.detail);
    if (worst_ != ExitCode::kUnknown) worst_ = ExitCode::kRefuted;
  }

  void tell_claim(const NamedProof& named, const FalseClaim& claim) {
    if (const auto counterexample = find_counterexample(named.proof.program, claim)) {
      fmt::print("  {} is false, as expected: {}\n", claim.name, *counterexample);
      return;
    }
    fmt::print("  {}: no counterexample found to what should be false\n", claim.name);
    worst_ = std::max<int>(worst_, ExitCode::kUnknown);
  }

  // What stands before the questions about a program: its name, and its text, to which their names refer.
  static std::string heading(const NamedProof& named) {
    std::string text = fmt::format(
        "; Obligations of {}. In their names send 2 is the second send of its program, and so "
        "on:\n",
        named.name);
    std::istringstream program(print(named.proof.program));
    for (std::string line; std::getline(program, line);) text += "; | " + line + "\n";
    return text;
  }

  // Writes the exports, and asks the second solver if one is given.
  int hand_on(const std::vector<NamedProof>& proofs) {
    const bool temporary = arguments_.folder.empty();
    const std::filesystem::path folder =
        temporary ? std::filesystem::temp_directory_path() / fmt::format("quadrille-{}", getpid())
                  : std::filesystem::path(cli::user_path(arguments_.folder));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      return bad_input("prove",
                       fmt::format("--export: {}: {}", arguments_.folder, error.message()));
    std::vector<std::string> files;
    for (size_t i = 0; i < proofs.size(); ++i) {
      std::string text = heading(proofs[i]);
      for (const Export& obligation : exports_[i]) text += obligation.smtlib;
      files.push_back(
          (folder / (std::filesystem::path(proofs[i].name).filename().string() + ".smt2"))
              .string());
      const Result<bool> written = cli::write_file(files.back(), text);
      if (!written.ok()) return bad_input("prove", "--export: " + written.error().message);
    }
    const int code = arguments_.second_solver.empty() ? ExitCode::kVerified : ask_again(files);
    if (temporary) std::filesystem::remove_all(folder, error);
    return code;
  }

  int ask_again(const std::vector<std::string>& files) {
    const SecondOpinion opinion = ask_second_solver(arguments_.second_solver, files, exports_);
    if (!opinion.failure.empty())
      return bad_input("prove",
                       fmt::format("--second-solver: {}; is it installed?", opinion.failure));
    for (const std::string& disagreement : opinion.disagreements)
      fmt::print("{} disagrees: {}\n", arguments_.second_solver, disagreement);
    fmt::print("{} answered {} questions in {:.1f} s: {}\n", arguments_.second_solver,
               opinion.questions, opinion.seconds,
               opinion.disagreements.empty()
                   ? "the same answers"
                   : fmt::format("{} others", opinion.disagreements.size()));
    return opinion.disagreements.empty() ? ExitCode::kVerified : ExitCode::kUnknown;
  }

  const ProveArguments& arguments_;
  size_t obligations_ = 0;
  int worst_ = ExitCode::kVerified;
  std::vector<std::vector<Export>> exports_;
};

}  // namespace

int prove_command(const ProveArguments& arguments) { return Session(arguments).run(); }

}  // namespace quadrille::verifier
