/* Serves a call: preload_begin chooses its schedule, preload_serve makes it, and preload_end records it. Plain calls
 * keep their decision, so later calls with the same arguments skip the rules. All ranks decide alike, because rules
 * depend only on settings, shapes and bytes that are the same at all ranks. Tested by tests/preload. */
#include <stdlib.h>

#include "preload/preload.h"
#include "runtime/execute/api.h"

/* Returns the first rule that fits the call and may serve it, or NULL. */
static const struct preload_rule* rule_of(const struct preload_call* call) {
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
static int depends_on_order(const struct preload_call* call) {
  if (!preload_reduces(call->collective)) return 0;
  const int is_known = call->collective != PRELOAD_Reduce || call->of->shape.groups == 1;
  const MPI_Datatype type =
      call->significant & QD_SEND ? call->given.send.type : call->given.receive.type;
  return !is_known || !preload_is_exact(type, call->given.operation);
}

/* Restricts a reduction that depends on the order: to schedules with canonical sums, or to MPI, with the reason. */
static void judge_sums(struct preload_call* call) {
  const enum preload_sums sums = preload_settings()->sums;
  if (sums == PRELOAD_ANY_SUMS || !depends_on_order(call)) return;
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
  call->universal = PRELOAD_NATIVE;
  call->rule = NULL;
  call->reason = call->is_canonical ? "the schedule has ranks in another order"
                                    : "the operator does not commute";
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
static struct preload_decision* find(struct preload_decisions* all, enum qd_role role,
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
  return !preload_is_refused(of, &checked);
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

struct preload_decision* preload_find_decision(struct preload_communicator* of,
                                               enum qd_function function,
                                               const struct preload_key* key) {
  struct preload_decisions* const all = &of->decisions[function];
  struct preload_decision *d = all->all, *const end = d + QD_KEPT_CALLS;
  while (d < end && !preload_is_like(d, key)) d++;
  if (d == end || !preload_has_buffers(d, key)) {
    const enum qd_role role = qd_role_of(function, of->shape.groups == 2, of->rank, key->root,
                                         key->sendbuf, key->recvbuf);
    if (d == end || d->role != role) d = find(all, role, key);
    if (!d || !(preload_has_buffers(d, key) || take_buffers(of, function, d, key))) return NULL;
  }
  all->latest = d;
  return d;
}

/* Returns the place for a decision: that of an earlier decision for the same calls, or the next place. */
static struct preload_decision* place_for(struct preload_decisions* all, enum qd_role role,
                                          const struct preload_key* key) {
  struct preload_decision* const earlier = find(all, role, key);
  return earlier ? earlier : &all->all[all->next++ % QD_KEPT_CALLS];
}

/* Returns whether later calls with these arguments may decide as this call did. `rule`: its rule, or NULL. */
static int is_lasting(const struct preload_call* call, const struct preload_rule* rule) {
  if (call->universal != (rule ? rule->universal : PRELOAD_NATIVE)) return 0; /* it cannot serve */
  if (call->significant & QD_OPERATOR && !qd_is_predefined_operator(call->given.operation))
    return 0;
  return !call->of->reason && !call->of->is_watched && !call->learner && !depends_on_arrays(call) &&
         preload_settings()->mode != PRELOAD_VERIFY && are_plain(call);
}

static void keep_decision(struct preload_call* call, const struct preload_rule* rule) {
  const struct qd_arguments* given = &call->given;
  const struct preload_key key = preload_key_of(given);
  if (call->decision) call->decision->is_kept = 0;
  call->decision = NULL;
  if (!is_lasting(call, rule)) return;
  call->decision = place_for(&call->of->decisions[call->collective], given->role, &key);
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
    preload_find_device(call);
    return 1;
  }
  if (decision->follower) decision->follower->left++; /* the call is counted again later */
  return 0;
}

/* Returns whether the call moves nothing. It is not counted: if one rank refuses it, the others do not notice. */
static int is_empty(const struct preload_call* call) {
  return call->bytes == 0 && call->collective != PRELOAD_Barrier &&
         preload_finds_rules(preload_settings()->mode);
}

/* Returns the rule that the call follows, or NULL. A call that needs canonical sums may follow a rule of its own. */
static const struct preload_rule* find_rule(struct preload_call* call) {
  const struct preload_rule* rule = rule_of(call);
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
  const int is_wrong = !call->reason && preload_is_refused(of, &call->given);
  if (is_wrong) call->reason = "MPI refuses the call";
  if (!call->reason) judge_sums(call);
  const int may_be_served = !call->reason;
  call->bytes = may_be_served ? preload_bytes(call) : -1;
  const struct preload_rule* rule = may_be_served ? find_rule(call) : NULL;
  if (may_be_served) choose(call, rule);
  /* Keeps no decision of a wrong call: with other buffers the call may be right, and then follows the rule. */
  if (!is_wrong) keep_decision(call, rule);
  if (call->schedule != QUADRILLE_SCHEDULE_NULL && preload_find_device(call))
    call->reason = "copied by MPI: buffers are in device memory";
  if (preload_settings()->mode == PRELOAD_VERIFY) preload_verify_begin(call);
}

int preload_begin(struct preload_call* call, MPI_Comm comm) {
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

int preload_serve(struct preload_call* call, int code) {
  if (call->is_verified) preload_verify_native(call);
  if (call->schedule == QUADRILLE_SCHEDULE_NULL || code != MPI_SUCCESS) return code;
  struct qd_arguments arguments = call->given;
  code = qd_run(call->schedule, &arguments, call->of->comm,
                call->decision ? &call->decision->kept : NULL);
  if (code != QD_LEFT_TO_MPI) return code;
  call->schedule = QUADRILLE_SCHEDULE_NULL;
  call->universal = PRELOAD_NATIVE;
  call->rule = NULL;
  call->reason = "the schedule does not serve the call";
  return code;
}

int preload_end(struct preload_call* call, int code) {
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
