#include "preload/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  PART = 64,  /* of the time is for comparisons */
  ENOUGH = 2, /* comparisons after which a candidate may be chosen */
  SETTLED =
      8,     /* that part of the calls so far passes between comparisons, once they have settled */
  EARLY = 64 /* calls before the first probe, at least */
};
static const double kGain = 0.97; /* of a time; a choice changes for more than that */
static const double kSlow = 1.3;  /* times the best; slower candidates rest */
static const double kFar = 1.3;   /* of two times: they differ by more than noise does */
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

double policy_native_time(const struct policy* p) { return median(p->natives, p->comparisons); }

double policy_time(const struct policy* p) {
  return policy_native_time(p) * time_of(p, p->choice) / p->native_time;
}

/* ---- Choices */

static int rests(const struct policy* p, int i) { return p->candidates[i].rests_until > p->calls; }

/* Candidates that were far slower than the best in all their comparisons rest, until there were four times as many calls. */
static void rest_slow_ones(struct policy* p, double best) {
  for (int i = 1; i < p->count; i++) {
    struct policy_candidate* one = &p->candidates[i];
    if (one->seen < (p->is_eager ? 1 : ENOUGH) || least_ratio(one) < kSlow * best) continue;
    one->rests_until = p->is_eager ? INT64_MAX : 4 * p->calls;
    one->seen = one->is_far = 0;
  }
}

static void choose(struct policy* p) {
  int best = 0;
  double least = 1;
  for (int i = 1; i < p->count; i++) {
    if (rests(p, i) || p->candidates[i].seen < ENOUGH) continue;
    const double ratio = median_ratio(&p->candidates[i]);
    if (ratio < least) best = i, least = ratio;
  }
  const int now = p->choice;
  const int is_known = now == 0 || (!rests(p, now) && p->candidates[now].seen > 0);
  const double present = now == 0 || !is_known ? 1 : median_ratio(&p->candidates[now]);
  if (!is_known || least < kGain * present || (best == 0 && now > 0)) p->choice = best;
  rest_slow_ones(p, least);
  p->is_settled = p->candidates[p->choice].is_far == 0;
  for (int i = 1; i < p->count; i++)
    p->is_settled &= rests(p, i) || p->candidates[i].seen >= ENOUGH;
}

/* ---- Plans */

/* The next candidate that does not rest; 0 if all rest. */
static int next_other(const struct policy* p) {
  for (int i = 0; i < p->count - 1; i++) {
    const int next = 1 + (p->other + i) % (p->count - 1);
    if (!rests(p, next)) return next;
  }
  return 0;
}

/* What a comparison, whose looks take that time, costs beyond as many calls that follow the choice. An agreement takes about two
 * barriers. */
static double cost_of(const struct policy* p, double looks) {
  const double usual = POLICY_LOOKS * p->calls_of_look * time_of(p, p->choice);
  return looks - usual + (POLICY_LOOKS + 2) * p->barrier;
}

/* The calls until the first candidate has rested. */
static int64_t rest_of_all(const struct policy* p) {
  int64_t least = INT64_MAX;
  for (int i = 1; i < p->count; i++)
    if (p->candidates[i].rests_until < least) least = p->candidates[i].rests_until;
  return least - p->calls;
}

/* The calls until the first comparison, whose cost is counted in calls of MPI's own: two that take twice as long, and perhaps
 * barriers. */
static int64_t first_wait(const struct policy* p, int is_short) {
  const int64_t cost = POLICY_LOOKS / 2 + (is_short ? POLICY_LOOKS + 2 : 0);
  return cost * PART > p->calls ? cost * PART - p->calls : 0;
}

