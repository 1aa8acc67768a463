/* The lifetime of bindings, and the references that they hold: to their schedule and to their channel. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/execute/global_counts.h"
#include "runtime/execute/state.h"

/* The lock is held. */
static void unlink_channel(struct qd_channel* channel) {
  if (channel->previous) channel->previous->next = channel->next;
  if (channel->next) channel->next->previous = channel->previous;
  if (qd_global.channels == channel) qd_global.channels = channel->next;
}

/* Persistent calls may outlive the user's communicator, at some ranks longer than at others. So each rank frees the
 * private communicator after its last use. MPI_Comm_free waits for no other rank in Open MPI and MPICH. */
void qd_channel_release(struct qd_channel* channel) {
  pthread_mutex_lock(&qd_global.lock);
  const int is_last = --channel->references == 0;
  if (is_last) unlink_channel(channel);
  pthread_mutex_unlock(&qd_global.lock);
  if (!is_last) return;
  if (channel->comm != MPI_COMM_NULL && qd_mpi_is_usable()) MPI_Comm_free(&channel->comm);
  free(channel);
}

void qd_binding_destroy(struct qd_binding* binding) {
  qd_call_destroy(binding->call);
  qd_call_destroy(binding->in_place_call);
  qd_tables_destroy(&binding->tables);
  qd_tables_destroy(&binding->other_tables);
  qd_release(binding->schedule_data);
  qd_channel_release(binding->channel);
  qd_global_counts_close(binding);
  free(binding->layout.real);
  free(binding->layout.topologies[0].runs);
  free(binding->layout.topologies[1].runs);
  free(binding);
}

/* Takes the references to the schedule and the channel. */
static void hold(struct qd_binding* binding) {
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
  binding->options.stall = qd_settings()->stall;
  hold(binding);
  return binding;
}

struct qd_binding* qd_binding_copy(const struct qd_binding* binding) {
  enum { SHARED = offsetof(struct qd_binding, tables) };
  struct qd_binding* copy = calloc(1, sizeof *copy);
  if (!copy) return NULL;
  memcpy(copy, binding, SHARED);
  copy->options.compares = 1;
  hold(copy);
  if (qd_copy_layout(copy)) return copy;
  qd_binding_destroy(copy);
  return NULL;
}
