#include "preload/race.h"

#include <math.h>

enum {
  PART = 64,        /* races may take 1/64 of the time of all calls */
  EARLY = 600,      /* early races may cost what a promising candidate gains in so many calls, */
  CREDIT = 60,      /* but at most the time of so many calls */
  SOON = 16,        /* calls before the ranks first agree, if a candidate promises a gain */
  LATER = 256,      /* the same if none does */
  CONFIRM = 48,     /* calls before the choice is raced again; they double each time */
  AGAIN = 4,        /* candidates that are out are raced again after 4 times as many calls */
  PART_OF_GAIN = 8, /* races to confirm a choice may cost 1/8 of what it seems to gain */
  AGREEMENT = 2,    /* the cost of an agreement, in barriers; a guess */
  FIRST_CALLS = 1,  /* calls of a look in a first race: few, since candidates may be slow */
  /* Calls of a look in a second race. In a row they overlap at different ranks, as in many programs. */
  SECOND_CALLS = 6
};
static const double kCredit = 0.25; /* seconds; early races cost no more than that */
static const double kGain = 0.97;   /* times the choice; only a faster candidate replaces it */
static const double kSlow = 1.3;    /* times the best; a slower candidate fails a first race */
static const double kClear = 0.8;   /* times the choice; a faster one is followed at once */
static const double kFar = 1.1;     /* times the choice; slower ones leave later second races */
static const double kChange = 0.15; /* of a ratio; after a greater change, the next race is soon */
static const double kMostCalls = 1e15;

static int is_time(double seconds) { return seconds < RACE_NEVER / 1000; }

/* ---- Entrants */

static int has(const struct race* r, int state) {
  for (int i = 1; i < r->count; i++)
    if ((int)r->candidates[i].state == state) return 1;
  return 0;
}

static double ratio_of(const struct race* r, int i) { return i == 0 ? 1 : r->candidates[i].ratio; }

/* Returns whether a first race has found the choice, and no second race has tried it yet. */
static int is_guess(const struct race* r) { return r->candidates[r->choice].state == RACE_FRESH; }

/* Returns the ratio that a promising candidate must beat: that of the fastest candidate that is known. */
static double known_ratio(const struct race* r) { return is_guess(r) ? 1 : ratio_of(r, r->choice); }

static int promises(const struct race* r, int i) {
  const struct race_candidate* one = &r->candidates[i];
  return one->state < RACE_OUT && one->ratio < kGain * known_ratio(r);
}

/* Returns the share of the known time that the most promising candidate would save, from 0 to 1. */
static double promise(const struct race* r) {
  double least = known_ratio(r);
  for (int i = 1; i < r->count; i++)
    if (promises(r, i)) least = fmin(least, r->candidates[i].ratio);
  return 1 - least / known_ratio(r);
}

/* Returns whether a candidate enters the race. A first race has those that wait. If costs count, promising ones come
 * first. A second race has those that have passed a first race. MPI's own and the choice enter every race. */
static int runs(const struct race* r, int i, int is_second, int promising) {
  const struct race_candidate* one = &r->candidates[i];
  if (i == 0 || i == r->choice) return 1;
  if (is_second) return one->state == RACE_FRESH || one->state == RACE_KNOWN;
  return one->state == RACE_WAITS && (!promising || r->is_eager || promises(r, i));
}

static void enter(struct race* r, int is_second) {
  int promising = 0;
  for (int i = 1; i < r->count; i++)
    promising |= r->candidates[i].state == RACE_WAITS && promises(r, i);
  r->calls_of_look = is_second ? SECOND_CALLS : FIRST_CALLS;
  r->entrant_count = 0;
  for (int i = 0; i < r->count; i++)
    if (runs(r, i, is_second, promising)) r->entrants[r->entrant_count++] = i;
}

int race_calls(const struct race* r) { return 2 * r->entrant_count * r->calls_of_look; }

int race_candidate_of(const struct race* r, int call) {
  const int look = call / r->calls_of_look;
  return r->entrants[look < r->entrant_count ? look : 2 * r->entrant_count - 1 - look];
}

/* ---- Costs */

/* Returns the seconds that the race is expected to cost beyond as many usual calls. */
static double cost_of(const struct race* r) {
  double calls = 0;
  for (int i = 0; i < r->entrant_count; i++)
    calls += fmax(0, ratio_of(r, r->entrants[i]) / ratio_of(r, r->choice) - 1);
  return 2 * calls * r->calls_of_look * r->usual + (2 * r->entrant_count + AGREEMENT) * r->barrier;
}

/* Returns the call from which on the race with these entrants is affordable. No race may cost more than all calls
 * before it. The expected gain of a guess pays for its second race, or an eighth of the gain of another choice. */
static int64_t payable(const struct race* r, int is_second) {
  if (r->is_eager) return r->calls;
  const double cost = cost_of(r), all = r->cost + cost, now = (double)r->calls;
  const double credit = fmin(fmin(EARLY * promise(r), CREDIT) * r->usual, kCredit);
  const double gain = r->usual / ratio_of(r, r->choice) - r->usual;
  double calls = fmax(PART * (all - credit), all) / r->usual;
  if (is_second && gain > 0)
    calls = fmin(calls, now + (is_guess(r) ? 1 : PART_OF_GAIN) * cost / gain);
  return (int64_t)fmin(kMostCalls, fmax(now, ceil(calls)));
}

/* ---- Plans */

int64_t race_first(const struct race* r, int is_known) {
  if (r->is_eager) return 0;
  return promise(r) > 0 || !is_known ? SOON : LATER;
}

static int64_t later(int64_t calls, int64_t others) { return calls > others ? calls : others; }