/* The calls until the present debt and the next comparison are paid. */
static int64_t wait_of(struct policy* p) {
  const double now = time_of(p, p->choice);
  p->debt -= (double)(p->calls - p->paid) * now / PART;
  p->paid = p->calls;
  const double looks =
      POLICY_LOOKS / 2 * p->calls_of_look * (p->native_time + time_of(p, p->other));
  const double owed = p->debt + cost_of(p, looks);
  const double least = p->is_settled ? (double)p->calls / SETTLED : 0;
  return (int64_t)fmin(kMostCalls, fmax(least, ceil(owed * PART / now)));
}

int64_t policy_plan(struct policy* p, int is_short) {
  const int64_t most = p->calls / 2 > EARLY ? p->calls / 2 : EARLY;
  p->other = next_other(p);
  p->looks = POLICY_LOOKS;
  /* Calls in a row overlap at different ranks, and so they do in most programs. One call is enough for a first look. */
  p->calls_of_look = p->candidates[p->other].seen > 0 ? POLICY_CALLS : 1;
  /* Calls of the program may repeat in some order: comparisons begin at all places of it. */
  const int64_t shift = p->comparisons * 5 % 7;
  const int64_t wait = p->other == 0                   ? rest_of_all(p)
                       : p->is_eager && !p->is_settled ? 0
                       : p->comparisons == 0           ? first_wait(p, is_short)
                                                       : wait_of(p) + shift;
  if (p->is_eager || p->comparisons == 0 || wait <= most) return wait;
  p->looks = POLICY_PROBES;
  p->calls_of_look = POLICY_CALLS;
  return most;
}

/* ---- Comparisons and probes */

/* Whether this look of the comparison is at MPI's own. The order changes from one comparison to the next. */
static int is_native(const struct policy* p, int look) {
  return (look == 0 || look == POLICY_LOOKS - 1) == (p->comparisons % 2 == 0);
}

int policy_candidate_of(const struct policy* p, int look) {
  if (p->looks == POLICY_PROBES) return p->choice;
  return is_native(p, look) ? 0 : p->other;
}

void policy_summarize(const struct policy* p, const double* seconds, double mine[POLICY_TIMES]) {
  mine[POLICY_NATIVE] = mine[POLICY_OTHER] = POLICY_NEVER;
  mine[POLICY_ALL] = 0;
  mine[POLICY_LESS_BARRIER] = -p->barrier;
  for (int i = 0; i < p->looks; i++) {
    const int is_own = p->looks == POLICY_LOOKS && is_native(p, i);
    double* least = &mine[is_own ? POLICY_NATIVE : POLICY_OTHER];
    *least = fmin(*least, seconds[i] / p->calls_of_look);
    mine[POLICY_ALL] += seconds[i];
  }
}

/* 1 if the time is far above the other, -1 if it is far below. */
static int is_far(double time, double other) {
  return (time > kFar * other) - (other > kFar * time);
}

/* The times of all candidates change in proportion to that of the choice. */
static void end_probe(struct policy* p, double time) {
  const double expected = time_of(p, p->choice);
  p->debt += (POLICY_PROBES + 2) * p->barrier;
  if (time >= POLICY_NEVER) return;
  p->native_time *= time / expected;
  p->is_settled &= is_far(time, expected) == 0;
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

void policy_end(struct policy* p, const double all[POLICY_TIMES]) {
  struct policy_candidate* one = &p->candidates[p->other];
  p->barrier = -all[POLICY_LESS_BARRIER];
  if (p->looks == POLICY_PROBES) {
    end_probe(p, all[POLICY_OTHER]);
    return;
  }
  if (all[POLICY_NATIVE] >= POLICY_NEVER) return; /* it failed */
  p->native_time = fmax(all[POLICY_NATIVE], 1e-9);
  p->natives[p->comparisons++ % POLICY_KEPT] = (float)p->native_time;
  const double usual = POLICY_LOOKS * p->calls_of_look * p->native_time;
  p->debt += cost_of(p, all[POLICY_ALL] < POLICY_NEVER ? all[POLICY_ALL] : usual);
  add_ratio(p, one, (float)(all[POLICY_OTHER] / p->native_time));
  choose(p);
}
