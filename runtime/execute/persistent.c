/* Persistent calls. Each has a copy of the binding with its own tables, counts, plan, buffers and tag. So several
 * calls of one binding may be in flight. Making a persistent call prepares it, exchanges lengths and agrees on
 * errors. A start and its wait then run as any prepared call. */
#include <stdlib.h>

#include "runtime/execute/channel.h"
#include "runtime/execute/counts.h"
#include "runtime/execute/state.h"

struct qd_persistent {
  quadrille_request handle;
  int tag, is_started;
  struct qd_binding* binding; /* its own copy, without a call if this rank is idle */
  struct qd_arguments arguments;
  int blocks; /* of the side that has more; 0 until both sides have been copied */
  struct qd_global_counts global_counts;
};

/* Returns the call of a handle, or NULL. */
static struct qd_persistent* find_call(quadrille_request request) {
  pthread_mutex_lock(&qd_global.lock);
  struct qd_persistent* p = qd_object_of(&qd_global.persistent_calls, request);
  pthread_mutex_unlock(&qd_global.lock);
  return p;
}

/* Gives the call a handle. Sets `problem` if memory ran out. */
static void keep_call(struct qd_persistent* p, struct qd_problem* problem) {
  pthread_mutex_lock(&qd_global.lock);
  p->handle = qd_handle_make(&qd_global.persistent_calls, p);
  pthread_mutex_unlock(&qd_global.lock);
  if (p->handle == QUADRILLE_REQUEST_NULL) qd_refuse(problem, MPI_ERR_NO_MEM, qd_no_memory);
}

static void forget(struct qd_persistent* p) {
  pthread_mutex_lock(&qd_global.lock);
  qd_handle_free(&qd_global.persistent_calls, p->handle);
  pthread_mutex_unlock(&qd_global.lock);
}

static int copy_type(MPI_Datatype* type) {
  if (qd_is_predefined(*type) || PMPI_Type_dup(*type, type) == MPI_SUCCESS) return 1;
  *type = MPI_DATATYPE_NULL;
  return 0;
}

static void free_type(MPI_Datatype* type) {
  if (qd_mpi_is_usable() && !qd_is_predefined(*type)) PMPI_Type_free(type);
}

/* Replaces the types and arrays of a user's side by copies. Returns 0 if that fails. */
static int copy_side(struct qd_side* side, int blocks) {
  const struct qd_side given = *side;
  const int has_displacements = given.displacements || given.large_displacements;
  MPI_Datatype* types = given.types ? malloc((size_t)blocks * sizeof *types) : NULL;
  MPI_Aint* displacements = NULL; /* followed by the counts */
  if (has_displacements)
    displacements = malloc((size_t)blocks * (sizeof *displacements + sizeof(MPI_Count)));
  MPI_Count* const counts = displacements ? (MPI_Count*)(displacements + blocks) : NULL;
  int is_kept =
      copy_type(&side->type) && !given.types == !types && !has_displacements == !displacements;
  side->types = types;
  if (has_displacements) {
    side->counts = side->displacements = NULL;
    side->large_counts = counts;
    side->large_displacements = displacements;
  }
  for (int i = 0; i < blocks && types; i++) {
    const int has_type = is_kept && qd_count_of(&given, i) > 0;
    types[i] = has_type ? given.types[i] : MPI_DATATYPE_NULL;
    is_kept &= copy_type(&types[i]);
  }
  for (int i = 0; i < blocks && displacements; i++) {
    counts[i] = qd_count_of(&given, i);
    displacements[i] = given.displacements ? given.displacements[i] : given.large_displacements[i];
  }
  return is_kept;
}

static void free_side(struct qd_side* side, int blocks) {
  free_type(&side->type);
  for (int i = 0; i < blocks && side->types; i++) free_type((MPI_Datatype*)&side->types[i]);
  free((void*)side->types);
  free((void*)side->large_displacements);
}

static void destroy(struct qd_persistent* p) {
  if (p->handle != QUADRILLE_REQUEST_NULL) forget(p);
  if (p->blocks > 0) {
    free_side(&p->arguments.send, p->blocks);
    free_side(&p->arguments.receive, p->blocks);
  }
  if (p->binding) qd_binding_destroy(p->binding);
  free(p);
}

