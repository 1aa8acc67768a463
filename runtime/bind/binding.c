/* How long bindings live, and what they hold: their schedule and their communicator's channel. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/call.h"
#include "runtime/internal.h"

/* The lock is held. */
static void unlink_channel(struct quadrille_channel* channel) {
  if (channel->previous) channel->previous->next = channel->next;
  if (channel->next) channel->next->previous = channel->previous;
  if (quadrille_global.channels == channel) quadrille_global.channels = channel->next;
}

/* Persistent calls may outlive the user's communicator, at some ranks longer than at others. So the private one is freed by
 * each rank when it has no more use for it: MPI_Comm_free waits for no other rank in Open MPI and MPICH. */
void quadrille_channel_release(struct quadrille_channel* channel) {
  pthread_mutex_lock(&quadrille_global.lock);
  const int is_last = --channel->references == 0;
  if (is_last) unlink_channel(channel);
  pthread_mutex_unlock(&quadrille_global.lock);
  if (!is_last) return;
  if (channel->comm != MPI_COMM_NULL && quadrille_mpi_is_usable()) MPI_Comm_free(&channel->comm);
  free(channel);
}

void quadrille_binding_destroy(struct quadrille_binding* binding) {
  quadrille_call_destroy(binding->call);
  quadrille_call_destroy(binding->in_place_call);
  quadrille_tables_destroy(&binding->tables);
  quadrille_tables_destroy(&binding->other_tables);
  quadrille_release(binding->loaded);
  quadrille_channel_release(binding->channel);
  quadrille_counted_close(binding);
  free(binding->real);
  free(binding->topologies[0].runs);
  free(binding->topologies[1].runs);
  free(binding);
}

/* From now on it has its schedule and its channel. */
static void hold(struct quadrille_binding* binding) {
  pthread_mutex_lock(&quadrille_global.lock);
  binding->loaded->references++;
  binding->channel->references++;
  pthread_mutex_unlock(&quadrille_global.lock);
}

struct quadrille_binding* quadrille_binding_new(struct quadrille_loaded* loaded,
                                                struct quadrille_channel* channel) {
  struct quadrille_binding* binding = calloc(1, sizeof *binding);
  if (!binding) return NULL;
  binding->loaded = loaded;
  binding->channel = channel;
  binding->comm = channel->comm;
  binding->stall = quadrille_stall();
  hold(binding);
  return binding;
}

struct quadrille_binding* quadrille_binding_copy(const struct quadrille_binding* binding) {
  enum { SHARED = offsetof(struct quadrille_binding, tables) };
  struct quadrille_binding* copy = calloc(1, sizeof *copy);
  if (!copy) return NULL;
  memcpy(copy, binding, SHARED);
  copy->compares = 1;
  hold(copy);
  if (quadrille_copy_layout(copy)) return copy;
  quadrille_binding_destroy(copy);
  return NULL;
}
