/* DO NOT EDIT. Made by:
   bazel run //generator -- generate alltoall --algorithm hierarchical-factor --nodes 4x4 --out alltoall_4x4.qs
   bazel run //generator -- emit alltoall_4x4.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLTOALL_4X4_H_
#define QUADRILLE_EMITTED_ALLTOALL_4X4_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_alltoall_4x4, sizeof quadrille_alltoall_4x4, &schedule). */
extern const unsigned char quadrille_alltoall_4x4[402];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLTOALL_4X4_H_ */
