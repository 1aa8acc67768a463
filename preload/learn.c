/* QUADRILLE=learn: calls for which there is no rule take turns, MPI's own and the schedules. Those that are far behind after
 * a look are left out; when all others have had their turns, ranks agree on what they take. Of many the fastest may have had
 * luck: it and MPI's own take turns again, and then one of the two is taken from then on. A communicator learns for each collective and
 * class of sizes, and goes on from where all its ranks are with others of its shape. When MPI ends, rank 0 writes what was
 * learned behind the rules that were read; now and then before, what it has learned itself. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/preload.h"

enum { LOOK, ALL, TWO, STAGES };
enum { MOST_TURNS = 16, CANDIDATES = 24, UNDECIDED = -2 };
/* Of each candidate, up to the end of a stage. */
static const int turns[STAGES] = {2, 6, MOST_TURNS};

struct preload_learner {
  struct preload_learner* next;
  int collective, size_class;
  struct preload_shape shape;
  int candidates[CANDIDATES], count; /* PRELOAD_NATIVE first */
  int stage, turn;                   /* calls so far, of the candidates that are left */
  int best;                          /* or UNDECIDED */
  float times[CANDIDATES][MOST_TURNS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct preload_learner* known;   /* what this process knows of shapes */
static struct preload_settings learned; /* its rules */

static struct preload_learner* find(struct preload_learner* in, const struct preload_turn* turn) {
  const int size_class = preload_size_class(turn->bytes);
  while (in && (in->collective != turn->collective || in->size_class != size_class ||
                memcmp(&in->shape, &turn->of->shape, sizeof in->shape) != 0))
    in = in->next;
  return in;
}

/* What tells who is further. */
static int calls_of(const struct preload_learner* learner) {
  return learner->turn + learner->stage * CANDIDATES * MOST_TURNS;
}

/* What was learned on one communicator, for others of its shape. */
static void share(const struct preload_turn* turn) {
  const struct preload_learner* learner = turn->learner;
  pthread_mutex_lock(&lock);
  struct preload_learner* shared = find(known, turn);
  if (!shared) {
    shared = calloc(1, sizeof *shared);
    if (shared) {
      shared->next = known;
      known = shared;
    }
  }
  if (shared && calls_of(learner) >= calls_of(shared)) {
    struct preload_learner* next = shared->next;
    *shared = *learner;
    shared->next = next;
  }
  pthread_mutex_unlock(&lock);
}

static void start(struct preload_learner* learner, const struct preload_turn* turn) {
  memset(learner, 0, sizeof *learner);
  learner->collective = turn->collective;
  learner->size_class = preload_size_class(turn->bytes);
  learner->shape = turn->of->shape;
  learner->best = UNDECIDED;
}

/* How far this process is, in a number that is one for ranks that are equally far. */
static uint64_t progress_of(const struct preload_learner* learner) {
  uint64_t progress = (uint64_t)calls_of(learner) * 1000 + (uint64_t)(learner->best - UNDECIDED);
  for (int i = 0; i < learner->count; i++)
    progress = progress * 1000003 + (uint64_t)(learner->candidates[i] - PRELOAD_NATIVE);
  return progress;
}

/* The schedules that serve the communicator. */
static void find_candidates(struct preload_learner* learner, struct preload_communicator* of) {
  struct preload_rule rule = preload_any_rule(learner->collective, of->shape.groups);
  const char* scheduled = preload_scheduled(learner->collective);
  learner->candidates[learner->count++] = PRELOAD_NATIVE;
  for (int i = 0; i < quadrille_universal_count && learner->count < CANDIDATES; i++) {
    rule.universal = i;
    if (quadrille_universal[i].groups == of->shape.groups &&
        strcmp(quadrille_universal[i].collective, scheduled) == 0 && preload_bind(of, &rule))
      learner->candidates[learner->count++] = i;
  }
}

/* Binds what it will need; starts anew where some of that does not serve this communicator. */
static void prepare(struct preload_learner* learner, const struct preload_turn* turn) {
  struct preload_rule rule = preload_any_rule(turn->collective, turn->of->shape.groups);
  const int is_decided = learner->best != UNDECIDED;
  int serve = is_decided || learner->count > 0;
  for (int i = 0; i < (is_decided ? 1 : learner->count); i++) {
    rule.universal = is_decided ? learner->best : learner->candidates[i];
    serve &= rule.universal == PRELOAD_NATIVE || preload_bind(turn->of, &rule);
  }
  if (serve) return;
  start(learner, turn);
  find_candidates(learner, turn->of);
}

/* NULL where a rank lacks memory. */
static struct preload_learner* learner_of(const struct preload_turn* turn) {
  struct preload_learner *learner = find(turn->of->learners, turn), *shared;
  if (learner) return learner;
  learner = malloc(sizeof *learner);
  if (learner) {
    start(learner, turn);
    pthread_mutex_lock(&lock);
    shared = find(known, turn);
    if (shared) *learner = *shared;
    pthread_mutex_unlock(&lock);
  }
  const uint64_t progress = learner ? progress_of(learner) : 0;
  const uint64_t mine[3] = {learner == NULL, progress, ~progress};
  uint64_t all[3];
  preload_most(turn->of, mine, all, 3, MPI_UINT64_T);
  if (all[0] || !learner) {
    free(learner);
    return NULL;
  }
  if (all[1] != ~all[2]) start(learner, turn);
  prepare(learner, turn);
  learner->next = turn->of->learners;
  turn->of->learners = learner;
  return learner;
}

/* Whose turn it is. In a program whose calls differ in turn, as one there and one back, a candidate gets calls of both
 * kinds: from one round of turns to the next it moves by an odd number of calls. */
static int candidate_of(const struct preload_learner* learner) {
  const int round = learner->turn / learner->count;
  return (learner->turn + (learner->count % 2 ? 0 : round)) % learner->count;
}

void preload_learn_begin(struct preload_turn* turn) {
  struct preload_learner* learner = learner_of(turn);
  if (!learner) return;
  const int is_decided = learner->best != UNDECIDED;
  turn->universal = is_decided ? learner->best : learner->candidates[candidate_of(learner)];
  turn->reason = is_decided ? "learned" : "learning";
  if (!is_decided) turn->learner = learner;
}

static int by_time(const void* a, const void* b) {
  const float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

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
  rule.universal = learner->best;
  rule.time = (double)time;
  rule.native_time = (double)native_time;
  pthread_mutex_lock(&lock);
  preload_add_rule(&learned, &rule);
  pthread_mutex_unlock(&lock);
}

/* After the look: MPI's own, and what is not far behind the fastest. */
static void leave_out(struct preload_learner* learner, const float* all) {
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

/* The mean of the middle half, of calls of two kinds in between; of a look the least. */
static float typical(float* times, int count) {
  const int left_out = count / 4;
  float sum = 0;
  qsort(times, (size_t)count, sizeof *times, by_time);
  if (left_out == 0) return times[0];
  for (int i = left_out; i < count - left_out; i++) sum += times[i];
  return sum / (float)(count - 2 * left_out);
}

/* A call takes as long as its slowest rank. The library's own, unless another is faster by more than 3 %. */
static void decide(const struct preload_communicator* of, struct preload_learner* learner) {
  float mine[CANDIDATES], all[CANDIDATES];
  int best = 0;
  for (int i = 0; i < learner->count; i++)
    mine[i] = typical(learner->times[i], turns[learner->stage]);
  preload_most(of, mine, all, learner->count, MPI_FLOAT);
  if (learner->stage == LOOK) return leave_out(learner, all);
  for (int i = 1; i < learner->count; i++)
    if (all[i] < all[best] && all[i] < 0.97F * all[0]) best = i;
  if (best > 0 && learner->stage == ALL) {
    learner->candidates[1] = learner->candidates[best];
    learner->count = 2;
    learner->stage = TWO;
    learner->turn = 0;
    return;
  }
  learner->best = learner->candidates[best];
  if (of->rank == 0) note(of, learner, all[best], all[0]);
}

void preload_learn_end(struct preload_turn* turn, double seconds) {
  struct preload_learner* learner = turn->learner;
  learner->times[candidate_of(learner)][learner->turn / learner->count] = (float)seconds;
  if (++learner->turn == learner->count * turns[learner->stage]) decide(turn->of, learner);
  share(turn);
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

/* Of communicators of one shape, the one that gained least. */
static void merge(struct preload_settings* rules, const struct preload_rule* added) {
  for (int i = 0; i < rules->rule_count; i++) {
    if (!is_same_cell(&rules->rules[i], added)) continue;
    if (gain(added) < gain(&rules->rules[i])) rules->rules[i] = *added;
    return;
  }
  preload_add_rule(rules, added);
}

static void write_file(const struct preload_settings* rules, const char* path) {
  FILE* file = preload_open(path);
  if (file) preload_print_rules(file, rules);
  if (!preload_close(file, path))
    fprintf(stderr, "quadrille: the rules could not be written to %s\n", path);
}

/* The rules that were read, and these. */
static void write_rules(const struct preload_rule* rules, int count) {
  const struct preload_settings* settings = preload_settings();
  struct preload_settings written = {.rule_count = 0};
  for (int i = settings->first_of_file; i < settings->rule_count; i++)
    preload_add_rule(&written, &settings->rules[i]);
  for (int i = 0; i < count; i++) merge(&written, &rules[i]);
  write_file(&written, settings->rules_file);
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
  const int mine = learns();
  size_t size = 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!all) return;
  struct preload_rule* rules =
      preload_gather(learned.rules, (size_t)learned.rule_count * sizeof *rules, &size);
  if (!rules) return;
  write_rules(rules, (int)(size / sizeof *rules));
  free(rules);
}
