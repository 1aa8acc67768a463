/* QUADRILLE=adapt and learn: calls without a rule find out which schedule is faster than MPI's own collective.
 *
 * Each communicator has a learner for each collective and class of sizes. Most calls follow its choice. Some are compared, as
 * policy.h says. Each look at a candidate begins with a barrier, so that late ranks do not count. After each comparison the ranks agree on the
 * times of the slowest rank. QUADRILLE=verify lets the schedules take turns. Tested by tests/preload/adapt_test.sh,
 * choice_test.sh and tune_test.sh. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/policy.h"
#include "preload/preload.h"
#include "runtime/execute/arena.h"
#include "runtime/execute/datatypes.h"

struct preload_learner {
  struct preload_learner* next;
  struct preload_shape shape;
  int collective, size_class, is_first; /* is_first: at the first rank, which writes the rule */
  struct preload_follower follower;     /* the choice, and the calls until the next comparison */
  int64_t wait;                         /* the calls that follow it, in all */
  struct policy policy;
  int is_prepared;               /* the policy has candidates */
  int usual_calls, looked_calls; /* calls so far of the comparison under way */
  double usual[2];               /* seconds of the two halves of the first of these, at this rank */
  int is_open; /* the last of them has not ended; its error handler may have left it */
  struct preload_rule looked;   /* what the last of them follows */
  double seconds[POLICY_LOOKS]; /* of each look, at this rank */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct preload_learner* shapes; /* the furthest learner of each shape in this process */

static int learns(void) { return preload_settings()->mode == PRELOAD_LEARN; }
static int verifies(void) { return preload_settings()->mode == PRELOAD_VERIFY; }

/* ---- Learners */

static struct preload_learner* find(struct preload_learner* in, const struct preload_call* call,
                                    const struct preload_shape* shape) {
  const int size_class = preload_size_class(call->bytes);
  while (in && (in->collective != call->collective || in->size_class != size_class ||
                (shape && memcmp(&in->shape, shape, sizeof *shape) != 0)))
    in = in->next;
  return in;
}

/* Keeps the findings, for other communicators of this shape. */
static void share(const struct preload_call* call, const struct preload_learner* learner) {
  pthread_mutex_lock(&lock);
  struct preload_learner* shared = find(shapes, call, &learner->shape);
  if (!shared && (shared = malloc(sizeof *shared))) {
    *shared = *learner;
    shared->next = shapes;
    shapes = shared;
  }
  if (shared && learner->policy.comparisons >= shared->policy.comparisons) {
    shared->policy = learner->policy;
    shared->follower = learner->follower;
  }
  if (shared) shared->is_first |= learner->is_first;
  pthread_mutex_unlock(&lock);
}

static void name_candidate(struct preload_rule* rule, const struct policy_candidate* one) {
  rule->universal = one->universal;
  rule->block_size = one->block_size;
}

static void follow(struct preload_learner* learner, int64_t calls) {
  const struct policy* policy = &learner->policy;
  struct preload_rule* rule = &learner->follower.rule;
  name_candidate(rule, &policy->candidates[policy->choice]);
  rule->native_time = policy->natives_seen > 0 ? policy_native_time(policy) : 0;
  rule->time = policy->natives_seen > 0 ? policy_time(policy) : 0;
  learner->follower.choices++;
  learner->wait = learner->follower.left = calls;
}

/* How many calls take as long as a barrier, as a guess. Short calls with a root overlap at different ranks, and so do scans. */
static double barrier_in_calls(const struct preload_call* call) {
  enum { LONG = 65536 }; /* bytes, of all blocks */
  const struct preload_facts* facts = &preload_collectives[call->collective];
  const int is_one = facts->size == PRELOAD_VECTOR || call->collective == PRELOAD_Bcast;
  const int64_t bytes = call->bytes * (is_one ? 1 : call->of->shape.ranks);
  const int overlaps = facts->direction != PRELOAD_ALL_RANKS || call->collective == PRELOAD_Scan ||
                       call->collective == PRELOAD_Exscan;
  return overlaps && bytes < LONG ? 10 : 1;
}

