/* All-to-all calls. */
#include <stdlib.h>

#include "runtime/exec/call.h"
#include "runtime/exec/collectives.h"

/* The call with a plan for calls in place, which the first of them makes. NULL where memory ran out. */
static struct quadrille_call* in_place_call(struct quadrille_binding* binding) {
  struct quadrille_call* c = binding->in_place_call;
  if (c) return c;
  c = malloc(sizeof *c);
  if (c && !quadrille_call_open(c, binding, 1, 0)) {
    quadrille_log("in place: up to %d blocks are kept aside at a time", c->plan.buffer_count);
    return binding->in_place_call = c;
  }
  if (c) quadrille_call_close(c);
  free(c);
  return NULL;
}

int quadrille_alltoall_run(struct quadrille_binding* binding, const struct quadrille_side* send,
                           const struct quadrille_side* receive, int in_place, MPI_Comm comm) {
  int error_class = MPI_SUCCESS;
  const char* error = quadrille_refused_buffer(binding, in_place ? NULL : send->base);
  if (!error) error = quadrille_refused_buffer(binding, receive->base);
  if (error) return quadrille_error(comm, MPI_ERR_BUFFER, "%s", error);
  if (binding->compares) {
    const int code = quadrille_compare_lengths(binding, comm, send, receive);
    if (code != MPI_SUCCESS) return code;
  }
  struct quadrille_call* c = in_place ? in_place_call(binding) : binding->call;
  const int lacks_memory = !c;
  if (lacks_memory) c = binding->call;
  const int is_equal = send->uniform && receive->uniform;
  error = quadrille_call_load(c, in_place ? receive : send, receive,
                              is_equal ? QUADRILLE_LENGTHS_KNOWN : QUADRILLE_LENGTHS_AHEAD,
                              &error_class);
  if (error) return quadrille_error(comm, error_class, "%s", error);
  quadrille_call_begin(c, lacks_memory);
  quadrille_call_finish(c);
  return quadrille_call_report(c, comm);
}
