/* Schedules are loaded when they are first asked for, and bound to a communicator when a call on it follows them. */
#include <pthread.h>
#include <stdlib.h>

#include "emitted/universal.h"
#include "preload/preload.h"

struct loaded {
  quadrille_schedule handle;
  int wants_to_commute;
};

static struct loaded* all; /* by schedule; NULL where memory ran out */

static void make_room(void) { all = calloc((size_t)quadrille_universal_count, sizeof *all); }

/* The lock is held. */
static void load(const struct quadrille_universal* universal, struct loaded* loaded) {
  quadrille_schedule_info info = {.size = sizeof info};
  quadrille_schedule handle = QUADRILLE_SCHEDULE_NULL;
  quadrille_load_memory(universal->bytes, universal->length, &handle);
  loaded->wants_to_commute = quadrille_info(handle, &info) == MPI_SUCCESS && info.commutative;
  __atomic_store_n(&loaded->handle, handle, __ATOMIC_RELEASE);
}

static const struct loaded* loaded_of(int universal) {
  static const struct loaded none = {QUADRILLE_SCHEDULE_NULL, 0};
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_once(&once, make_room);
  struct loaded* loaded = all ? &all[universal] : NULL;
  if (!loaded) return &none;
  if (__atomic_load_n(&loaded->handle, __ATOMIC_ACQUIRE) != QUADRILLE_SCHEDULE_NULL) return loaded;
  pthread_mutex_lock(&lock);
  if (loaded->handle == QUADRILLE_SCHEDULE_NULL) load(&quadrille_universal[universal], loaded);
  pthread_mutex_unlock(&lock);
  return loaded;
}

quadrille_schedule preload_handle(int universal) { return loaded_of(universal)->handle; }

int preload_wants_to_commute(int universal) { return loaded_of(universal)->wants_to_commute; }

/* Where the binding fails, it fails at all ranks, and the program is not told. Other options for what is bound are the
 * same at all ranks, as rules are. */
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
  return bind_anew(of, rule, bound);
}
