/* The tags of communicators on the carrier of messages. Each member of a communicator offers one, and all take the greatest offer. An
 * offer names its rank, which has no other like it. So no two communicators get one tag, even if two threads of a process agree on
 * them at once. A rank makes an offer that was not taken again. A tag that was taken is not used again: a rank may still wait for
 * messages on a communicator that others have freed. Knows no MPI. Tested by tests/preload/tags_test.cc. */
#ifndef QUADRILLE_PRELOAD_TAGS_H_
#define QUADRILLE_PRELOAD_TAGS_H_

#include <stdint.h>

struct preload_tags {
  int rank;          /* in the carrier */
  int communicators; /* that each rank can offer tags for */
  int tags;          /* of a communicator */
  int offered;       /* communicators so far */
};

static inline struct preload_tags preload_tags_of(int rank, int ranks, int greatest, int tags) {
  const int64_t all = ((int64_t)greatest + 1) / tags;
  return (struct preload_tags){rank, (int)(all / ranks), tags, 0};
}

/* The more a rank has left, the greater is its offer. 0: it has none. */
static inline uint64_t preload_offer_tag(struct preload_tags* own) {
  if (__atomic_load_n(&own->offered, __ATOMIC_RELAXED) >= own->communicators) return 0;
  const int left = own->communicators - __atomic_fetch_add(&own->offered, 1, __ATOMIC_RELAXED);
  return left > 0 ? (uint64_t)left << 32 | (uint32_t)own->rank : 0;
}

/* The first tag of the communicator, or -1 if its members have none. `greatest` is that of their offers. */
static inline int preload_take_tag(struct preload_tags* own, uint64_t offer, uint64_t greatest) {
  int offered = own->communicators - (int)(offer >> 32) + 1; /* if there was no other since */
  if (offer != greatest && offer != 0)
    __atomic_compare_exchange_n(&own->offered, &offered, offered - 1, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  if (greatest == 0) return -1;
  const int rank = (int)(uint32_t)greatest, number = own->communicators - (int)(greatest >> 32);
  return (rank * own->communicators + number) * own->tags;
}

#endif /* QUADRILLE_PRELOAD_TAGS_H_ */
