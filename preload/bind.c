/* Schedules are loaded at their first use, and bound to a communicator at the first call on it that follows them. Binding
 * fails at all ranks or at none, so they fall through together. Tested by tests/preload/corners_test.sh. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/preload.h"
#include "runtime/execute/api.h"

static quadrille_schedule* handles; /* of all schedules */

static void make_handles(void) {
  qd_serve_preload();
  handles = calloc((size_t)preload_schedule_count(), sizeof *handles);
  if (!handles) preload_end_without_memory(MPI_COMM_WORLD);
}

/* The caller holds the lock. */
static void load(const struct quadrille_universal* universal, quadrille_schedule* to) {
  quadrille_schedule handle = QUADRILLE_SCHEDULE_NULL;
  /* A load that failed, since memory ran out, is tried again. */
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

enum {
  KEPT = sizeof((struct preload_bound*)0)->agreed / sizeof *((struct preload_bound*)0)->agreed
};

static int is_same(struct preload_options a, struct preload_options b) {
  return a.window == b.window && a.block_size == b.block_size;
}

static int has_agreed(const struct preload_bound* bound, struct preload_options wanted) {
  for (unsigned i = 0; i < bound->agreements && i < KEPT; i++)
    if (is_same(bound->agreed[i], wanted)) return 1;
  return 0;
}

/* Binds the schedule with these options. The ranks agree on options that are new, since memory may run out on one of them. The
 * program does not see an error. */
static int bind_anew(struct preload_communicator* of, int universal, struct preload_bound* bound,
                     struct preload_options wanted) {
  const quadrille_schedule handle = preload_handle(universal);
  const quadrille_bind_options options = {
      .size = sizeof options, .window = wanted.window, .block_size = wanted.block_size};
  if (has_agreed(bound, wanted)) return quadrille_retune(handle, of->comm, &options) == MPI_SUCCESS;
  if (qd_bind_quietly(handle, of->comm, &options, &of->node_of) != MPI_SUCCESS) return 0;
  /* A rank must not make a kept call while others agree on its options anew. */
  if (bound->agreements >= KEPT) memset(of->decisions, 0, sizeof of->decisions);
  bound->agreed[bound->agreements++ % KEPT] = wanted;
  return 1;
}

int preload_bind(struct preload_communicator* of, const struct preload_rule* rule) {
  struct preload_bound* bound = &of->bound[rule->universal];
  const struct preload_options wanted = {rule->window, rule->block_size};
  if (bound->state != PRELOAD_UNBOUND && is_same(bound->now, wanted))
    return bound->state == PRELOAD_BOUND;
  if (!preload_opens(of)) return 0;
  const int is_bound = bind_anew(of, rule->universal, bound, wanted);
  /* A binding keeps its options if others fail. */
  if (is_bound || bound->state != PRELOAD_BOUND) {
    bound->state = is_bound ? PRELOAD_BOUND : PRELOAD_REFUSED;
    bound->now = wanted;
  }
  return is_bound;
}
