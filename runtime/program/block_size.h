/* Chooses the block size of a pipeline from the counts that all ranks know.
 *
 * The arithmetic is in integers, so all ranks choose alike. Tools that predict a call use this file too. */
#ifndef QUADRILLE_RUNTIME_BLOCK_SIZE_H_
#define QUADRILLE_RUNTIME_BLOCK_SIZE_H_

#include <stdint.h>

#include "runtime/program/table_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The block size in bytes: 1 to INT_MAX.
 *
 * `rule` is the rule of the parameter in the file: a fixed size, or one of table_format.h. The result is 0 for
 * QD_CHOOSE_NONE. alpha (ns a message) and beta (ps a byte) are in 0 .. QD_MAX_COST. Only MODEL and AUTO read them.
 *
 * `bytes` holds `contributions` numbers: one for each of `ranks` ranks, or the only one of a broadcast or a reduction. None is
 * negative, and their sum is at most INT64_MAX. Blocks pass along a ring of all ranks, of which those without a number
 * contribute nothing; a chain takes as long. `over_trees`: blocks of all contributions together pass over trees. That takes as
 * long as a ring of ceil(log2 ranks) + 1 ranks, of which one contributes the sum.
 *
 * Time: one pass over `bytes`; AUTO makes up to 40. */
int64_t qd_block_size(int64_t rule, int64_t alpha_ns, int64_t beta_ps, const int64_t* bytes,
                      int64_t contributions, int64_t ranks, int over_trees);

#ifdef __cplusplus
}
#endif

#endif /* QUADRILLE_RUNTIME_BLOCK_SIZE_H_ */
