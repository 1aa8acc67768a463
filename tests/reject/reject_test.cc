// Tests programs that must be refused. Each case is refused with the verdict that it states, and accepted once its
// wrong line is corrected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "schedule/text.h"
#include "tests/support/cases.h"
#include "tests/support/oracle.h"
#include "tests/support/topologies.h"
#include "verifier/check.h"

namespace quadrille::verifier::reject_test {

// The job, call and options of a case, written "2x2 and 1, parameter 3, counts 7,9,1,1 and 8, ports 1".
struct Setting {
  Job job;
  Call call = {};
  CheckOptions options = {};
};

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at; (at = text.find(separator, from)) != std::string::npos;
       from = at + separator.size())
    parts.push_back(text.substr(from, at - from));
  parts.push_back(text.substr(from));
  return parts;
}

Setting setting_of(const std::string& text) {
  Setting setting;
  for (const std::string& part : split(text, ", ")) {
    if (part.starts_with("ports ")) {
      setting.options.ports = std::stoi(part.substr(6));
    } else if (part.starts_with("parameter ")) {
      setting.job.parameters.push_back(std::stoi(part.substr(10)));
    } else if (part.starts_with("counts ")) {
      for (const std::string& group : split(part.substr(7), " and ")) {
        setting.call.counts.emplace_back();
        for (const std::string& count : split(group, ","))
          setting.call.counts.back().push_back(std::stoll(count));
      }
    } else {
      for (const std::string& nodes : split(part, " and "))
        setting.job.groups.push_back(parse_nodes(nodes).value());
    }
  }
  return setting;
}

const std::vector<TextCase>& corpus() {
  static const std::vector<TextCase> cases = read_cases("tests/reject");
  return cases;
}

struct Refusal {
  const TextCase* text;
  Program program;
  Setting setting;
  std::string verdict;  // the expected verdict of check_schedule

  std::vector<Binding> bindings() const { return bind_all(program, setting.job, setting.call); }
};

// Calls visit(case, setting, value) for each expectation "OUTCOME on SETTING: value".
template <class Visit>
void for_each(const std::string& outcome, const Visit& visit) {
  for (const TextCase& one : corpus())
    for (const auto& [key, value] : one.expectations) {
      if (!key.starts_with(outcome + " on ")) continue;
      const testing::ScopedTrace trace(__FILE__, __LINE__, one.title);
      visit(one, setting_of(key.substr(outcome.size() + 4)), value);
    }
}

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all = [] {
    std::vector<Refusal> result;
    for_each(
        "refused", [&](const TextCase& one, const Setting& setting, const std::string& verdict) {
          result.push_back({&one, parse_program(one.program, "program").value(), setting, verdict});
        });
    return result;
  }();
  return all;
}

Result<Report> check_text(const std::string& text, const Setting& setting) {
  const Result<Program> program = parse_program(text, "program");
  if (!program.ok()) return program.error();
  return check_schedule(*program, setting.job, setting.call, setting.options);
}

// Returns "held, step 0, (0,1): ..." (property, step, processes, detail), or "accepted".
std::string verdict_of(const Report& report) {
  if (!report.violation) return "accepted";
  const Violation& violation = *report.violation;
  std::string processes;
  for (const Process& process : violation.processes)
    processes += fmt::format("({},{})", process.group, process.rank);
  const std::string step = violation.key ? fmt::format("{}", *violation.key) : "-";
  return fmt::format("{}, step {}, {}: {}", property_name(violation.property), step, processes,
                     violation.detail);
}

TEST(Reject, EveryCaseIsRefusedForItsReason) {
  for (const Refusal& refusal : refusals()) {
    const Result<Report> report = check_text(refusal.text->program, refusal.setting);
    ASSERT_TRUE(report.ok()) << refusal.text->title << ": " << report.error().message;
    EXPECT_EQ(verdict_of(*report), refusal.verdict) << refusal.text->title;
  }
}

