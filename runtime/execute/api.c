/* The common path of all entry points: checks MPI's arguments, then makes the call. */
#include "runtime/execute/api.h"

#include <string.h>

#include "runtime/execute/call.h"
#include "runtime/execute/channel.h"
#include "runtime/execute/counts.h"

static struct qd_ranks ranks_of(const struct qd_binding* binding) {
  const struct qd_layout* layout = &binding->layout;
  return (struct qd_ranks){(int)layout->context.ranks, (int)layout->context.remote_ranks,
                           layout->own - layout->first};
}

/* Checks the arguments against what the schedule serves. Returns NULL, or an error text. */
static const char* check_schedule(const struct qd_binding* binding, struct qd_arguments* a) {
  const struct qd_program* program = &binding->schedule_data->program;
  const int reduces = (qd_significant(a->function, a->role) & QD_OPERATOR) != 0;
  a->error_class = MPI_ERR_TYPE;
  if (reduces && !qd_elements_are_disjoint(a->receive.type))
    return "elements of the datatype reach into each other; resize it so that each is within its "
           "extent";
  if (reduces && !a->commutes) {
    a->error_class = MPI_ERR_OP;
    if (program->commutative)
      return "the schedule is for operators that commute; load one that keeps the order of ranks";
    if (!binding->layout.is_in_order) return qd_other_order;
  }
  if (qd_root_fits(&binding->layout, program, a->root)) return NULL;
  a->error_class = MPI_ERR_TOPOLOGY;
  return "the schedule is for other nodes in the root's group; generate one for these or for any";
}

static void check_arguments(const struct qd_binding* binding, struct qd_arguments* a) {
  const struct qd_ranks ranks = ranks_of(binding);
  qd_check_arguments(&ranks, a);
  if (a->error || a->is_idle) return;
  a->error = check_schedule(binding, a);
}

/* ---- Kept calls. If a call differs from a kept one only in its buffers, the kept one is made again unchecked. */

/* Returns whether a kept call can hold the arguments of the side. It copies arrays, which the program may change. */
static inline int can_keep(const struct qd_side* side) {
  return side->uniform || (side->counts && !side->types);
}

static inline int is_same_array(const int* one, const int* other, size_t blocks) {
  return one && other ? memcmp(one, other, blocks * sizeof *one) == 0 : one == other;
}

/* Returns how many blocks a side has that has one for each rank. */
static size_t most_blocks(const struct qd_binding* b) {
  const struct qd_context* context = &b->layout.context;
  return (size_t)(context->remote_ranks > 0 ? context->remote_ranks : context->ranks);
}

static inline int is_same_side(const struct qd_side* one, const struct qd_side* other,
                               const struct qd_binding* b) {
  if (one->uniform != other->uniform || one->type != other->type ||
      one->on_device != other->on_device)
    return 0;
  if (one->uniform) return one->count == other->count;
  const size_t blocks = most_blocks(b);
  return can_keep(one) && is_same_array(one->counts, other->counts, blocks) &&
         is_same_array(one->displacements, other->displacements, blocks);
}

/* Returns whether all significant arguments except the buffers are those of the last call. */
static inline int is_repeated(const struct qd_binding* b, const struct qd_arguments* a) {
  const struct qd_arguments* given = &b->last.given;
  if (!b->last.may_repeat || a->function != given->function || a->role != given->role ||
      a->root != given->root)
    return 0;
  const unsigned significant = b->last.significant;
  return (!(significant & QD_RECEIVE) || is_same_side(&a->receive, &given->receive, b)) &&
         (!(significant & QD_SEND) || is_same_side(&a->send, &given->send, b)) &&
         (!(significant & QD_OPERATOR) || a->operation == given->operation);
}

/* Returns the kept call with these arguments and the options of the binding, or NULL. */
static struct qd_binding* find_kept(struct qd_binding* b, const struct qd_arguments* a) {
  if (b->options.compares) return NULL;
  if (is_repeated(b, a)) return b;
  for (int i = 0; i < QD_KEPT_CALLS - 1 && b->others[i]; i++)
    if (is_repeated(b->others[i], a) && qd_are_same_options(&b->others[i]->options, &b->options))
      return b->others[i];
  return NULL;
}

/* Returns whether equal handles mean the same in the next call: no program can free predefined objects. */
static int keep_meaning(const struct qd_binding* b, const struct qd_arguments* a) {
  return !b->options.compares && !a->is_idle && !a->lacks_type &&
         qd_is_predefined(a->receive.type) &&
         (a->send.type == a->receive.type || qd_is_predefined(a->send.type)) &&
         (!qd_reduces(&b->schedule_data->program) || qd_is_predefined_operator(a->operation));
}

