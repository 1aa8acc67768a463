/* DO NOT EDIT. Made by:
   bazel run //generator -- generate allgather --algorithm bruck --nodes 4x4 --out allgather_small_4x4.qs
   bazel run //generator -- emit allgather_small_4x4.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLGATHER_SMALL_4X4_H_
#define QUADRILLE_EMITTED_ALLGATHER_SMALL_4X4_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_allgather_small_4x4, sizeof quadrille_allgather_small_4x4, &schedule). */
extern const unsigned char quadrille_allgather_small_4x4[300];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLGATHER_SMALL_4X4_H_ */
