/* DO NOT EDIT. Made by:
   bazel run //generator -- generate alltoall --algorithm hierarchical-factor --nodes any --out alltoall_any.qs
   bazel run //generator -- emit alltoall_any.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLTOALL_ANY_H_
#define QUADRILLE_EMITTED_ALLTOALL_ANY_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_alltoall_any, sizeof quadrille_alltoall_any, &schedule). */
extern const unsigned char quadrille_alltoall_any[401];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLTOALL_ANY_H_ */
