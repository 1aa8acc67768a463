// Draws random programs, on which all readers must agree. Text and bytes of a program give that program again. The
// runtime accepts programs that bind, and reports the events of the plain walk. The oracle, the general executor and
// the quick checkers reach the same verdict.
//
// The variable PROGRAMS sets how many programs are drawn, and SEED the first seed. A failure names its seed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "generator/encode.h"
#include "runtime/program/program.h"
#include "schedule/text.h"
#include "schedule/walk.h"
#include "tests/support/effort.h"
#include "tests/support/events.h"
#include "tests/support/oracle.h"
#include "tests/support/plain_walk.h"
#include "tests/support/program_kinds.h"
#include "tests/support/random_programs.h"
#include "tests/verifier/reports.h"
#include "verifier/check.h"
#include "verifier/decode.h"
#include "verifier/plans.h"

namespace quadrille::verifier::random_test {

constexpr int64_t kMostStatements = 20000;  // of a rank; programs with more are not tested further
constexpr int64_t kMostBytes = 4096;        // of a block; the oracle follows every byte

struct Tally {
  int drawn = 0, invalid = 0, unbound = 0, too_long = 0, right = 0, refuted = 0, undefined = 0;
  int by_key_order = 0, by_rank = 0, large = 0;
  int alike = 0;       // executor and oracle give the same reason
  int not_served = 0;  // correct programs that the runtime does not serve
  KindTally kinds;
  std::map<std::string_view, int> properties;  // how many programs violate each
};

// Pairs of a property and an answer of the oracle that mean the same mistake.
const std::set<std::pair<std::string_view, std::string_view>> kMeanings = {
    {"defined", "undefined"},
    {"peer", "no such rank"},
    {"self-message", "a message to itself"},
    {"block", "no such block"},
    {"block", "no such range"},
    {"order", "keys do not increase"},
    {"order", "two messages one way"},
    {"held", "not held"},
    {"match", "somebody waits for ever"},
    {"keys", "keys differ"},
    {"length", "lengths differ"},
    {"length", "numbers of pieces differ"},
    {"length", "one end knows no lengths"},
    {"progress", "somebody waits for ever"},
    {"once", "overwritten before it was used"},
    {"once", "written again"},
    {"once", "written over the own contribution"},
    {"overwrite", "overwritten before it was used"},
    {"place", "something else at the end"},
    {"place", "elements of different places"},
    {"contribution", "added twice"},
    {"sums", "another tree"},
    {"coverage", "something else at the end"},  // for a sum without some contributions
    {"role", "the root alone of its group takes part"},
    {"coverage", "missing at the end"},
    {"left-over", "moved in vain"},
    // The executor checks rank by rank, the oracle temporary blocks last. So they may report different mistakes.
    {"left-over", "something else at the end"},
    {"left-over", "missing at the end"},
    {"empty", "an empty piece"},
    {"port", "a port used twice"},
    {"port", "a port used for two partners"},
    {"overlap", "steps in flight disturb each other"},
    {"in-place", "overwritten before it is sent"},
};

bool is_too_long(const Program& program, const Binding& binding) {
  if (binding.temporary_blocks > kMostStatements) return true;
  Listener nothing;
  for (int64_t rank = 0; rank < binding.place.ranks; ++rank)
    if (PlainWalk(program, binding, rank, nothing).run(kMostStatements) == WalkEnd::kTooLong)
      return true;
  return false;
}

int64_t most_count(const Call& call) {
  int64_t most = 0;
  for (const auto& counts : call.counts)
    for (const int64_t count : counts) most = std::max(most, count);
  return most;
}

class Comparison {
 public:
  Tally tally;

  void add(const std::optional<RandomCase>& drawn) {
    ++tally.drawn;
    if (!drawn) {
      ++tally.invalid;
      return;
    }
    const testing::ScopedTrace trace(__FILE__, __LINE__, drawn->text);
    const Bytes file = encode(drawn->program, drawn->job);
    forms(*drawn, file);
    std::vector<Binding> bindings;
    for (int64_t group = 0; group < drawn->program.groups; ++group) {
      const Result<Binding> binding = bind(drawn->program, drawn->job, drawn->call, group);
      if (!binding.ok()) return refused(*drawn, file, group, binding.error().message);
      bindings.push_back(*binding);
    }
    for (const Binding& binding : bindings)
      if (is_too_long(drawn->program, binding)) {
        ++tally.too_long;
        return;
      }
    for (const Binding& binding : bindings) events(*drawn, binding, file);
    verdicts(*drawn, bindings, file);
  }

