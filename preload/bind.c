/* Schedules are loaded at their first use, and bound to a communicator at the first call on it that follows them. Binding
 * fails at all ranks or at none, so they fall through together. Tested by tests/preload/corners_test.sh. */
#include <pthread.h>
#include <stdlib.h>

#include "emitted/universal.h"
#include "preload/preload.h"

static quadrille_schedule* handles; /* of all schedules; NULL if memory ran out */

static void make_handles(void) {
  handles = calloc((size_t)preload_schedule_count(), sizeof *handles);
}

/* The caller holds the lock. */
static void load(const struct quadrille_universal* universal, quadrille_schedule* to) {
  quadrille_schedule handle = QUADRILLE_SCHEDULE_NULL;
  quadrille_load_memory(universal->bytes, universal->length, &handle);
  __atomic_store_n(to, handle, __ATOMIC_RELEASE);
}

quadrille_schedule preload_handle(int universal) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_once(&once, make_handles);
  if (!handles) return QUADRILLE_SCHEDULE_NULL;
  quadrille_schedule* handle = &handles[universal];
  if (__atomic_load_n(handle, __ATOMIC_ACQUIRE) != QUADRILLE_SCHEDULE_NULL) return *handle;
  pthread_mutex_lock(&lock);
  if (*handle == QUADRILLE_SCHEDULE_NULL) load(preload_schedule(universal), handle);
  pthread_mutex_unlock(&lock);
  return *handle;
}

/* Binds the schedule, or changes the options of a bound one. The program does not see an error. */
static int bind_anew(struct preload_communicator* of, const struct preload_rule* rule,
                     struct preload_bound* bound) {
  const quadrille_schedule handle = preload_handle(rule->universal);
  const quadrille_bind_options options = {
      .size = sizeof options, .window = rule->window, .block_size = rule->block_size};
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(of->comm, &handler);
  MPI_Comm_set_errhandler(of->comm, MPI_ERRORS_RETURN);
  const int code = bound->state == PRELOAD_BOUND ? quadrille_retune(handle, of->comm, &options)
                                                 : quadrille_bind(handle, of->comm, &options);
  MPI_Comm_set_errhandler(of->comm, handler);
  if (handler != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&handler);
  if (code == MPI_SUCCESS || bound->state != PRELOAD_BOUND)
    *bound = (struct preload_bound){code == MPI_SUCCESS ? PRELOAD_BOUND : PRELOAD_REFUSED,
                                    rule->window, rule->block_size};
  return code == MPI_SUCCESS;
}

int preload_bind(struct preload_communicator* of, const struct preload_rule* rule) {
  struct preload_bound* bound = &of->bound[rule->universal];
  if (bound->state != PRELOAD_UNBOUND && bound->window == rule->window &&
      bound->block_size == rule->block_size)
    return bound->state == PRELOAD_BOUND;
  return preload_opens(of) && bind_anew(of, rule, bound);
}
