// The race of QUADRILLE=adapt, with made-up times. It loses little, finds the best schedule, and notices changes.
#include "preload/race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace {

constexpr unsigned kMachines = 400;

// A program with calls of one kind. `times` has the seconds of each candidate, MPI's own first.
class Job {
 public:
  Job(std::vector<double> of_candidates, double of_barrier, double expected = 0.9,
      bool is_eager = false)
      : times(std::move(of_candidates)), barrier(of_barrier) {
    race.count = static_cast<int>(times.size());
    race.is_eager = is_eager;
    for (int i = 0; i < race.count; ++i) {
      race.candidates[i].universal = i - 1;
      race.candidates[i].ratio = i == 0 ? 1 : expected;
    }
    follow(race_first(&race, 1));
  }

  // Makes calls as adapt.c does. Returns their time in seconds.
  double run(int64_t calls) {
    double time = 0;
    for (int64_t i = 0; i < calls; ++i) time += call();
    return time;
  }

  // Makes calls until the candidate is chosen, `most` at most. Returns their number.
  int64_t until_chosen(int candidate, int64_t most) {
    int64_t calls = 0;
    while (race.choice != candidate && calls < most) {
      run(1);
      ++calls;
    }
    return calls;
  }

  double choice_time() const { return times[static_cast<size_t>(race.choice)]; }
  double best() const { return *std::ranges::min_element(times); }

  struct race race = {};
  std::vector<double> times;
  double barrier;
  double overlap = 1;  // factor for calls that do not follow a barrier
  std::function<double()> noise = [] { return 1.0; };  // draws a factor for each call
  std::function<double()> late = [] {
    return 0.0;
  };  // seconds that the others wait for a late rank
  std::vector<int64_t> looked = std::vector<int64_t>(RACE_CANDIDATES);
  double preparation = 0;

 private:
  void follow(int64_t calls) {
    timed_ = calls < RACE_USUAL ? 0 : RACE_USUAL;
    left_ = calls - timed_;
    usual_[0] = usual_[1] = 0;
  }

  double call() {
    double time = 0;
    while (left_ == 0 && made_ == timed_) time += advance();
    ++race.calls;
    if (left_ > 0 || !is_racing_) {
      const double seconds = late() + choice_time() * overlap * noise();
      if (left_ > 0) {
        --left_;
      } else {
        usual_[2 * made_++ / RACE_USUAL] += seconds;
      }
      return time + seconds;
    }
    const bool begins = made_ % race.calls_of_look == 0;
    if (begins) {
      time += late() + barrier;
      look_ = 0;
    }
    const auto candidate = static_cast<size_t>(race_candidate_of(&race, made_));
    const double seconds =
        begins ? times[candidate] * noise() : late() + times[candidate] * overlap * noise();
    ++looked[candidate];
    look_ += seconds / race.calls_of_look;
    if (++made_ % race.calls_of_look == 0) {
      for (int i = 0; i < race.entrant_count; ++i) {
        if (race.entrants[i] == static_cast<int>(candidate)) looks_[i] = std::min(looks_[i], look_);
      }
    }
    return time + seconds;
  }

  double advance() {
    double time = 0;
    made_ = 0;
    const bool was_racing = is_racing_;
    is_racing_ = has_agreed_ && !was_racing && race.entrant_count > 0;
    if (is_racing_) {
      if (race.races == 0) race.cost += time = preparation;
      std::fill_n(looks_, RACE_CANDIDATES, RACE_NEVER);
      timed_ = race_calls(&race);
      return time;
    }
    const double usual = 2 * std::min(usual_[0], usual_[1]) / int{RACE_USUAL};
    if (usual > 0) race.usual = usual;
    race.barrier = barrier;
    if (was_racing) race_end(&race, looks_);
    if (was_racing || !has_agreed_) time = 2 * barrier;
    has_agreed_ = true;
    follow(race_plan(&race));
    return time;
  }

  int64_t left_;
  bool has_agreed_ = false, is_racing_ = false;
  int timed_ = 0, made_ = 0;
  double usual_[2] = {};
  double looks_[RACE_CANDIDATES] = {};
  double look_ = 0;
};

// Returns random times. The first is MPI's own, which is 1.
std::vector<double> random_times(std::mt19937& random, double slowest) {
  std::uniform_real_distribution<double> exponent(std::log(0.2), std::log(slowest));
  std::vector<double> times = {1};
  for (int i = 0; i < 3; ++i) times.push_back(std::exp(exponent(random)));
  return times;
}