/* Prepares the call as far as that needs no other rank. */
static void prepare_alone(struct qd_persistent* p, struct qd_problem* problem) {
  struct qd_binding* b = p->binding;
  struct qd_arguments* a = &p->arguments;
  const struct qd_program* program = &b->schedule_data->program;
  const int has_global_counts = qd_has_global_counts(program);
  int32_t blocks[2];
  int error_class;
  qd_take_root(&b->layout, program, a->root);
  qd_block_counts(program, &b->layout.context, blocks);
  p->blocks = blocks[0] > blocks[1] ? blocks[0] : blocks[1];
  if (!(copy_side(&a->send, p->blocks) & copy_side(&a->receive, p->blocks)))
    return qd_refuse(problem, MPI_ERR_NO_MEM, "out of memory, or MPI cannot keep a datatype");
  /* The plan holds the exchanged lengths, so it must be of the whole call. */
  qd_binding_plan(b, !has_global_counts, problem);
  if (has_global_counts || !b->call) return;
  if (!b->are_tables_good) return qd_refuse(problem, MPI_ERR_ARG, qd_fill_tables(b));
  b->call->in_place = a->in_place;
  const char* error = qd_call_load(b->call, &a->send, &a->receive, QD_LENGTHS_ALONE, &error_class);
  if (error) qd_refuse(problem, error_class, error);
}

/* Makes a persistent call on this rank. If `problem` is set, only destroy() may take the result, which may be NULL. */
static struct qd_persistent* make(struct qd_binding* binding, const struct qd_arguments* a,
                                  struct qd_problem* problem) {
  struct qd_persistent* p = calloc(1, sizeof *p);
  if (p) p->binding = qd_binding_copy(binding);
  if (!p || !p->binding) {
    qd_refuse(problem, MPI_ERR_NO_MEM, qd_no_memory);
    return p;
  }
  p->binding->options.compares = 1;
  qd_trace_bind_copy(p->binding, binding->trace.requests);
  p->arguments = *a;
  p->global_counts = (struct qd_global_counts){
      p->binding, &p->arguments, .reduces = qd_reduces(&binding->schedule_data->program)};
  if (a->error)
    qd_refuse(problem, a->error_class, a->error);
  else if (!a->is_idle)
    prepare_alone(p, problem);
  return p;
}

/* Collective. Checks that all ranks pass the same root and that counts match. Returns an MPI error code. */
static int compare_call(struct qd_persistent* p, MPI_Comm comm) {
  char differs[QD_TEXT];
  if (qd_has_global_counts(&p->binding->schedule_data->program))
    return qd_global_counts_prepare(&p->global_counts, comm, differs);
  const int code = qd_compare_roots(p->binding, comm, p->arguments.root);
  return code != MPI_SUCCESS
             ? code
             : qd_compare_lengths(p->binding, p->binding->call, comm, MPI_SUCCESS, NULL);
}

/* Returns the call of an entry if it is on the channel, else NULL. The caller holds the lock. */
static const struct qd_persistent* call_on(const struct qd_channel* channel, uint32_t entry) {
  const struct qd_persistent* p = qd_global.persistent_calls.entries[entry].object;
  return p && p->binding->channel == channel ? p : NULL;
}

/* Returns the lowest tag from `least` on that no call of this rank on the channel has. The caller holds the lock. */
static int free_tag(const struct qd_channel* channel, int least) {
  for (uint32_t i = 0; i < qd_global.persistent_calls.count; i++) {
    const struct qd_persistent* p = call_on(channel, i);
    if (p && p->tag == least) return free_tag(channel, least + 1);
  }
  return least;
}

/* Collective. Returns a tag above all tags in use at any rank, or if that exceeds MPI's limit, the lowest tag that is
 * free at all ranks. Returns 0 if there is none. */
static int take_tag(const struct qd_binding* binding) {
  int found = 0, *most = NULL, mine = QD_TAGS, tag = 0, asked;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  const int last = found ? *most : INT16_MAX;
  pthread_mutex_lock(&qd_global.lock);
  for (uint32_t i = 0; i < qd_global.persistent_calls.count; i++) {
    const struct qd_persistent* p = call_on(binding->channel, i);
    if (p && p->tag >= mine) mine = p->tag + 1;
  }
  pthread_mutex_unlock(&qd_global.lock);
  if (PMPI_Allreduce(&mine, &tag, 1, MPI_INT, MPI_MAX, binding->comm) != MPI_SUCCESS) return 0;
  if (tag <= last) return tag;
  tag = QD_TAGS;
  do {
    asked = tag;
    pthread_mutex_lock(&qd_global.lock);
    mine = free_tag(binding->channel, asked);
    pthread_mutex_unlock(&qd_global.lock);
    if (PMPI_Allreduce(&mine, &tag, 1, MPI_INT, MPI_MAX, binding->comm) != MPI_SUCCESS) return 0;
  } while (asked < tag && tag <= last);
  return tag > last ? 0 : tag;
}