/* Copies the arrays of a given side to `to`, to which `made` then points too. Forgets them if `to` is NULL. */
static void keep_arrays(struct qd_last_call* last, struct qd_side* given, int* to, size_t blocks) {
  const int** const arrays[] = {&given->counts, &given->displacements};
  for (int i = 0; i < 2; i++) {
    const int* const from = *arrays[i];
    if (!to) *arrays[i] = NULL;
    if (!from || !to) continue;
    struct qd_side* const made[] = {&last->made.send, &last->made.receive};
    for (int k = 0; k < 2; k++) {
      if (made[k]->counts == from) made[k]->counts = to;
      if (made[k]->displacements == from) made[k]->displacements = to;
    }
    *arrays[i] = memcpy(to, from, blocks * sizeof *to);
    to += blocks;
  }
}

/* Keeps a call. `given`: the caller's arguments; `made`: those after the checks. Returns 0 if memory ran out. */
static int keep(struct qd_binding* b, const struct qd_arguments* given,
                const struct qd_arguments* made) {
  struct qd_last_call* const last = &b->last;
  const unsigned significant = qd_significant(given->function, given->role);
  const size_t blocks = most_blocks(b);
  last->significant = significant;
  last->given = *given;
  last->made = *made;
  last->sends_received = made->send.base != given->send.base;
  last->receives_sent = made->receive.base != given->receive.base;
  last->reach = -1;
  if (given->send.uniform && given->receive.uniform) return 1;
  if (!QD_LENGTHEN(last->arrays, last->array_capacity, 4 * (int64_t)blocks)) return 0;
  keep_arrays(last, &last->given.send, significant & QD_SEND_COUNTS ? last->arrays : NULL, blocks);
  keep_arrays(last, &last->given.receive,
              significant & QD_RECEIVE_COUNTS ? last->arrays + 2 * blocks : NULL, blocks);
  return 1;
}

/* Returns how many bytes the blocks of a side span in memory at most. The type must be predefined. */
static int64_t reach_of(const struct qd_side* side, int64_t blocks) {
  int64_t low = 0, high = 0, bytes;
  for (int64_t i = 0; !side->uniform && i < blocks; i++) {
    const int64_t at = side->displacements ? side->displacements[i] : high;
    if (at < low) low = at;
    if (at + side->counts[i] > high) high = at + side->counts[i];
  }
  if (side->uniform && __builtin_mul_overflow(side->count, blocks, &high)) return INT64_MAX;
  return __builtin_mul_overflow(high - low, side->extent, &bytes) ? INT64_MAX : bytes;
}

/* Notes how many bytes the longer buffer of a kept call has at most. */
static void find_reach(struct qd_binding* b) {
  const struct qd_program* program = &b->schedule_data->program;
  const struct qd_arguments* const made = &b->last.made;
  const int has_one = qd_has_one_contribution(program) || qd_reduces(program);
  const int64_t ranks = (int64_t)most_blocks(b);
  const int64_t sent = reach_of(&made->send, has_one && made->send.uniform ? 1 : ranks);
  const int64_t received = reach_of(&made->receive, has_one && made->receive.uniform ? 1 : ranks);
  b->last.reach = sent > received ? sent : received;
}

/* Gives the kept call other buffers. Returns 0 if they are invalid or may overlap: all arguments must be checked. */
static int move(struct qd_binding* b, char* from, char* to) {
  int error_class;
  struct qd_call* const c = b->call;
  struct qd_last_call* const last = &b->last;
  struct qd_side *const send = &last->made.send, *const receive = &last->made.receive;
  const uintptr_t apart =
      from < to ? (uintptr_t)to - (uintptr_t)from : (uintptr_t)from - (uintptr_t)to;
  if (last->reach < 0) find_reach(b);
  if (!qd_is_address(from) || !qd_is_address(to) ||
      (send->base == receive->base ? apart != 0 : apart < (uint64_t)last->reach))
    return 0;
  send->base = from;
  receive->base = to;
  if (c->builder.traits.has_global_counts) {
    c->data.blocks[QD_RECEIVE_REGION].address = to;
    if (!c->builder.traits.in_place) c->data.blocks[QD_SEND_REGION].address = from;
    return 1;
  }
  last->may_repeat = !qd_call_load(c, send, receive, c->lengths, &error_class);
  return last->may_repeat;
}

static inline __attribute__((always_inline)) int take_buffers(struct qd_binding* b,
                                                              const void* sendbuf,
                                                              const void* recvbuf) {
  const struct qd_last_call* const last = &b->last;
  char* const from = (char*)(last->sends_received ? recvbuf : sendbuf);
  char* const to = (char*)(last->receives_sent ? sendbuf : recvbuf);
  return (from == last->made.send.base && to == last->made.receive.base) || move(b, from, to);
}

