/* How the runtime chooses a parameter that is given at the call: the block size of a pipelined
 * ring, from the counts that all ranks know.
 *
 * Integer arithmetic only, so that all ranks choose alike. Depends on nothing; tools that predict
 * what a call will do use it too. */
#ifndef QUADRILLE_RUNTIME_BLOCK_SIZE_H_
#define QUADRILLE_RUNTIME_BLOCK_SIZE_H_

#include <stdint.h>

#include "runtime/program/table_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The block size in bytes, at least 1 and no more than an int holds.
 *
 * `rule` is what stands in the file: a fixed size, or QD_CHOOSE_LEAST, _MODEL or _AUTO of
 * table_format.h; with any other the result is 0, as nothing chooses. `bytes` are the contributions
 * of so many ranks, none negative, their sum at most INT64_MAX. alpha (ns a message) and beta (ps a
 * byte) lie in 0 .. QD_MAX_COST; only MODEL and AUTO read them.
 *
 * Time: one pass over `bytes`, with AUTO up to 40 of them. */
int64_t qd_block_size(int64_t rule, int64_t alpha_ns, int64_t beta_ps, const int64_t* bytes,
                      int64_t ranks);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_BLOCK_SIZE_H_ */
