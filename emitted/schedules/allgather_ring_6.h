/* DO NOT EDIT. Made by:
   bazel run //generator -- generate allgather --algorithm blocked-ring --nodes 6 --out allgather_ring_6.qs
   bazel run //generator -- emit allgather_ring_6.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLGATHER_RING_6_H_
#define QUADRILLE_EMITTED_ALLGATHER_RING_6_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_allgather_ring_6, sizeof quadrille_allgather_ring_6, &schedule). */
extern const unsigned char quadrille_allgather_ring_6[306];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLGATHER_RING_6_H_ */
