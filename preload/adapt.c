/* QUADRILLE=adapt and learn: calls without a rule find out which schedule is faster than MPI's own collective. In
 * mode adapt, so do calls that follow a rule of the rules file.
 *
 * Each communicator has a learner for each collective and class of sizes. Most calls follow its choice. Some take
 * part in a race (race.h). Each look at a candidate begins with a barrier, so that late ranks do not count. After
 * each race the ranks agree on the times. With QUADRILLE=verify, the schedules take turns instead. Tested by
 * tests/preload/adapt_test.sh, choice_test.sh and tune_test.sh. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/preload.h"
#include "preload/race.h"
#include "runtime/execute/datatypes.h"

struct preload_learner {
  struct preload_learner* next;
  struct preload_shape shape;
  int collective, size_class, is_first; /* is_first: at rank 0, which writes the rule */
  int64_t bytes;                        /* of a call; -1 if they are unknown */
  const struct preload_rule* of;        /* the rule that is raced, or NULL */
  struct preload_follower follower;     /* the choice, and the calls until the next race */
  int64_t wait;                         /* `follower.left` when it was last seen */
  struct race race;
  int has_agreed, is_racing;
  int timed, made; /* calls to time before the next step, and how many of them were made */
  int is_open;     /* the last timed call has not ended: its error handler may have left it */
  struct preload_rule looked; /* the rule of the last timed call */
  /* Measured at this rank, in seconds. */
  double usual[2];               /* sums of both halves of the usual calls */
  int64_t sent;                  /* bytes that this rank sent in these calls */
  double looks[RACE_CANDIDATES]; /* of a call: the shorter look at each entrant so far */
  double look, barrier;          /* of a call in the present look; the shortest barrier */
  double preparation;            /* binding since the last race */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct preload_learner* shapes; /* copies: for each shape, the learner with most races */

static int learns(void) { return preload_settings()->mode == PRELOAD_LEARN; }
static int verifies(void) { return preload_settings()->mode == PRELOAD_VERIFY; }

/* ---- Learners */

static struct preload_learner* find(struct preload_learner* in, int collective, int64_t bytes,
                                    const struct preload_rule* of,
                                    const struct preload_shape* shape) {
  const int size_class = preload_size_class(bytes);
  while (in && (in->collective != collective || in->size_class != size_class || in->of != of ||
                memcmp(&in->shape, shape, sizeof *shape) != 0))
    in = in->next;
  return in;
}

static struct preload_learner* find_shared(const struct preload_learner* like) {
  return find(shapes, like->collective, like->bytes, like->of, &like->shape);
}

/* Keeps what the learner has found, for other communicators of this shape. */
static void share(const struct preload_learner* learner) {
  pthread_mutex_lock(&lock);
  struct preload_learner* shared = find_shared(learner);
  if (!shared && (shared = malloc(sizeof *shared))) {
    *shared = *learner;
    shared->size_class = preload_size_class(learner->bytes);
    shared->next = shapes;
    shapes = shared;
  }
  if (shared && learner->race.races >= shared->race.races) {
    shared->race = learner->race;
    shared->follower = learner->follower;
  }
  if (shared) shared->is_first |= learner->is_first;
  pthread_mutex_unlock(&lock);
}

/* Returns the rule of calls that follow the candidate. */
static struct preload_rule rule_for(const struct preload_learner* learner, int candidate) {
  const struct race_candidate* one = &learner->race.candidates[candidate];
  struct preload_rule rule =
      learner->of ? *learner->of : preload_any_rule(learner->collective, learner->shape.groups);
  rule.universal = one->universal;
  rule.block_size = one->block_size;
  rule.native_time = rule.time = 0;
  return rule;
}

static void follow(struct preload_learner* learner, int64_t calls) {
  const struct race* race = &learner->race;
  struct preload_rule* rule = &learner->follower.rule;
  *rule = rule_for(learner, race->choice);
  if (race->native > 0) {
    rule->native_time = race->native;
    rule->time = race->native * race->candidates[race->choice].ratio;
  }
  learner->follower.choices++;
  learner->timed = calls < RACE_USUAL ? 0 : RACE_USUAL;
  learner->wait = learner->follower.left = calls - learner->timed;
  learner->usual[0] = learner->usual[1] = 0;
}

