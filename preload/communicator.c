/* Keeps the settings, rules and state of a communicator as its attribute. The first call on the communicator makes
 * it, without a message: world.c knows the settings of all ranks. If settings differ, MPI serves all calls on all
 * ranks. Tested by tests/preload/choice_test.sh and corners_test.sh. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/interpose.h"
#include "preload/preload.h"
#include "runtime/execute/api.h"
#include "runtime/execute/datatypes.h"

enum { CACHED = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
unsigned preload_freed_so_far;
_Thread_local struct preload_recent preload_recent;
static int has_ended;

static _Thread_local struct {
  MPI_Comm comms[CACHED];
  struct preload_communicator* found[CACHED];
} cache;

static void forget_cached(void) { __atomic_add_fetch(&preload_freed_so_far, 1, __ATOMIC_RELAXED); }

/* ---- The end of a communicator. MPI deletes attributes in any order, and a delete function of the program may call
 * collectives on the communicator. If an operation still runs, MPICH deletes attributes later, for example in
 * MPI_Wait. So the state outlives its attribute. Meanwhile the library asks MPI for no attribute, since MPICH's list
 * has freed ones. If another thread gets the handle before MPI_Comm_free returns, that thread frees the state. */

struct preload_dying {
  MPI_Comm comm;
  struct preload_communicator* of; /* or NULL */
  int has_no_attributes;
  int is_left; /* MPI_Comm_free has returned */
  struct preload_dying* next;
};

static struct preload_dying* ending; /* under the lock */

static void free_state(struct preload_communicator* of) {
  const int was_inside = preload_is_inside;
  if (!of) return;
  preload_is_inside = 1;
  qd_close_channels(of->comm);
  preload_is_inside = was_inside;
  forget_cached();
  preload_learners_free(of);
  free(of->rules);
  free(of->bound);
  free(of->members.ranks);
  free(of->members.node_of);
  free(of);
}

/* Returns the link to the communicator in the list, or the list's last link. The caller holds the lock. */
static struct preload_dying** place_of(MPI_Comm comm) {
  struct preload_dying** place = &ending;
  while (*place && (*place)->comm != comm) place = &(*place)->next;
  return place;
}

static struct preload_dying* dying(MPI_Comm comm) {
  if (!__atomic_load_n(&ending, __ATOMIC_RELAXED)) return NULL;
  pthread_mutex_lock(&lock);
  struct preload_dying* const found = *place_of(comm);
  pthread_mutex_unlock(&lock);
  return found;
}

static int delete_communicator(MPI_Comm comm, int key, void* attribute, void* extra) {
  struct preload_dying* const found = dying(comm);
  (void)key, (void)extra;
  if (found)
    found->has_no_attributes = 1;
  else
    free_state(attribute);
  return MPI_SUCCESS;
}

static struct preload_dying* begin_to_leave(MPI_Comm comm, struct preload_communicator* of) {
  struct preload_dying* const made = malloc(sizeof *made);
  if (!made) qd_end_without_memory(MPI_COMM_WORLD);
  *made = (struct preload_dying){.comm = comm, .of = of};
  pthread_mutex_lock(&lock);
  made->next = ending;
  __atomic_store_n(&ending, made, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
  return made;
}

/* Runs when MPI_Comm_free has returned. Keeps the state if MPI has not deleted the attributes yet. */
static void end_leaving(struct preload_dying* this, int code) {
  pthread_mutex_lock(&lock);
  struct preload_dying** place = &ending;
  while (*place && *place != this) place = &(*place)->next;
  const int is_taken = !*place;
  if (!is_taken && this->has_no_attributes) free_state(this->of); /* while the list still has it */
  const int lingers = !is_taken && !this->has_no_attributes && code == MPI_SUCCESS;
  if (!is_taken && !lingers) __atomic_store_n(place, this->next, __ATOMIC_RELEASE);
  this->is_left = 1;
  pthread_mutex_unlock(&lock);
  if (lingers)
    forget_cached();
  else
    free(this);
}

void preload_made(MPI_Comm comm) {
  struct preload_communicator* of = NULL;
  if (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) return;
  pthread_mutex_lock(&lock);
  struct preload_dying **const place = place_of(comm), *const found = *place;
  if (found) {
    of = found->of;
    __atomic_store_n(place, found->next, __ATOMIC_RELAXED);
    if (found->is_left) free(found);
  }
  pthread_mutex_unlock(&lock);
  free_state(of);
}

void preload_forget_communicators(void) {
  has_ended = 1;
  forget_cached();
}

unsigned preload_freed(void) { return __atomic_load_n(&preload_freed_so_far, __ATOMIC_RELAXED); }

/* ---- Making the attribute */

static void say(const char* text) { fprintf(stderr, "quadrille: %s\n", text); }

void preload_say_once(int* is_said, const char* text) {
  if (!__atomic_exchange_n(is_said, 1, __ATOMIC_RELAXED)) say(text);
}

/* Warns once, on rank 0 of MPI_COMM_WORLD, which writes the files when MPI ends. The warnings are about files that it
 * cannot write, and about a variable that it does not know. */
static void warn(void) {
  static int is_done;
  char text[PRELOAD_TEXT];
  int world = 0;
  if (__atomic_exchange_n(&is_done, 1, __ATOMIC_RELAXED)) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world);
  if (world != 0) return;
  if (preload_loses_rules(text))
    fprintf(stderr, "quadrille: %s; what is learned will be lost\n", text);
  if (preload_loses_report(text)) say(text);
  if (preload_settings()->ignored[0])
    fprintf(stderr, "quadrille: %s is no setting of Quadrille, and is ignored\n",
            preload_settings()->ignored);
}

