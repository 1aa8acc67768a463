// plan_check finds the runtime's plans lawful, for every algorithm and several windows, in place or not, kept or
// streamed. It refuses plans with a mistake.
#include "verifier/plans.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <fstream>
#include <set>
#include <tuple>

#include "generator/encode.h"
#include "runtime/plan/plan.h"
#include "schedule/text.h"
#include "tests/support/cases.h"
#include "tests/support/matches.h"
#include "tests/support/plan_mutants.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/check.h"

namespace quadrille::plans_test {

using verifier::PlanOptions;
using verifier::Plans;

Result<Plans> plans_of(const Program& program, const Case& one) {
  const Bytes file = encode(program, one.job);
  return Plans::make(file, program, one.job, one.call);
}

std::string name_of(const Variant& variant, const std::vector<int64_t>& sizes,
                    const PlanOptions& options) {
  return fmt::format("{} on {}, window {}{}{}", variant.name, topology_of(sizes).text(),
                     options.window, options.in_place ? ", in place" : "",
                     options.whole ? "" : ", streamed");
}

void expect_lawful(const Variant& variant, const std::vector<int64_t>& sizes, const Plans& plans) {
  for (const int window : {1, 2, 1 << 16})
    for (const bool in_place : {false, true})
      for (const bool whole : {false, true}) {
        if (in_place && !plans.has_in_place()) continue;
        const PlanOptions options{window, in_place, whole};
        const auto law = plans.broken_law(options);
        ASSERT_TRUE(law.ok()) << name_of(variant, sizes, options) << ": " << law.error().message;
        EXPECT_FALSE(law->has_value()) << name_of(variant, sizes, options) << ": " << **law;
      }
}

TEST(Plans, FollowTheWindowOfTheProgramIfNoOneAsksForAnother) {
  const Variant& pipeline = variant_named(Collective::kBroadcast, "pipeline");
  const Case one = case_of(pipeline, jobs_on(pipeline, {1, 1, 1}).at(0), {9, 9, 9}, 1);
  const auto plan = [&](int64_t of_program, int asked) {
    Program program = pipeline.program;
    program.window = of_program;
    return plans_of(program, one).value().print(0, 1, {asked, false, true}).value();
  };
  EXPECT_EQ(plan(0, 0), plan(0, QD_DEFAULT_WINDOW));
  EXPECT_EQ(plan(1, 0), plan(0, 1));
  EXPECT_NE(plan(1, 0), plan(0, 0));
  EXPECT_EQ(plan(1, 16), plan(0, 16));
}

TEST(Plans, OfEveryAlgorithmAreLawfulOnEverySmallTopology) {
  int checked = 0;
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : all_node_vectors(5))
      for (const Case& one : cases_on(variant, sizes)) {
        const Result<Plans> plans = plans_of(variant.program, one);
        ASSERT_TRUE(plans.ok()) << variant.name << ": " << plans.error().message;
        expect_lawful(variant, sizes, *plans);
        ++checked;
      }
  EXPECT_GT(checked, 1000);
}

// The most messages of a rank in flight.
struct InFlight {
  int32_t receives = 0, sends = 0;
};

// Expects that the plans of the case are lawful, and returns what they have in flight.
InFlight in_flight(const Program& program, const Case& one, int window) {
  InFlight most;
  const auto watch = [&](size_t, const qd_plan& plan) {
    InFlight now;
    for (int32_t i = 0; i < plan.operation_count; ++i) {
      const qd_operation& o = plan.operations[i];
      if (o.kind != QD_PLAN_MESSAGES) continue;
      now.receives += o.more.receives_posted - o.more.receives_done;
      now.sends += o.more.sends_posted - o.more.sends_done;
      most = {std::max(most.receives, now.receives), std::max(most.sends, now.sends)};
    }
  };
  EXPECT_TRUE(plans_of(program, one).value().broken_law({window, false, true}, watch).ok());
  return most;
}

