// `show --format html`: simulates a call, and collects what the page says about it.
#include <fmt/format.h>
#include <string_view>

#include "cli/progress.h"
#include "generator/compare.h"
#include "generator/show.h"
#include "runtime/program/digest.h"
#include "schedule/volume.h"
#include "simulate/bound.h"
#include "simulate/engine.h"
#include "simulate/export.h"
#include "simulate/path.h"
#include "simulate/planned.h"
#include "view/figure.h"
#include "view/page.h"

extern const char* const kProofList;  // emitted/proofs.txt

namespace quadrille {
namespace {

constexpr const char* kUsualBytes = "4096";

// Returns the name of the proof of exactly this code; empty if there is none.
std::string proof_of(const std::vector<uint8_t>& code) {
  qd_sha256 hash;
  qd_sha256_start(&hash);
  qd_sha256_add(&hash, code.data(), code.size());
  unsigned char digest[32];
  qd_sha256_end(&hash, digest);
  std::string text = " ";
  for (int i = 0; i < 8; ++i) text += fmt::format("{:02x}", digest[i]);
  const std::string_view list = kProofList;
  const size_t found = list.find(text + ' ');
  if (found == std::string_view::npos) return "";
  const size_t start = list.rfind('\n', found) + 1;
  return std::string(list.substr(start, found - start));
}

std::vector<std::string> proof_sentences(const verifier::ScheduleFile& file) {
  const std::string proof = proof_of(file.schedule.code);
  if (proof.empty() && !file.schedule.certificate.empty())
    return {fmt::format("This program is {}.", file.schedule.certificate)};
  if (proof.empty())
    return {"No proof of this program is known, so this says nothing of other nodes or calls."};
  return {
      fmt::format("Proven for all sizes: the proof {} covers this program on any nodes.", proof),
      fmt::format("`quadrille prove {}` repeats it.", proof.substr(proof.find('.') + 1))};
}

// Describes the call in a sentence or two.
std::string words_of(const verifier::Schedule& schedule, const Planned& planned,
                     const ShowArguments& arguments) {
  constexpr size_t kLongest = 120;
  if (schedule.program.collective == Collective::kBarrier) return "A barrier has no blocks.";
  const bool has_counts = !arguments.lengths.call.counts.empty();
  Call said = planned.call;
  if (!has_counts) said.counts.clear();
  std::string words;
  if (!has_counts)
    words = fmt::format("Each block has {} bytes{}.", planned.bytes,
                        arguments.machine.bytes.empty() ? " (--bytes gives others)" : "");
  if (const std::string text = verifier::call_text(schedule.program, said, kLongest); !text.empty())
    words += fmt::format("{}The call has {}.", words.empty() ? "" : " ", text);
  return words;
}

// Returns the end of the headline: "takes 6.136 us, 1.079 times the lower bound".
std::string times_of(int64_t time, int64_t least) {
  return fmt::format("takes {}{}", time_text(time),
                     least > 0 ? fmt::format(", {:.3f} times the lower bound",
                                             static_cast<double>(time) / static_cast<double>(least))
                               : "");
}

std::vector<std::string> facts(const Machine& machine, const Outcome& outcome, int64_t least,
                               std::string words) {
  std::vector<std::string> all = {std::move(words)};
  all.push_back(
      fmt::format("The call sends {} messages with {} bytes. No schedule takes less than {}.",
                  outcome.messages, outcome.bytes, time_text(least)));
  all.push_back(fmt::format(
      "The machine: {} ns and {} ps a byte between nodes, {} ns and {} ps a byte inside a node. "
      "Each {} has {} port{} for sends {} receives, which messages pass {}.",
      machine.between.alpha_ns, machine.between.beta_ps, machine.inside.alpha_ns,
      machine.inside.beta_ps, machine.port == PortScope::kNode ? "node" : "rank", machine.ports,
      machine.ports == 1 ? "" : "s", machine.exclusive ? "or" : "and",
      machine.sharing == Sharing::kFair ? "all at once" : "one after another"));
  return all;
}

}  // namespace

Result<std::string> page_text(const verifier::ScheduleFile& file, const ShowArguments& arguments) {
  const verifier::Schedule& schedule = file.schedule;
  const Result<Machine> machine = read_machine(arguments.machine);
  if (!machine.ok()) return machine.error();
  const auto in_file = [&](const Error& error) {
    return Error{fmt::format("{}: {}", arguments.file, error.message)};
  };
  const Result<bool> few = refuse_many_ranks(schedule.job);
  if (!few.ok()) return in_file(few.error());
  Page page;
  if (!arguments.curves.empty()) {
    Result<Curves> curves = read_curves(arguments.curves);
    if (!curves.ok()) return Error{"--curves: " + curves.error().message};
    page.curves = std::move(curves).value();
  }
  cli::Progress progress;
  progress.say("planning");
  const bool is_usual = arguments.machine.bytes.empty() && arguments.lengths.call.counts.empty();
  const Result<Planned> planned =
      plan(arguments.file, file.bytes, schedule, arguments.lengths,
           is_usual ? kUsualBytes : arguments.machine.bytes, machine->seed);
  if (!planned.ok()) return planned.error();
  Trace trace;
  const Result<Outcome> outcome = simulate(
      planned->scripts, *machine,
      [&](int64_t arrived, int64_t all) {
        progress.say(fmt::format("{} of {} messages", arrived, all));
      },
      &trace);
  if (!outcome.ok()) return in_file(outcome.error());
  progress.say("checking and drawing");
  const auto least = static_cast<int64_t>(
      least_time(schedule.program.collective, schedule.job.groups, planned->call, 1, *machine));
  page.program = &schedule.program;
  page.job = &schedule.job;
  page.call = &planned->call;
  page.time = times_of(outcome->time, least);
  page.facts = facts(*machine, *outcome, least, words_of(schedule, *planned, arguments));
  page.proof = proof_sentences(file);
  page.tell = [&](const char* unit, int64_t done, int64_t) {
    if (progress.is_due()) progress.say(fmt::format("checking: {} {}", done, unit));
  };
  page.runs.push_back({"Simulated", &planned->scripts, &trace, &*outcome, &*machine});
  Result<std::string> html = page_html(page);
  return html.ok() ? std::move(html) : in_file(html.error());
}

}  // namespace quadrille
