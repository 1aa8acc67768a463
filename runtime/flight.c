/* The window of steps in flight. Steps land in the order in which they took off; an error does not
 * stop the schedule, so that the other ranks are served: the first one is kept and returned at the
 * end. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"

int quadrille_flight_open(struct quadrille_flight* flight, int window) {
  memset(flight, 0, sizeof *flight);
  flight->window = window;
  flight->width = 2;
  flight->used = malloc((size_t)window * sizeof *flight->used);
  flight->staged = calloc((size_t)window, sizeof *flight->staged);
  flight->requests = malloc((size_t)window * 2 * sizeof *flight->requests);
  if (flight->used && flight->staged && flight->requests) return 1;
  quadrille_flight_close(flight);
  return 0;
}

void quadrille_flight_close(struct quadrille_flight* flight) {
  free(flight->used);
  free(flight->staged);
  free(flight->requests);
  memset(flight, 0, sizeof *flight);
}

/* Doubles the room of every step. */
int quadrille_flight_widen(struct quadrille_flight* flight) {
  const int width = 2 * flight->width;
  if ((int64_t)flight->window * width > INT_MAX) return 0;
  MPI_Request* requests = malloc((size_t)flight->window * (size_t)width * sizeof *requests);
  if (!requests) return 0;
  for (int i = 0; i < flight->count; i++) {
    const int place = (flight->first + i) % flight->window;
    memcpy(&requests[place * width], &flight->requests[place * flight->width],
           (size_t)flight->used[place] * sizeof *requests);
  }
  free(flight->requests);
  flight->requests = requests;
  flight->width = width;
  return 1;
}

void quadrille_flight_land_until(struct quadrille_flight* flight, int count) {
  int place = flight->first;
  MPI_Request* requests = &flight->requests[place * flight->width];
  for (; flight->count > count; flight->count--) {
    quadrille_flight_wait(flight, requests, flight->used[place]);
    if (flight->staged[place]) {
      free(flight->staged[place]);
      flight->staged[place] = NULL;
    }
    requests += flight->width;
    if (++place < flight->window) continue;
    place = 0;
    requests = flight->requests;
  }
  flight->first = place;
}
