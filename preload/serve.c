/* A call that may be served: which schedule it follows, bound where it is not yet, and what is done with it after. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emitted/universal.h"
#include "preload/preload.h"

static const double NEVER = 1e30; /* seconds */

/* The handle of a schedule, loaded when it is first asked for. */
static quadrille_schedule handle_of(int universal) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static quadrille_schedule* handles;
  quadrille_schedule handle = QUADRILLE_SCHEDULE_NULL;
  const struct quadrille_universal* one = &quadrille_universal[universal];
  pthread_mutex_lock(&lock);
  if (!handles) handles = calloc((size_t)quadrille_universal_count, sizeof *handles);
  if (handles) {
    if (handles[universal] == QUADRILLE_SCHEDULE_NULL)
      quadrille_load_memory(one->bytes, one->length, &handles[universal]);
    handle = handles[universal];
  }
  pthread_mutex_unlock(&lock);
  return handle;
}

/* Where the binding fails, it fails at all ranks, and the program is not told. */
int preload_bind(struct preload_communicator* of, const struct preload_rule* rule) {
  struct preload_bound* bound = &of->bound[rule->universal];
  const quadrille_bind_options options = {
      .size = sizeof options, .window = rule->window, .block_size = rule->block_size};
  MPI_Errhandler handler;
  if (bound->state != PRELOAD_UNBOUND && bound->window == rule->window &&
      bound->block_size == rule->block_size)
    return bound->state == PRELOAD_BOUND;
  MPI_Comm_get_errhandler(of->comm, &handler);
  MPI_Comm_set_errhandler(of->comm, MPI_ERRORS_RETURN);
  const int code = quadrille_bind(handle_of(rule->universal), of->comm, &options);
  MPI_Comm_set_errhandler(of->comm, handler);
  if (handler != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&handler);
  *bound = (struct preload_bound){code == MPI_SUCCESS ? PRELOAD_BOUND : PRELOAD_REFUSED,
                                  rule->window, rule->block_size};
  return code == MPI_SUCCESS;
}

/* The first rule that fits, or NULL. Nodes are looked for when a rule asks for them. */
static const struct preload_rule* rule_of(const struct preload_turn* turn) {
  struct preload_communicator* of = turn->of;
  for (int i = of->first[turn->collective]; i < of->first[turn->collective + 1]; i++) {
    if (!preload_bytes_fit(of->rules[i], turn->bytes)) continue;
    if (!preload_asks_for_nodes(of->rules[i]) || preload_know_nodes(of)) return of->rules[i];
    i = of->first[turn->collective] - 1;
  }
  return NULL;
}

static void choose(struct preload_turn* turn, const struct preload_rule* rule) {
  if (!rule) {
    turn->reason = "no rule";
    if (preload_settings()->mode == PRELOAD_LEARN) preload_learn_begin(turn);
  } else if (rule->universal == PRELOAD_NATIVE || preload_bind(turn->of, rule)) {
    turn->reason = "by rule";
    turn->universal = rule->universal;
  } else {
    turn->reason = "the schedule does not serve this communicator";
  }
}

/* Whether the schedule is for this operator, which is one at all ranks. */
static int is_for(quadrille_schedule schedule, MPI_Op operation) {
  quadrille_schedule_info info = {.size = sizeof info};
  int commutes = 1;
  if (quadrille_info(schedule, &info) != MPI_SUCCESS || !info.commutative) return 1;
  MPI_Op_commutative(operation, &commutes);
  return commutes;
}

/* A datatype that is null is MPI's to refuse. */
static int has_types(const struct preload_arguments* a) {
  return a->send.type != MPI_DATATYPE_NULL && a->receive.type != MPI_DATATYPE_NULL;
}

int preload_begin(struct preload_turn* turn, const struct preload_arguments* a) {
  struct preload_communicator* of = turn->of;
  const int may_be_served = !of->reason && has_types(a);
  turn->bytes = may_be_served ? preload_bytes(turn, a) : -1;
  const struct preload_rule* rule = may_be_served ? rule_of(turn) : NULL;
  if (!rule && !of->is_watched) return 0;
  turn->universal = PRELOAD_NATIVE;
  turn->schedule = QUADRILLE_SCHEDULE_NULL;
  turn->is_verified = 0;
  turn->copy = NULL;
  turn->is_refused = 0;
  turn->learner = NULL;
  turn->reason = of->reason ? of->reason : "a datatype is null";
  if (may_be_served) choose(turn, rule);
  if (turn->universal != PRELOAD_NATIVE) {
    turn->schedule = handle_of(turn->universal);
    if (!is_for(turn->schedule, a->operation)) {
      turn->universal = PRELOAD_NATIVE;
      turn->schedule = QUADRILLE_SCHEDULE_NULL;
      turn->reason = "the operator does not commute";
      turn->is_refused = 1;
    }
  }
  if (turn->schedule != QUADRILLE_SCHEDULE_NULL && preload_settings()->mode == PRELOAD_VERIFY)
    preload_verify_begin(turn, a);
  if (of->is_watched) turn->started = MPI_Wtime();
  return 1;
}

/* With MPICH, codes of the runtime have classes of their own; a program looks for those of MPI. */
static int known_code(int code) {
  int error_class = MPI_SUCCESS;
  const int wanted = quadrille_error_class(code);
  MPI_Error_class(code, &error_class);
  return error_class == wanted ? code : wanted;
}

int preload_end(struct preload_turn* turn, const struct preload_arguments* a, int code) {
  if (turn->of->is_watched) {
    const double seconds = MPI_Wtime() - turn->started;
    if (preload_settings()->report) preload_record(turn, seconds);
    if (turn->learner) preload_learn_end(turn, turn->is_refused ? NEVER : seconds);
  }
  if (turn->is_verified && code == MPI_SUCCESS) preload_verify_end(turn, a);
  free(turn->copy);
  return code == MPI_SUCCESS || turn->schedule == QUADRILLE_SCHEDULE_NULL ? code : known_code(code);
}