static inline int repeat(struct qd_binding* b, MPI_Comm comm) {
  b->last.used = ++b->channel->calls;
  if (b->call->builder.traits.gathers) qd_global_counts_contribute(b);
  return qd_call_again(b->call, comm);
}

static inline int is_kept(const struct qd_kept* kept) {
  const struct qd_binding* const b = kept->call;
  return b && b->last.serial == kept->serial && b->last.may_repeat;
}

int qd_repeat(const struct qd_kept* kept, const void* sendbuf, const void* recvbuf, MPI_Comm comm) {
  if (!is_kept(kept) || !take_buffers(kept->call, sendbuf, recvbuf)) return QD_LEFT_TO_MPI;
  return repeat(kept->call, comm);
}

int qd_has_arrays(const struct qd_kept* kept, const int* const arrays[4]) {
  if (!is_kept(kept)) return 0;
  const struct qd_arguments* const given = &kept->call->last.given;
  const int* const all[] = {given->send.counts, given->send.displacements, given->receive.counts,
                            given->receive.displacements};
  const size_t blocks = most_blocks(kept->call);
  for (int i = 0; i < 4; i++)
    if (all[i] && !is_same_array(all[i], arrays[i], blocks)) return 0;
  return 1;
}

static int run(struct qd_binding* binding, const struct qd_arguments* a, MPI_Comm comm) {
  /* All ranks may have to agree on an error in one rank's arguments. qd_global_counts_run does that. */
  if (qd_has_global_counts(&binding->schedule_data->program))
    return qd_global_counts_run(binding, a, comm);
  if (a->is_idle) return MPI_SUCCESS;
  if (a->error) return qd_error(comm, a->error_class, "%s", a->error);
  return qd_pairwise_counts_run(binding, a, comm);
}

/* Finds the binding, or makes it, and finds this rank's role in the call. Returns an MPI error code. */
static int find_role(quadrille_schedule schedule, struct qd_arguments* a, MPI_Comm comm,
                     struct qd_binding** binding) {
  const int code = qd_find_binding(schedule, comm, qd_scheduled[a->function], binding);
  if (code != MPI_SUCCESS) return code;
  const struct qd_ranks ranks = ranks_of(*binding);
  a->role = qd_role_of(a->function, ranks.remote_ranks > 0, ranks.rank, a->root, a->send.base,
                       a->receive.base);
  return MPI_SUCCESS;
}

int qd_run(quadrille_schedule schedule, struct qd_arguments* a, MPI_Comm comm,
           struct qd_kept* kept) {
  struct qd_binding* binding;
  int code = find_role(schedule, a, comm, &binding);
  if (code != MPI_SUCCESS) return code;
  binding->calls++;
  struct qd_binding* b = find_kept(binding, a);
  if (b && take_buffers(b, a->send.base, a->receive.base)) {
    if (kept) *kept = (struct qd_kept){b, b->last.serial};
    return repeat(b, comm);
  }
  const struct qd_arguments given = *a;
  const int may_keep = can_keep(&a->send) && can_keep(&a->receive) && binding->trace.id == 0 &&
                       !qd_compares_unused_buffer(a->function, a->role);
  if (!b) b = may_keep ? qd_spare_binding(binding) : binding;
  check_arguments(b, a);
  b->last.may_repeat = 0;
  b->last.serial++;
  b->last.used = ++b->channel->calls;
  if (a->error && qd_leaves_errors(b)) return QD_LEFT_TO_MPI;
  code = run(b, a, comm);
  if (code != MPI_SUCCESS) return code;
  if (a->lacks_type) return qd_error(comm, MPI_ERR_TYPE, "%s", qd_no_type);
  b->last.may_repeat = b->last.may_repeat && may_keep && keep_meaning(b, a) && keep(b, &given, a);
  if (kept && b->last.may_repeat) *kept = (struct qd_kept){b, b->last.serial};
  return MPI_SUCCESS;
}

int qd_make(quadrille_schedule schedule, struct qd_arguments* a, MPI_Comm comm,
            quadrille_request* request) {
  struct qd_binding* binding;
  if (request) *request = QUADRILLE_REQUEST_NULL;
  const int code = find_role(schedule, a, comm, &binding);
  if (code != MPI_SUCCESS) return code;
  check_arguments(binding, a);
  if (!a->error && a->lacks_type) {
    a->error = qd_no_type;
    a->error_class = MPI_ERR_TYPE;
  }
  return qd_persistent_make(binding, a, comm, request);
}

#define TEXT_OF(number) #number
#define VERSION(major, minor) TEXT_OF(major) "." TEXT_OF(minor)

const char* quadrille_version(void) {
  return VERSION(QUADRILLE_VERSION_MAJOR, QUADRILLE_VERSION_MINOR);
}