 private:
  void refused(const RandomCase& drawn, const Bytes& file, int64_t group, const std::string& why) {
    ++tally.unbound;
    // The runtime refuses a call whose counts are too large before it fills tables.
    if (most_count(drawn.call) > kMaxCount) return;
    EXPECT_TRUE(
        runtime_events(file, drawn.call, group, 0, drawn.call.root)[0].starts_with("refused"))
        << why;
  }

  static void forms(const RandomCase& drawn, const Bytes& file) {
    const Result<Program> again = parse_program(print(drawn.program), "printed");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, drawn.program) << print(*again);
    const Result<Schedule> decoded = decode(file, "encoded");
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_EQ(decoded->program, drawn.program) << print(decoded->program);
    EXPECT_EQ(decoded->job.groups, drawn.job.groups);
    EXPECT_EQ(decoded->job.parameters, drawn.job.parameters);
  }

  static void events(const RandomCase& drawn, const Binding& binding, const Bytes& file) {
    for (int64_t rank = 0; rank < binding.place.ranks; ++rank) {
      const Events expected = without_broken_step(oracle_events(drawn.program, binding, rank));
      EXPECT_EQ(without_broken_step(walk_events(drawn.program, binding, rank)), expected);
      EXPECT_EQ(without_broken_step(
                    runtime_events(file, drawn.call, binding.place.group, rank, drawn.call.root)),
                expected);
    }
  }

  void verdicts(const RandomCase& drawn, const std::vector<Binding>& bindings, const Bytes& file) {
    const Binding& binding = bindings[0];
    const Report general = execute(drawn.program, drawn.job, drawn.call, bindings, {});
    tally.kinds.add(drawn, !general.violation);
    ++(general.violation ? tally.refuted : tally.right);
    tally.undefined += general.violation && general.violation->property == Property::kDefined;
    const std::string opinion = oracle(drawn, general);
    if (fits_key_order(drawn.program)) {
      const auto quick = check_key_order(drawn.program, drawn.job, binding, {});
      tally.by_key_order += quick.has_value();
      verdict_beside([&] { return general; }, quick, "");
      if (quick) real(*quick, opinion);
    }
    if (fits_rank_by_rank(drawn.program, {})) {
      const auto quick = check_rank_by_rank(drawn.program, drawn.job, drawn.call, binding);
      tally.by_rank += quick.has_value();
      verdict_beside([&] { return general; }, quick, "");
      if (quick) real(*quick, opinion);
    }
    const Result<Report> chosen = check_schedule(drawn.program, drawn.job, drawn.call, {});
    ASSERT_TRUE(chosen.ok()) << chosen.error().message;
    EXPECT_EQ(chosen->violation.has_value(), general.violation.has_value());
    plans(drawn, file, !general.violation);
  }

  // Expects that the plans of a correct program are lawful, unless the runtime does not serve it.
  void plans(const RandomCase& drawn, const Bytes& file, bool is_right) {
    Call call = drawn.call;
    // Without counts the checker assumes blocks of one unit.
    for (size_t g = 0; drawn.call.counts.empty() && g < drawn.job.groups.size(); ++g)
      call.counts.emplace_back(drawn.job.groups[g].ranks(), 1);
    const Result<Plans> made = Plans::make(file, drawn.program, drawn.job, call);
    ASSERT_TRUE(made.ok()) << made.error().message;
    bool is_served = true;
    for (const int window : {1, 2, 16})
      for (const bool whole : {true, false})
        for (const bool in_place : {false, true}) {
          if (in_place && !made->has_in_place()) continue;
          const auto law = made->broken_law({window, in_place, whole});
          if (!is_right) continue;
          const std::string where = fmt::format("window {}{}{}", window, whole ? "" : ", streamed",
                                                in_place ? ", in place" : "");
          is_served &= law.ok();
          EXPECT_TRUE(law.ok() || law.error().message.ends_with(qd_not_served))
              << where << ": " << law.error().message;
          EXPECT_FALSE(law.ok() && law->has_value()) << where << ": " << **law;
        }
    tally.not_served += is_right && !is_served;
  }