// A step of these programs has at most one send and one receive of a rank.
TEST(Plans, HaveNoMoreStepsInFlightThanTheWindow) {
  for (const auto& [collective, name] : {std::pair(Collective::kAlltoall, "pairwise"),
                                         {Collective::kAlltoall, "factor"},
                                         {Collective::kAlltoall, "tuna"},
                                         {Collective::kAllgather, "linear-ring"},
                                         {Collective::kBroadcast, "pipeline"}})
    for (const Case& one : cases_on(variant_named(collective, name), {3, 5}))
      for (const int window : {1, 2, 3}) {
        const InFlight most = in_flight(variant_named(collective, name).program, one, window);
        EXPECT_LE(most.receives, window) << one.text;
        EXPECT_LE(most.sends, window) << one.text;
      }
}

// `after` limits the pace where no rank forwards a block, so the sends of these steps must be complete, too.
TEST(Plans, OfBatchesHaveNoMoreSendsInFlightThanABatch) {
  const Variant& variant = variant_named(Collective::kAlltoall, "scattered");
  for (Case one : cases_on(variant, {9}))
    for (const int64_t batch : {1, 2, 3}) {
      one.job.parameters = {batch};
      EXPECT_EQ(in_flight(variant.program, one, 16).sends, batch) << one.text;
    }
}

// ---- Steps that overwrite the data that they send

// A temporary block is as long as the data last written to it. Here that is an empty range, so it stays empty.
constexpr const char* kBringsNothing = R"(
algorithm brings-nothing for broadcast
temporary 1 blocks
require ranks = 2
step 0
  if rank = root
    copy send[0] to recv[0]
    send send[0] to 1 - root
  else
    receive temp[0]@4..4 from root
if rank != root
  copy temp[0] to recv[0]
)";

// Returns the program of the case in tests/net/corpus.cases whose title begins with these words.
std::string text_of_case(const std::string& words) {
  const auto elsewhere = [](const std::string&) { return std::pair<std::string, std::string>(); };
  for (const TextCase& one : read_cases("tests/net", elsewhere))
    if (one.title.starts_with(words)) return one.program;
  ADD_FAILURE() << "there is no case " << words;
  return "";
}

Result<Plans> plans_of_text(const std::string& text, int64_t ranks, int64_t count) {
  Case one{job_of({ranks}), {}, ""};
  const Program program = parse_program(text, "a test's program").value();
  if (!only_ends_know_lengths(program.collective))
    one.call.counts = {std::vector<int64_t>(ranks, count)};
  const Result<verifier::Report> report = verifier::check_schedule(program, one.job, one.call, {});
  EXPECT_TRUE(report.ok() && !report->violation) << text;
  return plans_of(program, one);
}

TEST(Plans, OfStepsThatOverwriteWhatTheySendOrUseABufferAgainAreLawful) {
  const std::string copies_over = text_of_case("A step sends what its blocks held before"),
                    hands_over = text_of_case("The buffer of a message that has arrived saves");
  for (const auto& [text, ranks, count] : {std::tuple(copies_over, 2, 2),
                                           {copies_over, 2, 1 << 20},
                                           {hands_over, 3, 0},
                                           {kBringsNothing, 2, 0}}) {
    const Result<Plans> plans = plans_of_text(text, ranks, count);
    ASSERT_TRUE(plans.ok()) << text;
    EXPECT_EQ(plans->objection(), std::nullopt) << text << count;
  }
}

// A broadcast has only one buffer, as a call in place has. Its plans name the receive buffer alone.
TEST(Plans, OfABroadcastNameItsOneBuffer) {
  const Result<Plans> plans = plans_of_text(R"(
algorithm straight for broadcast
if rank = root
  copy send[0] to recv[0]
for d in 1 .. ranks
  step d
    if rank = root
      send send[0] to wrap(root + d, ranks)
    if rank = wrap(root + d, ranks)
      receive recv[0] from root
)",
                                            2, 5);
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  const Result<std::string> printed = plans->print(0, 0, {1, false, true});
  ASSERT_TRUE(printed.ok()) << printed.error().message;
  EXPECT_NE(printed->find("receive buffer bytes 0..5"), std::string::npos) << *printed;
  EXPECT_EQ(printed->find("send buffer"), std::string::npos) << *printed;
}

