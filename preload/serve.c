/* Serves a call: begin_call chooses its schedule, serve makes it, and end records it. Plain calls keep their decision, so
 * later calls with the same arguments skip the rules. All ranks decide alike, because rules depend only on settings,
 * shapes and bytes that are the same at all ranks.
 *
 * Persistent and non-blocking collectives go to MPI. They must progress inside any later call of MPI, while a schedule
 * progresses only in a call that waits for it.
 *
 * At the end of this file are MPI's collectives as the library serves them, each under MPI's name and under the
 * name of the profiling interface. Open MPI's Fortran interfaces call the latter. The runtime describes a call by
 * its two sides, so the rest need not know MPI's signatures. Tested by tests/preload. */
#include <stdlib.h>

#include "preload/interpose.h"
#include "preload/preload.h"
#include "runtime/execute/api.h"

/* Returns whether this rank's own arguments are wrong, whatever other ranks pass. MPI then reports the error. */
static int is_refused(const struct preload_communicator* of, const struct qd_arguments* given) {
  const struct qd_ranks ranks = {of->shape.ranks, of->shape.remote_ranks, of->rank};
  struct qd_arguments checked = *given;
  qd_check_arguments(&ranks, &checked);
  return checked.error != NULL;
}

/* Marks each side whose buffer at this rank is device memory. Returns whether there is one. */
static int find_device(struct preload_call* call) {
  struct qd_side *const send = &call->given.send, *const receive = &call->given.receive;
  send->on_device = call->significant & QD_SEND_BUFFER && preload_is_device_memory(send->base);
  receive->on_device =
      call->significant & QD_RECEIVE_BUFFER && preload_is_device_memory(receive->base);
  return send->on_device || receive->on_device;
}

/* Returns the first rule that fits the call and may serve it, or NULL. */
static const struct preload_rule* first_rule(const struct preload_call* call) {
  struct preload_communicator* of = call->of;
  for (int i = of->first[call->collective]; i < of->first[call->collective + 1]; i++) {
    const struct preload_rule* const rule = of->rules[i];
    if (preload_bytes_fit(rule, call->bytes) &&
        (!call->is_canonical || preload_has_canonical_sums(rule->universal)))
      return rule;
  }
  return NULL;
}

/* Returns whether the rule is raced with MPI's own collective. Rules of variables are not: users insist on them. */
static int is_raced(const struct preload_rule* rule) {
  const struct preload_settings* settings = preload_settings();
  return settings->mode == PRELOAD_ADAPT && rule->universal != PRELOAD_NATIVE &&
         rule >= settings->rules + settings->first_of_file;
}

/* Returns whether the bits of a reduction may depend on the order of operands. They may in a reduce between groups,
 * since ranks beside the root do not know the datatype and the operator. */
static int may_change_bits(const struct preload_call* call) {
  if (!preload_reduces(call->collective)) return 0;
  const int is_known = call->collective != PRELOAD_Reduce || call->of->shape.groups == 1;
  const MPI_Datatype type =
      call->significant & QD_SEND ? call->given.send.type : call->given.receive.type;
  return !is_known || !preload_is_exact(type, call->given.operation);
}

/* Restricts a reduction that depends on the order: to schedules with canonical sums, or to MPI, with the reason. */
static void judge_sums(struct preload_call* call) {
  const enum preload_sums sums = preload_settings()->sums;
  if (sums == PRELOAD_ANY_SUMS || !may_change_bits(call)) return;
  if (sums == PRELOAD_NATIVE_SUMS)
    call->reason = "its bits could change: QUADRILLE_SUMS=native";
  else
    call->is_canonical = 1;
}

/* Returns whether the bound schedule serves the operator. A schedule serves one that does not commute, and canonical
 * sums, only if it keeps the order of the communicator's ranks. */
static int serves_operator(const struct preload_call* call) {
  int commutes = !call->is_canonical;
  if (commutes && call->significant & QD_OPERATOR && call->given.operation != MPI_OP_NULL)
    PMPI_Op_commutative(call->given.operation, &commutes);
  return commutes || quadrille_keeps_order(preload_handle(call->universal), call->of->comm);
}

void preload_leave_to_mpi(struct preload_call* call, const char* reason) {
  call->schedule = QUADRILLE_SCHEDULE_NULL;
  call->universal = PRELOAD_NATIVE;
  call->rule = NULL;
  call->reason = reason;
}