TEST(Reject, TheGeneralExecutorRefusesEveryCaseWithTheSameVerdictOrItsOwn) {
  for (const Refusal& refusal : refusals()) {
    const std::vector<std::string> own = refusal.text->values("executed");
    const Setting& setting = refusal.setting;
    EXPECT_EQ(verdict_of(execute(refusal.program, setting.job, setting.call, refusal.bindings(),
                                 setting.options)),
              own.empty() ? refusal.verdict : own.at(0))
        << refusal.text->title;
  }
}

TEST(Reject, EveryCaseIsWrongByTheOracleToo) {
  for (const Refusal& refusal : refusals()) {
    if (refusal.setting.options.ports) continue;  // the oracle checks only what the program claims
    EXPECT_NE(what_is_wrong(refusal.program, refusal.setting.job, refusal.setting.call),
              std::nullopt)
        << refusal.text->title;
  }
}

TEST(Reject, TheCheckersOfAllgathersAndOfForwardingAllToAllsAcceptNoCase) {
  int allgathers = 0, all_to_alls = 0;
  for (const Refusal& refusal : refusals()) {
    const auto& [job, call, options] = refusal.setting;
    const auto refuses = [&](const std::optional<Report>& report) {
      EXPECT_TRUE(!report || report->violation) << refusal.text->title;
      return report && report->violation;
    };
    if (fits_rank_by_rank(refusal.program, options))
      allgathers += refuses(check_rank_by_rank(refusal.program, job, call, refusal.bindings()[0]));
    if (fits_key_order(refusal.program))
      all_to_alls += refuses(check_key_order(refusal.program, job, refusal.bindings()[0], options));
  }
  EXPECT_GE(allgathers, 5);
  EXPECT_GE(all_to_alls, 15);
}

TEST(Reject, EveryCaseIsAcceptedOnceMended) {
  for (const Refusal& refusal : refusals())
    for (const std::string& change : refusal.text->values("mended")) {
      const Result<Report> report =
          check_text(edited(refusal.text->program, change), refusal.setting);
      ASSERT_TRUE(report.ok()) << refusal.text->title << ": " << report.error().message;
      EXPECT_EQ(verdict_of(*report), "accepted") << refusal.text->title;
    }
}

TEST(Reject, ACaseIsAcceptedWhereItSaysSo) {
  for (const TextCase& one : corpus())
    for (const std::string& setting : one.values("accepted"))
      EXPECT_EQ(verdict_of(check_text(one.program, setting_of(setting)).value()), "accepted")
          << one.title;
}

TEST(Reject, EveryPropertyHasACase) {
  std::set<std::string, std::less<>> seen;
  for (const Refusal& refusal : refusals())
    seen.insert(refusal.verdict.substr(0, refusal.verdict.find(',')));
  for (int i = 0; i < kPropertyCount; ++i)
    EXPECT_TRUE(seen.contains(property_name(static_cast<Property>(i))))
        << property_name(static_cast<Property>(i));
}

// A text that is no program, or does not fit the job, gets an error of one sentence, not a verdict.
TEST(Reject, BadInputIsASentence) {
  int sentences = 0;
  for_each("bad input",
           [&](const TextCase& one, const Setting& setting, const std::string& sentence) {
             const Result<Report> report = check_text(one.program, setting);
             ASSERT_FALSE(report.ok());
             EXPECT_EQ(report.error().message, sentence);
             ++sentences;
           });
  EXPECT_GE(sentences, 5);
}

TEST(Reject, EveryCaseExpectsSomethingThatIsKnown) {
  for (const TextCase& one : corpus()) {
    EXPECT_FALSE(one.expectations.empty()) << one.title;
    for (const auto& [key, value] : one.expectations)
      EXPECT_TRUE(key.starts_with("refused on ") || key.starts_with("bad input on ") ||
                  key == "executed" || key == "mended" || key == "accepted")
          << one.title << ": " << key;
  }
}

}  // namespace quadrille::verifier::reject_test
