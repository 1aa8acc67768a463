/* An MPI of one process, which can be any rank of any number. Messages go nowhere and complete at once, so the remaining
 * instructions of a call are the caller's own. Lengths that are sent come back: all ranks are alike, so a peer would send
 * this rank the same lengths. */
#ifndef QUADRILLE_BENCH_STUB_MPI_H_
#define QUADRILLE_BENCH_STUB_MPI_H_

#include <stdint.h>

/* Sets the rank of this process and the number of ranks. */
void stub_be(int rank, int ranks);

/* From now on, counts messages and digests them: all sends in order and all receives in order, with their peers, buffers
 * and counts. */
struct stub_record {
  uint64_t digest;
  int64_t messages, bytes;
};
void stub_start_record(void);
struct stub_record stub_end_record(void);

#endif /* QUADRILLE_BENCH_STUB_MPI_H_ */
