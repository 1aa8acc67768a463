// The policy of QUADRILLE=adapt, in programs whose times are made up: it loses little, finds the best, and notices changes.
#include "preload/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace {

// A program of one kind of calls. `times` has the seconds of each candidate, MPI's own first.
class Job {
 public:
  Job(std::vector<double> times, double barrier) : Job(std::move(times), barrier, barrier) {}
  // `guess`: the calls that take as long as a barrier.
  Job(std::vector<double> times, double barrier, double guess)
      : times(std::move(times)), barrier_(barrier), left_(policy_first(guess)) {
    policy.count = static_cast<int>(this->times.size());
    policy.barrier = POLICY_NEVER;
    for (int i = 0; i < policy.count; ++i) policy.candidates[i].universal = i - 1;
  }

  // Makes calls as adapt.c does. Returns their time.
  double run(int64_t calls) {
    double time = 0;
    for (int64_t i = 0; i < calls; ++i) time += call();
    return time;
  }

  double choice_time() const { return times[static_cast<size_t>(policy.choice)]; }
  double best() const { return *std::min_element(times.begin(), times.end()); }

  struct policy policy = {};
  std::vector<double> times;
  std::function<double()> noise = [] { return 1.0; };  // a factor
  std::vector<int64_t> looked = std::vector<int64_t>(POLICY_CANDIDATES);

 private:
  double call() {
    double time = 0;
    const int usual = policy.is_eager ? 0 : POLICY_USUAL;
    if (left_ == 0 && !is_prepared_) {
      is_prepared_ = true;
      left_ = policy_plan(&policy);
    } else if (left_ == 0 && usual_calls_ == usual &&
               calls_ == policy.looks * policy.calls_of_look) {
      double all[POLICY_TIMES];
      policy_summarize(&policy, usual_, seconds_, all);
      policy_end(&policy, all);
      time += 2 * barrier_;
      calls_ = usual_calls_ = 0;
      usual_[0] = usual_[1] = 0;
      left_ = policy_plan(&policy);
    }
    if (left_ == 0 && policy_is_idle(&policy)) left_ = policy_plan(&policy);
    ++policy.calls;
    if (left_ > 0 || usual_calls_ < usual) {
      const double seconds = choice_time() * noise();
      if (left_ > 0) {
        --left_;
      } else {
        usual_[2 * usual_calls_++ / POLICY_USUAL] += seconds;
      }
      return time + seconds;
    }
    const int look = calls_ / policy.calls_of_look;
    if (calls_ % policy.calls_of_look == 0) {
      policy.barrier = barrier_;
      time += barrier_;
      seconds_[look] = 0;
    }
    ++calls_;
    const auto i = static_cast<size_t>(policy_candidate_of(&policy, look));
    const double seconds = times[i] * noise();
    seconds_[look] += seconds;
    ++looked[i];
    return time + seconds;
  }

  const double barrier_;
  int64_t left_;
  bool is_prepared_ = false;
  int usual_calls_ = 0, calls_ = 0;
  double usual_[2] = {};
  double seconds_[POLICY_LOOKS] = {};
};

// Random times around that of MPI's own, which is 1.
std::vector<double> random_times(std::mt19937& random, double slowest) {
  std::uniform_real_distribution<double> exponent(std::log(0.2), std::log(slowest));
  std::vector<double> times = {1};
  for (int i = 0; i < 3; ++i) times.push_back(std::exp(exponent(random)));
  return times;
}

// Calls that take longer than a barrier.
TEST(Policy, LosesAtMostASixtyFourthAndOneSurprise) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const double barrier = std::uniform_real_distribution<double>(0.001, 0.3)(random);
    Job job(random_times(random, 30), barrier);
    const double slowest = *std::max_element(job.times.begin(), job.times.end());
    double time = 0;
    for (int64_t calls = 1; calls <= 5000; ++calls) {
      time += job.run(1);
      const double most = static_cast<double>(calls) * (1 + 1.0 / 64) + 2 * slowest;
      ASSERT_LE(time, most) << "seed " << seed << ", " << calls << " calls";
    }
  }
}

// Short calls, which take as long as a barrier: the first comparisons may cost 20 calls, and 4 are for probes.
TEST(Policy, LosesFewShortCalls) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    std::vector<double> times = random_times(random, 30);
    for (double& time : times) time *= 1e-4;
    Job job(times, 1e-4 * std::uniform_real_distribution<double>(0.1, 1)(random), 1);
    const double slowest = *std::max_element(times.begin(), times.end());
    double time = 0;
    for (int64_t calls = 1; calls <= 5000; ++calls) {
      time += job.run(1);
      const double most =
          1e-4 * (static_cast<double>(calls) + std::max(24.0, static_cast<double>(calls) / 64));
      ASSERT_LE(time, most + 2 * slowest) << "seed " << seed << ", " << calls << " calls";
    }
  }
}

