// Changes every single byte of schedule files. With a corrected checksum and hash, a mutant is refused, walks like
// the original, or gets the right verdict for its new contents, and decoder and runtime agree. Without the
// correction, every mutant is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "generator/encode.h"
#include "runtime/program/program.h"
#include "schedule/any_nodes.h"
#include "tests/support/effort.h"
#include "tests/support/events.h"
#include "tests/support/found_nodes.h"
#include "tests/support/oracle.h"
#include "tests/support/reseal.h"
#include "tests/support/topologies.h"
#include "tests/support/variants.h"
#include "verifier/check.h"
#include "verifier/decode.h"

namespace quadrille::verifier {
namespace {

constexpr int64_t kFewRanks = 24;  // in larger jobs, only some ranks are compared

struct File {
  std::string algorithm, choices;
  std::vector<int64_t> sizes;
  int stride;  // tries every stride-th value of each byte
  // Set if the file is for any nodes, and the test puts it on `sizes`: its parameter, as typed, or "" if it has none.
  std::optional<std::string> any_with = {};
};

struct Tally {
  int mutants = 0, refused = 0, misnamed = 0, identical = 0, verified = 0, refuted = 0, right = 0;
};

const Variant& variant_of(const File& file) {
  return variant_named(Collective::kAlltoall, file.algorithm + file.choices);
}

// Returns the runtime's error on loading the file or filling its tables, or "". Puts a file for any nodes on `nodes`.
std::string runtime_refusal(const Bytes& bytes, const Topology& nodes) {
  qd_program program;
  if (const char* error = qd_program_load(&program, bytes.data(), bytes.size())) return error;
  qd_context place{0, program.topologies[0].ranks, 0, 0, 0, nullptr, nullptr, nullptr, nullptr};
  FoundNodes found({nodes, nodes});
  qd_tables tables{};
  std::string refusal;
  if (program.serves_any_nodes) refusal = found.take(program, place);
  if (refusal.empty())
    if (const char* error = qd_tables_fill(&tables, &program, &place)) refusal = error;
  qd_tables_destroy(&tables);
  qd_program_destroy(&program);
  return refusal;
}

class Mutation {
 public:
  explicit Mutation(const File& file)
      : file_(file),
        program_(variant_of(file).program),
        nodes_(topology_of(file.sizes)),
        job_(job_of(file.sizes)) {
    bytes_ = encode(program_, job_);
    if (file.any_with) {
      const Job any = job_for_any_nodes(variant_of(file), *file.any_with);
      bytes_ = encode(program_, any);
      job_ = *on_nodes(program_, any, {nodes_});
    }
    const Binding binding = *bind(program_, job_, {}, 0);
    for (int64_t rank = 0; rank < binding.place.ranks; ++rank)
      original_.push_back(oracle_events(program_, binding, rank));
  }

  void run() {
    for (size_t at = 0; at + QD_CHECKSUM_LENGTH < bytes_.size(); ++at)
      for (int change = 1; change < 256; change += file_.stride * kThinning) {
        Bytes mutant = bytes_;
        mutant[at] ^= static_cast<uint8_t>(change);
        what_ = fmt::format("{}{} on {}, byte {} changed to {:#04x}", file_.algorithm,
                            file_.choices, job_.groups[0].text(), at, mutant[at]);
        unsealed(mutant);
        reseal(mutant, at);
        ++tally_.mutants;
        resealed(mutant);
        if (testing::Test::HasFatalFailure()) return;
      }
    fmt::print(
        "{}{} on {}: {} bytes, {} mutants: {} refused ({} for names alone), {} walk identically, "
        "{} verified, {} refuted; right verdicts {} of {}\n",
        file_.algorithm, file_.choices, job_.groups[0].text(), bytes_.size(), tally_.mutants,
        tally_.refused, tally_.misnamed, tally_.identical, tally_.verified, tally_.refuted,
        tally_.right, tally_.verified + tally_.refuted);
    EXPECT_EQ(tally_.right, tally_.verified + tally_.refuted);
    EXPECT_GT(tally_.refused, 0);
    EXPECT_GT(tally_.identical, 0);
    EXPECT_GT(tally_.verified, 0);
    EXPECT_GT(tally_.refuted, 0);
  }

 private:
  void unsealed(const Bytes& mutant) {
    EXPECT_FALSE(decode(mutant, "mutant").ok()) << what_ << ", not resealed";
    EXPECT_NE(runtime_refusal(mutant, nodes_), "") << what_ << ", not resealed";
  }

  // Corrects the checksum, and the hash unless byte `at` is in it: that would restore the original.
  static void reseal(Bytes& mutant, size_t at) {
    if (at - QD_HASH_OFFSET >= QD_HASH_LENGTH)
      return quadrille_reseal(mutant.data(), mutant.size());
    quadrille_fix_checksum(mutant.data(), mutant.size());
  }