static void add_candidate(struct race* race, int universal, int block_size, double ratio) {
  if (race->count < RACE_CANDIDATES)
    race->candidates[race->count++] =
        (struct race_candidate){.universal = universal, .block_size = block_size, .ratio = ratio};
}

/* Sets the candidates: MPI's own collective, and the rule's schedule, all schedules, or those predicted as best. */
static void find_candidates(struct preload_learner* learner) {
  const struct preload_shape* shape = &learner->shape;
  struct race* race = &learner->race;
  struct preload_predicted predicted[PRELOAD_PREDICTED];
  race->count = 0;
  add_candidate(race, PRELOAD_NATIVE, 0, 1);
  if (learner->of) {
    add_candidate(race, learner->of->universal, learner->of->block_size, 1);
    race_adopt(race, 1, 1);
  } else if (learns() || verifies()) {
    for (int i = 0; i < quadrille_universal_count; i++)
      if (preload_is_scheduled(i, learner->collective, shape->groups)) add_candidate(race, i, 0, 1);
  } else {
    const int count =
        preload_predict(learner->collective, shape, learner->bytes, qd_is_open_mpi(), predicted);
    for (int i = 0; i < count; i++)
      add_candidate(race, predicted[i].rule.universal, predicted[i].rule.block_size,
                    predicted[i].ratio);
  }
}

static struct preload_learner* start(const struct preload_call* call,
                                     const struct preload_rule* of) {
  struct preload_learner* learner = calloc(1, sizeof *learner);
  if (!learner) qd_end_without_memory(call->of->comm);
  learner->shape = call->of->shape;
  learner->collective = call->collective;
  learner->size_class = preload_size_class(call->bytes);
  learner->bytes = call->bytes;
  learner->is_first = call->of->rank == 0;
  learner->of = of;
  learner->race.is_eager = learns();
  find_candidates(learner);
  follow(learner, race_first(&learner->race, call->bytes >= 0 || !preload_is_agreed(call)));
  learner->next = call->of->learners;
  call->of->learners = learner;
  return learner;
}

void preload_learners_free(struct preload_communicator* of) {
  for (struct preload_learner *learner = of->learners, *next; learner; learner = next) {
    next = learner->next;
    free(learner);
  }
}

/* ---- Agreements: the ranks take the greatest of their numbers */

enum { MOST_SECONDS = 1000000000 }; /* stands for RACE_NEVER */

static uint64_t nanoseconds(double seconds) {
  return (uint64_t)(fmin(seconds, MOST_SECONDS) * 1e9);
}

static double seconds_of(uint64_t nanoseconds) {
  const double seconds = (double)nanoseconds * 1e-9;
  return seconds < MOST_SECONDS ? fmax(seconds, 1e-9) : RACE_NEVER;
}

/* Returns what other communicators of this shape have found: races, choice and ratio, in one number. 0: nothing. */
static uint64_t found(const struct preload_learner* learner) {
  uint64_t word = 0;
  pthread_mutex_lock(&lock);
  const struct preload_learner* one = find_shared(learner);
  if (one && one->race.is_settled)
    word = (uint64_t)one->race.races << 40 | (uint64_t)one->race.choice << 32 |
           (uint64_t)(one->race.candidates[one->race.choice].ratio * (1 << 30));
  pthread_mutex_unlock(&lock);
  return word;
}

/* Returns whether calls overlap at different ranks. Those with a root and scans do, so the slowest rank counts. */
static int overlaps(const struct preload_call* call) {
  return preload_collectives[call->collective].direction != PRELOAD_ALL_RANKS ||
         call->collective == PRELOAD_Scan || call->collective == PRELOAD_Exscan;
}

/* Encodes this rank's time. The greatest number of all ranks then encodes the cost of the call. This is the time of
 * the rank that waits least, since the others wait for late ranks. If calls overlap, the slowest rank counts. */
static uint64_t own_cost(const struct preload_call* call, double seconds) {
  return overlaps(call) ? nanoseconds(seconds) : ~nanoseconds(seconds);
}

static double cost_of(const struct preload_call* call, uint64_t greatest) {
  return seconds_of(overlaps(call) ? greatest : ~greatest);
}

static double barrier(struct preload_communicator* of) {
  const double start = PMPI_Wtime();
  PMPI_Barrier(of->comm);
  return PMPI_Wtime() - start;
}

/* Returns the seconds of a usual call, from the half that was disturbed less. */
static double usual_time(const struct preload_learner* learner) {
  return 2 * fmin(learner->usual[0], learner->usual[1]) / RACE_USUAL;
}

