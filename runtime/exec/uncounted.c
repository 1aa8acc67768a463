/* Calls of which the two ends of a message alone know its lengths: all-to-all, gather, scatter, and barriers,
 * which have none. And persistent all-to-alls: of these, lengths are exchanged once, when the call is made,
 * and each start posts messages of which they are known, on a tag of its own.
 *
 * A persistent call has its own plan and memory, so calls of one binding may be in flight together. It
 * keeps its binding when the communicator is freed. */
#include <stdlib.h>

#include "runtime/exec/call.h"
#include "runtime/internal.h"

/* The call with a plan for calls in place, which the first of them makes. NULL, and why, where it cannot be. */
static struct quadrille_call* in_place_call(struct quadrille_binding* binding, const char** error) {
  struct quadrille_call* c = binding->in_place_call;
  if (c) return c;
  c = malloc(sizeof *c);
  *error = c ? quadrille_call_open(c, binding, 1, 0) : quadrille_no_memory;
  if (!*error) {
    quadrille_log("in place: up to %d blocks are kept aside at a time", c->plan.buffer_count);
    return binding->in_place_call = c;
  }
  if (c) quadrille_call_close(c);
  free(c);
  return NULL;
}

const char* quadrille_uncounted_take_root(struct quadrille_binding* binding, int root) {
  const int is_same = !quadrille_take_root(binding, root);
  if (is_same && binding->are_tables_good) return NULL;
  const char* error =
      quadrille_tables_refill(&binding->tables, &binding->loaded->program, &binding->place);
  if (!error && binding->in_place_call) error = quadrille_call_reopen(binding->in_place_call);
  if (!error) error = quadrille_call_reopen(binding->call);
  binding->are_tables_good = !error;
  return error;
}

/* What needs no other rank. */
static const char* prepare_call(struct quadrille_binding* binding,
                                const struct quadrille_arguments* a, int* error_class) {
  const char* error = quadrille_refused_buffer(binding, a->in_place ? NULL : a->send.base);
  if (!error) error = quadrille_refused_buffer(binding, a->receive.base);
  *error_class = MPI_ERR_BUFFER;
  if (error) return error;
  error = quadrille_uncounted_take_root(binding, a->root);
  *error_class = error == quadrille_no_memory ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
  return error;
}

int quadrille_uncounted_run(struct quadrille_binding* binding,
                            const struct quadrille_arguments* arguments, MPI_Comm comm) {
  const struct quadrille_side *send = &arguments->send, *receive = &arguments->receive;
  const int in_place = arguments->in_place;
  int error_class = MPI_SUCCESS;
  const char* error = prepare_call(binding, arguments, &error_class);
  if (error) return quadrille_error(comm, error_class, "%s", error);
  if (binding->compares && binding->call->builder.goes_by_rank) {
    const int code = quadrille_compare_lengths(binding, comm, send, receive);
    if (code != MPI_SUCCESS) return code;
  }
  struct quadrille_call* c = in_place ? in_place_call(binding, &error) : binding->call;
  if (error && error != quadrille_no_memory)
    return quadrille_error(comm, MPI_ERR_INTERN, "the schedule is broken: %s; verify it", error);
  const int lacks_memory = !c;
  if (lacks_memory) c = binding->call;
  error = quadrille_call_load(
      c, send, receive, arguments->is_regular ? QUADRILLE_LENGTHS_KNOWN : QUADRILLE_LENGTHS_AHEAD,
      &error_class);
  if (error) return quadrille_error(comm, error_class, "%s", error);
  quadrille_call_begin(c, lacks_memory);
  quadrille_call_finish(c);
  return quadrille_call_report(c, comm);
}

struct quadrille_persistent {
  struct quadrille_persistent* next;
  quadrille_request handle;
  struct quadrille_binding* binding;
  struct quadrille_call call;
  int64_t* lengths; /* room to compare them in, while the call is made */
  int is_started;
};

/* The call of a handle, or NULL. */
static struct quadrille_persistent* find(quadrille_request request) {
  pthread_mutex_lock(&quadrille_global.lock);
  struct quadrille_persistent* call = quadrille_global.persistent;
  while (call && call->handle != request) call = call->next;
  pthread_mutex_unlock(&quadrille_global.lock);
  return call;
}

static quadrille_request keep(struct quadrille_persistent* call) {
  pthread_mutex_lock(&quadrille_global.lock);
  call->handle = ++quadrille_global.last_request;
  call->next = quadrille_global.persistent;
  quadrille_global.persistent = call;
  pthread_mutex_unlock(&quadrille_global.lock);
  return call->handle;
}