/* Sets `universal`, the reason, and the handle of the schedule that serves the call. */
static void choose(struct preload_call* call, const struct preload_rule* rule) {
  if (!rule) {
    if (!call->reason) call->reason = "no rule";
  } else if (rule->universal == PRELOAD_NATIVE || preload_bind(call->of, rule)) {
    if (!call->reason) call->reason = "by rule";
    call->universal = rule->universal;
    call->rule = rule;
  } else {
    call->reason =
        call->of->reason ? call->of->reason : "the schedule does not serve this communicator";
  }
  if (call->universal == PRELOAD_NATIVE) return;
  if (serves_operator(call)) {
    call->schedule = preload_handle(call->universal);
    return;
  }
  preload_leave_to_mpi(call, call->is_canonical ? "the schedule has ranks in another order"
                                                : "the operator does not commute");
  call->is_refused = 1;
}

/* Returns whether the decision or the runtime's kept call has all arguments of the side, with a lasting meaning. */
static int is_plain(const struct qd_side* side) {
  return (side->uniform || (side->counts && !side->types)) && qd_is_predefined(side->type);
}

static int are_plain(const struct preload_call* call) {
  return (!(call->significant & QD_SEND) || is_plain(&call->given.send)) &&
         (!(call->significant & QD_RECEIVE) || is_plain(&call->given.receive));
}

/* Returns whether the choice may depend on arrays of the call, or a call with wrong arrays would be counted. */
static int depends_on_arrays(const struct preload_call* call) {
  if (call->given.send.uniform && call->given.receive.uniform) return 0;
  return call->of->asks_for_bytes[call->collective] ||
         (call->of->adapts && !preload_is_agreed(call)) ||
         (call->follower && call->universal == PRELOAD_NATIVE);
}

/* Compare a call with a decision: the first function its buffers, the second its other arguments. Both are short,
 * since small calls that go to MPI pay for nothing else. */
static inline __attribute__((always_inline)) int has_buffers(const struct preload_decision* d,
                                                             const struct preload_key* key) {
  return d->key.sendbuf == key->sendbuf && d->key.recvbuf == key->recvbuf;
}
static inline __attribute__((always_inline)) int is_like(const struct preload_decision* d,
                                                         const struct preload_key* key) {
  return d->is_kept && d->key.sent == key->sent && d->key.received == key->received &&
         d->key.send_type == key->send_type && d->key.receive_type == key->receive_type &&
         d->key.operation == key->operation && d->key.root == key->root;
}

/* Returns whether the decision still holds. If it does, the call counts for the decision's follower. */
static inline int follows(const struct preload_decision* d) {
  struct preload_follower* const follower = d->follower;
  if (!follower) return 1;
  if (d->choice != follower->choices || follower->left == 0) return 0;
  follower->left--;
  return 1;
}

/* Returns whether calls of that role with these arguments follow the decision. Ignores the buffers. */
static int is_for(const struct preload_decision* d, enum qd_role role,
                  const struct preload_key* key) {
  return d->is_kept && d->role == role && d->key.root == key->root &&
         (!(d->significant & QD_SEND) ||
          (d->key.sent == key->sent && d->key.send_type == key->send_type)) &&
         (!(d->significant & QD_RECEIVE) ||
          (d->key.received == key->received && d->key.receive_type == key->receive_type)) &&
         (!(d->significant & QD_OPERATOR) || d->key.operation == key->operation);
}

/* Returns the decision for these calls, or NULL. */
static struct preload_decision* kept_decision(struct preload_decisions* all, enum qd_role role,
                                              const struct preload_key* key) {
  for (unsigned i = 0; i < QD_KEPT_CALLS; i++)
    if (is_for(&all->all[i], role, key)) return &all->all[i];
  return NULL;
}

/* Returns whether MPI accepts the buffers of a call that otherwise equals the decision's. The call has no arrays. */
static int are_right(const struct preload_communicator* of, enum qd_function function,
                     const struct preload_decision* d, const struct preload_key* key) {
  const uintptr_t from = (uintptr_t)key->sendbuf, to = (uintptr_t)key->recvbuf;
  if (d->reach < 0) return 0;
  if (qd_is_address(key->sendbuf) && qd_is_address(key->recvbuf) &&
      (from < to ? to - from : from - to) >= (uint64_t)d->reach)
    return 1;
  struct qd_arguments checked = {
      .function = function,
      .role = d->role,
      .send = QD_EQUAL(key->sendbuf, key->sent, key->send_type),
      .receive = QD_EQUAL(key->recvbuf, key->received, key->receive_type),
      .root = key->root,
      .operation = key->operation};
  return !is_refused(of, &checked);
}