/* Lets the ranks agree on the time of a call, and on what other communicators have found. Collective. */
static void agree(const struct preload_call* call, struct preload_learner* learner) {
  struct race* race = &learner->race;
  const double usual = usual_time(learner);
  const double meeting = overlaps(call) ? barrier(call->of) : usual;
  if (learner->bytes < 0 && preload_is_agreed(call)) {
    learner->bytes = preload_agree_on_mean(call->of, learner->sent, RACE_USUAL);
    find_candidates(learner);
  }
  uint64_t mine[4] = {found(learner), nanoseconds(usual), own_cost(call, meeting),
                      preload_loaded_driver()};
  uint64_t all[4];
  qd_allreduce(mine, all, 4, MPI_UINT64_T, MPI_MAX, call->of->comm);
  preload_meet_driver(call->of, (int)all[3]);
  race->usual = seconds_of(all[1]);
  race->barrier = cost_of(call, all[2]);
  if (all[0]) race_adopt(race, all[0] >> 32 & 0xff, (double)(all[0] & 0xffffffff) / (1 << 30));
}

/* Ends the race. For a look of one call, the time of the slowest rank counts. Collective. */
static void conclude(struct preload_call* call, struct preload_learner* learner) {
  struct race* race = &learner->race;
  const int count = race->entrant_count, are_in_a_row = race->calls_of_look > 1;
  const double cost = race->cost;
  uint64_t mine[RACE_CANDIDATES + 4], all[RACE_CANDIDATES + 4];
  double times[RACE_CANDIDATES];
  for (int i = 0; i < count; i++)
    mine[i] = are_in_a_row ? own_cost(call, learner->looks[i]) : nanoseconds(learner->looks[i]);
  mine[count] = own_cost(call, learner->barrier);
  mine[count + 1] = nanoseconds(learner->preparation);
  mine[count + 2] = nanoseconds(usual_time(learner));
  mine[count + 3] = preload_loaded_driver();
  qd_allreduce(mine, all, count + 4, MPI_UINT64_T, MPI_MAX, call->of->comm);
  preload_meet_driver(call->of, (int)all[count + 3]);
  for (int i = 0; i < count; i++)
    times[i] = are_in_a_row ? cost_of(call, all[i]) : seconds_of(all[i]);
  race->barrier = cost_of(call, all[count]);
  race->cost += seconds_of(all[count + 1]);
  if (all[count + 2] > 0) race->usual = seconds_of(all[count + 2]);
  race_end(race, times);
  learner->preparation = 0;
  call->cost = race->cost - cost;
}

/* ---- Calls */

/* Binds the entrants. Drops one that does not serve the communicator, and then returns 0. Collective. */
static int binds_entrants(const struct preload_call* call, struct preload_learner* learner) {
  const struct race* race = &learner->race;
  const double start = PMPI_Wtime();
  struct preload_rule rules[RACE_CANDIDATES];
  int is_bound = race->entrant_count > 0;
  for (int i = 0; i < race->entrant_count; i++) rules[i] = rule_for(learner, race->entrants[i]);
  preload_bind_all(call->of, rules, race->entrant_count);
  for (int i = 1; i < race->entrant_count && is_bound; i++) {
    is_bound = rules[i].universal == PRELOAD_NATIVE || preload_bind(call->of, &rules[i]);
    if (!is_bound) race_drop(&learner->race, race->entrants[i]);
  }
  qd_trim_arena();
  learner->preparation += PMPI_Wtime() - start;
  return is_bound;
}

/* Notes the seconds of the last timed call. */
static void note(struct preload_learner* learner, double seconds) {
  const struct race* race = &learner->race;
  const int last = learner->made - 1;
  learner->is_open = 0;
  if (!learner->is_racing) {
    learner->usual[2 * last / RACE_USUAL] += seconds;
    return;
  }
  learner->look += seconds / race->calls_of_look;
  if (learner->made % race->calls_of_look > 0) return;
  const int look = last / race->calls_of_look, is_first = look < race->entrant_count;
  double* least = &learner->looks[is_first ? look : 2 * race->entrant_count - 1 - look];
  *least = is_first ? learner->look : fmin(*least, learner->look);
}