// Two ranks exchange one byte so often that plan_check gives up: there are too many pairs of exchanges.
TEST(Plans, ThatTakeTooLongToCheckAreNeitherLawfulNorRefused) {
  const Result<Plans> plans = plans_of_text(R"(
algorithm to-and-fro for broadcast
temporary 1 blocks
require ranks = 2
if rank = root
  copy send[0] to recv[0]
  copy send[0]@1..2 to temp[0]@0..1
step 0
  if rank = root
    send send[0]@0..1 to 1 - rank
  else
    receive temp[0]@0..1 from root
for k in 1 .. 10001
  step k
    send temp[0]@0..1 to 1 - rank
    receive temp[0]@0..1 from 1 - rank
step 10001
  if rank = root
    send temp[0]@0..1 to 1 - rank
  else
    copy temp[0]@0..1 to recv[0]@0..1
    receive recv[0]@1..2 from root
)",
                                            2, 2);
  ASSERT_TRUE(plans.ok());
  EXPECT_EQ(plans->objection(), std::optional<std::string>(verifier::kPlansNotChecked));
}

// The laws of plan_check have the names of the fields of `lawful_plan` in theory/Runtime.v.
TEST(Plans, LawsAreTheFieldsOfTheTheoremsRecord) {
  std::ifstream file("theory/Runtime.v");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t begin = text.find("Record lawful_plan := {"), end = text.find("\n}.", begin);
  ASSERT_NE(end, std::string::npos);
  const std::string record = text.substr(begin, end - begin);
  std::vector<std::string> fields;
  for (const Match& field : matches(record, "\n  ([a-z_]+) :")) fields.push_back(field.groups[1]);
  std::vector<std::string> laws(std::begin(verifier::kPlanLaws), std::end(verifier::kPlanLaws));
  ASSERT_GE(laws.size(), fields.size());
  laws.resize(fields.size());
  EXPECT_EQ(laws, fields);
}

// ---- Mutants

using Mutation = bool (*)(qd_plan& plan, int n);

struct Outcome {
  int dead = 0, alive = 0;
  std::string survivor;
};

// Changes the plan of process 1 in up to `most` places, one at a time. `scale` multiplies the counts.
Outcome try_mutants(Mutation mutation, int most, int64_t scale) {
  Outcome outcome;
  for (const Variant& variant : variants())
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 3}, {1, 3}})
      for (Case one : cases_on(variant, sizes)) {
        for (std::vector<int64_t>& counts : one.call.counts)
          for (int64_t& count : counts) count *= scale;
        for (int64_t& block : one.call.parameters) block *= scale;
        const Result<Plans> plans = plans_of(variant.program, one);
        if (!plans.ok()) continue;
        for (const int window : {1, 4})
          for (int n = 0; n < most; ++n) {
            bool changed = false;
            const PlanOptions options{window, plans->has_in_place(), true};
            const auto law = plans->broken_law(options, [&](size_t process, qd_plan& plan) {
              if (process == 1) changed = mutation(plan, n);
            });
            if (!law.ok() || !changed) break;
            if (law->has_value()) {
              ++outcome.dead;
            } else {
              ++outcome.alive;
              outcome.survivor = fmt::format("{}, change {}", name_of(variant, sizes, options), n);
            }
          }
      }
  return outcome;
}