const char* preload_driver_reason(int driver) {
  return driver == PRELOAD_ROCM ? "ROCm is loaded: buffers may be in device memory"
                                : "CUDA is loaded: buffers may be in device memory";
}

void preload_stop_serving(struct preload_communicator* of, const char* reason) {
  of->reason = reason;
  of->adapts = 0;
  memset(of->first, 0, sizeof of->first);
  memset(of->decisions, 0, sizeof of->decisions);
}

void preload_meet_driver(struct preload_communicator* of, int driver) {
  if (driver != PRELOAD_NO_DRIVER) preload_stop_serving(of, preload_driver_reason(driver));
}

static void take_rules(struct preload_communicator* of) {
  const struct preload_settings* settings = preload_settings();
  int count = 0;
  for (int collective = 0; collective < PRELOAD_COLLECTIVE_COUNT; collective++) {
    of->first[collective] = count;
    of->asks_for_bytes[collective] = settings->mode == PRELOAD_LEARN;
    for (int i = 0; i < settings->rule_count; i++)
      if (settings->rules[i].collective == collective &&
          preload_shape_fits(&settings->rules[i], &of->shape)) {
        of->rules[count++] = &settings->rules[i];
        if (preload_asks_for_bytes(&settings->rules[i])) of->asks_for_bytes[collective] = 1;
      }
  }
  of->first[PRELOAD_COLLECTIVE_COUNT] = count;
}

static struct preload_communicator* describe(MPI_Comm comm) {
  struct preload_communicator* of = calloc(1, sizeof *of);
  int inter = 0;
  if (!of) qd_end_without_memory(comm);
  of->comm = comm;
  of->tag = -1;
  PMPI_Comm_test_inter(comm, &inter);
  of->shape.groups = inter ? 2 : 1;
  PMPI_Comm_size(comm, &of->shape.ranks);
  PMPI_Comm_rank(comm, &of->rank);
  if (inter) PMPI_Comm_remote_size(comm, &of->shape.remote_ranks);
  return of;
}

static void fill(struct preload_communicator* of) {
  const struct preload_settings* settings = preload_settings();
  of->is_watched = settings->report != NULL;
  if (of->shape.ranks + of->shape.remote_ranks == 1)
    of->reason = "one rank";
  else
    of->reason = preload_agree(of);
  if (of->reason) return;
  warn();
  of->rules = calloc((size_t)settings->rule_count + 1, sizeof *of->rules);
  of->bound = calloc((size_t)preload_schedule_count(), sizeof *of->bound);
  if (!of->rules || !of->bound) qd_end_without_memory(of->comm);
  of->adapts = settings->mode > PRELOAD_ON;
  take_rules(of);
}

static int is_usable(MPI_Comm comm) {
  int initialized = 0, finalized = 0;
  if (comm == MPI_COMM_NULL || has_ended) return 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  return initialized && !finalized;
}

/* Returns the key of the attribute. The first call makes it. */
static int key_of(MPI_Comm comm) {
  int code = MPI_SUCCESS;
  pthread_mutex_lock(&lock);
  if (keyval == MPI_KEYVAL_INVALID)
    code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_communicator, &keyval, NULL);
  pthread_mutex_unlock(&lock);
  if (code != MPI_SUCCESS) qd_end_without_memory(comm);
  return keyval;
}

static struct preload_communicator* find(MPI_Comm comm) {
  void* attribute = NULL;
  int found = 0;
  return is_usable(comm) &&
                 PMPI_Comm_get_attr(comm, key_of(comm), &attribute, &found) == MPI_SUCCESS && found
             ? attribute
             : NULL;
}

int preload_leave(int (*next)(MPI_Comm*), MPI_Comm* comm) {
  if (!comm || !is_usable(*comm) || dying(*comm)) return next(comm);
  struct preload_communicator* const of = find(*comm);
  /* The library sees by this attribute when MPI deletes attributes. */
  if (!of) PMPI_Comm_set_attr(*comm, keyval, NULL);
  struct preload_dying* const this = begin_to_leave(*comm, of);
  const int code = next(comm);
  end_leaving(this, code);
  return code;
}

/* The cache keeps a communicator in one of two neighboring slots. */
struct preload_communicator* preload_communicator_of(MPI_Comm comm) {
  const uintptr_t bits = (uintptr_t)comm;
  const unsigned now = preload_freed();
  const unsigned home = (unsigned)(bits ^ bits >> 4 ^ bits >> 9) % CACHED;
  if (preload_recent.freed != now) {
    memset(&cache, 0, sizeof cache);
    preload_recent = (struct preload_recent){.freed = now};
  }
  unsigned slot = cache.comms[home] == comm ? home : home ^ 1;
  if (!cache.found[slot] || cache.comms[slot] != comm) {
    const struct preload_dying* const end = dying(comm);
    if (end) return end->of;
    slot = cache.found[home] == preload_recent.of ? home ^ 1 : home; /* two calls alternate */
    cache.found[slot] = find(comm);
    cache.comms[slot] = comm;
  }
  preload_recent.comm = comm;
  return preload_recent.of = cache.found[slot];
}

struct preload_communicator* preload_meet(MPI_Comm comm, struct qd_arguments* given) {
  struct preload_communicator* of = preload_communicator_of(comm);
  if (of) given->role = preload_role(of, given);
  if (of || !is_usable(comm)) return of;
  of = describe(comm);
  given->role = preload_role(of, given);
  struct preload_dying* const end = dying(comm);
  /* Without the attribute, this rank would forget the agreements, and then wait for the others forever. */
  if (end)
    end->of = of;
  else if (PMPI_Comm_set_attr(comm, keyval, of) != MPI_SUCCESS)
    qd_end_without_memory(comm);
  fill(of);
  return of;
}
