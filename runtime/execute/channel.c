/* Makes and frees channels, their private communicators, and bindings. A binding holds a reference to its schedule
 * and to its channel. A communicator of this rank alone serves to ask MPI about datatypes and operators. Tested by
 * tests/net/communicators_test.cc and tests/mpi/lifetime_test.cc. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/channel.h"
#include "runtime/execute/counts.h"
#include "runtime/execute/datatypes.h"
#include "runtime/execute/state.h"

static struct qd_channel** list_of(MPI_Comm comm) {
  const uintptr_t bits = (uintptr_t)comm;
  return &qd_global.channels[(bits ^ bits >> 4 ^ bits >> 12) % QD_CHANNEL_LISTS];
}

static void link_channel(struct qd_channel* channel) {
  pthread_mutex_lock(&qd_global.lock);
  channel->place = list_of(channel->user);
  channel->next = *channel->place;
  if (channel->next) channel->next->place = &channel->next;
  *channel->place = channel;
  pthread_mutex_unlock(&qd_global.lock);
}

/* Removes a channel from its list, if it is in one. The caller holds the lock. */
static void unlink_channel(struct qd_channel* channel) {
  if (!channel->place) return;
  *channel->place = channel->next;
  if (channel->next) channel->next->place = channel->place;
}

/* Gives up a reference, and frees the channel with the last one. Persistent calls may outlive the user's
 * communicator, on some ranks longer than on others. So each rank frees the private communicator after its own last
 * use. This is right because MPI_Comm_free waits for no other rank in Open MPI and MPICH. */
static void release_channel(struct qd_channel* channel) {
  pthread_mutex_lock(&qd_global.lock);
  const int is_last = --channel->references == 0;
  if (is_last) unlink_channel(channel);
  pthread_mutex_unlock(&qd_global.lock);
  if (!is_last) return;
  if (!channel->members) {
    if (channel->comm != MPI_COMM_NULL && qd_mpi_is_usable()) PMPI_Comm_free(&channel->comm);
    free(channel->node_of);
  }
  free(channel);
}

void qd_binding_destroy(struct qd_binding* binding) {
  for (int i = 0; i < QD_KEPT_CALLS - 1; i++)
    if (binding->others[i]) qd_binding_destroy(binding->others[i]);
  qd_call_destroy(binding->call);
  free(binding->last.arrays);
  qd_tables_destroy(&binding->tables);
  qd_tables_destroy(&binding->other_tables);
  qd_release(binding->schedule_data);
  release_channel(binding->channel);
  qd_global_counts_close(binding);
  qd_layout_free(&binding->layout);
  free(binding);
}

/* Takes the references to the schedule and the channel. */
static void hold_channel(struct qd_binding* binding) {
  pthread_mutex_lock(&qd_global.lock);
  binding->schedule_data->references++;
  binding->channel->references++;
  pthread_mutex_unlock(&qd_global.lock);
}

struct qd_binding* qd_binding_new(struct qd_schedule_data* schedule_data,
                                  struct qd_channel* channel) {
  struct qd_binding* binding = calloc(1, sizeof *binding);
  if (!binding) return NULL;
  binding->schedule_data = schedule_data;
  binding->channel = channel;
  binding->comm = channel->comm;
  binding->group_comm = channel->group_comm;
  binding->ranks = channel->members ? channel->members->ranks : NULL;
  binding->options.stall = qd_settings()->stall;
  hold_channel(binding);
  return binding;
}

struct qd_binding* qd_binding_copy(const struct qd_binding* binding) {
  enum { SHARED = offsetof(struct qd_binding, tables) };
  struct qd_binding* copy = calloc(1, sizeof *copy);
  if (!copy) return NULL;
  memcpy(copy, binding, SHARED);
  hold_channel(copy);
  if (qd_copy_layout(&copy->layout, &copy->schedule_data->program)) return copy;
  qd_binding_destroy(copy);
  return NULL;
}

/* Frees the bindings to a user's communicator that no longer exists, except those of persistent calls. */
static void close_channel(struct qd_channel* channel) {
  for (struct qd_binding *binding = channel->bindings, *next; binding; binding = next) {
    next = binding->next;
    qd_forget(binding);
    qd_binding_destroy(binding);
  }
  channel->user = MPI_COMM_NULL;
  release_channel(channel);
}

