/* DO NOT EDIT. Made by:
   bazel run //generator -- generate alltoall --algorithm hierarchical-factor --nodes 1,2,3 --out alltoall_1_2_3.qs
   bazel run //generator -- emit alltoall_1_2_3.qs --out . */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUADRILLE_EMITTED_ALLTOALL_1_2_3_H_
#define QUADRILLE_EMITTED_ALLTOALL_1_2_3_H_

#ifdef __cplusplus
extern "C" {
#endif

/* For quadrille_load_memory(quadrille_alltoall_1_2_3, sizeof quadrille_alltoall_1_2_3, &schedule). */
extern const unsigned char quadrille_alltoall_1_2_3[406];

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_EMITTED_ALLTOALL_1_2_3_H_ */