static void forget(struct quadrille_persistent* call) {
  pthread_mutex_lock(&quadrille_global.lock);
  struct quadrille_persistent** link = &quadrille_global.persistent;
  while (*link != call) link = &(*link)->next;
  *link = call->next;
  pthread_mutex_unlock(&quadrille_global.lock);
}

/* Types of the user's may be freed once the call is made. */
static const char* keep_types(struct quadrille_call* c, int* error_class) {
  MPI_Datatype send, receive;
  int code = MPI_Type_dup(c->send.type, &send);
  if (code == MPI_SUCCESS) {
    code = MPI_Type_dup(c->receive.type, &receive);
    if (code != MPI_SUCCESS) MPI_Type_free(&send);
  }
  *error_class = MPI_ERR_TYPE;
  c->send.type = code == MPI_SUCCESS ? send : MPI_DATATYPE_NULL;
  c->receive.type = code == MPI_SUCCESS ? receive : MPI_DATATYPE_NULL;
  return code == MPI_SUCCESS ? NULL : "MPI cannot keep a datatype";
}

static void free_type(MPI_Datatype* type) {
  if (*type != MPI_DATATYPE_NULL && quadrille_mpi_is_usable()) MPI_Type_free(type);
}

static void destroy(struct quadrille_persistent* persistent) {
  free_type(&persistent->call.send.type);
  free_type(&persistent->call.receive.type);
  quadrille_call_close(&persistent->call);
  free(persistent->lengths);
  quadrille_leave_binding(persistent->binding);
  free(persistent);
}

/* What needs no other rank. NULL, or what is wrong, with its class. */
static const char* prepare(struct quadrille_persistent* persistent,
                           const struct quadrille_side* send, const struct quadrille_side* receive,
                           int in_place, int* error_class) {
  struct quadrille_binding* binding = persistent->binding;
  struct quadrille_call* c = &persistent->call;
  const char* error = quadrille_call_open(c, binding, in_place, 1);
  const struct quadrille_place* place = &binding->place;
  persistent->lengths =
      malloc(2 * (size_t)(place->ranks + place->remote_ranks) * sizeof *persistent->lengths);
  *error_class = !error || error == quadrille_no_memory ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
  if (!error && !persistent->lengths) error = quadrille_no_memory;
  if (error) return error;
  error = quadrille_call_load(c, send, receive, QUADRILLE_LENGTHS_ALONE, error_class);
  if (!error) return keep_types(c, error_class);
  c->send.type = c->receive.type = MPI_DATATYPE_NULL;
  return error;
}

/* NULL where it fails; then `offer` says why. */
static struct quadrille_persistent* make(struct quadrille_binding* binding,
                                         const struct quadrille_side* send,
                                         const struct quadrille_side* receive, int in_place,
                                         struct quadrille_offer* offer) {
  struct quadrille_persistent* persistent = calloc(1, sizeof *persistent);
  int error_class = MPI_ERR_NO_MEM;
  const char* error = quadrille_no_memory;
  if (persistent) {
    persistent->binding = binding;
    quadrille_keep_binding(binding);
    error = prepare(persistent, send, receive, in_place, &error_class);
  }
  if (!error) return persistent;
  quadrille_refuse(offer, error_class, error);
  if (persistent) destroy(persistent);
  return NULL;
}

/* Collective. Whether nothing is wrong anywhere; where something is at another rank alone, that is
 * this one's error too. */
static int all_well(struct quadrille_binding* binding, struct quadrille_offer* offer) {
  const int own = offer->error_class;
  if (quadrille_all_well(binding->comm, offer)) return 1;
  if (own == MPI_SUCCESS)
    quadrille_refuse(offer, offer->error_class,
                     "another rank's arguments are wrong, or its memory ran out; its own message, "
                     "or QUADRILLE_DEBUG=1, says which");
  return 0;
}

/* Lengths of the parts of all messages: each travels the way of its block. */
static void exchange_lengths(struct quadrille_call* c, struct quadrille_offer* offer) {
  int error_class = MPI_ERR_OTHER;
  if (!c->plan.is_typed) {
    quadrille_call_begin(c, 0);
    quadrille_call_finish(c);
    c->lengths = QUADRILLE_LENGTHS_KNOWN;
    if (c->error != MPI_SUCCESS) {
      MPI_Error_class(c->error, &error_class);
      return quadrille_refuse(offer, error_class, "MPI failed");
    }
    if (c->mismatch.source >= 0 || c->is_lost)
      return quadrille_refuse(offer, MPI_ERR_INTERN,
                              "the schedule is broken: it brings blocks to where others belong; "
                              "verify it");
    quadrille_call_release(c);
  }
  if (!quadrille_call_reserve(c)) quadrille_refuse(offer, MPI_ERR_NO_MEM, quadrille_no_memory);
}

