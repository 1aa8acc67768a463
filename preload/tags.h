/* The messages of all schedules travel on one communicator, the carrier. Each communicator has its own tags there.
 * Its members each offer some, and all take the greatest offer. An offer contains the rank that makes it, so no two
 * offers are equal. So two communicators never share a tag, even if two threads agree at once. A rank repeats an
 * offer that was not taken. Tags are never taken again, since a rank may still wait for messages on a communicator
 * that others have freed. Tested by tests/preload/tags_test.cc. */
#pragma once

#include <stdint.h>

struct preload_tags {
  int rank;          /* of this process in the carrier */
  int communicators; /* how many each rank can offer tags for */
  int tags;          /* how many a communicator gets */
  int offered;       /* communicators that this rank has offered tags for so far */
};

static inline struct preload_tags preload_tags_of(int rank, int ranks, int greatest, int tags) {
  const int64_t all = ((int64_t)greatest + 1) / tags;
  return (struct preload_tags){rank, (int)(all / ranks), tags, 0};
}

/* Returns this rank's offer, which is greater if the rank has more tags left; 0 if it has none. */
static inline uint64_t preload_offer_tag(struct preload_tags* own) {
  if (__atomic_load_n(&own->offered, __ATOMIC_RELAXED) >= own->communicators) return 0;
  const int left = own->communicators - __atomic_fetch_add(&own->offered, 1, __ATOMIC_RELAXED);
  return left > 0 ? (uint64_t)left << 32 | (uint32_t)own->rank : 0;
}

/* Returns the communicator's first tag, or -1 if no member had tags. `offer`: this rank's; `greatest`: of all. */
static inline int preload_take_tag(struct preload_tags* own, uint64_t offer, uint64_t greatest) {
  int offered = own->communicators - (int)(offer >> 32) + 1; /* if no other offer was made since */
  if (offer != greatest && offer != 0)
    __atomic_compare_exchange_n(&own->offered, &offered, offered - 1, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  if (greatest == 0) return -1;
  const int rank = (int)(uint32_t)greatest, number = own->communicators - (int)(greatest >> 32);
  return (rank * own->communicators + number) * own->tags;
}
