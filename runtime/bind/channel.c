/* What belongs to a user's communicator: its attribute, with a private communicator and the bindings to it. Tested by
 * tests/mpi/communicator_test.cc and lifetime_test.cc. */
#include <stdlib.h>

#include "runtime/internal.h"

static void free_communicators(struct quadrille_channel* channel) {
  if (channel->comm != MPI_COMM_NULL) MPI_Comm_free(&channel->comm);
  if (channel->alone != MPI_COMM_NULL) MPI_Comm_free(&channel->alone);
}

/* The communicator goes, and with it its bindings but for those of persistent calls. The private one stays where
 * any rank has such a call: to free it is collective. */
static int delete_channel(MPI_Comm comm, int keyval, void* attribute, void* extra) {
  struct quadrille_channel* channel = attribute;
  (void)comm, (void)keyval, (void)extra;
  for (struct quadrille_binding *binding = channel->bindings, *next; binding; binding = next) {
    next = binding->next;
    quadrille_forget(binding);
    quadrille_binding_destroy(binding);
  }
  pthread_mutex_lock(&quadrille_global.lock);
  int is_kept = channel->references > 1, is_mine = is_kept;
  pthread_mutex_unlock(&quadrille_global.lock);
  if (channel->had_persistent && channel->comm != MPI_COMM_NULL)
    MPI_Allreduce(&is_mine, &is_kept, 1, MPI_INT, MPI_MAX, channel->comm);
  if (!is_kept) free_communicators(channel);
  quadrille_channel_release(channel);
  return MPI_SUCCESS;
}

/* MPI_Finalize frees attributes of MPI_COMM_SELF first, while MPI still works: private
 * communicators that are left, as nobody freed the user's or as persistent calls kept them, go now. */
static int finalize(MPI_Comm comm, int keyval, void* attribute, void* extra) {
  (void)comm, (void)keyval, (void)attribute, (void)extra;
  quadrille_forget(NULL);
  for (struct quadrille_channel *channel = quadrille_global.channels, *next; channel;
       channel = next) {
    next = channel->next;
    free_communicators(channel);
    channel->references++;
    quadrille_channel_release(channel);
  }
  return MPI_SUCCESS;
}

int quadrille_make_keyvals(void) {
  struct quadrille_global* g = &quadrille_global;
  if (__atomic_load_n(&g->has_keyvals, __ATOMIC_ACQUIRE)) return MPI_SUCCESS;
  pthread_mutex_lock(&g->lock);
  int code = MPI_SUCCESS;
  if (!g->has_keyvals) {
    code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_channel, &g->channel_keyval, NULL);
    if (code == MPI_SUCCESS)
      code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &g->finalizer_keyval, NULL);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_attr(MPI_COMM_SELF, g->finalizer_keyval, NULL);
    __atomic_store_n(&g->has_keyvals, code == MPI_SUCCESS, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&g->lock);
  return code;
}

struct quadrille_channel* quadrille_channel_of(MPI_Comm comm) {
  void* attribute = NULL;
  int found = 0;
  if (MPI_Comm_get_attr(comm, quadrille_global.channel_keyval, &attribute, &found) != MPI_SUCCESS ||
      !found)
    return NULL;
  return attribute;
}

int quadrille_open_channel(MPI_Comm comm, struct quadrille_offer* offer,
                           struct quadrille_channel** result) {
  *result = quadrille_channel_of(comm);
  if (*result) return MPI_SUCCESS;
  MPI_Comm private = MPI_COMM_NULL;
  const int code = quadrille_private_communicator(comm, &private);
  if (code != MPI_SUCCESS) return code;
  struct quadrille_channel* channel = calloc(1, sizeof *channel);
  if (!channel) quadrille_refuse(offer, MPI_ERR_NO_MEM, quadrille_no_memory);
  if (!quadrille_all_well(private, offer) || !channel) {
    MPI_Comm_free(&private);
    free(channel);
    return MPI_SUCCESS;
  }
  channel->comm = private;
  channel->alone = MPI_COMM_NULL;
  channel->references = 1;
  pthread_mutex_lock(&quadrille_global.lock);
  channel->next = quadrille_global.channels;
  if (channel->next) channel->next->previous = channel;
  quadrille_global.channels = channel;
  pthread_mutex_unlock(&quadrille_global.lock);
  *result = channel;
  return MPI_Comm_set_attr(comm, quadrille_global.channel_keyval, channel);
}
