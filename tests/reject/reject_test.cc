// A named case for each thing that a schedule can get wrong: the program of that name is refused
// for its reason, with that counterexample, and is accepted once the line at fault is mended.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "schedule/text.h"
#include "tests/reject/cases.h"
#include "tests/support/oracle.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"

namespace quadrille::verifier {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream file("tests/reject/" + name + ".txt");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << "tests/reject/" << name << ".txt";
  return text.str();
}

Job job_of(const Refusal& refusal) {
  Job job;
  for (const std::vector<int64_t>& sizes : refusal.nodes) job.groups.push_back(topology_of(sizes));
  return job;
}

Result<Report> check_text(const Refusal& refusal, const std::string& text) {
  const Result<Program> program = parse_program(text, refusal.name);
  if (!program.ok()) return program.error();
  return check_schedule(*program, job_of(refusal), refusal.call, {refusal.ports});
}

std::vector<int64_t> ranks_of(const Violation& violation) {
  std::vector<int64_t> ranks;
  for (const Process& process : violation.processes) ranks.push_back(process.rank);
  return ranks;
}

void expect_refused(const Refusal& refusal, const Report& report) {
  ASSERT_TRUE(report.violation) << refusal.name << " is accepted";
  const Violation& violation = *report.violation;
  EXPECT_EQ(property_name(violation.property), property_name(refusal.property))
      << refusal.name << ": " << violation.detail;
  EXPECT_EQ(violation.key.value_or(kNoKey), refusal.key) << refusal.name;
  EXPECT_EQ(ranks_of(violation), refusal.ranks) << refusal.name << ": " << violation.detail;
  EXPECT_THAT(violation.detail, testing::HasSubstr(refusal.clause)) << refusal.name;
}

TEST(Reject, EveryCaseIsRefusedForItsReason) {
  for (const Refusal& refusal : refusals()) {
    const Result<Report> report = check_text(refusal, text_of(refusal.name));
    ASSERT_TRUE(report.ok()) << refusal.name << ": " << report.error().message;
    expect_refused(refusal, *report);
  }
}

TEST(Reject, EveryCaseIsWrongByTheOracleToo) {
  for (const Refusal& refusal : refusals()) {
    const Program program = parse_program(text_of(refusal.name), refusal.name).value();
    EXPECT_NE(what_is_wrong(program, job_of(refusal), refusal.call), std::nullopt) << refusal.name;
  }
}

TEST(Reject, TheGeneralExecutorRefusesEveryCaseOnItsOwn) {
  for (const Refusal& refusal : refusals()) {
    const Program program = parse_program(text_of(refusal.name), refusal.name).value();
    const Job job = job_of(refusal);
    std::vector<Binding> bindings;
    for (int64_t group = 0; group < program.groups; ++group)
      bindings.push_back(bind(program, job, refusal.call, group).value());
    EXPECT_TRUE(execute(program, job, refusal.call, bindings, {refusal.ports}).violation)
        << refusal.name;
  }
}

// As verdicts.golden has it, a line a case.
std::string line_of(const Refusal& refusal, const Violation& violation) {
  std::string processes;
  for (const Process& process : violation.processes)
    processes += fmt::format("({},{})", process.group, process.rank);
  const std::string step = violation.key ? fmt::format("{}", *violation.key) : "-";
  return fmt::format("{}: {}, step {}, {}: {}\n", refusal.name, property_name(violation.property),
                     step, processes, violation.detail);
}

TEST(Reject, TheGeneralExecutorSaysOfEveryCaseWhatIsWrittenDown) {
  std::string said;
  for (const Refusal& refusal : refusals()) {
    const Program program = parse_program(text_of(refusal.name), refusal.name).value();
    const Job job = job_of(refusal);
    std::vector<Binding> bindings;
    for (int64_t group = 0; group < program.groups; ++group)
      bindings.push_back(bind(program, job, refusal.call, group).value());
    said +=
        line_of(refusal, *execute(program, job, refusal.call, bindings, {refusal.ports}).violation);
  }
  std::ifstream file("tests/reject/verdicts.golden");
  std::stringstream written;
  written << file.rdbuf();
  EXPECT_EQ(said, written.str());
}

