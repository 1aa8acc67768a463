/* An MPI with one process, which plays any rank of any number of ranks. Messages go nowhere and complete at once, so
 * the remaining instructions of a call are the caller's own. Lengths that this rank sends come back to it: all ranks
 * are alike, so a peer would send it the same lengths. */
#pragma once

#include <stdint.h>

/* Sets the rank of this process and the number of ranks. */
void stub_be(int rank, int ranks);

/* What stub_start_record begins to record. The digest covers the peers, buffers, counts and order of messages. */
struct stub_record {
  uint64_t digest;
  int64_t messages, bytes;
};
void stub_start_record(void);
struct stub_record stub_end_record(void);
