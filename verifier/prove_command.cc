// The command `prove`. Tested by tests/prove/prove_command_test.sh.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "schedule/reverse.h"
#include "schedule/text.h"
#include "verifier/certificate.h"
#include "verifier/command.h"
#include "verifier/prove/explain.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"
#include "verifier/proven.h"
#include "verifier/report_json.h"
#include "verifier/skeleton.h"

namespace quadrille::verifier {
namespace {

using cli::bad_input;
using cli::ExitCode;

struct NamedProof {
  std::string name;
  Proof proof;
  std::string text = {};          // of a proof file of the user's own
  std::string program_file = {};  // of a program of the user's own
};

// Returns whether the user means this proof. "factor" means "alltoall.factor", too.
bool is_named(const std::string& name, const std::string& wanted) {
  return name == wanted || name.substr(name.find('.') + 1) == wanted;
}

// Reads a user's program, from its text or a schedule file, and its proof. Without a proof, planning reports the
// first missing statement.
Result<NamedProof> read_program_and_proof(const std::string& path, const std::string& source) {
  const Result<Program> program = read_program(path);
  if (!program.ok()) return program.error();
  const Result<std::string> statements = source.empty() ? std::string() : read_text(source);
  if (!statements.ok()) return statements.error();
  Result<Proof> proof = parse_proof_of(*program, *statements, source.empty() ? path : source);
  if (!proof.ok()) return proof.error();
  const Result<bool> filled = refuse_unfilled(*statements, source);
  if (!filled.ok()) return filled.error();
  return NamedProof{path, std::move(proof).value(), *statements, path};
}

// Makes the proof of a sequence of two programs.
Result<NamedProof> sequence_of(NamedProof first, NamedProof second) {
  Result<Proof> proof = sequence_proof(std::move(first.proof), std::move(second.proof));
  if (!proof.ok()) return Error{fmt::format("--then: {}: {}", second.name, proof.error().message)};
  return NamedProof{fmt::format("{}, then {}", first.name, second.name), std::move(proof).value(),
                    first.text + second.text};
}

// Reads a user's program and its proof, or both programs of a sequence and their proofs.
Result<std::vector<NamedProof>> read_programs_and_proofs(const ProveArguments& arguments) {
  std::vector<std::string> paths = {arguments.program}, sources = arguments.files;
  if (!arguments.then.empty()) paths.push_back(arguments.then);
  if (!arguments.names.empty() || sources.size() > paths.size())
    return Error{"--program: give one --proof of each program, and no names"};
  sources.resize(paths.size());
  std::vector<NamedProof> proofs;
  for (size_t i = 0; i < paths.size(); ++i) {
    Result<NamedProof> named = read_program_and_proof(paths[i], sources[i]);
    if (!named.ok()) return named.error();
    proofs.push_back(std::move(named).value());
  }
  if (arguments.reverse) {
    Result<Program> reversal = reverse(proofs[0].proof.program);
    if (!reversal.ok())
      return Error{fmt::format("--reverse: {}: {}", paths[0], reversal.error().message)};
    proofs[0].name = "the reversal of " + paths[0];
    proofs[0].proof.reversal = std::move(reversal).value();
  }
  if (proofs.size() == 1) return proofs;
  Result<NamedProof> both = sequence_of(std::move(proofs[0]), std::move(proofs[1]));
  if (!both.ok()) return both.error();
  return std::vector{std::move(both).value()};
}

// Reads the built-in proofs of the given names, or the proofs in the given files.
Result<std::vector<NamedProof>> read_proofs(const ProveArguments& arguments) {
  if (!arguments.program.empty()) return read_programs_and_proofs(arguments);
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
    const bool known =
        std::ranges::any_of(texts, [&](const auto& text) { return is_named(text.first, name); });
    if (!known)
      return Error{fmt::format("'{}' has no proof; {} prove --verbose names all that do", name,
                               cli::typed("verifier"))};
  }
  std::vector<NamedProof> proofs;
  for (const auto& [name, text] : texts) {
    const auto asked = [&, &name = name](const std::string& wanted) {
      return is_named(name, wanted);
    };
    if (!arguments.names.empty() && std::ranges::none_of(arguments.names, asked)) continue;
    Result<Proof> proof = parse_proof(text, name);
    if (!proof.ok()) return proof.error();
    const Result<bool> filled = refuse_unfilled(text, name);
    if (!filled.ok()) return filled.error();
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

// The verdict on a program after its proof was tried.
struct Judgement {
  int code = ExitCode::kVerified;
  std::string text = {};  // printed after its name
  std::optional<FailingJob> failing = {};
  std::optional<Walked> walked = {};  // what the checker walked
};

// A claim that should be false.
struct Claim {
  std::string name;
  std::optional<std::string> counterexample;
};

bool is_proven(const ProofResult& result) {
  return std::ranges::all_of(result.obligations, &ObligationResult::proven);
}

bool is_json(const ProveArguments& arguments) { return arguments.format == "json"; }

// ---- JSON: cli/schemas/prove.json

using cli::Json;

Json program_json(const NamedProof& named, const ProofPlan& plan, const ProofResult& result,
                  const Judgement& judgement, const std::vector<Claim>& claims) {
  std::vector<Json> obligations, false_claims;
  for (const ObligationResult& one : result.obligations) {
    Json::Members members = {{"name", one.name}, {"proven", one.proven}};
    if (!one.proven) members.emplace_back("failure", one.failure);
    obligations.emplace_back(members);
  }
  for (const Claim& claim : claims)
    false_claims.push_back({{"name", claim.name}, {"counterexample", claim.counterexample}});
  const Program& program = named.proof.to_prove();
  return {
      {"name", named.name},
      {"verdict", judgement.code == ExitCode::kVerified  ? "proven"
                  : judgement.code == ExitCode::kRefuted ? "refuted"
                                                         : "unknown"},
      {"algorithm", program.algorithm.text},
      {"collective", name_of(program.collective)},
      {"groups", program.groups},
      {"scope", plan.scope},
      {"deadlocks", plan.deadlocks},
      {"words", judgement.text},
      {"walked_ranks", judgement.walked ? std::optional(judgement.walked->ranks) : std::nullopt},
      {"failing", failing_json(program, judgement.failing)},
      {"obligations", obligations},
      {"false_claims", false_claims},
      {"seconds", Json::decimal(result.seconds)}};
}

class Session {
 public:
  explicit Session(const ProveArguments& arguments) : arguments_(arguments) {}

  int run() {
    Result<std::vector<NamedProof>> proofs = read_proofs(arguments_);
    if (!proofs.ok()) return bad_input("prove", proofs.error().message);
    if (!arguments_.second_solver.empty()) {  // before the proofs, which may take long
      const SecondOpinion none = ask_second_solver(arguments_.second_solver, {"/dev/null"}, {{}});
      if (!none.failure.empty())
        return bad_input("prove",
                         fmt::format("--second-solver: {}; is it installed?", none.failure));
    }
    std::vector<ProofPlan> plans;
    for (const NamedProof& named : *proofs) {
      Result<ProofPlan> plan = plan_proof(named.proof);
      if (!plan.ok()) return bad_input("prove", plan.error().message);
      plans.push_back(std::move(plan).value());
    }
    if (!arguments_.certificate.empty() && plans[0].deadlocks)
      return bad_input("prove",
                       "--certificate: the proof shows that the program deadlocks; a certificate "
                       "says that a program is right");
    if (const Result<bool> files = judge_files(*proofs); !files.ok())
      return bad_input("prove", files.error().message);
    const auto start = std::chrono::steady_clock::now();
    std::vector<ProofResult> results =
        prove_all(*proofs, plans, {static_cast<unsigned>(arguments_.limit), exports_wanted()},
                  threads(proofs->size()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (size_t i = 0; i < plans.size(); ++i) tell((*proofs)[i], plans[i], results[i]);
    if (!is_json(arguments_))
      fmt::print("{} program{}, {} obligations, {:.1f} s with z3{}\n", plans.size(),
                 plans.size() == 1 ? "" : "s", obligations_, took.count(),
                 worst_ == ExitCode::kVerified ? ": everything proven" : "");
    if (exports_wanted()) worst_ = graver(worst_, hand_on(*proofs));
    if (const Result<bool> written = certify((*proofs)[0]); !written.ok())
      return bad_input("prove", "--certificate: " + written.error().message);
    if (is_json(arguments_))
      fmt::print("{}\n", Json{{"schema", 1},
                              {"programs", Json::lines(programs_)},
                              {"second_solver", opinion_},
                              {"seconds", Json::decimal(took.count())}}
                             .text());
    return worst_;
  }

 private:
  bool exports_wanted() const {
    return !arguments_.folder.empty() || !arguments_.second_solver.empty();
  }

  // Refuses files that would replace each other, or what was read.
  Result<bool> judge_files(const std::vector<NamedProof>& proofs) const {
    std::vector<std::string> inputs = arguments_.files;
    inputs.insert(inputs.end(), {arguments_.program, arguments_.then});
    for (const std::string& input : inputs)
      if (cli::same_file(input, arguments_.certificate))
        return Error{cli::same_file_text("--certificate", arguments_.certificate)};
    std::map<std::string, std::string> names;  // of exports, and their proofs
    for (const NamedProof& named : proofs) {
      const auto [other, is_new] = names.emplace(export_name(named), named.name);
      if (!is_new && exports_wanted())
        return Error{fmt::format(
            "{} and {} would both be exported as {}; rename one, or prove one after the other",
            other->second, named.name, other->first)};
    }
    return true;
  }

  static std::string export_name(const NamedProof& named) {
    return std::filesystem::path(named.name).filename().string() + ".smt2";
  }

  // Exported questions must not depend on the order of threads.
  size_t threads(size_t proofs) const {
    if (exports_wanted()) return 1;
    return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, std::max<size_t>(proofs, 1));
  }

  void tell(const NamedProof& named, const ProofPlan& plan, ProofResult& result) {
    obligations_ += result.obligations.size();
    const Judgement judgement = judge(named, plan, result);
    std::vector<Claim> claims;
    for (const FalseClaim& claim : plan.false_claims)
      claims.push_back(
          {claim.name, find_counterexample(named.proof.program_of(claim.half), claim)});
    worst_ = graver(worst_, judgement.code);
    for (const Claim& claim : claims)
      if (!claim.counterexample) worst_ = graver(worst_, ExitCode::kUnknown);
    if (is_json(arguments_))
      programs_.push_back(program_json(named, plan, result, judgement, claims));
    else
      print_program(named, plan, result, judgement, claims);
    exports_.push_back(std::move(result.exports));
  }

  // Writes the certificate of a program that is proven.
  Result<bool> certify(const NamedProof& named) const {
    if (arguments_.certificate.empty() || worst_ != ExitCode::kVerified) return true;
    const Program& program = named.proof.to_prove();
    return cli::write_file(arguments_.certificate,
                           certificate_of(program, named.text, scope_of(program),
                                          fmt::format("{} obligations by z3 {}", obligations_,
                                                      Z3_get_full_version())));
  }

  void print_program(const NamedProof& named, const ProofPlan& plan, const ProofResult& result,
                     const Judgement& judgement, const std::vector<Claim>& claims) const {
    fmt::print("{}: {}\n", named.name, judgement.text);
    if (judgement.code == ExitCode::kVerified && judgement.walked) tell_walked(*judgement.walked);
    int explained = 0;
    for (size_t i = 0; i < result.obligations.size(); ++i) {
      const ObligationResult& one = result.obligations[i];
      if (arguments_.verbose || !one.proven)
        fmt::print("  {}{}\n", one.name, one.proven ? "" : ": " + one.failure);
      if (one.proven || i >= plan.obligations.size()) continue;
      if (arguments_.verbose || ++explained <= kMostExplained)
        for (const std::string& line :
             explain(plan.obligations[i], one, named.proof.program_of(plan.obligations[i].half),
                     text_of(named, plan.obligations[i].half), options()))
          fmt::print("    {}\n", line);
    }
    if (explained > kMostExplained)
      fmt::print("  --verbose explains all {} obligations that are open\n", explained);
    for (const Claim& claim : claims)
      if (claim.counterexample)
        fmt::print("  {} is false, as expected: {}\n", claim.name, *claim.counterexample);
      else
        fmt::print("  {}: no counterexample found to what should be false\n", claim.name);
  }

  static constexpr int kMostExplained = 5;

  ProverOptions options() const { return {static_cast<unsigned>(arguments_.limit), false}; }

  // Returns the text that the user wrote, or what `show` prints of the program.
  static ProgramText text_of(const NamedProof& named, Half half) {
    const Result<std::string> text =
        named.program_file.empty() ? Error{} : read_text(named.program_file);
    ProgramText own = program_text(named.program_file, text.ok() ? *text : "");
    return own.lines.empty() ? program_text("", print(named.proof.program_of(half))) : own;
  }

  Judgement judge(const NamedProof& named, const ProofPlan& plan, const ProofResult& result) const {
    if (!is_proven(result)) return judge_failure(named);
    Judgement proven;
    if (plan.deadlocks && !find_deadlock(named.proof.program, plan.given))
      return {ExitCode::kUnknown, fmt::format("UNKNOWN: proven, but no nodes of up to {} ranks "
                                              "deadlock with the 'given' conditions at every rank",
                                              kRanksTried)};
    if (auto job = contradiction(named, plan, proven.walked))
      return {ExitCode::kRefuted,
              fmt::format("REFUTED: proven, and yet the checker finds it wrong on nodes {}: {}; "
                          "please report this mistake of the verifier",
                          job->text(), job->violation.detail),
              std::move(job)};
    const bool takes_none =
        proven.walked && proven.walked->ranks == 0 && proven.walked->refuses_calls;
    proven.text =
        fmt::format("proven {}for {}{} ({} obligations, {:.2f} s)",
                    plan.deadlocks ? "to deadlock, where what is given holds, " : "", plan.scope,
                    takes_none ? " that meet its requirements; no call that is tried does" : "",
                    result.obligations.size(), result.seconds);
    return proven;
  }

  // Compares a proof with the checker. Built-in proofs were compared when the verifier was built (certify.cc); proofs
  // from files are compared now.
  std::optional<FailingJob> contradiction(const NamedProof& named, const ProofPlan& plan,
                                          std::optional<Walked>& walked) const {
    if (arguments_.files.empty() || plan.deadlocks) return std::nullopt;
    return find_failing_job(named.proof.to_prove(), kRanksChecked, true, &walked.emplace());
  }

  // Prints on which jobs the checker, too, found the proven program right.
  static void tell_walked(const Walked& walked) {
    const int64_t ranks = walked.ranks;
    if (ranks == 0 && walked.refuses_calls)
      fmt::print("  walked on no nodes: no call that is tried meets what the program requires\n");
    else if (ranks == 0)
      fmt::print("  walked on no nodes: the program serves none of those that are tried\n");
    else if (ranks <= kRanksChecked)
      fmt::print("  walked on all nodes of up to {} ranks that it serves\n", ranks);
    else
      fmt::print("  walked on all nodes of {} ranks, the fewest that it serves\n", ranks);
  }

  // Judges a program after an obligation failed: refuted if small nodes have a counterexample, else unknown.
  static Judgement judge_failure(const NamedProof& named) {
    std::optional<FailingJob> job = find_failing_job(named.proof.to_prove());
    if (!job)
      return {ExitCode::kUnknown,
              "UNKNOWN: not proven, and no counterexample found on small nodes"};
    const std::string text =
        fmt::format("REFUTED on nodes {}: {}: {}", job->text(),
                    property_name(job->violation.property), job->violation.detail);
    return {ExitCode::kRefuted, text, std::move(job)};
  }

  // Returns the heading before the questions about a program: its name and its text. The questions refer to the text.
  static std::string heading(const NamedProof& named) {
    std::string text = fmt::format(
        "; Obligations of {}. In their names send 2 is the second send of its program, and so "
        "on:\n",
        named.name);
    std::string programs = print(named.proof.program);
    if (const std::vector<Proof>& halves = named.proof.halves; !halves.empty())
      programs = print(halves[0].program) + "\n" + print(halves[1].program);
    std::istringstream lines(programs);
    for (std::string line; std::getline(lines, line);) text += "; | " + line + "\n";
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
      files.push_back((folder / export_name(proofs[i])).string());
      const Result<bool> written = cli::write_file(files.back(), text);
      if (!written.ok()) return bad_input("prove", "--export: " + written.error().message);
    }
    const int code = arguments_.second_solver.empty() ? ExitCode::kVerified : ask_again(files);
    if (temporary) std::filesystem::remove_all(folder, error);
    return code;
  }

  int ask_again(const std::vector<std::string>& files) {
    const SecondOpinion opinion = ask_second_solver(arguments_.second_solver, files, exports_);
    const int code = opinion.disagreements.empty() ? ExitCode::kVerified : ExitCode::kUnknown;
    if (is_json(arguments_)) {
      opinion_ = {{"command", arguments_.second_solver},
                  {"questions", opinion.questions},
                  {"disagreements", opinion.disagreements},
                  {"seconds", Json::decimal(opinion.seconds)}};
      return code;
    }
    for (const std::string& disagreement : opinion.disagreements)
      fmt::print("{} disagrees: {}\n", arguments_.second_solver, disagreement);
    fmt::print("{} answered {} questions in {:.1f} s: {}\n", arguments_.second_solver,
               opinion.questions, opinion.seconds,
               opinion.disagreements.empty()
                   ? "the same answers"
                   : fmt::format("{} others", opinion.disagreements.size()));
    return code;
  }

  const ProveArguments& arguments_;
  size_t obligations_ = 0;
  int worst_ = ExitCode::kVerified;
  std::vector<std::vector<Export>> exports_;
  std::vector<Json> programs_;
  Json opinion_;  // of the second solver
};

// ---- The beginning of a proof

// Returns the heading of a built-in proof, which holds the code.
std::string heading_of(std::string_view proof) {
  return std::string(proof.substr(0, proof.find("\n\n") + 2));
}

struct Subject {
  Program program;
  std::string heading;  // of a built-in program
  std::string command;  // the command that proves it
};

Result<ProvenProgram> only_proof_named(const std::string& name) {
  std::vector<ProvenProgram> found;
  std::vector<std::string> names;
  for (const ProvenProgram& each : proven_programs()) {
    if (!is_named(std::string(each.name), name)) continue;
    found.push_back(each);
    names.emplace_back(each.name);
  }
  if (found.empty())
    return Error{fmt::format("'{}' has no proof; give its text with --program FILE", name)};
  if (found.size() > 1)
    return Error{fmt::format("--skeleton: '{}' is the name of {} algorithms; give one of {}", name,
                             found.size(), fmt::join(names, ", "))};
  return found[0];
}

Result<Subject> subject_of(const ProveArguments& arguments) {
  if (!arguments.files.empty() || arguments.names.size() + !arguments.program.empty() != 1)
    return Error{"--skeleton: give --program FILE or one algorithm, and no --proof"};
  const std::string out = cli::shell_word(arguments.skeleton);
  if (!arguments.program.empty()) {
    Result<Program> program = read_program(arguments.program);
    if (!program.ok()) return program.error();
    return Subject{
        std::move(program).value(), "",
        fmt::format("prove --program {} --proof {}", cli::shell_word(arguments.program), out)};
  }
  const Result<ProvenProgram> built_in = only_proof_named(arguments.names[0]);
  if (!built_in.ok()) return built_in.error();
  const Result<Proof> proof = parse_proof(built_in->proof, std::string(built_in->name));
  if (!proof.ok()) return proof.error();
  return Subject{proof->program, heading_of(built_in->proof), "prove --proof " + out};
}

int write_skeleton(const ProveArguments& arguments) {
  if (is_json(arguments) || !arguments.folder.empty() || !arguments.second_solver.empty())
    return bad_input(
        "prove", "--skeleton: nothing is proven; leave out --format, --export and --second-solver");
  const Result<Subject> subject = subject_of(arguments);
  if (!subject.ok()) return bad_input("prove", subject.error().message);
  std::error_code error;
  if (std::filesystem::exists(cli::user_path(arguments.skeleton), error))
    return bad_input("prove", fmt::format("--skeleton: {} is there already; name another file",
                                          arguments.skeleton));
  const Result<Skeleton> skeleton = skeleton_of(
      subject->program, arguments.program.empty() ? arguments.names[0] : arguments.program);
  if (!skeleton.ok()) return bad_input("prove", skeleton.error().message);
  const Result<bool> written =
      cli::write_file(arguments.skeleton, subject->heading + skeleton->text);
  if (!written.ok()) return bad_input("prove", "--skeleton: " + written.error().message);
  fmt::print("{}: {} statement{}, {} place{} to fill in ({}); then: {} {}\n", arguments.skeleton,
             skeleton->statements, skeleton->statements == 1 ? "" : "s", skeleton->places,
             skeleton->places == 1 ? "" : "s", kFillIn, cli::typed("verifier"), subject->command);
  return ExitCode::kVerified;
}

// ---- Proving again

using Versions = std::vector<std::optional<std::filesystem::file_time_type>>;

Versions versions_of(const std::vector<std::string>& files) {
  Versions versions;
  for (const std::string& file : files) {
    std::error_code error;
    const auto time = std::filesystem::last_write_time(cli::user_path(file), error);
    versions.push_back(error ? std::nullopt : std::optional(time));
  }
  return versions;
}

// Proves whenever a file changes, until a signal ends the process.
int watch(const ProveArguments& arguments) {
  std::vector<std::string> files = arguments.files;
  for (const std::string& file : {arguments.program, arguments.then})
    if (!file.empty()) files.push_back(file);
  if (files.empty()) return bad_input("prove", "--watch: give it with --program or --proof");
  for (;;) {
    const Versions before = versions_of(files);
    Session(arguments).run();
    fmt::print("--watch: waits for a change of {}; Ctrl-C ends it\n", fmt::join(files, ", "));
    std::fflush(stdout);
    while (versions_of(files) == before)
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace

int prove(const ProveArguments& arguments) {
  if (arguments.reverse && (arguments.program.empty() || !arguments.skeleton.empty()))
    return bad_input(
        "prove",
        "--reverse: give it with --program and --proof, which is the proof of the program itself");
  if (!arguments.then.empty() && (arguments.program.empty() || !arguments.skeleton.empty()))
    return bad_input("prove",
                     "--then: give it with --program, and a --proof of each of the two programs");
  if (!arguments.certificate.empty() && (arguments.program.empty() || !arguments.skeleton.empty()))
    return bad_input("prove", "--certificate: give it with --program and --proof");
  if (arguments.watch && (!arguments.skeleton.empty() || !arguments.second_solver.empty() ||
                          !arguments.names.empty() || is_json(arguments)))
    return bad_input("prove", "--watch: leave out names, --skeleton, --second-solver and --format");
  if (arguments.limit < 1 || arguments.limit > UINT32_MAX)
    return bad_input("prove", "--limit: give 1 to 4294967295 units of work");
#ifdef QUADRILLE_WITHOUT_Z3
  if (arguments.skeleton.empty())
    return bad_input("prove",
                     "the solver Z3 was left out of this build; install its header and library, "
                     "and build again");
#endif
  if (arguments.watch) return watch(arguments);
  return arguments.skeleton.empty() ? Session(arguments).run() : write_skeleton(arguments);
}

cli::Command add_prove(cli::Command& program, ProveArguments& arguments) {
  cli::Command command =
      program.command("prove", "Prove programs for every number of ranks and every placement.");
  command.add("names", "NAME", &arguments.names,
              "algorithms such as hierarchical-factor+drop; all if none is named");
  command.add("--proof", "FILE", &arguments.files,
              "proof files to prove instead of the built-in ones");
  command.add("--program", "FILE", &arguments.program,
              "your own program, as text or as a schedule file; --proof then needs no heading");
  command.add_flag("--reverse", arguments.reverse,
                   "prove the reversal of the program in time; --proof is the program's own");
  command.add(
      "--then", "FILE", &arguments.then,
      "a program to run after that; prove the sequence. Give a second --proof, of this one");
  command.add("--certificate", "FILE", &arguments.certificate,
              "write there that the program of --program is proven, for `generate --proof`");
  command.add_flag("--watch", arguments.watch,
                   "prove again whenever the program or the proof changes, until Ctrl-C");
  command.add("--skeleton", "FILE", &arguments.skeleton,
              "write the beginning of a proof there: its statements, with the witnesses that fit "
              "runs on small jobs");
  command.add("--export", "FOLDER", &arguments.folder,
              "write all questions there as SMT-LIB, one file for each algorithm");
  command.add("--second-solver", "COMMAND", &arguments.second_solver,
              "let this solver answer the exported questions again, such as cvc5");
  command.add("--limit", fmt::format("UNITS={}", arguments.limit), &arguments.limit,
              "the most work a question may take, in Z3's units; a question that needs more is "
              "unknown, on any machine");
  command.add_flag("--verbose", arguments.verbose, "print every obligation");
  command.add_choice("--format", {"text", "json"}, arguments.format, "what is printed");
  command.example("prove hierarchical-factor --verbose");
  command.example("prove --program mine.txt --skeleton mine.proof");
  command.example("prove --program mine.txt --proof mine.proof");
  return command;
}

}  // namespace quadrille::verifier
