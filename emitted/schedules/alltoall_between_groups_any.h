/* DO NOT EDIT. Made by:
   bazel run //generator -- generate alltoall --algorithm direct --nodes any --remote-nodes any --out alltoall_between_groups_any.qs
   bazel run //generator -- emit alltoall_between_groups_any.qs --out . */
#ifndef QUADRILLE_EMITTED_ALLTOALL_BETWEEN_GROUPS_ANY_H_
#define QUADRILLE_EMITTED_ALLTOALL_BETWEEN_GROUPS_ANY_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_alltoall_between_groups_any, sizeof quadrille_alltoall_between_groups_any, &schedule). */
extern const unsigned char quadrille_alltoall_between_groups_any[84];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLTOALL_BETWEEN_GROUPS_ANY_H_ */
