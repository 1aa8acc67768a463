/* DO NOT EDIT. Made by:
   bazel run //generator -- generate alltoall --algorithm tuna --nodes 6 --out alltoall_tuna_6.qs
   bazel run //generator -- emit alltoall_tuna_6.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLTOALL_TUNA_6_H_
#define QUADRILLE_EMITTED_ALLTOALL_TUNA_6_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_alltoall_tuna_6, sizeof quadrille_alltoall_tuna_6, &schedule). */
extern const unsigned char quadrille_alltoall_tuna_6[303];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLTOALL_TUNA_6_H_ */