static struct preload_learner* start(const struct preload_call* call) {
  struct preload_learner* learner = calloc(1, sizeof *learner);
  if (!learner) preload_end_without_memory(call->of->comm);
  learner->collective = call->collective;
  learner->size_class = preload_size_class(call->bytes);
  learner->is_first = call->of->rank == 0;
  learner->follower.rule = preload_any_rule(call->collective, call->of->shape.groups);
  learner->policy.candidates[0].universal = PRELOAD_NATIVE;
  follow(learner, learns() ? 0 : policy_first(barrier_in_calls(call)));
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

/* Whether the candidate serves the communicator. Binds it. */
static int serves(const struct preload_call* call, const struct policy_candidate* one) {
  struct preload_rule rule = preload_any_rule(call->collective, call->of->shape.groups);
  name_candidate(&rule, one);
  return one->universal == PRELOAD_NATIVE || preload_bind(call->of, &rule);
}

static void add_candidate(struct policy* policy, int universal, int block_size) {
  if (policy->count < POLICY_CANDIDATES)
    policy->candidates[policy->count++] =
        (struct policy_candidate){.universal = universal, .block_size = block_size};
}

/* MPI's own and schedules of the collective: all of them, or the best that are predicted. */
static void find_candidates(const struct preload_call* call, struct policy* policy) {
  struct preload_rule predicted[PRELOAD_PREDICTED];
  add_candidate(policy, PRELOAD_NATIVE, 0);
  if (learns() || verifies()) {
    for (int i = 0; i < quadrille_universal_count; i++)
      if (preload_is_scheduled(i, call->collective, call->of->shape.groups))
        add_candidate(policy, i, 0);
    return;
  }
  const int count = preload_predict(call->collective, &call->of->shape, call->bytes, predicted);
  for (int i = 0; i < count; i++)
    add_candidate(policy, predicted[i].universal, predicted[i].block_size);
}

/* A number that is the same for policies in the same state. */
static uint64_t hash_of(const struct policy* policy) {
  uint64_t hash = PRELOAD_HASH;
#define TAKE(part) hash = preload_hash(hash, &(part), sizeof(part))
  TAKE(policy->count);
  TAKE(policy->choice);
  TAKE(policy->calls);
  TAKE(policy->comparisons);
  TAKE(policy->debt);
  TAKE(policy->usual_time);
  TAKE(policy->native_time);
  TAKE(policy->barrier);
  TAKE(policy->cost);
  TAKE(policy->paid);
  TAKE(policy->is_settled);
  TAKE(policy->other);
  TAKE(policy->natives_seen);
  TAKE(policy->natives);
  for (int i = 0; i < policy->count; i++) {
    const struct policy_candidate* one = &policy->candidates[i];
    TAKE(one->universal);
    TAKE(one->level);
    TAKE(one->seen);
    TAKE(one->is_far);
    TAKE(one->rests_until);
    TAKE(one->ratios);
  }
#undef TAKE
  return hash;
}

/* Takes what another communicator of this shape has found, if that is the same at all ranks, and else begins anew. Collective. */
static void prepare(const struct preload_call* call, struct preload_learner* learner) {
  struct policy* policy = &learner->policy;
  const int64_t calls = policy->calls;
  learner->is_prepared = 1;
  learner->shape = call->of->shape;
  pthread_mutex_lock(&lock);
  const struct preload_learner* shared = find(shapes, call, &learner->shape);
  if (shared) *policy = shared->policy;
  pthread_mutex_unlock(&lock);
  const uint64_t mine[3] = {hash_of(policy), ~hash_of(policy), qd_loaded_driver()};
  uint64_t all[3];
  preload_most(call->of, mine, all, 3, MPI_UINT64_T);
  preload_meet_driver(call->of, (int)all[2]);
  if (all[0] != ~all[1] || policy->count == 0) {
    *policy = (struct policy){.is_eager = learns(), .calls = calls, .barrier = POLICY_NEVER};
    find_candidates(call, policy);
  }
}

/* Plans the next comparison or probe, and follows the choice until then. Binds what will be compared; what does not serve the
 * communicator never will. Collective. */
static void plan(const struct preload_call* call, struct preload_learner* learner) {
  struct policy* policy = &learner->policy;
  int64_t calls = policy_plan(policy);
  while (!policy_is_idle(policy) && !serves(call, &policy->candidates[policy->other])) {
    policy_drop(policy);
    calls = policy_plan(policy);
  }
  qd_trim_arena();
  follow(learner, calls);
}

/* ---- Calls */

/* The rule of a call that follows this candidate. */
static const struct preload_rule* looked(struct preload_learner* learner,
                                         const struct policy_candidate* one) {
  learner->looked = learner->follower.rule;
  learner->looked.native_time = learner->looked.time = 0;
  name_candidate(&learner->looked, one);
  return &learner->looked;
}

/* The look of the last call. */
static int last_look(const struct preload_learner* learner) {
  return (learner->looked_calls - 1) / learner->policy.calls_of_look;
}

/* The half of the usual calls that has the last call. */
static int usual_half(const struct preload_learner* learner) {
  return (learner->usual_calls - 1) * 2 / POLICY_USUAL;
}

/* Notes that the last call has not ended, if so. */
static void close_call(struct preload_learner* learner) {
  if (!learner->is_open) return;
  if (learner->looked_calls > 0)
    learner->seconds[last_look(learner)] = POLICY_NEVER;
  else
    learner->usual[usual_half(learner)] = POLICY_NEVER;
  learner->is_open = 0;
}

/* Agrees on the times, and chooses. Collective. */
static void end_comparison(struct preload_call* call, struct preload_learner* learner) {
  const double cost = learner->policy.cost;
  close_call(learner);
  double mine[POLICY_TIMES + 1], all[POLICY_TIMES + 1];
  policy_summarize(&learner->policy, learner->usual, learner->seconds, mine);
  mine[POLICY_TIMES] = qd_loaded_driver();
  preload_most(call->of, mine, all, POLICY_TIMES + 1, MPI_DOUBLE);
  preload_meet_driver(call->of, (int)all[POLICY_TIMES]);
  policy_end(&learner->policy, all);
  call->cost = learner->policy.cost - cost;
  learner->looked_calls = learner->usual_calls = 0;
  memset(learner->usual, 0, sizeof learner->usual);
}

/* A call before the looks, or of a probe. It follows the choice. */
static const struct preload_rule* look_as_usual(struct preload_call* call,
                                                struct preload_learner* learner) {
  close_call(learner);
  learner->usual_calls++;
  learner->is_open = 1;
  learner->policy.calls++;
  call->learner = learner;
  call->started = PMPI_Wtime();
  call->reason = learner->policy.comparisons > 0 ? "chosen" : "not yet compared";
  return &learner->follower.rule;
}

/* A call of a look begins, the first one with a barrier. Returns the rule that it follows. */
static const struct preload_rule* look(struct preload_call* call, struct preload_learner* learner) {
  struct policy* policy = &learner->policy;
  const int number = learner->looked_calls / policy->calls_of_look;
  close_call(learner);
  if (learner->looked_calls % policy->calls_of_look == 0) {
    if (number == 0) policy->barrier = POLICY_NEVER;
    const double start = PMPI_Wtime();
    PMPI_Barrier(call->of->comm);
    policy->barrier = fmin(policy->barrier, PMPI_Wtime() - start);
    learner->seconds[number] = 0;
  }
  learner->looked_calls++;
  learner->is_open = 1;
  policy->calls++;
  call->learner = learner;
  call->reason = "compared";
  call->started = PMPI_Wtime();
  return looked(learner, &policy->candidates[policy_candidate_of(policy, number)]);
}

/* QUADRILLE=verify: the schedules take turns. */
static const struct preload_rule* take_turns(struct preload_call* call,
                                             struct preload_learner* learner) {
  struct policy* policy = &learner->policy;
  if (!learner->is_prepared) prepare(call, learner);
  const int others = policy->count - 1;
  call->reason = "in turn";
  for (int i = 0; i < others; i++) {
    const struct policy_candidate* one = &policy->candidates[1 + policy->calls++ % others];
    if (serves(call, one)) return looked(learner, one);
  }
  return looked(learner, &policy->candidates[0]);
}

/* The calls before the looks. */
static int usual_calls(const struct preload_learner* learner) {
  return learner->policy.is_eager ? 0 : POLICY_USUAL;
}

/* Whether all calls of the comparison or probe were made. */
static int is_over(const struct preload_learner* learner) {
  return learner->usual_calls == usual_calls(learner) &&
         learner->looked_calls == learner->policy.looks * learner->policy.calls_of_look;
}

const struct preload_rule* preload_learn_begin(struct preload_call* call) {
  struct preload_learner* learner = find(call->of->learners, call, NULL);
  if (!learner) learner = start(call);
  if (verifies()) return take_turns(call, learner);
  struct policy* policy = &learner->policy;
  struct preload_follower* follower = &learner->follower;
  policy->calls += learner->wait - follower->left;
  learner->wait = follower->left;
  if (follower->left == 0 && !learner->is_prepared) {
    const double start = PMPI_Wtime();
    prepare(call, learner);
    plan(call, learner);
    call->cost = PMPI_Wtime() - start;
  } else if (follower->left == 0 && is_over(learner)) {
    end_comparison(call, learner);
    plan(call, learner);
    share(call, learner);
  }
  if (follower->left == 0 && policy_is_idle(policy)) plan(call, learner);
  if (follower->left == 0)
    return learner->usual_calls < usual_calls(learner) ? look_as_usual(call, learner)
                                                       : look(call, learner);
  follower->left--;
  call->follower = follower;
  call->reason = policy->comparisons > 0 ? "chosen" : "not yet compared";
  return &follower->rule;
}

void preload_learn_end(struct preload_call* call, double seconds) {
  struct preload_learner* learner = call->learner;
  if (call->is_refused) seconds = POLICY_NEVER;
  learner->is_open = 0;
  if (learner->looked_calls > 0)
    learner->seconds[last_look(learner)] += seconds;
  else
    learner->usual[usual_half(learner)] += seconds;
}

/* ---- Rules */

int preload_keeps_rules(void) {
  const struct preload_settings* settings = preload_settings();
  return !settings->error[0] && settings->rules_file && preload_finds_rules(settings->mode);
}

/* Reads the rules that the file has now: users and other jobs may have changed it since this job began. Without a file they are
 * the rules of the beginning. Returns 0 if they cannot be read, and says why. */
static int read_present(struct preload_settings* present) {
  const struct preload_settings* settings = preload_settings();
  size_t length = 0;
  char* text = (char*)preload_read(settings->rules_file, PRELOAD_MOST_RULES, &length);
  int is_read = text || errno == ENOENT;
  if (!is_read)
    fprintf(stderr, "quadrille: %s: %s\n", settings->rules_file, preload_unread_reason());
  for (int i = settings->first_of_file; is_read && !text && i < settings->rule_count; i++)
    is_read = preload_add_rule(present, &settings->rules[i]);
  if (text && !preload_read_rules(settings->rules_file, text, length, present)) {
    fprintf(stderr, "quadrille: %s\n", present->error);
    is_read = 0;
  }
  free(text);
  return is_read;
}

/* Writes the rules of the file in their order, and then this job's own. No other job writes meanwhile. Of rules for the same
 * calls only this job's stay. */
static void write_rules(const struct preload_rule* found, int count, int job_ends) {
  static struct preload_settings written; /* the job's own rules, the last time */
  const char* const path = preload_settings()->rules_file;
  struct preload_settings present = {.mode = PRELOAD_LEARN}, own = {.rule_count = 0},
                          all = {.rule_count = 0};
  FILE* file = preload_open(path, job_ends);
  if (!file && errno == EAGAIN && !job_ends) return; /* they are written later */
  int is_good = file && read_present(&present);
  for (int i = 0; is_good && i < count; i++) is_good = preload_merge_rule(&own, &found[i]);
  for (int i = 0; is_good && i < present.rule_count; i++)
    is_good = preload_rule_for_same(&own, &present.rules[i]) ||
              preload_rule_for_same(&written, &present.rules[i]) ||
              preload_add_rule(&all, &present.rules[i]);
  for (int i = 0; is_good && i < own.rule_count; i++)
    is_good = preload_add_rule(&all, &own.rules[i]);
  if (is_good) preload_print_rules(file, &all);
  preload_close(file, path, "rules", is_good);
  free(present.rules);
  free(all.rules);
  free(is_good ? written.rules : own.rules);
  if (is_good) written = own;
}

static struct preload_rule rule_of(const struct preload_learner* learner) {
  struct preload_rule rule = learner->follower.rule;
  const struct preload_shape* shape = &learner->shape;
  rule.ranks.least = rule.ranks.most = shape->ranks + shape->remote_ranks;
  if (shape->groups == 1) {
    rule.nodes.least = rule.nodes.most = shape->nodes;
    rule.ranks_a_node = (struct preload_range){shape->least, shape->most};
    if (shape->least < shape->most) rule.even = 0; /* nodes between the two do not fit */
  }
  rule.bytes = preload_class_range(learner->size_class);
  rule.native_time = policy_native_time(&learner->policy);
  rule.time = policy_time(&learner->policy);
  rule.calls = learner->policy.calls;
  return rule;
}

/* Whether the choice is for a rule. Early calls whose bytes the ranks have not agreed on yet are not like later ones. */
static int is_found(const struct preload_learner* one) {
  const int is_early = one->size_class < 0 && one->shape.groups == 1 &&
                       preload_collectives[one->collective].size == PRELOAD_AGREED_MEAN;
  return one->is_first && !is_early && (one->policy.is_settled || one->policy.choice > 0);
}

/* The rules that first ranks of communicators have found, in memory that the caller frees. */
static struct preload_settings found_rules(void) {
  struct preload_settings found = {.rule_count = 0};
  pthread_mutex_lock(&lock);
  for (const struct preload_learner* one = shapes; one; one = one->next) {
    const struct preload_rule rule = rule_of(one);
    if (is_found(one)) preload_add_rule(&found, &rule);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

void preload_learn_save(void) {
  if (!preload_keeps_rules()) return;
  struct preload_settings found = found_rules();
  if (found.rule_count > 0) write_rules(found.rules, found.rule_count, 0);
  free(found.rules);
}

void preload_learn_write(void) {
  size_t size = 0;
  struct preload_settings found = found_rules();
  struct preload_rule* rules = preload_gather(preload_keeps_rules(), found.rules,
                                              (size_t)found.rule_count * sizeof *rules, &size);
  free(found.rules);
  if (rules && size > 0) write_rules(rules, (int)(size / sizeof *rules), 1);
  free(rules);
}
