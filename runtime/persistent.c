/* Persistent all-to-all calls: lengths are exchanged once, when the call is made, and each start
 * posts messages of which they are known, on a tag of its own.
 *
 * A call has its own memory, so calls of one binding may be in flight together. It keeps its binding
 * when the communicator is freed. */
#include <stdlib.h>
#include <string.h>

#include "runtime/agree.h"
#include "runtime/traffic.h"

struct quadrille_persistent {
  struct quadrille_persistent* next;
  quadrille_request handle;
  struct quadrille_binding* binding;
  struct quadrille_traffic traffic;
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
static int keep_type(struct quadrille_side* side) { return MPI_Type_dup(side->type, &side->type); }

static void destroy(struct quadrille_persistent* call) {
  struct quadrille_traffic* t = &call->traffic;
  if (t->send.type != MPI_DATATYPE_NULL && quadrille_mpi_is_usable()) MPI_Type_free(&t->send.type);
  if (t->receive.type != MPI_DATATYPE_NULL && quadrille_mpi_is_usable())
    MPI_Type_free(&t->receive.type);
  quadrille_traffic_close(t);
  quadrille_leave_binding(call->binding);
  free(call);
}

/* A schedule in which blocks travel directly has a plan, and a route from the first persistent call
 * on. */
static const char* make_route(struct quadrille_binding* binding) {
  if (binding->route) return NULL;
  binding->route = calloc(1, sizeof *binding->route);
  const char* error = binding->route ? quadrille_route_of_plan(binding->route, &binding->plan,
                                                               (int)binding->place.ranks)
                                     : "out of memory";
  if (!error) return NULL;
  free(binding->route);
  binding->route = NULL;
  return error;
}

/* What needs no other rank. NULL where it fails; then `offer` says why. */
static struct quadrille_persistent* make(struct quadrille_binding* binding,
                                         const struct quadrille_side* send,
                                         const struct quadrille_side* receive, int in_place,
                                         struct quadrille_offer* offer) {
  struct quadrille_persistent* call = calloc(1, sizeof *call);
  const char* error = call ? make_route(binding) : "out of memory";
  int error_class = MPI_ERR_NO_MEM;
  if (!call) {
    quadrille_refuse(offer, error_class, error);
    return NULL;
  }
  struct quadrille_traffic* t = &call->traffic;
  call->binding = binding;
  __atomic_add_fetch(&binding->persistent, 1, __ATOMIC_RELAXED);
  if (!error && !quadrille_traffic_open(t, binding, binding->route, binding->window, 0))
    error = "out of memory";
  t->send.type = t->receive.type = MPI_DATATYPE_NULL;
  if (!error && !quadrille_fixed_open(t)) error = "out of memory";
  if (!error) {
    error = quadrille_traffic_load(t, send, receive, in_place, &error_class);
    const int send_code = keep_type(&t->send), receive_code = keep_type(&t->receive);
    if (send_code != MPI_SUCCESS) t->send.type = MPI_DATATYPE_NULL;
    if (receive_code != MPI_SUCCESS) t->receive.type = MPI_DATATYPE_NULL;
    if (!error && (send_code != MPI_SUCCESS || receive_code != MPI_SUCCESS)) {
      error = "MPI cannot keep a datatype";
      error_class = MPI_ERR_TYPE;
    }
  }
  if (!error) return call;
  quadrille_refuse(offer, error_class, error);
  destroy(call);
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

/* Asks all ranks for the lengths of what they send, and lays out what travels. */
static void exchange_lengths(struct quadrille_persistent* call, struct quadrille_offer* offer) {
  struct quadrille_traffic* t = &call->traffic;
  char text[QUADRILLE_TEXT];
  quadrille_traffic_start(t, QUADRILLE_CARGO_LENGTHS);
  quadrille_traffic_finish(t);
  if (quadrille_traffic_mismatch(t, text)) return quadrille_refuse(offer, MPI_ERR_TRUNCATE, text);
  if (t->error != MPI_SUCCESS) {
    int error_class = MPI_ERR_OTHER;
    MPI_Error_class(t->error, &error_class);
    return quadrille_refuse(offer, error_class, "MPI failed");
  }
  if (!quadrille_fixed_settle(t)) quadrille_refuse(offer, MPI_ERR_NO_MEM, "out of memory");
}

/* The same at all ranks; 0 where there are no more. */
static int take_tag(struct quadrille_binding* binding) {
  int found = 0, *most = NULL;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  const int tag = QUADRILLE_TAGS + binding->persistent_calls;
  if (tag > (found ? *most : INT16_MAX)) return 0;
  binding->persistent_calls++;
  return tag;
}

int quadrille_persistent_make(quadrille_schedule schedule, const struct quadrille_side* send,
                              const struct quadrille_side* receive, int in_place, MPI_Comm comm,
                              int error_class, const char* error, quadrille_request* request) {
  struct quadrille_binding* binding;
  struct quadrille_offer offer = {MPI_SUCCESS, ""};
  struct quadrille_persistent* call = NULL;
  const int code = quadrille_find_binding(schedule, comm, QUADRILLE_ALLTOALL, &binding);
  if (code != MPI_SUCCESS) return code;
  const char* refused = quadrille_refused_buffer(binding, in_place ? NULL : send->base);
  if (!refused) refused = quadrille_refused_buffer(binding, receive->base);
  if (error || refused)
    quadrille_refuse(&offer, error ? error_class : MPI_ERR_BUFFER, error ? error : refused);
  else
    call = make(binding, send, receive, in_place, &offer);
  int well = all_well(binding, &offer);
  if (well) {
    call->traffic.data_tag = take_tag(binding);
    if (call->traffic.data_tag == 0)
      quadrille_refuse(
          &offer, MPI_ERR_OTHER,
          "there were as many persistent calls on this communicator as there are tags; "
          "bind the schedule to a duplicate of it");
    else
      exchange_lengths(call, &offer);
    well = all_well(binding, &offer);
  }
  if (!well) {
    if (call) destroy(call);
    return quadrille_error(comm, offer.error_class, "%s", offer.text);
  }
  *request = keep(call);
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
  quadrille_traffic_start(&call->traffic, QUADRILLE_CARGO_BLOCKS);
  return MPI_SUCCESS;
}

int quadrille_wait(quadrille_request request) {
  struct quadrille_persistent* call = find(request);
  if (!call) return refuse(stale);
  if (!call->is_started) return refuse("the call was not started; start it first");
  quadrille_traffic_finish(&call->traffic);
  call->is_started = 0;
  return quadrille_traffic_report(&call->traffic, call->binding->comm);
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