// Returns factors with a tenth of noise, in which some calls are interrupted.
std::function<double()> noisy(std::mt19937& random) {
  return [&] {
    const double usual = std::lognormal_distribution<double>(0, 0.1)(random);
    std::uniform_real_distribution<double> any(0, 1);
    return usual * (any(random) < 0.02 ? 1 + 2 * any(random) : 1);
  };
}

// Means over noisy machines: the call before which the candidate is chosen, and 2,000 calls in units of MPI's own.
struct Mean {
  double chosen = 0, time = 0;
};

Mean mean_of(const std::vector<double>& times, double barrier, int best, double expected) {
  constexpr double kCall = 1e-4;  // seconds
  std::vector<double> seconds;
  for (const double time : times) seconds.push_back(kCall * time);
  Mean mean;
  double native = 0, ours = 0;
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed), same(seed);
    Job job(seconds, kCall * barrier, expected), alone({kCall}, 0);
    job.noise = noisy(random);
    alone.noise = noisy(same);
    ours += job.run(2000);
    native += alone.run(2000);
    Job other(seconds, kCall * barrier, expected);
    other.noise = noisy(random);
    mean.chosen += static_cast<double>(other.until_chosen(best, 10000)) / kMachines;
  }
  mean.time = ours / native;
  return mean;
}

TEST(Race, ChoosesAWinnerSoon) {
  for (const double barrier : {0.3, 1.0, 3.0}) {
    const Mean mean = mean_of({1, 0.7, 1.2, 1.5}, barrier, 1, 0.9);
    std::printf("winner of 0.7, barrier of %.1f calls: chosen at call %.0f, %.3f of native\n",
                barrier, mean.chosen, mean.time);
    EXPECT_LE(mean.chosen, 80) << barrier;
    EXPECT_LE(mean.time, 0.79) << barrier;
  }
}

// Candidate 2 is faster than the choice was earlier, but the choice wins their race. So candidate 2 is not followed.
TEST(Race, FollowsNothingThatTheChoiceBeats) {
  struct race race = {};
  race.count = 3;
  race_adopt(&race, 1, 0.9);
  race.candidates[2].ratio = 1;
  race.candidates[2].state = race_candidate::RACE_WAITS;
  race.usual = 1e-4;
  race.calls = int64_t{1} << 40;
  race.confirm = 2 * race.calls;
  race_plan(&race);
  ASSERT_EQ(race.entrant_count, 3);
  const double times[RACE_CANDIDATES] = {1e-4, 0.5e-4, 0.7e-4};
  race_end(&race, times);
  EXPECT_EQ(race.choice, 1);
  EXPECT_EQ(race.candidates[2].state, race_candidate::RACE_OUT);
}

TEST(Race, LosesLittleWhereNothingWins) {
  const std::vector<std::vector<double>> machines = {
      {1, 1.15, 1.3, 1.6}, {1, 2.5, 3, 4}, {1, 1.02, 1.05, 1.1}};
  for (const std::vector<double>& times : machines) {
    for (const double expected : {0.9, 1.0}) {
      for (const double barrier : {0.3, 3.0}) {
        const Mean mean = mean_of(times, barrier, 0, expected);
        std::printf(
            "nothing wins, others %.2f.., expected %.1f, barrier of %.2f calls: %.3f of native\n",
            times[1], expected, barrier, mean.time);
        EXPECT_LE(mean.time, barrier < 2 ? 1.02 : 1.03)
            << times[1] << " " << expected << " " << barrier;
      }
    }
  }
}

// Nothing is promised. The costs stay within 1/64 of the time, and one surprise.
TEST(Race, LosesAtMostASixtyFourthAndOneSurprise) {
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    const double barrier = std::uniform_real_distribution<double>(0.001, 3)(random);
    Job job(random_times(random, 30), barrier, 1);
    job.preparation = 10;
    double surprise = job.preparation + 2 * barrier;
    for (const double time : job.times) surprise += 2 * std::max(0.0, time - 1);
    double time = 0;
    for (int64_t calls = 1; calls <= 5000; ++calls) {
      time += job.run(1);
      const double most = static_cast<double>(calls) * (1 + 1.0 / 64) + surprise;
      ASSERT_LE(time, most) << "seed " << seed << ", " << calls << " calls";
    }
  }
}

