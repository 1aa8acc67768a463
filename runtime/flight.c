/* The window of steps in flight. Steps land in the order in which they took off; an error does not
 * stop the schedule, so that the other ranks are served: the first one is kept and returned at the
 * end. */
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"

int quadrille_flight_open(struct quadrille_flight* flight, int window) {
  memset(flight, 0, sizeof *flight);
  flight->window = window;
  flight->width = 2;
  flight->keys = malloc((size_t)window * sizeof *flight->keys);
  flight->used = malloc((size_t)window * sizeof *flight->used);
  flight->staged = malloc((size_t)window * sizeof *flight->staged);
  flight->requests = malloc((size_t)window * 2 * sizeof *flight->requests);
  flight->statuses = malloc(2 * sizeof *flight->statuses);
  if (flight->keys && flight->used && flight->staged && flight->requests && flight->statuses)
    return 1;
  quadrille_flight_close(flight);
  return 0;
}

void quadrille_flight_close(struct quadrille_flight* flight) {
  free(flight->keys);
  free(flight->used);
  free(flight->staged);
  free(flight->requests);
  free(flight->statuses);
  memset(flight, 0, sizeof *flight);
}

/* Doubles the room of every step. */
int quadrille_flight_widen(struct quadrille_flight* flight) {
  const int width = 2 * flight->width;
  MPI_Request* requests = malloc((size_t)flight->window * (size_t)width * sizeof *requests);
  MPI_Status* statuses = malloc((size_t)width * sizeof *statuses);
  if (!requests || !statuses) {
    free(requests);
    free(statuses);
    return 0;
  }
  for (int i = 0; i < flight->count; i++) {
    const int place = (flight->first + i) % flight->window;
    memcpy(&requests[place * width], &flight->requests[place * flight->width],
           (size_t)flight->used[place] * sizeof *requests);
  }
  free(flight->requests);
  free(flight->statuses);
  flight->requests = requests;
  flight->statuses = statuses;
  flight->width = width;
  return 1;
}

/* MPI_Waitall has said that some request failed: finds the error, and waits for those that are not
 * done. */
static void land_with_errors(struct quadrille_flight* flight, MPI_Request* requests, int count) {
  for (int i = 0; i < count; i++) {
    int code = flight->statuses[i].MPI_ERROR;
    if (code == MPI_ERR_PENDING) code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    quadrille_flight_check(flight, code);
  }
}

void quadrille_flight_land(struct quadrille_flight* flight) {
  const int place = flight->first;
  MPI_Request* requests = &flight->requests[place * flight->width];
  const int count = flight->used[place];
  if (count > 0) {
    const int code = MPI_Waitall(count, requests, flight->statuses);
    if (code != MPI_SUCCESS) land_with_errors(flight, requests, count);
  }
  if (flight->staged[place]) free(flight->staged[place]);
  flight->first = place + 1 == flight->window ? 0 : place + 1;
  flight->count--;
}

void quadrille_flight_land_all(struct quadrille_flight* flight) {
  while (flight->count > 0) quadrille_flight_land(flight);
}
