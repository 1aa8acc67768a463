/* An MPI of one process that is any rank of any number: messages go nowhere and are complete at
 * once. What remains of a call's instructions is the caller's own. Lengths that travel come back: all
 * ranks are alike, and what this one sends to another is what that one's like sends to it. */
#ifndef QUADRILLE_BENCH_STUB_MPI_H_
#define QUADRILLE_BENCH_STUB_MPI_H_

#include <stdint.h>

/* Which rank of how many this process is. */
void stub_be(int rank, int ranks);

/* From here on, every message is noted: how many, and a digest of all sends in order and of all
 * receives in order, with their peers, buffers and counts. */
struct stub_record {
  uint64_t digest;
  int64_t messages, bytes;
};
void stub_start_record(void);
struct stub_record stub_end_record(void);

#endif /* QUADRILLE_BENCH_STUB_MPI_H_ */
