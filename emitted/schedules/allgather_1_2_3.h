/* DO NOT EDIT. Made by:
   bazel run //generator -- generate allgather --algorithm blocked-ring-nodes --nodes 1,2,3 --out allgather_1_2_3.qs
   bazel run //generator -- emit allgather_1_2_3.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLGATHER_1_2_3_H_
#define QUADRILLE_EMITTED_ALLGATHER_1_2_3_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_allgather_1_2_3, sizeof quadrille_allgather_1_2_3, &schedule). */
extern const unsigned char quadrille_allgather_1_2_3[483];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLGATHER_1_2_3_H_ */