// A promise may cost 60 calls early, or 1/4 s if that is less, but never more than all calls before it.
TEST(Race, SpendsLittleOnAPromise) {
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    const double call = std::pow(10, std::uniform_real_distribution<double>(-5, 0)(random));
    std::vector<double> times = {call, call, call, call};
    Job job(times, call * std::uniform_real_distribution<double>(0.1, 10)(random), 0.5);
    const double credit = std::min(60 * call, 0.25) + 2 * job.barrier;
    double time = 0;
    for (int64_t calls = 1; calls <= 5000; ++calls) {
      time += job.run(1);
      const double most = call * static_cast<double>(calls) * (1 + 1.0 / 64) + credit;
      ASSERT_LE(time, most * (1 + 1e-9)) << "seed " << seed << ", " << calls << " calls";
      ASSERT_LE(time, 2 * call * static_cast<double>(calls) + 2 * job.barrier) << "seed " << seed;
    }
  }
}

// Races that try the choice again cost at most 1/8 of its gain, which is no promise for the other candidates.
TEST(Race, TriesAChoiceAgainForAnEighthOfItsGain) {
  constexpr double kCall = 1e-4;  // seconds
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    const double ratio = std::uniform_real_distribution<double>(0.3, 0.96)(random);
    const double barrier = std::uniform_real_distribution<double>(0.1, 3)(random);
    Job job({kCall, kCall * ratio, kCall * 1.2}, kCall * barrier);
    job.race.candidates[2].ratio = 1;
    while (job.race.candidates[1].state != race_candidate::RACE_KNOWN && job.race.calls < 20000)
      job.run(1);
    if (job.race.choice != 1) continue;
    const double gain = 1 - ratio, race = 6 * barrier + 12 * gain;
    double time = 0;
    for (int64_t calls = 1; calls <= 5000; ++calls) {
      time += job.run(1) / kCall;
      ASSERT_LE(time, static_cast<double>(calls) * (ratio + ratio / 64 + gain / 8) + race + 1e-9)
          << "seed " << seed << ", " << calls << " calls";
      if (calls <= 100) {
        ASSERT_EQ(job.looked[2], 0) << "seed " << seed;
      }
    }
  }
}

// Calls of the program overlap on different ranks. Calls of a race do not, and that cost is charged.
TEST(Race, ChargesCallsThatDoNotOverlap) {
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    Job job({1, 1.1, 1.2}, std::uniform_real_distribution<double>(0.1, 3)(random), 1);
    job.overlap = 0.1;
    const double surprise = 6 * (job.barrier + 1.2) + 2 * job.barrier;
    double time = 0;
    for (int64_t calls = 100; calls <= 20000; calls += 100) {
      time += job.run(100);
      const double most = 0.1 * static_cast<double>(calls) * (1 + 1.0 / 64);
      ASSERT_LE(time, most + surprise) << "seed " << seed << ", " << calls << " calls";
    }
  }
}

TEST(Race, FindsTheBest) {
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    Job job(random_times(random, 5), 0.1);
    job.run(20000);
    EXPECT_LE(job.choice_time(), job.best() / 0.97) << "seed " << seed;
    EXPECT_LE(job.run(20000), 1.05 * 20000 * job.best()) << "seed " << seed;
  }
}

TEST(Race, FindsTheBestThatNobodyExpects) {
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    Job job(random_times(random, 5), 1, 1);
    job.run(20000);
    EXPECT_LE(job.choice_time(), job.best() / 0.97) << "seed " << seed;
  }
}

TEST(Race, FindsTheBestInNoise) {
  unsigned good = 0;
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    Job job(random_times(random, 5), 0.1);
    std::lognormal_distribution<double> usual(0, 0.2);
    std::uniform_real_distribution<double> rare(0, 1);
    job.noise = [&] { return usual(random) * (rare(random) < 0.01 ? 50 : 1); };
    job.run(20000);
    good += job.choice_time() <= 1.1 * job.best();
  }
  EXPECT_GE(good, kMachines * 95 / 100);
}

TEST(Race, FindsTheBestAlthoughRanksAreLate) {
  unsigned good = 0;
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    Job job(random_times(random, 5), 0.1);
    std::exponential_distribution<double> wait(2);
    job.late = [&] { return wait(random); };
    job.run(20000);
    good += job.choice_time() <= 1.1 * job.best();
  }
  EXPECT_GE(good, kMachines * 90 / 100);
}

TEST(Race, GoesOnAfterAnInterruption) {
  Job job({1e-4, 5e-5, 8e-5}, 1e-4);
  int64_t calls = 0;
  job.noise = [&] { return ++calls == 34 ? 5000.0 : 1.0; };
  job.run(600);
  EXPECT_EQ(job.race.choice, 1);
}

