/* DO NOT EDIT. Made by:
   bazel run //generator -- generate alltoall --algorithm hierarchical-factor --nodes 2x2,4,8 --out alltoall_8_4_2_2.qs
   bazel run //generator -- emit alltoall_8_4_2_2.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLTOALL_8_4_2_2_H_
#define QUADRILLE_EMITTED_ALLTOALL_8_4_2_2_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_alltoall_8_4_2_2, sizeof quadrille_alltoall_8_4_2_2, &schedule). */
extern const unsigned char quadrille_alltoall_8_4_2_2[406];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLTOALL_8_4_2_2_H_ */
