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
  flight->landings = calloc((size_t)window, sizeof *flight->landings);
  flight->requests = malloc((size_t)window * 2 * sizeof *flight->requests);
  if (flight->used && flight->landings && flight->requests) return 1;
  quadrille_flight_close(flight);
  return 0;
}

void quadrille_flight_close(struct quadrille_flight* flight) {
  free(flight->used);
  for (int i = 0; flight->landings && i < flight->window; i++) free(flight->landings[i].room);
  free(flight->landings);
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

/* Does what is left to do once a step's messages are there. */
static void finish_landing(struct quadrille_landing* landing) {
  const struct quadrille_scatter* scatter = (const struct quadrille_scatter*)landing->room;
  for (; landing->scatters > 0; landing->scatters--, scatter++)
    memcpy(scatter->to, scatter->from, (size_t)scatter->bytes);
  free(landing->staged);
  landing->staged = NULL;
}

void quadrille_flight_land_until(struct quadrille_flight* flight, int count) {
  int place = flight->first;
  MPI_Request* requests = &flight->requests[place * flight->width];
  for (; flight->count > count; flight->count--) {
    quadrille_flight_wait(flight, requests, flight->used[place]);
    struct quadrille_landing* landing = &flight->landings[place];
    if (landing->staged || landing->scatters) finish_landing(landing);
    requests += flight->width;
    if (++place < flight->window) continue;
    place = 0;
    requests = flight->requests;
  }
  flight->first = place;
}

void quadrille_flight_abandon(struct quadrille_flight* flight) {
  for (; flight->count > 0; flight->count--) {
    MPI_Request* requests = &flight->requests[flight->first * flight->width];
    for (int i = 0; i < flight->used[flight->first]; i++) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&requests[i]);
      MPI_Request_free(&requests[i]);
    }
    flight->landings[flight->first].scatters = 0;
    flight->first = (flight->first + 1) % flight->window;
  }
}