// A schedule that is faster is chosen soon, although its calls take as long as a barrier.
TEST(Policy, FindsAFasterScheduleSoon) {
  Job job({1e-4, 5e-5, 8e-5, 3e-4}, 1e-4, 1);
  job.run(400);
  EXPECT_EQ(job.policy.choice, 1);
}

// One call of the first look is interrupted for long.
TEST(Policy, GoesOnAfterAnInterruption) {
  Job job({1e-4, 5e-5, 8e-5}, 1e-4, 1);
  int64_t calls = 0;
  job.noise = [&] { return ++calls == 128 + POLICY_USUAL + 1 ? 5000.0 : 1.0; };
  job.run(600);
  EXPECT_EQ(job.policy.choice, 1);
}

TEST(Policy, FindsTheBest) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    Job job(random_times(random, 5), 0.1);
    job.run(20000);
    EXPECT_LE(job.choice_time(), job.best() / 0.97) << "seed " << seed;
    EXPECT_LE(job.run(20000), 1.05 * 20000 * job.best()) << "seed " << seed;
  }
}

TEST(Policy, LooksAtEachAtLeastFourTimes) {
  Job job({1, 0.5, 0.9, 0.7}, 0.01);
  job.run(10000);
  EXPECT_EQ(job.policy.choice, 1);
  EXPECT_TRUE(job.policy.is_settled);
  for (size_t i = 0; i < 4; ++i) EXPECT_GE(job.looked[i], 4) << i;
}

TEST(Policy, FindsTheBestInNoise) {
  int good = 0;
  constexpr unsigned kSeeds = 200;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    Job job(random_times(random, 5), 0.1);
    std::lognormal_distribution<double> usual(0, 0.2);
    std::uniform_real_distribution<double> rare(0, 1);
    job.noise = [&] { return usual(random) * (rare(random) < 0.01 ? 50 : 1); };
    job.run(20000);
    good += job.choice_time() <= 1.1 * job.best();
  }
  EXPECT_GE(good, kSeeds * 95 / 100);
}

TEST(Policy, NoticesThatMpisOwnHasBecomeSlow) {
  Job job({1, 3, 4, 5}, 0.1);
  job.run(3000);
  ASSERT_EQ(job.policy.choice, 0);
  job.times[0] = 100;
  job.run(9000);  // the schedules have rested until there were four times as many calls
  EXPECT_NE(job.policy.choice, 0);
}

TEST(Policy, NoticesThatTheChoiceHasBecomeSlow) {
  Job job({1, 0.5, 0.8, 5}, 0.1);
  job.run(5000);
  ASSERT_EQ(job.policy.choice, 1);
  job.times[1] = 10;
  job.run(5000);
  EXPECT_EQ(job.policy.choice, 2);
}

TEST(Policy, LeavesRareCallsAlone) {
  EXPECT_EQ(policy_first(0), 128);
  EXPECT_EQ(policy_first(1), 128);
  EXPECT_EQ(policy_first(10), 7808);
  Job job({1, 0.1, 0.1, 0.1}, 10);
  EXPECT_EQ(job.run(7808), 7808);
  EXPECT_THAT(job.looked, testing::Each(0));
}

TEST(Policy, ChoosesNothingThatFails) {
  Job job({1, POLICY_NEVER}, 0.01);
  job.policy.other = 1;
  job.policy.looks = POLICY_LOOKS;
  job.policy.calls_of_look = 1;
  double all[POLICY_TIMES] = {1, 1, POLICY_NEVER, 0.01};
  policy_end(&job.policy, all);
  EXPECT_EQ(job.policy.choice, 0);
  EXPECT_DOUBLE_EQ(job.policy.debt, 6 * 0.01);
  EXPECT_EQ(job.policy.comparisons, 1);
  // If the choice fails, nothing is learned.
  all[POLICY_CHOICE] = POLICY_NEVER;
  policy_end(&job.policy, all);
  EXPECT_EQ(job.policy.comparisons, 1);
}

TEST(Policy, IsNotMisledByCallsThatAlternate) {
  for (const int period : {2, 3, 5}) {
    Job job({1, 0.8, 1.5, 2}, 0.01);
    int64_t calls = 0;
    job.noise = [&] { return ++calls % period == 0 ? 10.0 : 1.0; };
    job.run(20000);
    EXPECT_EQ(job.policy.choice, 1) << period;
  }
}

TEST(Policy, LearnsAtOnceIfItIsEager) {
  std::vector<double> times(19, 2);
  times[0] = 1;
  times[7] = 0.6;
  times[12] = 0.7;
  Job job(times, 1);
  job.policy.is_eager = 1;
  job.run(policy_first(1) + 464);
  EXPECT_EQ(job.policy.choice, 7);
  EXPECT_TRUE(job.policy.is_settled);
}

TEST(Policy, TellsTheMedianTimes) {
  Job job({1, 0.5}, 0.01);
  job.run(3000);
  EXPECT_FLOAT_EQ(static_cast<float>(policy_native_time(&job.policy)), 1);
  EXPECT_FLOAT_EQ(static_cast<float>(policy_time(&job.policy)), 0.5);
}

}  // namespace
