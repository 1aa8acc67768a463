/* All-to-alls of which no rank knows all lengths: the average block that rules go by is that of an earlier call, on which ranks
 * agree by a reduction in calls that are ever rarer. (One that goes on in the background would have to be over before the
 * communicator is freed, which MPI libraries tell of too late.) */
#include "preload/preload.h"

static int64_t sent_bytes(const struct preload_side* side, int blocks) {
  int64_t bytes = 0;
  for (int i = 0; i < blocks; i++) {
    MPI_Count size = 0;
    const MPI_Datatype type = preload_type(side, i); /* where nothing comes, whatever it likes */
    if (preload_count(side, i) > 0 && type != MPI_DATATYPE_NULL) MPI_Type_size_x(type, &size);
    bytes += (int64_t)(size * preload_count(side, i));
  }
  return bytes;
}

int64_t preload_average(const struct preload_turn* turn, const struct preload_arguments* a) {
  enum { RAREST = 64 };
  struct preload_communicator* of = turn->of;
  struct preload_average* average = &of->averages[turn->collective == PRELOAD_Alltoallw];
  const int64_t ranks = of->shape.ranks;
  const unsigned call = average->calls++;
  if (call % RAREST != 0 && (call > RAREST || (call & (call - 1)) != 0)) return average->bytes;
  int64_t bytes = sent_bytes(a->send.base == MPI_IN_PLACE ? &a->receive : &a->send, (int)ranks);
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, of->comm);
  return average->bytes = bytes / (ranks * ranks);
}
