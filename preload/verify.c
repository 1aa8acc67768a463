/* QUADRILLE=verify: before a schedule receives, the library's own collective receives into a copy of the receive buffer;
 * then every byte of the two is compared, those between blocks included. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emitted/universal.h"
#include "preload/preload.h"

/* Sums of numbers that are rounded depend on their order, which MPI leaves open. */
static int is_exact(const struct preload_turn* turn, const struct preload_arguments* a) {
  int integers, addresses, types, combiner = MPI_COMBINER_NAMED, length = 0;
  char name[MPI_MAX_OBJECT_NAME] = "";
  const char* scheduled = preload_scheduled(turn->collective);
  if (!strstr(scheduled, "reduce") && !strstr(scheduled, "scan")) return 1;
  MPI_Type_get_envelope(a->receive.type, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) return 0;
  MPI_Type_get_name(a->receive.type, name, &length);
  return !strstr(name, "FLOAT") && !strstr(name, "DOUBLE") && !strstr(name, "REAL") &&
         !strstr(name, "COMPLEX");
}

/* Where blocks begin and end, in bytes from the buffer's address. */
static void find_span(const struct preload_side* side, int blocks, MPI_Aint* low, MPI_Aint* span) {
  MPI_Aint high = 0;
  int is_first = 1;
  *low = 0;
  for (int i = 0; i < blocks; i++) {
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    const MPI_Datatype type = preload_type(side, i);
    const MPI_Count count = preload_count(side, i);
    if (count == 0 || type == MPI_DATATYPE_NULL) continue;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    const MPI_Aint begin = preload_place(side, i) + true_lower;
    const MPI_Aint back = (MPI_Aint)(count - 1) * extent;
    const MPI_Aint first = back < 0 ? begin + back : begin;
    const MPI_Aint last = (back < 0 ? begin : begin + back) + true_extent;
    if (is_first || first < *low) *low = first;
    if (is_first || last > high) high = last;
    is_first = 0;
  }
  *span = high - *low;
}

/* In place, a reduce-scatter is given more than it returns. */
static void find_spans(struct preload_turn* turn, const struct preload_arguments* a) {
  struct preload_side side;
  const int blocks = preload_received(turn, a, &side);
  find_span(&side, blocks, &turn->low, &turn->span);
  turn->compared = turn->span;
  if (a->send.base != MPI_IN_PLACE) return;
  if (turn->collective == PRELOAD_Reduce_scatter ||
      turn->collective == PRELOAD_Reduce_scatter_block) {
    MPI_Count all = 0;
    for (int i = 0; i < turn->of->shape.ranks; i++) all += preload_count(&a->receive, i);
    side.count = all;
    find_span(&side, 1, &turn->low, &turn->span);
  } else if (turn->collective == PRELOAD_Exscan) {
    find_span(&side, 1, &turn->low, &turn->span);
  }
}

void preload_verify_begin(struct preload_turn* turn, const struct preload_arguments* a) {
  char* const buffer = a->receive.base;
  find_spans(turn, a);
  if (turn->span > 0 && buffer != MPI_BOTTOM) turn->copy = malloc((size_t)turn->span);
  enum { LACKS, ROUNDS, WORDS };
  const int mine[WORDS] = {[LACKS] = turn->span > 0 && !turn->copy, [ROUNDS] = !is_exact(turn, a)};
  int all[WORDS];
  preload_most(turn->of, mine, all, WORDS, MPI_INT);
  turn->is_verified = !all[LACKS] && !all[ROUNDS];
  if (!turn->is_verified)
    turn->reason = all[LACKS] ? "by rule; not compared: memory ran out, or MPI_BOTTOM"
                              : "by rule; not compared: sums of rounded numbers";
  turn->native_receive = buffer;
  if (!turn->is_verified || !turn->copy || !buffer) return;
  memcpy(turn->copy, buffer + turn->low, (size_t)turn->span);
  turn->native_receive = turn->copy - turn->low;
}

/* The block that the byte is in, and where; -1: in none. */
static int block_of(const struct preload_side* side, int blocks, MPI_Aint byte, MPI_Aint* offset) {
  for (int i = 0; i < blocks; i++) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(preload_type(side, i), &lower, &extent);
    *offset = byte - preload_place(side, i);
    if (*offset >= 0 && *offset < (MPI_Aint)preload_count(side, i) * extent) return i;
  }
  *offset = byte;
  return -1;
}

void preload_verify_end(const struct preload_turn* turn, const struct preload_arguments* a) {
  const char* const received = (const char*)a->receive.base + turn->low;
  MPI_Aint i = 0, offset = 0;
  struct preload_side side;
  while (i < turn->compared && received[i] == turn->copy[i]) i++;
  if (i == turn->compared) return;
  const int blocks = preload_received(turn, a, &side);
  const int block = block_of(&side, blocks, turn->low + i, &offset);
  fprintf(stderr,
          "quadrille: verify: %s by %s differs from MPI's own at rank %d: byte %lld of block %d is "
          "%d instead of %d\n",
          preload_collective_names[turn->collective], quadrille_universal[turn->universal].name,
          turn->of->rank, (long long)offset, block, (unsigned char)received[i],
          (unsigned char)turn->copy[i]);
  /* So that the launcher passes it on before it ends the job. */
  nanosleep(&(struct timespec){0, 200000000}, NULL);
  MPI_Abort(turn->of->comm, 1);
}
