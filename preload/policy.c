#include "preload/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  PART = 64,  /* of the time is for comparisons */
  EARLY = 20, /* the first comparisons may cost the time of so many calls, however few there were */
  ENOUGH = 2, /* comparisons that count, of a candidate of the last level: it may be chosen */
  SETTLED = 8 /* part of the calls so far that passes between comparisons, once they have settled */
};
static const double kEarly = 0.05; /* seconds that they may cost at most */
static const double kGain = 0.97;  /* of a time; a choice changes for more than that */
static const double kSlow = 1.3;   /* times the best; slower candidates rest */
static const double kFar = 1.3;    /* of two times: they differ by more than noise does */
static const double kMostCalls = 1e9;

/* ---- Times */

static int by_value(const void* a, const void* b) {
  const float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

/* The numbers that are kept, of that many. */
static int kept(int count) { return count < POLICY_KEPT ? count : POLICY_KEPT; }

/* The median of those that are kept, or the greater one of the two in the middle. */
static double median(const float values[POLICY_KEPT], int count) {
  float sorted[POLICY_KEPT];
  memcpy(sorted, values, sizeof sorted);
  qsort(sorted, (size_t)kept(count), sizeof *sorted, by_value);
  return (double)sorted[kept(count) / 2];
}

static double median_ratio(const struct policy_candidate* one) {
  return median(one->ratios, one->seen);
}

static double least_ratio(const struct policy_candidate* one) {
  double least = (double)one->ratios[0];
  for (int i = 1; i < kept(one->seen); i++) least = fmin(least, (double)one->ratios[i]);
  return least;
}

/* The time of a candidate. One that was not seen is expected to take twice as long as MPI's own. */
static double time_of(const struct policy* p, int i) {
  if (i == 0) return p->native_time;
  return p->native_time * (p->candidates[i].seen > 0 ? median_ratio(&p->candidates[i]) : 2);
}

double policy_native_time(const struct policy* p) { return median(p->natives, p->natives_seen); }

double policy_time(const struct policy* p) {
  return policy_native_time(p) * time_of(p, p->choice) / p->native_time;
}

/* ---- Choices */

static int rests(const struct policy* p, int i) { return p->candidates[i].rests_until > p->calls; }

/* Candidates that were far slower than the best in all their comparisons rest, until there were four times as many calls. */
static void rest_slow_ones(struct policy* p, double best) {
  for (int i = 1; i < p->count; i++) {
    struct policy_candidate* one = &p->candidates[i];
    if (i == p->choice || one->seen < (p->is_eager ? 1 : 2) || least_ratio(one) < kSlow * best)
      continue;
    one->rests_until = p->is_eager ? INT64_MAX : 4 * p->calls;
    one->level = one->seen = one->is_far = 0;
  }
}

/* Whether the candidate may be chosen: it was compared at each level. */
static int is_known(const struct policy* p, int i) {
  const struct policy_candidate* one = &p->candidates[i];
  return i == 0 || (!rests(p, i) && one->level == POLICY_LEVELS - 1 && one->seen >= ENOUGH);
}

/* The ratio of the choice. */
static double present(const struct policy* p) {
  return p->choice > 0 && is_known(p, p->choice) ? median_ratio(&p->candidates[p->choice]) : 1;
}

static void choose(struct policy* p) {
  int best = 0;
  double least = 1;
  for (int i = 1; i < p->count; i++) {
    if (!is_known(p, i) || median_ratio(&p->candidates[i]) >= least) continue;
    least = median_ratio(&p->candidates[i]);
    best = i;
  }
  if (!is_known(p, p->choice) || least < kGain * present(p) || best == 0) p->choice = best;
  rest_slow_ones(p, least);
  p->is_settled = p->candidates[p->choice].is_far == 0;
  for (int i = 1; i < p->count; i++) {
    const struct policy_candidate* one = &p->candidates[i];
    p->is_settled &=
        rests(p, i) || one->seen >= (one->level == POLICY_LEVELS - 1 ? (int)ENOUGH : 2);
  }
}

/* ---- Plans */

/* Whether the last comparison was with a schedule that has reached another level there. */
static int is_promising(const struct policy* p) {
  const struct policy_candidate* one = &p->candidates[p->other];
  return p->other != p->choice && one->level > 0 && one->seen == 1 && !rests(p, p->other);
}

/* The next candidate that is compared with the choice; the choice itself if there is none. Candidates that rest are left out. */
static int next_other(const struct policy* p) {
  if (is_promising(p)) return p->other;
  for (int i = 1; i <= p->count; i++) {
    const int next = (p->other + i) % p->count;
    if (next != p->choice && !rests(p, next)) return next;
  }
  return p->choice;
}

/* The calls of a look. Calls in a row overlap at different ranks, as they do in many programs, so a schedule of short calls may be
 * slower in a row. One call is enough to leave slow candidates out. */
static int calls_of_look(const struct policy* p, int i) {
  static const int calls[POLICY_LEVELS] = {1, 6, 24};
  const int level = i == 0 ? POLICY_LEVELS - 1 : p->candidates[i].level;
  return p->is_eager ? calls[0] : calls[level];
}

/* What a comparison, whose looks take that time, costs beyond as many usual calls. An agreement takes about two barriers. */
static double cost_of(const struct policy* p, double looks) {
  return looks - POLICY_LOOKS * p->calls_of_look * p->usual_time + (POLICY_LOOKS + 2) * p->barrier;
}

/* The calls until the first candidate has rested. */
static int64_t rest_of_all(const struct policy* p) {
  int64_t least = INT64_MAX;
  for (int i = 1; i < p->count; i++)
    if (p->candidates[i].rests_until < least) least = p->candidates[i].rests_until;
  return least - p->calls;
}

int64_t policy_first(double barrier) {
  /* Two calls that take twice as long; barriers and agreements, also those that come before the first comparison. */
  const double surprise = 0.5 * POLICY_LOOKS, cost = surprise + 3 * POLICY_LOOKS * barrier;
  return (int64_t)(PART * (cost > EARLY ? cost : surprise));
}

/* The calls until the present debt and the next comparison are paid. */
static int64_t wait_of(struct policy* p) {
  p->debt -= (double)(p->calls - p->paid) * p->usual_time / PART;
  p->paid = p->calls;
  const double looks =
      0.5 * POLICY_LOOKS * p->calls_of_look * (time_of(p, p->choice) + time_of(p, p->other));
  const double cost = cost_of(p, looks), owed = p->debt + cost;
  if (!p->is_settled && p->cost + cost <= fmin(EARLY * p->usual_time, kEarly)) return 0;
  const double least = p->is_settled ? (double)p->calls / SETTLED : 0;
  return (int64_t)fmin(kMostCalls, fmax(least, ceil(owed * PART / p->usual_time)));
}

int policy_is_idle(const struct policy* p) {
  return p->other == p->choice && p->looks != POLICY_PROBES;
}

int64_t policy_plan(struct policy* p) {
  const int64_t most = p->calls / 2;
  p->other = next_other(p);
  p->looks = POLICY_LOOKS;
  p->calls_of_look = calls_of_look(p, p->other);
  /* Calls of the program may repeat in some order: comparisons begin at all places of it. */
  const int64_t shift = p->comparisons * 5 % 7;
  const int is_at_once = p->comparisons == 0 || (p->is_eager && !p->is_settled);
  const int64_t wait = policy_is_idle(p) ? rest_of_all(p) : is_at_once ? 0 : wait_of(p) + shift;
  if (p->is_eager || p->comparisons == 0 || wait <= most) return wait;
  p->looks = POLICY_PROBES;
  return most;
}

void policy_drop(struct policy* p) {
  p->candidates[p->other] =
      (struct policy_candidate){.universal = p->candidates[p->other].universal,
                                .block_size = p->candidates[p->other].block_size,
                                .rests_until = INT64_MAX};
}

/* ---- Comparisons and probes */

/* Whether this look of the comparison is at the choice. The order changes from one comparison to the next. */
static int is_at_choice(const struct policy* p, int look) {
  return (look == 0 || look == POLICY_LOOKS - 1) == (p->comparisons % 2 == 0);
}

int policy_candidate_of(const struct policy* p, int look) {
  return is_at_choice(p, look) ? p->choice : p->other;
}

void policy_summarize(const struct policy* p, const double usual[2], const double* seconds,
                      double mine[POLICY_TIMES]) {
  mine[POLICY_USUALLY] = 2 * fmin(usual[0], usual[1]) / POLICY_USUAL;
  mine[POLICY_CHOICE] = mine[POLICY_OTHER] = POLICY_NEVER;
  mine[POLICY_BARRIER] = p->barrier;
  for (int i = 0; i < p->looks; i++) {
    double* least = &mine[is_at_choice(p, i) ? POLICY_CHOICE : POLICY_OTHER];
    *least = fmin(*least, seconds[i] / p->calls_of_look);
  }
}

/* 1 if the time is far above the other, -1 if it is far below. */
static int is_far(double time, double other) {
  return (time > kFar * other) - (other > kFar * time);
}

/* Two ratios in turn that are far from the median of those before, on the same side, are a change. Only they count from now on, and
 * no candidate rests any longer. */
static void add_ratio(struct policy* p, struct policy_candidate* one, float ratio) {
  const int was_far = one->is_far;
  const float last = one->ratios[(one->seen + POLICY_KEPT - 1) % POLICY_KEPT];
  one->is_far = one->seen > 1 && !p->is_eager ? is_far((double)ratio, median_ratio(one)) : 0;
  if (was_far != 0 && one->is_far == was_far) {
    one->ratios[0] = last;
    one->seen = 1;
    one->is_far = 0;
    for (int i = 1; i < p->count; i++) p->candidates[i].rests_until = 0;
  }
  one->ratios[one->seen % POLICY_KEPT] = ratio;
  if (++one->seen == 2 * POLICY_KEPT) one->seen = POLICY_KEPT;
}

/* A candidate that is not too slow goes on to the next level. What was seen there counts once. */
static void promote(const struct policy* p, struct policy_candidate* one, double ratio) {
  if (one->level == POLICY_LEVELS - 1 || ratio >= (one->level == 0 ? kSlow : 1) * present(p))
    return;
  one->level++;
  one->seen = 1;
  one->ratios[0] = (float)ratio;
}

/* Adds what a comparison says of a candidate's ratio. */
static void learn(struct policy* p, double choice, double other) {
  const double before = present(p);
  const int of = p->other == 0 ? p->choice : p->other;
  const double ratio = p->other == 0 ? choice / other : other / choice * before;
  p->native_time = fmax(1e-9, p->other == 0 ? other : choice / before);
  p->comparisons++;
  if (p->other == 0 || p->choice == 0)
    p->natives[p->natives_seen++ % POLICY_KEPT] = (float)p->native_time;
  add_ratio(p, &p->candidates[of], (float)ratio);
  promote(p, &p->candidates[of], ratio);
}

/* Whether all calls of it ended; else it is POLICY_NEVER, or a part of that. */
static int is_time(double seconds) { return seconds < POLICY_NEVER / 1000; }

static void charge(struct policy* p, double cost) {
  p->debt += cost;
  p->cost += cost;
}

void policy_end(struct policy* p, const double all[POLICY_TIMES]) {
  const double before = p->usual_time;
  p->barrier = all[POLICY_BARRIER];
  if (is_time(all[POLICY_USUALLY])) p->usual_time = fmax(all[POLICY_USUALLY], 1e-9);
  if (p->looks == POLICY_PROBES) {
    charge(p, 2 * p->barrier);
    p->is_settled &= is_far(p->usual_time, before) == 0;
    return;
  }
  const double look = is_time(all[POLICY_CHOICE]) && is_time(all[POLICY_OTHER])
                          ? (all[POLICY_CHOICE] + all[POLICY_OTHER]) / 2
                          : p->usual_time;
  /* Without usual calls, those by the choice stand for them. */
  const double usual = p->is_eager && is_time(all[POLICY_CHOICE]) ? all[POLICY_CHOICE] : 0;
  charge(p, cost_of(p, POLICY_LOOKS * p->calls_of_look * (look - usual)));
  if (!is_time(all[POLICY_CHOICE]) || (p->other == 0 && !is_time(all[POLICY_OTHER])))
    return; /* it failed */
  learn(p, fmax(all[POLICY_CHOICE], 1e-9), fmax(all[POLICY_OTHER], 1e-9));
  choose(p);
}
