// bazel run //verifier -- check | prove | replay
//
// Exit codes: 0 verified or proven, 1 refuted, 2 bad input, 3 unknown. Tested by
// tests/cli/verifier_test.sh.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "cli/command_line.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "runtime/program/table_format.h"
#include "schedule/any_nodes.h"
#include "schedule/depth.h"
#include "schedule/text.h"
#include "verifier/call.h"
#include "verifier/check.h"
#include "verifier/decode.h"
#include "verifier/plans.h"
#include "verifier/prove/prover.h"
#include "verifier/prove/refute.h"
#include "verifier/proven.h"
#include "verifier/replay.h"
#include "verifier/report.h"

namespace quadrille::verifier {
namespace {

using cli::bad_input;
using cli::ExitCode;

// ---- check

struct CheckArguments {
  std::vector<std::string> files;
  std::optional<int64_t> ports;
  CallArguments call;
};

// For a schedule for any nodes, if no nodes are given to walk: looks up its proof.
int check_proof(const std::string& file, const Schedule& schedule, int64_t bytes,
                const CheckArguments& arguments) {
  const CallArguments& call = arguments.call;
  if (arguments.ports || !call.counts.empty() || !call.parameters.empty() || call.root)
    return bad_input("check", wants_nodes(file, schedule).message);
  fmt::print("{}", proof_report(file, schedule, bytes));
  return is_proven(schedule) ? ExitCode::kVerified : ExitCode::kUnknown;
}

// The verdict on the runtime's plans for these calls. Plans of large jobs are not checked.
struct PlansVerdict {
  bool lawful = true;
  std::string text;
};

PlansVerdict check_plans(const std::vector<uint8_t>& bytes, const Schedule& schedule,
                         const std::vector<CheckedCall>& checked) {
  constexpr int64_t kMostRanks = 64;
  int64_t ranks = 0;
  for (const Topology& group : schedule.job.groups) ranks += group.ranks();
  if (checked.back().report.violation) return {};
  if (ranks > kMostRanks)
    return {true, report_line("plans", fmt::format("not checked: more than {} ranks", kMostRanks))};
  // The plans of one call differ little from those of the next, so their number is bounded.
  constexpr size_t kMostPlans = 512;
  const size_t every = 1 + checked.size() * static_cast<size_t>(ranks) / kMostPlans;
  bool in_place = false;
  std::vector<int> windows;
  cli::Progress progress;
  for (size_t i = 0; i < checked.size(); i += every) {
    if (progress.is_due())
      progress.say(fmt::format("plans of call {} of {}", i + 1, checked.size()));
    const CheckedCall& one = checked[i];
    const Result<Plans> plans = Plans::make(bytes, schedule.program, schedule.job, one.call);
    const std::optional<std::string> wrong =
        plans.ok() ? plans->objection() : "the library refuses them: " + plans.error().message;
    if (wrong) return {*wrong == kPlansNotChecked, report_line("plans", *wrong)};
    in_place |= plans->has_in_place();
    windows = plans->windows();
  }
  const std::string which =
      every > 1
          ? fmt::format(", {} of {} calls", (checked.size() + every - 1) / every, checked.size())
          : "";
  const int last = windows.back();
  windows.pop_back();
  return {true, report_line("plans", fmt::format("lawful at every rank, windows {} and {}{}{}",
                                                 fmt::join(windows, ", "), last,
                                                 in_place ? ", in place or not" : "", which))};
}

std::string progress_text(size_t call, size_t calls, const char* unit, int64_t done, int64_t all) {
  return fmt::format("checking{}: {} {}{}",
                     calls > 1 ? fmt::format(" call {} of {}", call + 1, calls) : "", done,
                     all > 0 ? fmt::format("of {} ", all) : "", unit);
}

// All calls, or those up to the first that is refuted.
Result<std::vector<CheckedCall>> check_calls(const Schedule& schedule,
                                             const std::vector<Call>& calls,
                                             const CheckArguments& arguments) {
  std::vector<CheckedCall> checked;
  cli::Progress progress;
  for (const Call& call : calls) {
    CheckOptions options{arguments.ports};
    if (progress.is_shown())
      options.tell = [&](const char* unit, int64_t done, int64_t all) {
        if (progress.is_due())
          progress.say(progress_text(checked.size(), calls.size(), unit, done, all));
      };
    const Result<Report> report = check_schedule(schedule.program, schedule.job, call, options);
    if (!report.ok()) return report.error();
    checked.push_back({call, *report, std::nullopt});
    if (report->violation) break;
    if (report->messages <= kMostMessagesOfDepth)
      checked.back().depth = depth(schedule.program, schedule.job, call);
  }
  return checked;
}

int check_file(const std::string& file, const CheckArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const Result<ScheduleFile> read = open_schedule(file, arguments.call);
  if (!read.ok()) return bad_input("check", read.error().message);
  const auto& [bytes, schedule] = *read;
  if (serves_any_nodes(schedule.job)) return check_proof(file, schedule, bytes.size(), arguments);
  const Result<std::vector<Call>> calls = calls_to_check(arguments.call, schedule);
  if (!calls.ok()) return bad_input("check", calls.error().message);
  const Result<std::vector<CheckedCall>> checked = check_calls(schedule, *calls, arguments);
  if (!checked.ok())
    return bad_input("check", fmt::format("{}: {}", file, checked.error().message));
  const PlansVerdict plans = check_plans(bytes, schedule, *checked);
  fmt::print("{}{}", check_report(file, schedule, bytes.size(), *checked, plans.lawful),
             plans.text);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}", report_line("checked", fmt::format("in {:.3f} s, at most {:.0f} MB", seconds,
                                                      usage.ru_maxrss / 1024.0)));
  return checked->back().report.violation || !plans.lawful ? ExitCode::kRefuted
                                                           : ExitCode::kVerified;
}