  void resealed(const Bytes& mutant) {
    Result<Schedule> schedule = decode(mutant, "mutant");
    const std::string refusal = runtime_refusal(mutant, nodes_);
    if (!schedule.ok()) {
      ++tally_.refused;
      // The runtime does not read names, so it accepts missing or wrong ones.
      const std::string& why = schedule.error().message;
      const bool for_names = why.find("the names do not fit") != std::string::npos ||
                             why.find("the words of the requirement") != std::string::npos;
      if (!for_names) {
        EXPECT_NE(refusal, "") << what_ << ": the decoder says " << schedule.error().message;
      }
      tally_.misnamed += refusal.empty();
      return;
    }
    const std::vector<Topology> groups(schedule->program.groups, nodes_);
    const Result<Job> job = serves_any_nodes(schedule->job)
                                ? on_nodes(schedule->program, schedule->job, groups)
                                : schedule->job;
    const Result<Binding> binding = job.ok() ? bind(schedule->program, *job, {}, 0) : job.error();
    EXPECT_EQ(binding.ok(), refusal.empty())
        << what_ << ": decoder: " << (binding.ok() ? "taken" : binding.error().message)
        << "; runtime: " << refusal;
    if (!binding.ok() || !refusal.empty()) {
      ++tally_.refused;
      return;
    }
    schedule->job = *job;
    if (schedule->program == program_ && schedule->job.groups == job_.groups &&
        schedule->job.parameters == job_.parameters)
      return same(mutant);
    compare(mutant, *schedule, *binding);
    judge(*schedule);
  }

  // The mutant has the same program and job. Only words for people differ, so the walk must be the original's.
  void same(const Bytes& mutant) {
    ++tally_.identical;
    const int64_t rank = tally_.identical % original_.size();
    EXPECT_EQ(runtime_events(mutant, {}, 0, rank, 0, {nodes_}), original_[rank]) << what_;
  }

  // Expects that the oracle, the verifier and the runtime walk the mutant alike.
  void compare(const Bytes& mutant, const Schedule& schedule, const Binding& binding) {
    const int64_t ranks = binding.place.ranks;
    const int64_t stride = ranks <= kFewRanks ? 1 : ranks / 3;
    identical_ = ranks == static_cast<int64_t>(original_.size());
    for (int64_t rank = 0; rank < ranks; rank += stride) {
      const Events expected = without_broken_step(oracle_events(schedule.program, binding, rank));
      EXPECT_EQ(without_broken_step(walk_events(schedule.program, binding, rank)), expected)
          << what_;
      EXPECT_EQ(without_broken_step(runtime_events(mutant, {}, 0, rank, 0, {nodes_, nodes_})),
                expected)
          << what_;
      identical_ = identical_ && expected == original_[rank];
    }
  }

  void judge(const Schedule& schedule) {
    const Result<Report> report = check_schedule(schedule.program, schedule.job, {}, {});
    ASSERT_TRUE(report.ok()) << what_;
    // The oracle is too slow for many ranks. There, the mutant must have the original's program, which is right.
    std::optional<std::string> wrong;
    if (schedule.job.groups[0].ranks() <= kFewRanks)
      wrong = what_is_wrong(schedule.program, schedule.job, {});
    else
      EXPECT_EQ(schedule.program, program_) << what_;
    ASSERT_NE(wrong.value_or("right"), "too long") << what_;
    const bool right = report->violation.has_value() == wrong.has_value();
    EXPECT_TRUE(right) << what_ << ": "
                       << (report->violation ? report->violation->detail : "verified")
                       << "; oracle: " << wrong.value_or("right");
    if (identical_) {
      ++tally_.identical;
      return;
    }
    ++(report->violation ? tally_.refuted : tally_.verified);
    tally_.right += right;
  }

  const File file_;
  const Program program_;
  const Topology nodes_;
  Job job_;
  Bytes bytes_;
  std::vector<Events> original_;  // by rank
  std::string what_;
  bool identical_ = false;
  Tally tally_;
};

TEST(Files, AreRefusedOrWalkAlikeOrGetARightVerdictAfterAnyChangeOfAByte) {
  // A file of some hundred bytes never makes a reader allocate much memory.
  const rlimit limit{1 << 30, 1 << 30};
  ASSERT_TRUE(kSanitized || setrlimit(RLIMIT_AS, &limit) == 0);
  const std::vector<File> files = {
      {"factor", "", {1, 1, 1, 1, 1}, 1},
      {"xor", "", {4}, 1},
      {"hierarchical-factor", "", {1, 2, 3}, 1},
      {"hierarchical-factor", "+token", {1, 2}, 7},
      {"factor-even", "", {1, 3}, 7, ""},
      {"hierarchical-factor", "", {1, 2}, 7, ""},
      {"scattered", "", {1, 1, 1}, 7, "ranks div 2"},
  };
  for (const File& file : files) Mutation(file).run();
}

}  // namespace
}  // namespace quadrille::verifier
