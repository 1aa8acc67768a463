/* The race of QUADRILLE=adapt and learn. It says when calls compare schedules with MPI's own collective, and which
 * candidate the other calls follow. It uses neither MPI nor clocks. All ranks pass the same numbers, so all do the
 * same. Times are in seconds. docs/choosing.md describes it for users. Tested by tests/preload/race_test.cc. */
#pragma once

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
  double ratio;              /* its time divided by that of MPI's own: expected or measured */
  enum {
    RACE_WAITS, /* it waits for a first race, since its last race was long ago or never */
    RACE_FRESH, /* it has passed a first race, and waits for a second */
    RACE_KNOWN, /* it was faster than MPI's own in a second race, which chooses only from these */
    RACE_OUT,   /* it was too slow in a race */
    RACE_GONE   /* it does not serve the calls */
  } state;
};

struct race {
  int is_eager;                                      /* races begin at once, at any cost */
  struct race_candidate candidates[RACE_CANDIDATES]; /* the first is MPI's own */
  int count, choice, races;                          /* races: so far */
  int is_settled;                                    /* the choice is more than a guess */
  int64_t calls;                                     /* so far */
  int64_t confirm, interval; /* the call of the next confirming race, and the calls up to it */
  int64_t again;             /* at this call, candidates that are out wait for a race again */
  double usual, native;      /* seconds of a call by the choice, and by MPI's own */
  double barrier;            /* seconds that the barrier of a look costs, with waiting after it */
  double cost;               /* seconds of all races beyond as many usual calls, with preparation */
  /* The next race. Each entrant has two looks: in this order, and then in reverse order. */
  int entrants[RACE_CANDIDATES], entrant_count;
  int calls_of_look; /* calls in a row */
};

/* Returns the calls before the ranks first agree. `is_known`: the candidates are known before that. */
int64_t race_first(const struct race* race, int is_known);
/* Plans the next race. Returns how many calls follow the choice before it. */
int64_t race_plan(struct race* race);
/* Return the number of calls of the planned race, and the candidate that its call `call`, from 0, tries. */
int race_calls(const struct race* race);
int race_candidate_of(const struct race* race, int call);
/* Removes a candidate that does not serve the calls. The caller then plans again. */
void race_drop(struct race* race, int candidate);
/* Ends the race, and chooses. `times`: of a call by each entrant, in their order, the same on all ranks. */
void race_end(struct race* race, const double times[RACE_CANDIDATES]);
/* Takes over a choice and its ratio, which a rule or another communicator of this shape has found. */
void race_adopt(struct race* race, int choice, double ratio);

#ifdef __cplusplus
}
#endif