/* Takes the next step: agrees, begins a race or ends it. All timed calls of the last step were made. Collective. */
static void advance(struct preload_call* call, struct preload_learner* learner) {
  const int was_racing = learner->is_racing;
  if (learner->is_open) note(learner, RACE_NEVER);
  learner->is_racing = learner->has_agreed && !was_racing && binds_entrants(call, learner);
  learner->made = 0;
  if (learner->is_racing) {
    learner->timed = race_calls(&learner->race);
    learner->barrier = RACE_NEVER;
    return;
  }
  if (!learner->has_agreed) agree(call, learner);
  learner->has_agreed = 1;
  if (was_racing) conclude(call, learner);
  follow(learner, race_plan(&learner->race));
  if (was_racing) share(learner);
}

/* Begins a timed call, with a barrier if it is the first of a look. Returns the rule that the call follows. */
static const struct preload_rule* time_call(struct preload_call* call,
                                            struct preload_learner* learner) {
  struct race* race = &learner->race;
  const int is_raced = learner->is_racing;
  if (learner->is_open) note(learner, RACE_NEVER);
  learner->looked = learner->follower.rule;
  if (!is_raced && preload_is_agreed(call)) learner->sent += preload_sent(call);
  if (is_raced) learner->looked = rule_for(learner, race_candidate_of(race, learner->made));
  if (is_raced && learner->made % race->calls_of_look == 0) {
    learner->barrier = fmin(learner->barrier, barrier(call->of));
    learner->look = 0;
  }
  learner->made++;
  learner->is_open = 1;
  race->calls++;
  call->learner = learner;
  call->reason = is_raced ? "compared" : race->races > 0 ? "chosen" : "not yet compared";
  call->started = PMPI_Wtime();
  return &learner->looked;
}

/* QUADRILLE=verify: returns the rule of the schedule whose turn it is. */
static const struct preload_rule* take_turns(struct preload_call* call,
                                             struct preload_learner* learner) {
  struct race* race = &learner->race;
  const int others = race->count - 1;
  call->reason = "in turn";
  learner->looked = rule_for(learner, 0);
  for (int i = 0; i < others; i++) {
    const struct preload_rule rule = rule_for(learner, (int)(1 + race->calls++ % others));
    if (!preload_bind(call->of, &rule)) continue;
    learner->looked = rule;
    break;
  }
  return &learner->looked;
}

const struct preload_rule* preload_learn_begin(struct preload_call* call,
                                               const struct preload_rule* of) {
  struct preload_learner* learner =
      find(call->of->learners, call->collective, call->bytes, of, &call->of->shape);
  if (!learner) learner = start(call, of);
  if (verifies()) return take_turns(call, learner);
  struct race* race = &learner->race;
  struct preload_follower* follower = &learner->follower;
  race->calls += learner->wait - follower->left;
  learner->wait = follower->left;
  while (follower->left == 0 && learner->made == learner->timed) advance(call, learner);
  call->bytes = learner->bytes;
  if (follower->left == 0) return time_call(call, learner);
  follower->left--;
  call->follower = follower;
  if (!of)
    call->reason = race->races > 0 ? "chosen" : "not yet compared";
  else if (race->choice == 0)
    call->reason = "the rule is slower";
  return &follower->rule;
}

void preload_learn_end(struct preload_call* call, double seconds) {
  note(call->learner, call->is_refused ? RACE_NEVER : seconds);
}

/* ---- Rules */

static struct preload_rule rule_of(const struct preload_learner* learner) {
  struct preload_rule rule = learner->follower.rule;
  const struct preload_shape* shape = &learner->shape;
  rule.ranks.least = rule.ranks.most = shape->ranks + shape->remote_ranks;
  if (shape->groups == 1) {
    rule.nodes.least = rule.nodes.most = shape->nodes;
    rule.ranks_a_node = (struct preload_range){shape->least, shape->most};
    if (shape->least < shape->most) rule.even = 0; /* nodes between the two do not fit */
  }
  rule.bytes = preload_class_range(preload_size_class(learner->bytes));
  rule.calls = learner->race.calls;
  return rule;
}

struct preload_settings preload_found_rules(void) {
  struct preload_settings found = {.rule_count = 0};
  pthread_mutex_lock(&lock);
  for (const struct preload_learner* one = shapes; one; one = one->next) {
    const struct preload_rule rule = rule_of(one);
    if (one->is_first && !one->of && one->race.is_settled) preload_add_rule(&found, &rule);
  }
  pthread_mutex_unlock(&lock);
  return found;
}
