/* An all-to-all call by a schedule that forwards blocks. */
#include "runtime/traffic.h"

int quadrille_forward_run(struct quadrille_binding* binding, const struct quadrille_side* send,
                          const struct quadrille_side* receive, int in_place, MPI_Comm comm) {
  struct quadrille_traffic* traffic = binding->traffic;
  int error_class;
  const char* error = quadrille_traffic_load(traffic, send, receive, in_place, &error_class);
  if (error) return quadrille_error(comm, error_class, "%s", error);
  quadrille_traffic_start(traffic, QUADRILLE_CARGO_BOTH);
  quadrille_traffic_finish(traffic);
  return quadrille_traffic_report(traffic, comm);
}