/* Collective. Above all tags that are in use at any rank; 0 where there are no more. */
static int take_tag(const struct quadrille_binding* binding) {
  int found = 0, *most = NULL, mine = QUADRILLE_TAGS, tag = 0;
  pthread_mutex_lock(&quadrille_global.lock);
  for (struct quadrille_persistent* p = quadrille_global.persistent; p; p = p->next)
    if (p->binding->channel == binding->channel && p->call.tag >= mine) mine = p->call.tag + 1;
  pthread_mutex_unlock(&quadrille_global.lock);
  if (MPI_Allreduce(&mine, &tag, 1, MPI_INT, MPI_MAX, binding->comm) != MPI_SUCCESS) return 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  return tag > (found ? *most : INT16_MAX) ? 0 : tag;
}

/* Collective, with what every rank has prepared. Compares lengths first, so that those that differ are
 * told by rank. */
static void agree(struct quadrille_persistent* persistent, const struct quadrille_side* send,
                  const struct quadrille_side* receive, struct quadrille_offer* offer) {
  struct quadrille_binding* binding = persistent->binding;
  char text[QUADRILLE_TEXT];
  int code = MPI_SUCCESS;
  const int tag = take_tag(binding);
  const char* error =
      quadrille_compare_pairs(binding, send, receive, persistent->lengths, text, &code);
  if (code != MPI_SUCCESS)
    quadrille_refuse(offer, MPI_ERR_OTHER, "MPI failed");
  else if (error)
    quadrille_refuse(offer, MPI_ERR_TRUNCATE, error);
  else if (tag == 0)
    quadrille_refuse(offer, MPI_ERR_OTHER,
                     "there are as many persistent calls on this communicator as there are tags; "
                     "free some, or bind the schedule to a duplicate of it");
  persistent->call.tag = tag;
  if (!all_well(binding, offer)) return;
  exchange_lengths(&persistent->call, offer);
  all_well(binding, offer);
}

int quadrille_persistent_make(quadrille_schedule schedule, const struct quadrille_side* send,
                              const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                              int error_class, const char* error, quadrille_request* request) {
  struct quadrille_binding* binding;
  struct quadrille_offer offer = {MPI_SUCCESS, ""};
  struct quadrille_persistent* persistent = NULL;
  const int code = quadrille_find_binding(schedule, comm, QUADRILLE_ALLTOALL, &binding);
  if (code != MPI_SUCCESS) return code;
  if (in_place) send = receive;
  const char* refused = quadrille_refused_buffer(binding, send->base);
  if (!refused) refused = quadrille_refused_buffer(binding, receive->base);
  if (error || refused)
    quadrille_refuse(&offer, error ? error_class : MPI_ERR_BUFFER, error ? error : refused);
  else
    persistent = make(binding, send, receive, in_place, &offer);
  if (all_well(binding, &offer) && persistent) agree(persistent, send, receive, &offer);
  if (offer.error_class != MPI_SUCCESS || !persistent) {
    if (persistent) destroy(persistent);
    return quadrille_error(comm, offer.error_class, "%s", offer.text);
  }
  free(persistent->lengths);
  persistent->lengths = NULL;
  *request = keep(persistent);
  return MPI_SUCCESS;
}

static int refuse(const char* text) {
  return quadrille_error(MPI_COMM_NULL, MPI_ERR_REQUEST, "%s", text);
}

static const char* const stale = "the request is null or was freed";

int quadrille_start(quadrille_request request) {
  struct quadrille_persistent* call = find(request);
  if (!call) return refuse(stale);
  if (call->is_started) return refuse("the call was started before; wait for it first");
  call->is_started = 1;
  quadrille_call_begin(&call->call, 0);
  return MPI_SUCCESS;
}

int quadrille_wait(quadrille_request request) {
  struct quadrille_persistent* call = find(request);
  if (!call) return refuse(stale);
  if (!call->is_started) return refuse("the call was not started; start it first");
  quadrille_call_finish(&call->call);
  call->is_started = 0;
  return quadrille_call_report(&call->call, call->binding->comm);
}

int quadrille_free_request(quadrille_request* request) {
  if (!request) return refuse("the request to free is NULL");
  struct quadrille_persistent* call = find(*request);
  if (!call) return refuse(stale);
  if (call->is_started) return refuse("the call is in flight; wait for it first");
  forget(call);
  destroy(call);
  *request = QUADRILLE_REQUEST_NULL;
  return MPI_SUCCESS;
}
