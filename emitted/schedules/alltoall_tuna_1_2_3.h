/* DO NOT EDIT. Made by:
   bazel run //generator -- generate alltoall --algorithm tuna-coalesced --nodes 1,2,3 --out alltoall_tuna_1_2_3.qs
   bazel run //generator -- emit alltoall_tuna_1_2_3.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLTOALL_TUNA_1_2_3_H_
#define QUADRILLE_EMITTED_ALLTOALL_TUNA_1_2_3_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_alltoall_tuna_1_2_3, sizeof quadrille_alltoall_tuna_1_2_3, &schedule). */
extern const unsigned char quadrille_alltoall_tuna_1_2_3[513];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLTOALL_TUNA_1_2_3_H_ */