static int delete_channel(MPI_Comm comm, int keyval, void* attribute, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  close_channel(attribute);
  return MPI_SUCCESS;
}

static struct qd_channel* channel_named(MPI_Comm comm) {
  pthread_mutex_lock(&qd_global.lock);
  struct qd_channel* channel = *list_of(comm);
  while (channel && channel->user != comm) channel = channel->next;
  pthread_mutex_unlock(&qd_global.lock);
  return channel;
}

void qd_close_channels(MPI_Comm comm) {
  for (struct qd_channel* channel; (channel = channel_named(comm));) close_channel(channel);
}

/* Frees all channels. MPI_Finalize calls this when it deletes the attributes of MPI_COMM_SELF, before anything else.
 * If the delete function of another attribute calls a collective later, the schedule is bound again. */
static int finalize(MPI_Comm comm, int keyval, void* attribute, void* extra) {
  struct qd_global* g = &qd_global;
  (void)comm, (void)keyval, (void)attribute, (void)extra;
  qd_trace_write();
  qd_trim_arena();
  for (int i = 0; i < QD_CHANNEL_LISTS; i++)
    for (struct qd_channel *channel = g->channels[i], *next; channel; channel = next) {
      next = channel->next;
      if (channel->members) continue; /* the preload library frees the carrier */
      channel->references++;
      if (channel->user != MPI_COMM_NULL) PMPI_Comm_delete_attr(channel->user, g->channel_keyval);
      PMPI_Comm_free(&channel->comm);
      release_channel(channel);
    }
  return MPI_SUCCESS;
}

/* Frees the private communicator of this rank alone when MPI deletes the attribute that holds it. */
static int free_alone(MPI_Comm self, int keyval, void* attribute, void* extra) {
  (void)self, (void)keyval, (void)extra;
  PMPI_Comm_free(attribute);
  free(attribute);
  return MPI_SUCCESS;
}

int qd_make_keyvals(void) {
  struct qd_global* g = &qd_global;
  if (__atomic_load_n(&g->has_keyvals, __ATOMIC_ACQUIRE)) return MPI_SUCCESS;
  pthread_mutex_lock(&g->lock);
  int code = MPI_SUCCESS;
  if (!g->has_keyvals) {
    code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_channel, &g->channel_keyval, NULL);
    if (code == MPI_SUCCESS)
      code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_alone, &g->alone_keyval, NULL);
    if (code == MPI_SUCCESS)
      code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &g->finalizer_keyval, NULL);
    if (code == MPI_SUCCESS) code = PMPI_Comm_set_attr(MPI_COMM_SELF, g->finalizer_keyval, NULL);
    __atomic_store_n(&g->has_keyvals, code == MPI_SUCCESS, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&g->lock);
  return code;
}

struct qd_channel* qd_channel_of(MPI_Comm comm) {
  if (qd_global.serves_preload) return channel_named(comm);
  void* attribute = NULL;
  int found = 0;
  return qd_make_keyvals() == MPI_SUCCESS &&
                 PMPI_Comm_get_attr(comm, qd_global.channel_keyval, &attribute, &found) ==
                     MPI_SUCCESS &&
                 found
             ? attribute
             : NULL;
}

/* Makes a channel with this private communicator as an attribute of the user's. Returns NULL if that fails. */
static struct qd_channel* attach(MPI_Comm user, MPI_Comm private) {
  struct qd_channel* channel = qd_make_keyvals() == MPI_SUCCESS ? calloc(1, sizeof *channel) : NULL;
  if (!channel) return NULL;
  *channel =
      (struct qd_channel){.user = user, .comm = private, .group_comm = private, .references = 1};
  if (PMPI_Comm_set_attr(user, qd_global.channel_keyval, channel) == MPI_SUCCESS) return channel;
  free(channel);
  return NULL;
}

int qd_open_channel(MPI_Comm comm, struct qd_problem* problem, struct qd_channel** result) {
  *result = qd_channel_of(comm);
  if (*result) return MPI_SUCCESS;
  MPI_Comm private = MPI_COMM_NULL;
  const int code = qd_private_communicator(comm, &private);
  if (code != MPI_SUCCESS) return code;
  struct qd_channel* channel = attach(comm, private);
  if (!channel) qd_refuse(problem, MPI_ERR_NO_MEM, qd_no_memory);
  if (!qd_all_succeeded(private, problem)) {
    if (channel)
      PMPI_Comm_delete_attr(comm, qd_global.channel_keyval);
    else
      PMPI_Comm_free(&private);
    return MPI_SUCCESS;
  }
  link_channel(channel);
  *result = channel;
  return MPI_SUCCESS;
}