/* Gives the decision the buffers of a call. Returns 0 if they must be checked first. */
static int take_buffers(const struct preload_communicator* of, enum qd_function function,
                        struct preload_decision* d, const struct preload_key* key) {
  /* A call that is wrong at this rank alone must not be counted. Device memory must be marked for the runtime. */
  if (d->follower && !are_right(of, function, d, key)) return 0;
  if (!d->is_native && preload_loaded_driver() != PRELOAD_NO_DRIVER) return 0;
  d->key.sendbuf = key->sendbuf;
  d->key.recvbuf = key->recvbuf;
  return 1;
}

/* Returns the decision for calls with these significant arguments, and makes it the latest. Returns NULL if there is
 * none, or if the buffers must be checked first. */
static struct preload_decision* find_decision(struct preload_communicator* of,
                                              enum qd_function function,
                                              const struct preload_key* key) {
  struct preload_decisions* const all = &of->decisions[function];
  struct preload_decision *d = all->all, *const end = d + QD_KEPT_CALLS;
  while (d < end && !is_like(d, key)) d++;
  if (d == end || !has_buffers(d, key)) {
    const enum qd_role role = qd_role_of(function, of->shape.groups == 2, of->rank, key->root,
                                         key->sendbuf, key->recvbuf);
    if (d == end || d->role != role) d = kept_decision(all, role, key);
    if (!d || !(has_buffers(d, key) || take_buffers(of, function, d, key))) return NULL;
  }
  all->latest = d;
  return d;
}

/* Returns whether later calls with these arguments may decide as this call did. `rule`: its rule, or NULL. */
static int is_lasting(const struct preload_call* call, const struct preload_rule* rule) {
  if (call->universal != (rule ? rule->universal : PRELOAD_NATIVE)) return 0; /* it cannot serve */
  if (call->significant & QD_OPERATOR && !qd_is_predefined_operator(call->given.operation))
    return 0;
  if (qd_compares_unused_buffer(call->given.function, call->given.role)) return 0;
  return !call->of->reason && !call->of->is_watched && !call->learner && !depends_on_arrays(call) &&
         preload_settings()->mode != PRELOAD_VERIFY && are_plain(call);
}

static void keep_decision(struct preload_call* call, const struct preload_rule* rule) {
  const struct qd_arguments* given = &call->given;
  const struct preload_key key = preload_key_of(given);
  if (call->decision) call->decision->is_kept = 0;
  call->decision = NULL;
  if (!is_lasting(call, rule)) return;
  struct preload_decisions* const all = &call->of->decisions[call->collective];
  call->decision = kept_decision(all, given->role, &key);
  if (!call->decision) call->decision = &all->all[all->next++ % QD_KEPT_CALLS];
  /* `reach`: types such as MPI_DOUBLE_INT have gaps, so a buffer may be longer than its packed bytes. */
  *call->decision = (struct preload_decision){
      .is_kept = 1,
      .is_native = call->universal == PRELOAD_NATIVE,
      .role = (unsigned char)given->role,
      .significant = (unsigned char)call->significant,
      .choice = call->follower ? call->follower->choices : 0,
      .key = key,
      .reach = call->given.send.uniform && call->given.receive.uniform && call->follower
                   ? 2 * preload_own_bytes(call)
                   : -1,
      .rule = rule,
      .follower = call->follower};
}

/* Follows the call's decision. Returns 0 if there is none, or if its schedule cannot be bound. */
static int follow_decision(struct preload_call* call) {
  struct preload_decision* const decision = call->decision;
  if (!decision) return 0;
  const struct preload_rule* const rule = decision->rule; /* binding may forget the decision */
  call->significant = decision->significant;
  if (preload_bind(call->of, rule)) {
    call->schedule = preload_handle(rule->universal);
    find_device(call);
    return 1;
  }
  if (decision->follower) decision->follower->left++; /* the call is counted again later */
  return 0;
}

/* Returns whether the call moves nothing. It is not counted: if one rank refuses it, the others do not notice. */
static int is_empty(const struct preload_call* call) {
  return call->bytes == 0 && call->collective != PRELOAD_Barrier;
}

/* Returns the rule that the call follows, or NULL. A call that needs canonical sums may follow a rule of its own. */
static const struct preload_rule* find_rule(struct preload_call* call) {
  const struct preload_rule* rule = first_rule(call);
  if (call->is_canonical &&
      !(rule && preload_bind(call->of, rule) &&
        quadrille_keeps_order(preload_handle(rule->universal), call->of->comm))) {
    rule = preload_canonical_rule(call->collective, &call->of->shape, call->bytes);
    call->reason = rule ? "canonical sums" : "no schedule has canonical sums for it";
  }
  if (call->is_canonical || !call->of->adapts || (rule && !is_raced(rule))) return rule;
  if (!is_empty(call)) return preload_learn_begin(call, rule);
  if (!rule) call->reason = "it moves no bytes";
  return rule;
}