TEST(Reject, TheCheckerOfAllgathersAcceptsNoCase) {
  int refused = 0;
  for (const Refusal& refusal : refusals()) {
    const Program program = parse_program(text_of(refusal.name), refusal.name).value();
    if (!fits_rank_by_rank(program, {refusal.ports})) continue;
    const Binding binding = bind(program, job_of(refusal), refusal.call, 0).value();
    const auto report = check_rank_by_rank(program, job_of(refusal), refusal.call, binding);
    EXPECT_TRUE(!report || report->violation) << refusal.name;
    refused += report && report->violation;
  }
  EXPECT_GE(refused, 5);
}

TEST(Reject, TheCheckerOfForwardingAllToAllsAcceptsNoCase) {
  int refused = 0;
  for (const Refusal& refusal : refusals()) {
    const Program program = parse_program(text_of(refusal.name), refusal.name).value();
    if (!fits_key_order(program)) continue;
    const Job job = job_of(refusal);
    const Binding binding = bind(program, job, refusal.call, 0).value();
    const auto report = check_key_order(program, job, binding, {refusal.ports});
    EXPECT_TRUE(!report || report->violation) << refusal.name;
    refused += report && report->violation;
  }
  EXPECT_GE(refused, 15);
}

TEST(Reject, EveryCaseIsAcceptedOnceMended) {
  for (const Refusal& refusal : refusals()) {
    if (refusal.wrong.empty()) continue;
    std::string text = text_of(refusal.name);
    const size_t at = text.find(refusal.wrong);
    ASSERT_NE(at, std::string::npos) << refusal.name;
    text.replace(at, refusal.wrong.size(), refusal.mended);
    const Result<Report> report = check_text(refusal, text);
    ASSERT_TRUE(report.ok()) << refusal.name << ": " << report.error().message;
    EXPECT_FALSE(report->violation) << refusal.name << ": " << report->violation->detail;
  }
}

TEST(Reject, EveryPropertyHasACase) {
  std::set<Property> seen;
  for (const Refusal& refusal : refusals()) seen.insert(refusal.property);
  for (int i = 0; i < kPropertyCount; ++i)
    EXPECT_TRUE(seen.contains(static_cast<Property>(i))) << property_name(static_cast<Property>(i));
}

TEST(Reject, PortsOfTheCommandLineAreAskedWithoutAClaim) {
  Refusal refusal{
      "port_of_a_node", {{2, 2}}, Property::kPort, 3, {1, 2}, "the port of node", "", ""};
  std::string text = text_of(refusal.name);
  const std::string claim = "port exchange per node\n";
  text.erase(text.find(claim), claim.size());
  EXPECT_FALSE(check_text(refusal, text)->violation);
  refusal.ports = 1;
  expect_refused(refusal, *check_text(refusal, text));
  refusal.ports = 2;
  EXPECT_FALSE(check_text(refusal, text)->violation);
}

// What is no program at all, or does not fit the job, is bad input: a sentence in place of a
// verdict.
TEST(Reject, BadInputIsASentence) {
  struct BadInput {
    std::string name, sentence;
    Call call = {};
  };
  const std::vector<BadInput> cases = {
      {"message_outside_a_step", "message_outside_a_step:4:1: a message outside a step"},
      {"nested_steps", "nested_steps:5:3: a step inside a step"},
      {"search_in_a_table_not_ascending",
       "table 'length_of' is searched but not ascending",
       {{{3, 1, 2}}, {}, 0}},
      {"lengths_differ", "the program needs 3 counts for group 0; give them with --counts"},
      {"requirement", "pairwise requires ranks mod 2 = 0, which does not hold for 3 ranks"},
  };
  for (const BadInput& bad : cases) {
    const Result<Report> report =
        check_text({bad.name, {{1, 1, 1}}, {}, 0, {}, "", "", "", bad.call}, text_of(bad.name));
    ASSERT_FALSE(report.ok()) << bad.name;
    EXPECT_EQ(report.error().message, bad.sentence);
  }
}

TEST(Reject, EveryTextHasACase) {
  std::set<std::string> names = {"message_outside_a_step", "nested_steps", "requirement",
                                 "search_in_a_table_not_ascending"};
  for (const Refusal& refusal : refusals()) names.insert(refusal.name);
  for (const auto& entry : std::filesystem::directory_iterator("tests/reject")) {
    const bool known = names.contains(entry.path().stem().string());
    EXPECT_TRUE(known || entry.path().extension() != ".txt") << entry.path();
  }
}

}  // namespace
}  // namespace quadrille::verifier