// Some mutants with a postponed wait or with two exchanged operations are lawful: a receive may be posted earlier, or
// a send waited for later. The theorem says that every lawful plan is right.
TEST(PlanMutants, AreRefusedWhereTheirMistakeMatters) {
  struct Row {
    const char* what;
    Mutation mutation;
    int most;
    int64_t scale;
    bool all_die;
  };
  for (const Row& row : std::vector<Row>{
           {"without a wait", drop_a_wait, 3, 1, true},
           {"without a wait, long messages of several parts", drop_a_wait, 12, 1 << 18, true},
           {"with a post too many", post_one_more, 3, 1, true},
           {"with a wait postponed", postpone_a_wait, 5, 1, false},
           {"with a wider part", widen_a_part, 3, 1, true},
           {"with a buffer used twice", reuse_a_buffer, 3, 1, true},
           {"with two operations exchanged", swap_two_operations, 3, 1, false}}) {
    const Outcome outcome = try_mutants(row.mutation, row.most, row.scale);
    EXPECT_GE(outcome.dead, 200) << row.what;
    EXPECT_TRUE(outcome.alive == 0 || !row.all_die) << row.what << ": " << outcome.survivor;
  }
}

// Returns the laws that a process's plan breaks with any variant of the mutation.
std::set<std::string> broken_laws(const Plans& plans, const PlanOptions& options, size_t process,
                                  Mutation mutation) {
  std::set<std::string> laws;
  for (int n = 0, changed = 1; changed; ++n) {
    const auto law = plans.broken_law(options, [&](size_t changing, qd_plan& plan) {
      if (changing == process) changed = mutation(plan, n);
    });
    EXPECT_TRUE(law.ok());
    if (law.ok() && law->has_value()) laws.insert((*law)->substr(0, (*law)->find(' ')));
  }
  return laws;
}

// A short message of several parts is sent from a staging copy, so its parts may be overwritten while it is in
// flight. A long one is sent from the parts themselves, which must stay.
TEST(PlanMutants, ThatWriteOverALongMessageOfSeveralPartsAreRefused) {
  constexpr const char* kText = R"(
algorithm two-parts for allreduce
commutative
table m = counts
temporary 2 blocks
require ranks = 2
let h = m[0] div 2
if 0 < h
  copy send[0] to temp[0]
  step 0
    send to 1 - rank
      temp[0]@h..m[0]
      temp[0]@0..h
    receive from 1 - rank
      temp[1]@h..m[0]
      temp[1]@0..h
  step 1
    reduce left temp[1]@0..m[0] into temp[0]@0..m[0]
  copy temp[0]@0..m[0] to recv[0]
  step 2
    send nothing to 1 - rank
    receive nothing from 1 - rank
)";
  for (const auto& [count, is_refused] : {std::pair{2, false}, {1 << 20, true}}) {
    const Result<Plans> plans = plans_of_text(kText, 2, count);
    ASSERT_TRUE(plans.ok());
    EXPECT_EQ(plans->objection(), std::nullopt) << count;
    EXPECT_EQ(broken_laws(*plans, {1, false, true}, 0, postpone_a_wait).contains("puts_away"),
              is_refused)
        << count;
  }
}

// A send from a temporary block needs the buffer that held the block until the send completes, even if the block is
// in another buffer by then.
TEST(PlanMutants, ThatReceiveWhereATemporaryBlockStillGoesAreRefused) {
  constexpr const char* kText = R"(
algorithm by-way-of-one for alltoall
temporary 1 blocks
copy send[rank] to recv[rank]
for s in 0 .. ranks
  for d in 0 .. ranks
    if s = rank and d != rank
      copy send[d] to temp[0]
      step s*ranks + d after -1
        send sized temp[0] to d
    if d = rank and s != rank
      step s*ranks + d after -1
        receive sized recv[s] from s
)";
  const Result<Plans> plans = plans_of_text(kText, 4, 0);
  ASSERT_TRUE(plans.ok());
  EXPECT_EQ(plans->objection(), std::nullopt);
  EXPECT_TRUE(broken_laws(*plans, {4, false, true}, 2, postpone_a_wait).contains("buffers"));
}

}  // namespace quadrille::plans_test