/* Chooses what serves the call, and keeps the decision. */
static void decide(struct preload_call* call) {
  struct preload_communicator* of = call->of;
  call->significant = qd_significant(call->given.function, call->given.role);
  call->reason = of->reason;
  const int is_wrong = !call->reason && is_refused(of, &call->given);
  if (is_wrong) call->reason = "MPI refuses the call";
  if (!call->reason) judge_sums(call);
  const int may_be_served = !call->reason;
  call->bytes = may_be_served ? preload_bytes(call) : -1;
  const struct preload_rule* rule = may_be_served ? find_rule(call) : NULL;
  if (may_be_served) choose(call, rule);
  /* Keeps no decision of a wrong call: with other buffers the call may be right, and then follows the rule. */
  if (!is_wrong) keep_decision(call, rule);
  if (call->schedule != QUADRILLE_SCHEDULE_NULL && find_device(call))
    call->reason = "copied by MPI: buffers are in device memory";
  if (preload_settings()->mode == PRELOAD_VERIFY) preload_verify_begin(call);
}

/* Chooses what serves the call. Returns whether the caller must now call MPI's own collective. */
static int begin_call(struct preload_call* call, MPI_Comm comm) {
  struct preload_communicator* of = preload_meet(comm, &call->given);
  call->of = of;
  call->collective = (int)call->given.function;
  call->universal = PRELOAD_NATIVE;
  if (!of) return 1;
  call->freed = preload_freed();
  if (follow_decision(call)) return 0;
  decide(call);
  if (of->is_watched && !call->learner) call->started = PMPI_Wtime();
  return call->schedule == QUADRILLE_SCHEDULE_NULL || call->is_verified;
}

/* Makes the call by its schedule, if it has one. `code`: what MPI's own collective returned, or MPI_SUCCESS. Returns
 * the code for the program, or QD_LEFT_TO_MPI. */
static int serve(struct preload_call* call, int code) {
  if (call->is_verified) preload_verify_native(call, code);
  if (call->schedule == QUADRILLE_SCHEDULE_NULL || code != MPI_SUCCESS) return code;
  struct qd_arguments arguments = call->given;
  code = qd_run(call->schedule, &arguments, call->of->comm,
                call->decision ? &call->decision->kept : NULL);
  if (code == QD_LEFT_TO_MPI) preload_leave_to_mpi(call, "the schedule does not serve the call");
  return code;
}

/* Records the call for the report and the learner, and verifies its results. Returns the code for the program. */
static int end(struct preload_call* call, int code) {
  if (!call->of) return code;
  /* If the call failed, an error handler may have freed the communicator. */
  const int is_alive = code == MPI_SUCCESS || call->freed == preload_freed();
  if (is_alive && (call->of->is_watched || call->learner)) {
    const double seconds = PMPI_Wtime() - call->started;
    if (preload_settings()->report) preload_record(call, code, seconds);
    if (call->learner) preload_learn_end(call, seconds);
  }
  if (call->is_verified && code == MPI_SUCCESS) preload_verify_end(call);
  free(call->results);
  return code;
}

/* ---- The functions that the program calls */

/* The arguments of each family, as the next definition takes them. */
#define EQUAL_BLOCKS_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define EQUAL_BLOCKS_OF_ROOT_ARGUMENTS EQUAL_BLOCKS_ARGUMENTS, root
#define COUNTED_BLOCKS_ARGUMENTS \
  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define TYPED_BLOCKS_ARGUMENTS                                                        \
  sendbuf, sendcounts, sdispls, (const void*)sendtypes, recvbuf, recvcounts, rdispls, \
      (const void*)recvtypes
#define GATHERED_BLOCKS_ARGUMENTS \
  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
#define GATHERED_BLOCKS_OF_ROOT_ARGUMENTS GATHERED_BLOCKS_ARGUMENTS, root
#define SCATTERED_BLOCKS_OF_ROOT_ARGUMENTS \
  sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root
#define BUFFER_OF_ROOT_ARGUMENTS buffer, count, datatype, root
#define ELEMENTS_ARGUMENTS sendbuf, recvbuf, count, datatype, op
#define ELEMENTS_OF_ROOT_ARGUMENTS ELEMENTS_ARGUMENTS, root
#define COUNTED_ELEMENTS_ARGUMENTS sendbuf, recvbuf, recvcounts, datatype, op
#define NOTHING_ARGUMENTS

