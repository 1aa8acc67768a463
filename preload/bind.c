/* Loads a schedule at its first use, and binds it to a communicator at the first call there that follows it. Binding
 * fails at all ranks or at none, so all leave a call to MPI together. Tested by tests/preload/corners_test.sh. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/preload.h"

static quadrille_schedule* handles; /* of all schedules */

static void make_handles(void) {
  qd_serve_preload();
  handles = calloc((size_t)preload_schedule_count(), sizeof *handles);
  if (!handles) qd_end_without_memory(MPI_COMM_WORLD);
}

/* The caller holds the lock. */
static void load(const struct quadrille_universal* universal, quadrille_schedule* to) {
  quadrille_schedule handle = QUADRILLE_SCHEDULE_NULL;
  /* If memory ran out, a later call tries again. */
  if (quadrille_load_memory(universal->bytes, universal->length, &handle) != MPI_SUCCESS &&
      handle != QUADRILLE_SCHEDULE_NULL)
    quadrille_free(&handle);
  __atomic_store_n(to, handle, __ATOMIC_RELEASE);
}

quadrille_schedule preload_handle(int universal) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_once(&once, make_handles);
  quadrille_schedule* handle = &handles[universal];
  if (__atomic_load_n(handle, __ATOMIC_ACQUIRE) != QUADRILLE_SCHEDULE_NULL) return *handle;
  pthread_mutex_lock(&lock);
  if (*handle == QUADRILLE_SCHEDULE_NULL) load(preload_schedule(universal), handle);
  pthread_mutex_unlock(&lock);
  return *handle;
}

int preload_has_canonical_sums(int universal) {
  quadrille_schedule_info info = {.size = sizeof info};
  return universal != PRELOAD_NATIVE &&
         quadrille_info(preload_handle(universal), &info) == MPI_SUCCESS && info.canonical;
}

static int is_same(const quadrille_bind_options* a, const quadrille_bind_options* b) {
  return a->window == b->window && a->block_size == b->block_size;
}

/* Returns whether the last binding was with these options, even if it was refused. */
static int is_current(const struct preload_bound* bound, const quadrille_bind_options* wanted) {
  return bound->state != PRELOAD_UNBOUND && is_same(&bound->now, wanted);
}

static int has_agreed(const struct preload_bound* bound, const quadrille_bind_options* wanted) {
  for (unsigned i = 0; i < bound->agreements && i < PRELOAD_AGREED; i++)
    if (is_same(&bound->agreed[i], wanted)) return 1;
  return 0;
}

static quadrille_bind_options options_of(const struct preload_rule* rule) {
  return (quadrille_bind_options){.size = sizeof(quadrille_bind_options),
                                  .window = rule->window,
                                  .block_size = rule->block_size};
}

/* Gives a bound schedule other options, with which all ranks could bind it before. */
static void retune(struct preload_communicator* of, int universal,
                   const quadrille_bind_options* known) {
  quadrille_retune(preload_handle(universal), of->comm, known);
  of->bound[universal].now = *known;
}

/* Ends a binding that all ranks have tried. If a rank failed, an earlier binding stays, with its options. */
static void end_binding(struct preload_communicator* of, const struct preload_rule* rule,
                        int failed) {
  struct preload_bound* bound = &of->bound[rule->universal];
  const quadrille_bind_options wanted = options_of(rule);
  if (failed && bound->state == PRELOAD_BOUND) return retune(of, rule->universal, &bound->now);
  bound->state = failed ? PRELOAD_REFUSED : PRELOAD_BOUND;
  bound->now = wanted;
  if (failed) return;
  qd_bound(preload_handle(rule->universal), of->comm, of->tag);
  /* Options drop out of `agreed`. No rank may make a kept call with them while others agree on them anew. */
  if (bound->agreements >= PRELOAD_AGREED) memset(of->decisions, 0, sizeof of->decisions);
  bound->agreed[bound->agreements++ % PRELOAD_AGREED] = wanted;
}

/* The ranks agree on each schedule, since one of them may lack memory. The first agreement also chooses the tag. */
void preload_bind_all(struct preload_communicator* of, const struct preload_rule* rules,
                      int count) {
  uint64_t mine[1 + PRELOAD_BOUND_AT_ONCE] = {0}, all[1 + PRELOAD_BOUND_AT_ONCE];
  const struct preload_rule* bound[PRELOAD_BOUND_AT_ONCE];
  int made = 0;
  for (int i = 0; i < count; i++) {
    const int universal = rules[i].universal;
    const quadrille_bind_options wanted = options_of(&rules[i]);
    if (universal == PRELOAD_NATIVE || is_current(&of->bound[universal], &wanted) ||
        has_agreed(&of->bound[universal], &wanted))
      continue;
    bound[made++] = &rules[i];
    mine[made] =
        (uint64_t)qd_bind_members(preload_handle(universal), of->comm, &wanted, &of->members);
  }
  if (made == 0) return;
  if (of->tag < 0) mine[0] = preload_offer_tag(preload_own_tags());
  qd_allreduce(mine, all, 1 + made, MPI_UINT64_T, MPI_MAX, of->comm);
  if (of->tag < 0) of->tag = preload_take_tag(preload_own_tags(), mine[0], all[0]);
  if (of->tag < 0) preload_stop_serving(of, "all tags of MPI are in use");
  for (int i = 0; i < made; i++) end_binding(of, bound[i], all[1 + i] != 0 || of->tag < 0);
}

int preload_bind(struct preload_communicator* of, const struct preload_rule* rule) {
  const struct preload_bound* bound = &of->bound[rule->universal];
  const quadrille_bind_options wanted = options_of(rule);
  if (is_current(bound, &wanted)) return bound->state == PRELOAD_BOUND;
  if (has_agreed(bound, &wanted))
    retune(of, rule->universal, &wanted);
  else
    preload_bind_all(of, rule, 1);
  return bound->state == PRELOAD_BOUND && is_current(bound, &wanted);
}