TEST(Race, FollowsAClearWinnerOfTheFirstRace) {
  for (const double barrier : {0.3, 1.0, 3.0}) {
    Job job({1e-4, 7e-5, 5e-5, 5e-4}, 1e-4 * barrier);
    EXPECT_LE(job.until_chosen(2, 1000), barrier < 2 ? 27 : 60) << barrier;
    EXPECT_EQ(job.race.candidates[2].state, race_candidate::RACE_FRESH);
    job.run(120);
    EXPECT_EQ(job.race.candidates[2].state, race_candidate::RACE_KNOWN);
    EXPECT_EQ(job.race.races, 2);
    EXPECT_EQ(job.race.interval, 96);  // calls until the next race confirms it
  }
}

TEST(Race, AgreesSoonIfCandidatesAreNotKnown) {
  const Job job({1, 2}, 1, 1);
  EXPECT_EQ(race_first(&job.race, 1), 256);
  EXPECT_EQ(race_first(&job.race, 0), 16);
}

TEST(Race, SoonLeavesAGuessThatIsWrong) {
  Job job({1e-4, 1.3e-4}, 3e-5);
  int64_t calls = 0;
  job.noise = [&] { return ++calls == 17 || calls == 20 ? 2.0 : 1.0; };
  EXPECT_LE(job.until_chosen(1, 1000), 21);
  EXPECT_EQ(job.race.candidates[1].state, race_candidate::RACE_FRESH);
  EXPECT_LE(job.until_chosen(0, 1000), 60);
}

TEST(Race, NoticesThatMpisOwnHasBecomeSlow) {
  Job job({1, 3, 4, 5}, 0.1);
  job.run(3000);
  ASSERT_EQ(job.race.choice, 0);
  job.times[0] = 100;
  job.run(9000);  // losers are raced again after four times as many calls
  EXPECT_NE(job.race.choice, 0);
}

TEST(Race, NoticesThatTheChoiceHasBecomeSlow) {
  Job job({1, 0.5, 0.8, 5}, 0.1);
  job.run(5000);
  ASSERT_EQ(job.race.choice, 1);
  job.times[1] = 10;
  job.run(9000);  // noticing it takes twelve calls; the next race waits until they are paid
  EXPECT_EQ(job.race.choice, 2);
}

TEST(Race, NoticesDrift) {
  Job job({1, 0.6, 0.8}, 0.1);
  for (int i = 0; i < 100; ++i) {
    job.run(200);
    job.times[1] *= 1.01;
  }
  EXPECT_NE(job.race.choice, 1);  // its 0.6 has become 1.6
}

TEST(Race, ChoosesNothingThatFails) {
  Job job({1, RACE_NEVER, 0.5}, 0.01);
  job.run(200);
  EXPECT_EQ(job.race.choice, 2);
  // If MPI's own call fails, nothing is learned.
  Job other({RACE_NEVER, 0.5}, 0.01);
  other.run(200);
  EXPECT_EQ(other.race.choice, 0);
}

TEST(Race, IsNotMisledByCallsThatAlternate) {
  for (const int period : {2, 3, 5}) {
    Job job({1, 0.8, 1.5, 2}, 0.01);
    int64_t calls = 0;
    job.noise = [&] { return ++calls % period == 0 ? 10.0 : 1.0; };
    job.run(20000);
    EXPECT_EQ(job.race.choice, 1) << period;
  }
}

TEST(Race, RacesAllAtOnceIfItIsEager) {
  std::vector<double> times(19, 2);
  times[0] = 1;
  times[7] = 0.6;
  times[12] = 0.7;
  Job job(times, 1, 1, true);
  EXPECT_LE(job.until_chosen(7, 1000), 80);
}

TEST(Race, FollowsWhatAnotherCommunicatorFound) {
  Job job({1, 0.9, 0.5}, 0.01);
  race_adopt(&job.race, 2, 0.5);
  EXPECT_EQ(job.race.choice, 2);
  job.run(20000);
  EXPECT_EQ(job.race.choice, 2);
  Job none({1, 2, 3}, 0.01);
  race_adopt(&none.race, 0, 1);
  none.run(900);
  EXPECT_EQ(none.looked[1], 0);
}

// A rule is raced like a choice that another communicator has found.
TEST(Race, LeavesARuleThatIsWrong) {
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    std::mt19937 random(seed);
    Job job({1, 1.3}, 0.3, 1), right({1, 0.7}, 0.3, 1);
    race_adopt(&job.race, 1, 1);
    race_adopt(&right.race, 1, 1);
    job.noise = right.noise = noisy(random);
    job.run(1500);
    right.run(1500);
    EXPECT_EQ(job.race.choice, 0) << seed;
    EXPECT_EQ(right.race.choice, 1) << seed;
  }
}

}  // namespace