/* Returns whether a schedule may serve calls of the collective, or they are watched. Canonical sums need no rule. */
static inline int is_considered(const struct preload_communicator* of, int collective) {
  return of->adapts || of->first[collective] < of->first[collective + 1] || of->is_watched ||
         (preload_settings()->sums == PRELOAD_CANONICAL_SUMS && preload_reduces(collective));
}

#define GIVEN(Name, family) \
  (struct qd_arguments) { .function = QD_##Name, QD_SIDES_OF_##family }

/* Whether a call's arrays differ from the decision's. The program may have changed them, even to wrong values. */
#define HAS_OTHER_ARRAYS(Name, family)                                           \
  (!(GIVEN(Name, family).send.uniform && GIVEN(Name, family).receive.uniform) && \
   !decision->is_native &&                                                       \
   !qd_has_arrays(&decision->kept,                                               \
                  (const int* const[]){GIVEN(Name, family).send.counts,          \
                                       GIVEN(Name, family).send.displacements,   \
                                       GIVEN(Name, family).receive.counts,       \
                                       GIVEN(Name, family).receive.displacements}))

/* Makes a call by MPI's function `next`, by a schedule, or by both to compare their results. */
#define CALL(entry, Name, family, Count, Displacement)                                             \
  static inline __attribute__((always_inline)) int call_##entry(                                   \
      void* next_one, QD_LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm comm) {          \
    typedef int signature(QD_LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm);            \
    signature* const next = (signature*)next_one;                                                  \
    int code = MPI_SUCCESS;                                                                        \
    preload_is_inside = 1;                                                                         \
    struct preload_communicator* const of = preload_quickly(comm);                                 \
    const struct preload_key key = preload_key_of(&GIVEN(Name, family));                           \
    struct preload_decision* decision = of ? of->decisions[QD_##Name].latest : NULL;               \
    int is_left = 0;                                                                               \
    if (of && !(decision && has_buffers(decision, &key) && is_like(decision, &key))) {             \
      const struct preload_key other = key; /* so that only this path has a key in memory */       \
      is_left = !is_considered(of, QD_##Name);                                                     \
      decision = is_left ? NULL : find_decision(of, QD_##Name, &other);                            \
    }                                                                                              \
    if (decision && (HAS_OTHER_ARRAYS(Name, family) || !follows(decision))) decision = NULL;       \
    if (decision ? decision->is_native : is_left) {                                                \
      code = next(QD_LISTED(family##_ARGUMENTS) comm);                                             \
    } else if (!decision || (code = qd_repeat(&decision->kept, key.sendbuf, key.recvbuf, comm)) == \
                                QD_LEFT_TO_MPI) {                                                  \
      struct preload_call call = {.given = GIVEN(Name, family), .decision = decision};             \
      code = MPI_SUCCESS;                                                                          \
      if (begin_call(&call, comm)) code = next(QD_LISTED(family##_ARGUMENTS) comm);                \
      code = serve(&call, code);                                                                   \
      if (code == QD_LEFT_TO_MPI) code = next(QD_LISTED(family##_ARGUMENTS) comm);                 \
      code = end(&call, code);                                                                     \
    }                                                                                              \
    preload_is_inside = 0;                                                                         \
    return code;                                                                                   \
  }

/* The function that the program calls. */
#define SERVE(function, Name, family, Count, Displacement)                                      \
  PRELOAD_DEFINE(function,                                                                      \
                 preload_is_inside ? next(QD_LISTED(family##_ARGUMENTS) comm)                   \
                                   : call_##function(next, QD_LISTED(family##_ARGUMENTS) comm), \
                 (QD_LISTED(QUADRILLE_##family(Count, Displacement)) MPI_Comm comm))

/* MPI 4 has functions with large counts. A program may call them even if this library was built with an older MPI. */
#define ALL(DO, Name, family)                           \
  DO(MPI_##Name, Name, family, int, int)                \
  DO(PMPI_##Name, Name, family, int, int)               \
  DO(MPI_##Name##_c, Name, family, MPI_Count, MPI_Aint) \
  DO(PMPI_##Name##_c, Name, family, MPI_Count, MPI_Aint)

/* A barrier has no large counts. */
#define BARRIER(DO)                           \
  DO(MPI_Barrier, Barrier, NOTHING, int, int) \
  DO(PMPI_Barrier, Barrier, NOTHING, int, int)

#define CALL_ALL(Name, name, scheduled, family, direction, size) ALL(CALL, Name, family)
PRELOAD_COLLECTIVES_WITH_DATA(CALL_ALL)
BARRIER(CALL)
#define SERVE_ALL(Name, name, scheduled, family, direction, size) ALL(SERVE, Name, family)
PRELOAD_COLLECTIVES_WITH_DATA(SERVE_ALL)
BARRIER(SERVE)