/* Exchanges the lengths of all parts, each in the message of its part. Then takes the buffers. */
static void exchange_lengths(struct qd_call* c, struct qd_problem* problem) {
  int error_class = MPI_ERR_OTHER;
  if (!c->plan.is_typed) {
    qd_call_begin(c);
    qd_call_finish(c);
    c->lengths = QD_LENGTHS_KNOWN;
    if (c->outcome.error != MPI_SUCCESS) {
      PMPI_Error_class(c->outcome.error, &error_class);
      return qd_refuse(problem, error_class, "MPI failed");
    }
    if (c->outcome.is_lost) return qd_refuse(problem, MPI_ERR_OTHER, "MPI failed at another rank");
    if (c->outcome.mismatch.source >= 0)
      return qd_refuse_broken(problem, "it brings blocks to where others belong");
    qd_call_release(c);
  }
  qd_set_aside(c);
  if (!qd_call_reserve(c)) qd_refuse(problem, MPI_ERR_NO_MEM, qd_no_memory);
}

/* Collective. Takes a tag, and the memory that the starts of the call use. */
static void prepare_together(struct qd_persistent* p, struct qd_problem* problem) {
  struct qd_call* c = p->binding->call;
  p->tag = take_tag(p->binding);
  if (p->tag == 0)
    return qd_refuse(problem, MPI_ERR_OTHER,
                     "there are as many persistent calls on this communicator as there are tags; "
                     "free some, or bind the schedule to a duplicate of it");
  if (!c) return;
  c->tag = p->tag;
  c->is_persistent = 1;
  if (!c->builder.traits.has_global_counts) return exchange_lengths(c, problem);
  const char* error = qd_call_plan(c);
  if (error) qd_refuse_broken(problem, error);
}

/* Collective. Returns an MPI error code of one class on all ranks: the greatest class of all problems. */
static int agree_on(const struct qd_binding* binding, MPI_Comm comm,
                    const struct qd_problem* problem) {
  return qd_compare_errors(binding, comm, problem->error_class,
                           problem->error_class != MPI_SUCCESS ? problem->text : NULL);
}

int qd_persistent_make(struct qd_binding* binding, const struct qd_arguments* arguments,
                       MPI_Comm comm, quadrille_request* request) {
  struct qd_problem problem = {MPI_SUCCESS, ""};
  binding->trace.requests++;
  struct qd_persistent* p = make(binding, arguments, &problem);
  if (!request) qd_refuse(&problem, MPI_ERR_ARG, "the place for the request is NULL");
  int code = agree_on(binding, comm, &problem);
  if (code == MPI_SUCCESS) code = compare_call(p, comm);
  if (code == MPI_SUCCESS) {
    prepare_together(p, &problem);
    if (problem.error_class == MPI_SUCCESS) keep_call(p, &problem);
    code = agree_on(binding, comm, &problem);
  }
  if (code == MPI_SUCCESS)
    *request = p->handle;
  else if (p)
    destroy(p);
  return code;
}

static int refuse(const char* text) { return qd_error(MPI_COMM_NULL, MPI_ERR_REQUEST, "%s", text); }

static const char* const stale = "the request is null or was freed";
static const char* const finalized = "MPI_Finalize was called";

int quadrille_start(quadrille_request request) {
  struct qd_persistent* p = find_call(request);
  if (!p) return refuse(stale);
  if (p->is_started) return refuse("the call was started before; wait for it first");
  struct qd_call* c = p->binding->call;
  if (p->binding->channel->comm == MPI_COMM_NULL) return refuse(finalized);
  p->is_started = 1;
  p->binding->calls++;
  if (c && c->builder.traits.has_global_counts)
    qd_global_counts_begin(&p->global_counts);
  else if (c)
    qd_call_begin(c);
  if (c && c->is_planned) qd_call_progress(c, 0);
  return MPI_SUCCESS;
}

int quadrille_wait(quadrille_request request) {
  struct qd_persistent* p = find_call(request);
  if (!p) return refuse(stale);
  if (!p->is_started) return refuse("the call was not started; start it first");
  struct qd_call* c = p->binding->call;
  p->is_started = 0;
  if (p->binding->channel->comm == MPI_COMM_NULL) return refuse(finalized);
  if (!c) return MPI_SUCCESS;
  if (c->is_observed) c->trace.last = qd_trace_ticks();
  if (c->builder.traits.has_global_counts)
    qd_global_counts_finish(&p->global_counts);
  else
    qd_call_finish(c);
  return qd_call_report(c, p->binding->comm);
}

int quadrille_free_request(quadrille_request* request) {
  if (!request) return refuse("the request to free is NULL");
  struct qd_persistent* p = find_call(*request);
  if (!p) return refuse(stale);
  if (p->is_started) return refuse("the call is in flight; wait for it first");
  destroy(p);
  *request = QUADRILLE_REQUEST_NULL;
  return MPI_SUCCESS;
}
