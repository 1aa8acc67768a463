/* QUADRILLE=learn: MPI's own collective and the schedules take turns at calls that have no rule, in three stages. A first look
 * drops the candidates that are far behind. The others take more turns, and the ranks agree on their times. The fastest may have
 * been lucky, so it and MPI's own take turns once more, and one of them then serves the communicator.
 *
 * A communicator learns for each collective and class of sizes. It continues from what all its ranks learned on others of its
 * shape. When MPI ends, rank 0 writes the rules that were read and those that were learned. Every choice depends on agreed
 * times only, so ranks never differ. Tested by tests/preload/choice_test.sh and tune_test.sh. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/preload.h"

enum { LOOK, ALL, TWO, DECIDED };
enum { MOST_TURNS = 16, CANDIDATES = 24 };
/* The number of turns of each candidate at the end of each stage. */
static const int turns[DECIDED] = {2, 6, MOST_TURNS};

struct preload_learner {
  struct preload_learner* next;
  int collective, size_class;
  struct preload_shape shape;
  int candidates[CANDIDATES],
      count;       /* PRELOAD_NATIVE first; only the best one once it is decided */
  int stage, turn; /* the turns of the remaining candidates so far */
  float times[CANDIDATES][MOST_TURNS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct preload_learner* shapes;  /* the furthest learner of each shape in this process */
static struct preload_settings learned; /* the rules of this rank */

static struct preload_learner* find(struct preload_learner* in, const struct preload_call* call) {
  const int size_class = preload_size_class(call->bytes);
  while (in && (in->collective != call->collective || in->size_class != size_class ||
                memcmp(&in->shape, &call->of->shape, sizeof in->shape) != 0))
    in = in->next;
  return in;
}

/* Grows as the learner makes progress. */
static int calls_of(const struct preload_learner* learner) {
  return learner->turn + learner->stage * CANDIDATES * MOST_TURNS;
}

/* Keeps the results of this communicator, for others of its shape. */
static void share(const struct preload_call* call) {
  const struct preload_learner* learner = call->learner;
  pthread_mutex_lock(&lock);
  struct preload_learner* shared = find(shapes, call);
  if (!shared && (shared = calloc(1, sizeof *shared))) {
    shared->next = shapes;
    shapes = shared;
  }
  if (shared && calls_of(learner) >= calls_of(shared)) {
    struct preload_learner* next = shared->next;
    *shared = *learner;
    shared->next = next;
  }
  pthread_mutex_unlock(&lock);
}

static void start(struct preload_learner* learner, const struct preload_call* call) {
  memset(learner, 0, sizeof *learner);
  learner->collective = call->collective;
  learner->size_class = preload_size_class(call->bytes);
  learner->shape = call->of->shape;
}

/* The progress as a number, the same for ranks that have come equally far with the same candidates. */
static uint64_t progress_of(const struct preload_learner* learner) {
  uint64_t progress = (uint64_t)calls_of(learner);
  for (int i = 0; i < learner->count; i++)
    progress = progress * 1000003 + (uint64_t)(learner->candidates[i] - PRELOAD_NATIVE);
  return progress;
}

/* Whether the candidate serves the communicator. Binds it. */
static int serves(const struct preload_call* call, int universal) {
  struct preload_rule rule = preload_any_rule(call->collective, call->of->shape.groups);
  rule.universal = universal;
  return universal == PRELOAD_NATIVE || preload_bind(call->of, &rule);
}

/* Binds candidates that were learned elsewhere. If there are none, or if one does not serve this communicator, it starts anew
 * with all that do. */
static void prepare(struct preload_learner* learner, const struct preload_call* call) {
  int all_serve = learner->count > 0;
  for (int i = 0; i < learner->count; i++) all_serve &= serves(call, learner->candidates[i]);
  if (all_serve) return;
  start(learner, call);
  learner->candidates[learner->count++] = PRELOAD_NATIVE;
  for (int i = 0; i < quadrille_universal_count && learner->count < CANDIDATES; i++)
    if (preload_is_scheduled(i, call->collective, call->of->shape.groups) && serves(call, i))
      learner->candidates[learner->count++] = i;
}

/* The learner of this kind of calls, found or made. NULL if memory ran out at a rank. */
static struct preload_learner* learner_of(const struct preload_call* call) {
  struct preload_learner *learner = find(call->of->learners, call), *shared;
  if (learner) return learner;
  learner = malloc(sizeof *learner);
  if (learner) {
    start(learner, call);
    pthread_mutex_lock(&lock);
    shared = find(shapes, call);
    if (shared) *learner = *shared;
    pthread_mutex_unlock(&lock);
  }
  const uint64_t progress = learner ? progress_of(learner) : 0;
  const uint64_t mine[3] = {learner == NULL, progress, ~progress};
  uint64_t all[3];
  preload_most(call->of, mine, all, 3, MPI_UINT64_T);
  if (all[0] || !learner) {
    free(learner);
    return NULL;
  }
  if (all[1] != ~all[2]) start(learner, call);
  prepare(learner, call);
  learner->next = call->of->learners;
  call->of->learners = learner;
  return learner;
}

/* Whose turn it is. A program may alternate between two kinds of calls. A candidate therefore moves by an odd number of calls
 * from one round to the next, so that it gets both kinds. */
static int candidate_of(const struct preload_learner* learner) {
  const int round = learner->turn / learner->count;
  return (learner->turn + (learner->count % 2 ? 0 : round)) % learner->count;
}

void preload_learn_begin(struct preload_call* call) {
  struct preload_learner* learner = learner_of(call);
  if (!learner) return;
  const int is_decided = learner->stage == DECIDED;
  call->universal = learner->candidates[candidate_of(learner)];
  call->reason = is_decided ? "learned" : "learning";
  if (!is_decided) call->learner = learner;
}

static int by_time(const void* a, const void* b) {
  const float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

/* Adds the rule that was learned. */
static void note(const struct preload_communicator* of, const struct preload_learner* learner,
                 float time, float native_time) {
  struct preload_rule rule = preload_any_rule(learner->collective, of->shape.groups);
  const struct preload_shape* shape = &of->shape;
  rule.ranks.least = rule.ranks.most = shape->ranks + shape->remote_ranks;
  if (shape->groups == 1) {
    rule.nodes.least = rule.nodes.most = shape->nodes;
    rule.ranks_a_node = (struct preload_range){shape->least, shape->most};
  }
  rule.bytes = preload_class_range(learner->size_class);
  rule.universal = learner->candidates[0];
  rule.time = (double)time;
  rule.native_time = (double)native_time;
  pthread_mutex_lock(&lock);
  preload_add_rule(&learned, &rule);
  pthread_mutex_unlock(&lock);
}

/* Ends the first look: keeps MPI's own and the candidates that are not far behind the fastest. */
static void drop_slow(struct preload_learner* learner, const float* all) {
  float least = all[0];
  int count = 1;
  for (int i = 1; i < learner->count; i++) least = all[i] < least ? all[i] : least;
  for (int i = 1; i < learner->count; i++) {
    if (all[i] > 1.5F * least) continue;
    learner->candidates[count] = learner->candidates[i];
    memcpy(learner->times[count++], learner->times[i], sizeof learner->times[i]);
  }
  learner->count = count;
  learner->stage = ALL;
  learner->turn = count * turns[LOOK];
}

/* The mean of the middle half; after a first look, the least. If two kinds of calls alternate, the middle half has
 * both. */
static float typical(float* times, int count) {
  const int dropped = count / 4;
  float sum = 0;
  qsort(times, (size_t)count, sizeof *times, by_time);
  if (dropped == 0) return times[0];
  for (int i = dropped; i < count - dropped; i++) sum += times[i];
  return sum / (float)(count - 2 * dropped);
}

/* Ends a stage. A call takes as long as at its slowest rank. A schedule wins if it is faster than MPI's own by more than 3 %. */
static void decide(const struct preload_communicator* of, struct preload_learner* learner) {
  float mine[CANDIDATES], all[CANDIDATES];
  int best = 0;
  for (int i = 0; i < learner->count; i++)
    mine[i] = typical(learner->times[i], turns[learner->stage]);
  preload_most(of, mine, all, learner->count, MPI_FLOAT);
  if (learner->stage == LOOK) return drop_slow(learner, all);
  for (int i = 1; i < learner->count; i++)
    if (all[i] < all[best] && all[i] < 0.97F * all[0]) best = i;
  const int is_last = best == 0 || learner->stage == TWO;
  learner->candidates[is_last ? 0 : 1] = learner->candidates[best];
  learner->count = is_last ? 1 : 2;
  learner->stage = is_last ? DECIDED : TWO;
  learner->turn = 0;
  if (is_last && of->rank == 0) note(of, learner, all[best], all[0]);
}

void preload_learn_end(struct preload_call* call, double seconds) {
  struct preload_learner* learner = call->learner;
  learner->times[candidate_of(learner)][learner->turn / learner->count] = (float)seconds;
  if (++learner->turn == learner->count * turns[learner->stage]) decide(call->of, learner);
  share(call);
}

void preload_learners_free(struct preload_communicator* of) {
  for (struct preload_learner *learner = of->learners, *next; learner; learner = next) {
    next = learner->next;
    free(learner);
  }
}

static int is_same_cell(const struct preload_rule* a, const struct preload_rule* b) {
  return a->collective == b->collective && a->groups == b->groups &&
         memcmp(&a->nodes, &b->nodes, 4 * sizeof a->nodes) == 0;
}

static double gain(const struct preload_rule* rule) { return rule->native_time / rule->time; }

/* Communicators of one shape share a rule: that of the least gain. */
static void merge(struct preload_settings* rules, const struct preload_rule* added) {
  for (int i = 0; i < rules->rule_count; i++) {
    if (!is_same_cell(&rules->rules[i], added)) continue;
    if (gain(added) < gain(&rules->rules[i])) rules->rules[i] = *added;
    return;
  }
  preload_add_rule(rules, added);
}

/* Writes the rules from the file, then the learned ones. */
static void write_rules(const struct preload_rule* rules, int count) {
  const struct preload_settings* settings = preload_settings();
  struct preload_settings written = {.rule_count = 0};
  for (int i = settings->first_of_file; i < settings->rule_count; i++)
    preload_add_rule(&written, &settings->rules[i]);
  for (int i = 0; i < count; i++) merge(&written, &rules[i]);
  FILE* file = preload_open(settings->rules_file);
  if (file) preload_print_rules(file, &written);
  preload_close(file, settings->rules_file, "rules");
  free(written.rules);
}

static int learns(void) {
  const struct preload_settings* settings = preload_settings();
  return settings->mode == PRELOAD_LEARN && !settings->error[0];
}

void preload_learn_save(void) {
  if (!learns()) return;
  pthread_mutex_lock(&lock);
  if (learned.rule_count > 0) write_rules(learned.rules, learned.rule_count);
  pthread_mutex_unlock(&lock);
}

void preload_learn_write(void) {
  size_t size = 0;
  struct preload_rule* rules =
      preload_gather(learns(), learned.rules, (size_t)learned.rule_count * sizeof *rules, &size);
  if (!rules) return;
  write_rules(rules, (int)(size / sizeof *rules));
  free(rules);
}
