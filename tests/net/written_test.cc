// Runs the programs of corpus.cases. Its keys are
//   test: ranks 3, parameter 0 1, lengths equal long, in_place 0 1, windows 2, seeds 5, expect right
//       All combinations run, eager and rendezvous. The outcome is one of
//       right, refused, broken, broken at binding, unserved at binding, unserved at the root
//   says: TEXT, says at the last rank: TEXT, or says above rank 0: TEXT
//       the text of binding's error at these ranks

#include <map>
#include <sstream>

#include "tests/net/refused.h"
#include "tests/support/cases.h"
#include "tests/support/topologies.h"

namespace quadrille::net::written_test {

using Words = std::vector<std::string>;

const std::map<std::string, LengthKind> kLengths = {
    {"one", LengthKind::kOne},       {"equal", LengthKind::kEqual}, {"uneven", LengthKind::kUneven},
    {"skewed", LengthKind::kSkewed}, {"long", LengthKind::kLong},   {"huge", LengthKind::kHuge}};

// Returns the lists of words of a case, by the first word of each.
std::map<std::string, Words> expectations_of(const TextCase& one) {
  std::map<std::string, Words> all = {
      {"parameter", {}},   {"lengths", {"one"}},          {"form", {"1"}},  {"root", {"0"}},
      {"in_place", {"0"}}, {"windows", {"1", "2", "16"}}, {"seeds", {"5"}}, {"persistent", {"0"}}};
  std::stringstream parts(one.values("test").at(0));
  for (std::string part; std::getline(parts, part, ',');) {
    std::stringstream words(part);
    std::string name;
    words >> name;
    check(name == "ranks" || name == "expect" || all.contains(name),
          (one.title + ": " + part).c_str());
    all[name].clear();
    for (std::string word; words >> word;) all[name].push_back(word);
  }
  return all;
}

int number(const Words& words) { return std::stoi(words.at(0)); }

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The case may say which ranks see the mistake, and their text.
void expect_unbound(const TextCase& one, const Scheduled& scheduled, int error_class) {
  const auto text = [&](const char* key) {
    const Words texts = one.values(key);
    return texts.empty() ? "" : texts[0];
  };
  const std::string everywhere = text("says"), at_last = text("says at the last rank"),
                    above_zero = text("says above rank 0");
  expect_survives([&] {
    on_ranks(scheduled.groups.ranks, [&](Place& here) {
      std::string part = everywhere + at_last + above_zero;
      if (!part.empty() && error_class == MPI_ERR_INTERN) part = "the schedule is broken: " + part;
      if ((!at_last.empty() && !here.is_last()) || (!above_zero.empty() && here.own == 0))
        part = "another rank";
      const Schedule schedule(scheduled.file);
      here.expect_refused(quadrille_bind(schedule, here, nullptr), error_class, part);
    });
  });
}

void expect_outcome(const Scheduled& scheduled, const CollectiveCall& call, const Ways& ways,
                    bool is_persistent, const std::string& outcome) {
  testing::ScopedTrace trace(__FILE__, __LINE__, call.text());
  const bool is_right = outcome == "right";
  int entered[2] = {0, 0};
  std::string said;
  const std::vector<int> classes =
      outcomes(scheduled, ways, [&](quadrille_schedule schedule, MPI_Comm comm) {
        int code = MPI_SUCCESS;
        for (unsigned turn = 0; turn < 2 && code == MPI_SUCCESS; ++turn) {
          CollectivePart part(call, this_rank());
          part.fill(call.seed + turn);
          code = is_persistent ? part.run_persistent(schedule, comm)
                               : part.run(schedule, comm, entered[turn]);
          if (code != MPI_SUCCESS) said = last_error();
          EXPECT_TRUE(mark(0)) << "requests are left";
          EXPECT_TRUE(!is_right || part.is_right()) << "rank " << this_rank();
          part.expect_rest_untouched("beside the blocks");
          if (!is_right) break;
        }
        return code;
      });
  std::vector<int> expected(classes.size(), outcome == "broken"    ? MPI_ERR_INTERN
                                            : outcome == "refused" ? MPI_ERR_ARG
                                                                   : MPI_SUCCESS);
  if (outcome == "unserved at the root")
    expected[static_cast<size_t>(call.root)] = MPI_ERR_UNSUPPORTED_OPERATION;
  EXPECT_EQ(classes, expected) << said;
}

class Written : public testing::TestWithParam<TextCase> {
 protected:
  void expect_outcomes(const Scheduled& scheduled) {
    const std::string outcome = joined(asked_["expect"]);
    if (outcome.ends_with("at binding"))
      return expect_unbound(
          GetParam(), scheduled,
          outcome == "broken at binding" ? MPI_ERR_INTERN : MPI_ERR_UNSUPPORTED_OPERATION);
    CollectiveCall call{.collective = scheduled.program.collective,
                        .groups = scheduled.groups,
                        .form = number(asked_["form"]),
                        .root = number(asked_["root"]),
                        .layout = 1};
    for (const std::string& lengths : asked_["lengths"])
      for (const std::string& in_place : asked_["in_place"])
        for (const std::string& window : asked_["windows"])
          for (const bool is_eager : {false, true})
            for (int seed = 0; seed < number(asked_["seeds"]) && !HasFailure(); ++seed) {
              call.lengths = kLengths.at(lengths);
              call.in_place = in_place == "1";
              call.length_seed = call.seed = static_cast<unsigned>(seed);
              expect_outcome(scheduled, call,
                             {.window = std::stoi(window), .is_eager = is_eager, .seed = call.seed},
                             number(asked_["persistent"]) == 1, outcome);
            }
  }

  std::map<std::string, Words> asked_ = expectations_of(GetParam());
};

std::pair<std::string, std::string> of_file_named(const std::string& name) {
  return {read_text("tests/net/programs/" + name + ".txt"), ""};
}

INSTANTIATE_TEST_SUITE_P(All, Written, testing::ValuesIn(read_cases("tests/net", of_file_named)),
                         [](const auto& one) { return as_identifier(one.param.title); });

TEST_P(Written, ComesToWhatItsCaseSays) {
  for (const std::string& ranks : asked_["ranks"]) {
    const std::vector<int64_t> nodes = {std::stoll(ranks)};
    if (asked_["parameter"].empty()) expect_outcomes(written(GetParam().program, nodes));
    for (const std::string& parameter : asked_["parameter"])
      expect_outcomes(written(GetParam().program, nodes, {std::stoll(parameter)}));
  }
}

// A rank waits for its own long message before it overwrites the block. Meanwhile it must process arriving messages.
TEST(WrittenInPlace, LongBlocksHangNobody) {
  for (const int ranks : {3, 4, 5})
    for (const Scheduled& one : {exchanging("tuna", {ranks}, {2}),
                                 exchanging("hierarchical-overlapped", {1, ranks - 1}, {0})})
      for (const LengthKind lengths : {LengthKind::kEqual, LengthKind::kEdge, LengthKind::kLong})
        for (const int window : {1, 2, 16})
          for (const bool is_eager : {false, true})
            for (unsigned seed = 0; seed < 5 && !testing::Test::HasFailure(); ++seed) {
              CollectiveCall call{Collective::kAlltoall, one.groups, lengths, seed, 1};
              call.in_place = true;
              call.layout = 1;
              expect_outcome(one, call, {.window = window, .is_eager = is_eager, .seed = seed},
                             false, "right");
            }
}

}  // namespace quadrille::net::written_test
