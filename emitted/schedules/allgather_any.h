/* DO NOT EDIT. Made by:
   bazel run //generator -- generate allgather --algorithm blocked-ring-nodes --nodes any --out allgather_any.qs
   bazel run //generator -- emit allgather_any.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLGATHER_ANY_H_
#define QUADRILLE_EMITTED_ALLGATHER_ANY_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_allgather_any, sizeof quadrille_allgather_any, &schedule). */
extern const unsigned char quadrille_allgather_any[478];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLGATHER_ANY_H_ */