int64_t race_plan(struct race* r) {
  int64_t second = INT64_MAX, first = INT64_MAX;
  if (r->calls >= r->again && !has(r, RACE_FRESH))
    for (int i = 1; i < r->count; i++)
      if (r->candidates[i].state == RACE_OUT && i != r->choice) r->candidates[i].state = RACE_WAITS;
  if (has(r, RACE_FRESH) || r->choice > 0) {
    enter(r, 1);
    second = later(payable(r, 1), has(r, RACE_FRESH) ? 0 : r->confirm);
  }
  if (has(r, RACE_WAITS) && !has(r, RACE_FRESH)) {
    enter(r, 0);
    first = payable(r, 0);
  } else if (!has(r, RACE_FRESH) && has(r, RACE_OUT)) {
    first = r->again; /* to plan anew */
  }
  const int is_second = second <= first;
  enter(r, is_second);
  if (!is_second && !has(r, RACE_WAITS)) r->entrant_count = 0;
  const int64_t next = is_second ? second : first;
  /* Varies the place at which races begin, since the program may repeat a pattern of calls. */
  return next == INT64_MAX ? next : next - r->calls + (r->is_eager ? 0 : r->races * 5 % 7);
}

void race_drop(struct race* r, int candidate) {
  r->candidates[candidate].state = RACE_GONE;
  if (r->choice == candidate) r->choice = 0;
}

/* ---- Results */

/* Adds the cost of the race. A barrier aligns the calls of a look. Calls of the program may overlap. */
static void add_cost(struct race* r, const double* times) {
  double choice = r->usual, beyond = 0;
  for (int i = 0; i < r->entrant_count; i++)
    if (r->entrants[i] == r->choice && is_time(times[i])) choice = times[i];
  for (int i = 0; i < r->entrant_count; i++)
    if (is_time(times[i])) beyond += fmax(0, times[i] - choice);
  const double agreement = AGREEMENT * r->barrier;
  r->barrier += r->calls_of_look * fmax(0, choice - r->usual);
  r->cost += 2 * r->calls_of_look * beyond + 2 * r->entrant_count * r->barrier + agreement;
}

static void judge_first(struct race* r, const double* times) {
  double best = RACE_NEVER, clear = ratio_of(r, r->choice);
  r->again = AGAIN * later(r->calls, LATER);
  for (int i = 0; i < r->entrant_count; i++) {
    best = fmin(best, times[i]);
    if (r->entrants[i] == r->choice) clear = kClear * fmin(clear, times[i] / r->native);
  }
  for (int i = 1; i < r->entrant_count; i++) {
    struct race_candidate* one = &r->candidates[r->entrants[i]];
    if (one->state != RACE_WAITS) continue;
    one->ratio = times[i] / r->native;
    one->state = times[i] < kSlow * best ? RACE_FRESH : RACE_OUT;
    if (one->ratio >= clear) continue;
    clear = one->ratio;
    r->choice = r->entrants[i];
    r->interval = CONFIRM;
  }
}

static void judge_second(struct race* r, const double* times) {
  for (int i = 1; i < r->entrant_count; i++) {
    struct race_candidate* one = &r->candidates[r->entrants[i]];
    const double ratio = times[i] / r->native;
    if (one->state == RACE_KNOWN && fabs(ratio - one->ratio) > kChange * one->ratio)
      r->interval = CONFIRM / 2;
    one->ratio = one->state == RACE_KNOWN ? (one->ratio + ratio) / 2 : ratio;
    one->state = one->ratio < 1 ? RACE_KNOWN : RACE_OUT;
  }
}

/* Chooses the fastest candidate that is known, if it is clearly faster than the present choice. */
static void choose(struct race* r) {
  const int before = r->choice;
  if (r->candidates[r->choice].state != RACE_KNOWN) r->choice = 0;
  double least = kGain * ratio_of(r, r->choice);
  for (int i = 1; i < r->count; i++) {
    if (r->candidates[i].state != RACE_KNOWN || r->candidates[i].ratio >= least) continue;
    least = r->candidates[i].ratio;
    r->choice = i;
  }
  for (int i = 1; i < r->count; i++)
    if (r->candidates[i].state == RACE_KNOWN &&
        r->candidates[i].ratio > kFar * ratio_of(r, r->choice))
      r->candidates[i].state = RACE_OUT;
  if (before > 0 && r->choice == 0) r->again = r->calls;
  r->interval = r->choice == before ? 2 * r->interval : CONFIRM;
  r->confirm = r->calls + r->interval;
}

void race_end(struct race* r, const double times[RACE_CANDIDATES]) {
  const int is_second = r->calls_of_look == SECOND_CALLS;
  const double native = r->usual / ratio_of(r, r->choice);
  r->races++;
  add_cost(r, times);
  if (is_time(times[0])) {
    r->native = fmax(times[0], 1e-9);
    if (is_second)
      judge_second(r, times);
    else
      judge_first(r, times);
  }
  if (is_second) choose(r);
  r->usual = native * ratio_of(r, r->choice);
  r->is_settled |= is_second || (!has(r, RACE_WAITS) && !has(r, RACE_FRESH));
}

void race_adopt(struct race* r, int choice, double ratio) {
  for (int i = 1; i < r->count; i++) r->candidates[i].state = RACE_OUT;
  r->again = AGAIN * later(r->calls, LATER);
  r->choice = choice;
  r->races = r->is_settled = 1;
  r->interval = CONFIRM;
  r->confirm = r->calls + CONFIRM;
  if (choice == 0) return;
  r->candidates[choice].ratio = ratio;
  r->candidates[choice].state = RACE_KNOWN;
}
