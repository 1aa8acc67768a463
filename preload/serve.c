/* A call that may be served: which schedule it follows, and what is done with it after. */
#include <pthread.h>
#include <stdlib.h>

#include "preload/preload.h"
#include "runtime/execute/datatypes.h"

static const double NEVER = 1e30; /* seconds */

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

/* Whether the schedule is for this operator, which is one at all ranks; of none, the call says so. */
static int is_for(int universal, MPI_Op operation) {
  int commutes = 1;
  if (operation == MPI_OP_NULL || !preload_wants_to_commute(universal)) return 1;
  MPI_Op_commutative(operation, &commutes);
  return commutes;
}

static int is_decided(const struct preload_decision* d, const struct preload_arguments* a) {
  return d->is_kept && d->received == a->receive.count && d->receive_type == a->receive.type &&
         d->sent == a->send.count && d->send_type == a->send.type && d->operation == a->operation &&
         d->root == a->root && d->send_in_place == (a->send.base == MPI_IN_PLACE) &&
         d->receive_in_place == (a->receive.base == MPI_IN_PLACE);
}

static int is_lasting(const struct preload_side* side) {
  return !side->counts && !side->large_counts && !side->types && qd_is_predefined(side->type);
}

/* Keeps the rule, or that there is none, for further calls, where the arguments say all and keep their meaning. */
static void keep_decision(const struct preload_turn* turn, const struct preload_rule* rule,
                          const struct preload_arguments* a) {
  struct preload_decision* d = &turn->of->decisions[turn->collective];
  d->is_kept = 0;
  if (preload_reduces(turn->collective) && !qd_is_predefined_operator(a->operation)) return;
  if (preload_settings()->mode != PRELOAD_ON || !is_lasting(&a->receive) || !is_lasting(&a->send))
    return;
  *d = (struct preload_decision){1,
                                 rule,
                                 a->send.count,
                                 a->receive.count,
                                 a->send.type,
                                 a->receive.type,
                                 a->operation,
                                 a->root,
                                 a->send.base == MPI_IN_PLACE,
                                 a->receive.base == MPI_IN_PLACE};
}

int preload_begin(struct preload_turn* turn, const struct preload_arguments* a) {
  struct preload_communicator* of = turn->of;
  turn->freed = preload_freed();
  struct preload_decision* decision = &of->decisions[turn->collective];
  const int is_same = !of->is_watched && is_decided(decision, a);
  if (is_same && !decision->rule) return 0;
  if (is_same && preload_bind(of, decision->rule)) {
    turn->schedule = preload_handle(decision->rule->universal);
    turn->is_verified = 0;
    turn->results = NULL;
    return 1;
  }
  const int may_be_served = !of->reason && !preload_is_refused(turn, a);
  turn->bytes = may_be_served ? preload_bytes(turn, a) : -1;
  const struct preload_rule* rule = may_be_served ? rule_of(turn) : NULL;
  if (!rule && !of->is_watched) {
    keep_decision(turn, NULL, a);
    return 0;
  }
  turn->universal = PRELOAD_NATIVE;
  turn->schedule = QUADRILLE_SCHEDULE_NULL;
  turn->is_verified = 0;
  turn->results = NULL;
  turn->is_refused = 0;
  turn->learner = NULL;
  turn->reason = of->reason ? of->reason : "MPI refuses the call";
  if (may_be_served) choose(turn, rule);
  if (turn->universal != PRELOAD_NATIVE) {
    turn->schedule = preload_handle(turn->universal);
    if (!is_for(turn->universal, a->operation)) {
      turn->universal = PRELOAD_NATIVE;
      turn->schedule = QUADRILLE_SCHEDULE_NULL;
      turn->reason = "the operator does not commute";
      turn->is_refused = 1;
    }
  }
  if (turn->schedule == QUADRILLE_SCHEDULE_NULL)
    decision->is_kept = 0;
  else
    keep_decision(turn, rule, a);
  if (turn->schedule != QUADRILLE_SCHEDULE_NULL && preload_settings()->mode == PRELOAD_VERIFY)
    preload_verify_begin(turn, a);
  if (of->is_watched) turn->started = MPI_Wtime();
  return 1;
}

/* Rank 0 of MPI_COMM_WORLD writes files at about 1, 2, 4, .. 64 seconds, and every minute: a job that is ended from outside keeps
 * what it learned. */
static void save(double now) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static double next, wait = 0.5;
  int rank = 0, is_due = 0;
  if (pthread_mutex_trylock(&lock) != 0) return;
  if (next == 0) next = now + 2 * wait;
  if (now >= next) {
    is_due = 1;
    wait = wait < 32 ? 2 * wait : 60;
    next = now + wait;
  }
  pthread_mutex_unlock(&lock);
  if (is_due) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!is_due || rank != 0) return;
  preload_learn_save();
  preload_report_save();
}

/* With MPICH, codes of the runtime have classes of their own; a program looks for those of MPI. */
static int known_code(int code) {
  int error_class = MPI_SUCCESS;
  const int wanted = quadrille_error_class(code);
  MPI_Error_class(code, &error_class);
  return error_class == wanted ? code : wanted;
}

int preload_end(struct preload_turn* turn, const struct preload_arguments* a, int code) {
  /* Where the call failed, an error handler may have freed the communicator. */
  const int is_there = code == MPI_SUCCESS || turn->freed == preload_freed();
  if (is_there && turn->of->is_watched) {
    const double now = MPI_Wtime(), seconds = now - turn->started;
    if (preload_settings()->report) preload_record(turn, seconds);
    if (turn->learner) preload_learn_end(turn, turn->is_refused ? NEVER : seconds);
    save(now);
  }
  if (turn->is_verified && code == MPI_SUCCESS) preload_verify_end(turn, a);
  free(turn->results);
  return code == MPI_SUCCESS || turn->schedule == QUADRILLE_SCHEDULE_NULL ? code : known_code(code);
}