// Of two exit codes. Bad input is graver than a refutation, and that than an unknown verdict.
int graver(int one, int other) {
  constexpr std::array kOrder = {ExitCode::kVerified, ExitCode::kUnknown, ExitCode::kRefuted,
                                 ExitCode::kBadInput};
  const auto* first = std::find(kOrder.begin(), kOrder.end(), one);
  return first < std::find(kOrder.begin(), kOrder.end(), other) ? other : one;
}

int check(const CheckArguments& arguments) {
  if (arguments.ports && *arguments.ports < 1)
    return bad_input("check", "--ports: a node has at least 1 port");
  int worst = ExitCode::kVerified;
  for (const std::string& file : arguments.files)
    worst = graver(worst, check_file(file, arguments));
  return worst;
}

// ---- prove

struct ProveArguments {
  std::vector<std::string> names;  // of built-in proofs; empty: all
  std::vector<std::string> files;  // proofs to prove instead
  std::string program;             // a text, or a schedule file, that the proof is about
  std::string folder;              // destination of exports; empty: none
  std::string second_solver;       // a command; empty: none
  int64_t limit = kMostWork;       // for one question, in units of Z3
  bool verbose = false;
};

struct NamedProof {
  std::string name;
  Proof proof;
};

// The user may name "alltoall.factor" with or without the collective.
bool is_named(const std::string& name, const std::string& wanted) {
  return name == wanted || name.substr(name.find('.') + 1) == wanted;
}

Result<std::string> read_text(const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = cli::read_file(path);
  if (!bytes.ok()) return bytes.error();
  return std::string(bytes->begin(), bytes->end());
}

