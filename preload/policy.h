/* The policy of QUADRILLE=adapt and learn: when calls compare a schedule with MPI's own collective, and which of them the other
 * calls follow. It knows neither MPI nor clocks. All ranks give it the same numbers, so all do the same. docs/choosing.md states
 * it for users. Times are in seconds. Tested by tests/preload/policy_test.cc. */
#ifndef QUADRILLE_PRELOAD_POLICY_H_
#define QUADRILLE_PRELOAD_POLICY_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  POLICY_CANDIDATES = 24, /* at most */
  POLICY_LOOKS = 4,       /* of a comparison, each at some calls in a row */
  POLICY_PROBES = 0,      /* looks of a probe, which asks how long calls take at present */
  POLICY_USUAL = 12,      /* calls before the looks, which follow the choice without barriers */
  POLICY_LEVELS = 3,      /* of candidates; the looks of each have more calls */
  POLICY_KEPT = 8         /* the last comparisons of a candidate, which count */
};
static const double POLICY_NEVER = 1e30; /* the time of a call that was not made */

struct policy_candidate {
  int universal, block_size; /* as in a rule */
  int level;  /* one that rests or was not seen has 0; one that may be chosen has the last */
  int seen;   /* comparisons that count */
  int is_far; /* the last ratio was far above those before, 1, or below, -1 */
  float ratios[POLICY_KEPT]; /* of its time and that of MPI's own */
  int64_t rests_until;       /* that many calls */
};

struct policy {
  int is_eager;                                          /* costs do not count */
  struct policy_candidate candidates[POLICY_CANDIDATES]; /* the first is MPI's own */
  int count, choice;
  int comparisons;            /* so far */
  int is_settled;             /* all candidates that do not rest were compared often enough */
  int64_t calls;              /* so far */
  int64_t paid;               /* calls whose share of the time was taken off the debt */
  double debt;                /* the cost of comparisons beyond what calls have paid */
  double cost;                /* of all comparisons */
  double usual_time;          /* of a call by the choice, without barriers */
  double native_time;         /* of MPI's own, in looks */
  float natives[POLICY_KEPT]; /* the same, in the last comparisons with it */
  int natives_seen;           /* these comparisons */
  double barrier;   /* the least time of a barrier in the last comparison, at the slowest rank */
  int other, looks; /* what is next: the candidate, and POLICY_LOOKS or POLICY_PROBES */
  int calls_of_look;
};

/* What the ranks agree on: the maxima of these numbers. */
enum { POLICY_USUALLY, POLICY_CHOICE, POLICY_OTHER, POLICY_BARRIER, POLICY_TIMES };

/* The calls before the first comparison, where a barrier takes as long as that many calls. */
int64_t policy_first(double barrier);
/* Plans the next comparison or probe. Returns the calls that follow the choice before it begins. */
int64_t policy_plan(struct policy* policy);
/* The candidate that is next does not serve the calls, and is never compared. Plan again then. */
void policy_drop(struct policy* policy);
/* Whether there is nothing to compare until some candidate has rested. Plan again then. */
int policy_is_idle(const struct policy* policy);
/* The candidate of this look of the comparison or probe. */
int policy_candidate_of(const struct policy* policy, int look);
/* One rank's numbers, from the times of the usual calls, in two halves, and of its looks. The lesser time of two counts, since other
 * work on the machine only adds to a time. */
void policy_summarize(const struct policy* policy, const double usual[2], const double* seconds,
                      double mine[POLICY_TIMES]);
/* Ends the comparison or probe with the numbers that the ranks agree on, and chooses. */
void policy_end(struct policy* policy, const double all[POLICY_TIMES]);
/* The time of MPI's own, the median of the last comparisons; and of the choice in proportion. */
double policy_native_time(const struct policy* policy);
double policy_time(const struct policy* policy);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_PRELOAD_POLICY_H_ */