struct qd_channel* qd_open_members(MPI_Comm comm, const struct qd_members* members) {
  struct qd_channel* channel = channel_named(comm);
  if (channel || !(channel = calloc(1, sizeof *channel))) return channel;
  *channel = (struct qd_channel){.user = comm,
                                 .comm = members->carrier,
                                 .group_comm = comm,
                                 .members = members,
                                 .node_of = members->node_of,
                                 .references = 1};
  link_channel(channel);
  return channel;
}

/* ---- Communicators */

int qd_private_communicator(MPI_Comm comm, MPI_Comm* result) {
  MPI_Group group;
  int inter = 0, code = PMPI_Comm_test_inter(comm, &inter);
  if (code != MPI_SUCCESS) return code;
  if (inter) {
    code = PMPI_Intercomm_merge(comm, 0, result);
  } else {
    code = PMPI_Comm_group(comm, &group);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Comm_create(comm, group, result);
    PMPI_Group_free(&group);
  }
  if (code == MPI_SUCCESS) PMPI_Comm_set_errhandler(*result, MPI_ERRORS_RETURN);
  return code;
}

static MPI_Comm* find_alone(void) {
  MPI_Comm* alone = NULL;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_SELF, qd_global.alone_keyval, &alone, &found);
  return found ? alone : NULL;
}

/* Keeps the communicator, or frees it if another thread has kept one. Returns the one that is kept. */
static MPI_Comm* keep_alone(MPI_Comm* made) {
  pthread_mutex_lock(&qd_global.lock);
  MPI_Comm* const found = find_alone();
  if (!found) PMPI_Comm_set_attr(MPI_COMM_SELF, qd_global.alone_keyval, made);
  pthread_mutex_unlock(&qd_global.lock);
  if (!found) return made;
  PMPI_Comm_free(made);
  free(made);
  return found;
}

/* Makes a communicator of this rank alone, kept as an attribute of MPI_COMM_SELF. Returns NULL if that fails. */
static MPI_Comm* make_carrier_alone(void) {
  MPI_Comm* made = malloc(sizeof *made);
  if (made && qd_private_communicator(MPI_COMM_SELF, made) == MPI_SUCCESS) return keep_alone(made);
  free(made);
  return NULL;
}

/* Returns a communicator of this rank alone on which errors return, or MPI_COMM_SELF if there is none. */
static MPI_Comm alone(void) {
  if (qd_make_keyvals() != MPI_SUCCESS) return MPI_COMM_SELF;
  const MPI_Comm* found = find_alone();
  if (!found) found = make_carrier_alone();
  return found ? *found : MPI_COMM_SELF;
}

int qd_operator_fits(MPI_Op operation, MPI_Datatype type) {
  struct qd_global* g = &qd_global;
  char nothing[2];
  /* MPI cannot check the datatype of a user's operator. */
  int fits =
      !qd_is_predefined_operator(operation) && operation != MPI_REPLACE && operation != MPI_NO_OP;
  pthread_mutex_lock(&g->lock);
  for (unsigned i = 0; i < QD_KNOWN_FITS && !fits; i++)
    fits = g->fits[i].operation == operation && g->fits[i].type == type && i < g->fit_count;
  pthread_mutex_unlock(&g->lock);
  if (fits) return 1;
  fits = PMPI_Allreduce(&nothing[0], &nothing[1], 0, type, operation, alone()) == MPI_SUCCESS;
  if (!fits || !qd_is_predefined(type)) return fits;
  pthread_mutex_lock(&g->lock);
  g->fits[g->fit_count++ % QD_KNOWN_FITS] = (struct qd_fit){operation, type};
  pthread_mutex_unlock(&g->lock);
  return fits;
}

int qd_is_committed(MPI_Datatype type) {
  char nothing[1];
  int position = 0;
  return PMPI_Pack(nothing, 0, type, nothing, 0, &position, alone()) == MPI_SUCCESS;
}
