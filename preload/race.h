/* The race of QUADRILLE=adapt and learn: when calls compare schedules with MPI's own collective, and which of them the other calls
 * follow. It knows neither MPI nor clocks. All ranks give it the same numbers, so all do the same. docs/choosing.md states it for
 * users. Times are in seconds. Tested by tests/preload/race_test.cc. */
#ifndef QUADRILLE_PRELOAD_RACE_H_
#define QUADRILLE_PRELOAD_RACE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  RACE_CANDIDATES = 24, /* at most */
  RACE_USUAL = 8        /* calls that are timed before a race, and before the ranks first agree */
};
static const double RACE_NEVER = 1e30; /* the time of a call that was not made */

struct race_candidate {
  int universal, block_size; /* as in a rule */
  double ratio;              /* of its time and that of MPI's own: expected, or as measured */
  enum {
    RACE_WAITS, /* it was not raced yet, or long ago */
    RACE_FRESH, /* it has passed a first race */
    RACE_KNOWN, /* it was faster than MPI's own in a second race; only such a one is chosen */
    RACE_OUT,   /* it was slower */
    RACE_GONE   /* it does not serve the calls */
  } state;
};

struct race {
  int is_eager;                                      /* costs do not count */
  struct race_candidate candidates[RACE_CANDIDATES]; /* the first is MPI's own */
  int count, choice, races;                          /* races: so far */
  int is_settled;                                    /* the choice is more than a guess */
  int64_t calls;                                     /* so far */
  int64_t confirm, interval; /* the next second race is after so many calls, and that many later */
  int64_t again;             /* those that are out wait anew after so many calls */
  double usual, native;      /* seconds of a call by the choice, and by MPI's own */
  double barrier;            /* of a look's barrier, and of what calls wait for after it */
  double cost;               /* of all races beyond as many usual calls, with preparation */
  /* The race that is next. Entrants run in this order, and then in the other. */
  int entrants[RACE_CANDIDATES], entrant_count;
  int calls_of_look; /* each time, so many calls in a row */
};

/* The calls before the ranks first agree. Until then they may not know the candidates. */
int64_t race_first(const struct race* race, int is_known);
/* Plans the next race. Returns the calls that follow the choice before it. */
int64_t race_plan(struct race* race);
/* The calls of the race, and the candidate of each. */
int race_calls(const struct race* race);
int race_candidate_of(const struct race* race, int call);
/* The candidate does not serve the calls. Plan again then. */
void race_drop(struct race* race, int candidate);
/* Ends the race, and chooses. `times`: of a call by each entrant, in their order, as the ranks agree. */
void race_end(struct race* race, const double times[RACE_CANDIDATES]);
/* Another communicator of this shape has found that; or a rule says it. */
void race_adopt(struct race* race, int choice, double ratio);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_PRELOAD_RACE_H_ */