// A user's program, from its text or a schedule file, with its proof. Without a proof, planning reports the first
// missing statement.
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
    if (!arguments_.second_solver.empty()) {  // the proofs may take long
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
    const auto start = std::chrono::steady_clock::now();
    std::vector<ProofResult> results =
        prove_all(*proofs, plans, {static_cast<unsigned>(arguments_.limit), exports_wanted()},
                  threads(proofs->size()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (size_t i = 0; i < plans.size(); ++i) tell((*proofs)[i], plans[i], results[i]);
    fmt::print("{} program{}, {} obligations, {:.1f} s with z3{}\n", plans.size(),
               plans.size() == 1 ? "" : "s", obligations_, took.count(),
               worst_ == ExitCode::kVerified ? ": everything proven" : "");
    if (exports_wanted()) worst_ = graver(worst_, hand_on(*proofs));
    return worst_;
  }

 private:
  bool exports_wanted() const {
    return !arguments_.folder.empty() || !arguments_.second_solver.empty();
  }

  // Exported questions must not depend on the order of threads.
  size_t threads(size_t proofs) const {
    if (exports_wanted()) return 1;
    return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, std::max<size_t>(proofs, 1));
  }

  void tell(const NamedProof& named, const ProofPlan& plan, ProofResult& result) {
    obligations_ += result.obligations.size();
    std::optional<int64_t> walked;
    if (!std::all_of(result.obligations.begin(), result.obligations.end(),
                     [](const ObligationResult& one) { return one.proven; })) {
      tell_failure(named);
    } else if (plan.deadlocks && !find_deadlock(named.proof.program, plan.given)) {
      fmt::print(
          "{}: UNKNOWN: proven, but no nodes of up to {} ranks deadlock with the 'given' "
          "conditions "
          "at every rank\n",
          named.name, kRanksTried);
      worst_ = graver(worst_, ExitCode::kUnknown);
    } else if (const auto job = contradiction(named, plan, walked)) {
      fmt::print(
          "{}: REFUTED: proven, and yet the checker finds it wrong on nodes {}: {}; please report "
          "this mistake of the verifier\n",
          named.name, job->text(), job->violation.detail);
      worst_ = graver(worst_, ExitCode::kRefuted);
    } else {
      fmt::print("{}: proven {}for {} ({} obligations, {:.2f} s)\n", named.name,
                 plan.deadlocks ? "to deadlock, where what is given holds, " : "", plan.scope,
                 result.obligations.size(), result.seconds);
      if (walked) tell_walked(*walked);
    }
    for (const ObligationResult& obligation : result.obligations)
      if (arguments_.verbose || !obligation.proven)
        fmt::print("  {}{}\n", obligation.name, obligation.proven ? "" : ": " + obligation.failure);
    for (const FalseClaim& claim : plan.false_claims) tell_claim(named, claim);
    exports_.push_back(std::move(result.exports));
  }

  // Compares a proof with the checker. Built-in proofs were compared when the verifier was built (certify.cc); proofs
  // from files are compared now.
  std::optional<FailingJob> contradiction(const NamedProof& named, const ProofPlan& plan,
                                          std::optional<int64_t>& walked) const {
    if (arguments_.files.empty() || plan.deadlocks) return std::nullopt;
    return find_failing_job(named.proof.program, kRanksChecked, true, &walked.emplace());
  }

  // Reports the jobs on which the checker, too, found the proven program right.
  static void tell_walked(int64_t ranks) {
    if (ranks == 0)
      fmt::print("  walked on no nodes: the program requires more ranks than are tried\n");
    else if (ranks <= kRanksChecked)
      fmt::print("  walked on all nodes of up to {} ranks that it serves\n", ranks);
    else
      fmt::print("  walked on all nodes of {} ranks, the fewest that it serves\n", ranks);
  }

  // An obligation failed. A counterexample on small nodes refutes the program; otherwise the proof may be too weak.
  void tell_failure(const NamedProof& named) {
    const std::optional<FailingJob> job = find_failing_job(named.proof.program);
    if (!job) {
      fmt::print("{}: UNKNOWN: not proven, and no counterexample found on small nodes\n",
                 named.name);
      worst_ = graver(worst_, ExitCode::kUnknown);
      return;
    }
    fmt::print("{}: REFUTED on nodes {}: {}: {}\n", named.name, job->text(),
               property_name(job->violation.property), job->violation.detail);
    worst_ = graver(worst_, ExitCode::kRefuted);
  }

  void tell_claim(const NamedProof& named, const FalseClaim& claim) {
    if (const auto counterexample = find_counterexample(named.proof.program, claim)) {
      fmt::print("  {} is false, as expected: {}\n", claim.name, *counterexample);
      return;
    }
    fmt::print("  {}: no counterexample found to what should be false\n", claim.name);
    worst_ = graver(worst_, ExitCode::kUnknown);
  }

  // The heading before the questions about a program: its name, and its text, which the questions refer to.
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

// ---- replay

struct ReplayArguments {
  std::string file, ranks, steps;
  int64_t group = 0;
  CallArguments call;
};

int replay_file(const ReplayArguments& arguments) {
  const Result<ScheduleFile> read = open_schedule(arguments.file, arguments.call);
  if (!read.ok()) return bad_input("replay", read.error().message);
  const Schedule& schedule = read->schedule;
  if (serves_any_nodes(schedule.job))
    return bad_input("replay", wants_nodes(arguments.file, schedule).message);
  const Result<Call> call = read_call(arguments.call, schedule);
  if (!call.ok()) return bad_input("replay", call.error().message);
  if (arguments.group < 0 || arguments.group >= schedule.program.groups)
    return bad_input("replay",
                     fmt::format("--group: the schedule has no group {}", arguments.group));
  const Result<Binding> binding = bind(schedule.program, schedule.job, *call, arguments.group);
  if (!binding.ok())
    return bad_input("replay", fmt::format("{}: {}", arguments.file, binding.error().message));
  const Result<std::vector<int64_t>> ranks = cli::read_numbers("--ranks", arguments.ranks);
  if (!ranks.ok()) return bad_input("replay", ranks.error().message);
  const Result<cli::StepRange> steps = cli::read_steps(arguments.steps);
  if (!steps.ok()) return bad_input("replay", steps.error().message);
  for (const int64_t rank : *ranks) {
    if (rank < 0 || rank >= binding->place.ranks)
      return bad_input(
          "replay", fmt::format("--ranks: there is no rank {} of {}", rank, binding->place.ranks));
    fmt::print("rank {}\n", rank);
    for (const std::string& line :
         replay(schedule.program, *binding, rank, steps->low.value_or(INT64_MIN), steps->high))
      fmt::print("  {}\n", line);
  }
  return 0;
}

// ---- The command line

cli::Command add_check(cli::Command& program, CheckArguments& arguments) {
  cli::Command command = program.command(
      "check", "Check schedule files: walk every rank and say whether the schedule is right.");
  command.require("files", "FILE", &arguments.files, "schedule files");
  command.add("--ports", "NUMBER", &arguments.ports,
              "how many partners a node may have at a time; checked even if the program claims "
              "none");
  add_call(command, arguments.call);
  command.example(
      "check small.qs",
      "--nodes gives the nodes of a schedule for any nodes; without it, check looks its proof up.\n"
      "Exit codes: 0 verified or proven, 1 refuted, 2 bad input, 3 unknown.");
  return command;
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
  command.add("--export", "FOLDER", &arguments.folder,
              "write all questions there as SMT-LIB, one file for each algorithm");
  command.add("--second-solver", "COMMAND", &arguments.second_solver,
              "let this solver answer the exported questions again, such as cvc5");
  command.add(
      "--limit", fmt::format("UNITS={}", arguments.limit), &arguments.limit,
      "the most work a question may take, in Z3's units; a question that needs more is unknown, "
      "on any machine");
  command.add_flag("--verbose", arguments.verbose, "print every obligation");
  command.example("prove hierarchical-factor --verbose");
  command.example("prove --program mine.txt --proof mine.proof",
                  "Exit codes: 0 proven, 1 refuted, 2 bad input, 3 unknown.");
  return command;
}

void add_replay(cli::Command& program, ReplayArguments& arguments) {
  cli::Command command = program.command("replay", "Print what ranks do, step by step.");
  command.require("file", "FILE", &arguments.file, "a schedule file");
  command.require("--ranks", "LIST", &arguments.ranks, "these ranks: 1,3");
  command.add("--group", "NUMBER", &arguments.group, "of group 0 or 1 (default 0)");
  command.add("--steps", "LOW..HIGH", &arguments.steps,
              "the steps from LOW up to, not including, HIGH; either may be left out");
  add_call(command, arguments.call);
  command.example("replay small.qs --ranks 0,1 --steps 0..3");
}

int run(int argc, char** argv) {
  const std::string name = cli::program_name("verifier");
  cli::Command program(name, "Checks and proves communication schedules for MPI collectives.");
  program.footer(
      fmt::format("`{} COMMAND --help` tells more. Exit codes: 0 verified, 1 refuted, 2 bad input, "
                  "3 unknown.",
                  name));
  CheckArguments checking;
  const cli::Command checking_command = add_check(program, checking);
  ProveArguments proving;
  const cli::Command proving_command = add_prove(program, proving);
  ReplayArguments replaying;
  add_replay(program, replaying);

  if (const auto code = program.parse(argc, argv)) return *code;
  if (checking_command.is_named()) return check(checking);
  if (proving_command.is_named()) return Session(proving).run();
  return replay_file(replaying);
}

}  // namespace
}  // namespace quadrille::verifier

int main(int argc, char** argv) {
  return quadrille::cli::run_main("verifier", quadrille::verifier::run, argc, argv);
}