  // Returns the oracle's verdict, or "" if blocks are too long for it.
  std::string oracle(const RandomCase& drawn, const Report& general) {
    if (most_count(drawn.call) > kMostBytes) {
      ++tally.large;
      return "";
    }
    std::string opinion = what_is_wrong(drawn.program, drawn.job, drawn.call).value_or("right");
    EXPECT_EQ(opinion != "right", general.violation.has_value())
        << "oracle: " << opinion << "; executor: " << verdict(general);
    real(general, opinion);
    if (!general.violation) return opinion;
    const std::string_view property = property_name(general.violation->property);
    ++tally.properties[property];
    tally.alike += kMeanings.count({property, opinion});
    for (const char* last : {"place", "coverage", "left-over", "port"})
      EXPECT_TRUE(property != last || kMeanings.count({property, opinion}))
          << "oracle: " << opinion << "; executor: " << verdict(general);
    return opinion;
  }

  // A program may have several mistakes, of which each reader reports the first that it meets. The oracle walks all
  // ranks first. So if the executor meets an undefined value, the oracle must have met one.
  static void real(const Report& report, const std::string& opinion) {
    if (opinion.empty() || !report.violation) return;
    EXPECT_TRUE(report.violation->property != Property::kDefined || opinion == "undefined")
        << verdict(report) << "; oracle: " << opinion;
  }
};

void print(const Tally& tally) {
  fmt::print(
      "{} drawn: {} are no programs, {} do not bind, {} are too long, {} are right, {} refuted ({} "
      "undefined; {} for what the oracle says, {} properties); {} by key order, {} rank by rank; "
      "{} with counts too large for the oracle\n",
      tally.drawn, tally.invalid, tally.unbound, tally.too_long, tally.right, tally.refuted,
      tally.undefined, tally.alike, tally.properties.size(), tally.by_key_order, tally.by_rank,
      tally.large);
  for (const auto& [property, count] : tally.properties) fmt::print("  {}: {}\n", property, count);
}

// Compares the readers on the programs that `draw` makes from consecutive seeds, beginning with SEED.
template <class Draw>
Tally compared(uint64_t programs, const Draw& draw) {
  const uint64_t first = from_environment("SEED", 1);
  Comparison comparison;
  for (uint64_t seed = first; seed < first + programs && !testing::Test::HasFailure(); ++seed)
    comparison.add(draw(seed));
  print(comparison.tally);
  return comparison.tally;
}

TEST(RandomPrograms, MeanTheSameToAllReaders) {
  const uint64_t programs = from_environment("PROGRAMS", 3000 / kThinning);
  const Tally tally = compared(programs, random_case);
  if (programs < 100) return;  // a quick look
  // Enough programs of each kind were drawn.
  EXPECT_GT(tally.right, tally.drawn / 5);
  EXPECT_GT(tally.refuted, tally.drawn / 4);
  EXPECT_GT(tally.undefined, tally.drawn / 20);
  EXPECT_GT(tally.unbound, tally.drawn / 20);
  EXPECT_GT(tally.by_key_order, tally.drawn / 5);
  EXPECT_GT(tally.by_rank, tally.drawn / 10);
  EXPECT_GT(tally.large, tally.drawn / 100);
  EXPECT_LT(tally.invalid + tally.too_long, tally.drawn / 5);
  EXPECT_GT(tally.alike, tally.refuted / 2);
  // These programs violate all properties except the two of reductions, and that of roles between groups.
  EXPECT_GE(tally.properties.size(), programs < 1000 ? 15u : kPropertyCount - 3u);
}

TEST(RandomSteps, MeanTheSameToAllReaders) {
  const uint64_t programs = from_environment("PROGRAMS", 1000 / kThinning);
  const Tally tally = compared(programs, random_step_case);
  fmt::print("{} right ones are not served\n{}", tally.not_served, tally.kinds.text());
  if (programs < 1000) return;  // a quick look
  EXPECT_GT(tally.right, tally.drawn / 5);
  EXPECT_GT(tally.refuted, tally.drawn / 10);
  EXPECT_LT(tally.not_served, tally.right / 10);
  EXPECT_LT(tally.invalid + tally.too_long + tally.unbound, tally.drawn / 5);
  EXPECT_THAT(tally.kinds.rare(50), testing::IsEmpty());
}

}  // namespace quadrille::verifier::random_test
